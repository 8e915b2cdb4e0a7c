import AppProtocol
import CallModel
import Testing

@Suite("Published and computed vectors of the proofs")
struct VectorTests {
  private static let key = "196087a1-e815-4bc4-8984-60d8d8a43f1d"
  private static let secret = "oYdgGRXoxEuJhGDY2KQ/HQ=="

  @Test(
    "registration signatures",
    arguments: [
      ("foo", 1, "4sk2/7AD0VoGke0qc1ZiJ2BtzYA="), ("alice", .max, "zpB/HXnSAwWiruTGxlKK3jrE89A="),
    ] as [(String, UInt64, String)])
  func signatures(_ user: String, _ sequence: UInt64, _ signature: String) {
    #expect(
      RegistrationSignature.compute(user: user, application: Self.key, sequence: sequence, secret: Self.secret)
        == signature)
    func isValid(_ signature: String, _ user: String, _ sequence: UInt64) -> Bool {
      RegistrationSignature.isValid(
        signature, user: user, application: Self.key, sequence: sequence, secret: Self.secret)
    }
    #expect(isValid(signature, user, sequence))
    #expect(!isValid(signature + " ", user, sequence))
    #expect(!isValid(signature, user + "x", sequence))
    #expect(!isValid(signature, user, sequence &+ 1))
    #expect(!isValid("", user, sequence))
  }

  @Test("the key of a day") func dayKey() {
    // AZj5EsS8S7wb06xr5jERqPHsraQt3w/+Ih5EfrhisBQ= in bytes.
    let expected: [UInt8] = [
      0x01, 0x98, 0xF9, 0x12, 0xC4, 0xBC, 0x4B, 0xBC, 0x1B, 0xD3, 0xAC, 0x6B, 0xE6, 0x31, 0x11, 0xA8, 0xF1, 0xEC, 0xAD,
      0xA4, 0x2D, 0xDF, 0x0F, 0xFE, 0x22, 0x1E, 0x44, 0x7E, 0xB8, 0x62, 0xB0, 0x14,
    ]
    #expect(ApplicationToken.key(day: "20180102", secret: "ax8hTTQJF0OPXL32r1LHMA==") == expected)
    #expect(ApplicationToken.key(day: "20180102", secret: "not base64") == nil)
    #expect(ApplicationToken.key(day: "20180102", secret: "") == nil)
  }

  @Test("requests: the published one, and one without a body") func requests() {
    let secret = "JViE5vDor0Sw3WllZka15Q=="
    var request = RequestSignature(
      verb: "POST", body: Array(#"{"message":"Hello world"}"#.utf8), contentType: "application/json",
      timestamp: "2014-06-04T13:41:58Z", path: "/v1/sms/+46700000000")
    #expect(request.compute(secret: secret) == "qDXMwzfaxCRS849c/2R0hg0nphgdHciTo7OdM6MsdnM=")
    #expect(request.isValid("qDXMwzfaxCRS849c/2R0hg0nphgdHciTo7OdM6MsdnM=", secret: secret))
    #expect(!request.isValid("qDXMwzfaxCRS849c/2R0hg0nphgdHciTo7OdM6MsdnM", secret: secret))
    #expect(!request.isValid("qDXMwzfaxCRS849c/2R0hg0nphgdHciTo7OdM6MsdnM=", secret: "*"))
    request.path += "0"
    #expect(!request.isValid("qDXMwzfaxCRS849c/2R0hg0nphgdHciTo7OdM6MsdnM=", secret: secret))
    let empty = RequestSignature(
      verb: "GET", body: [], contentType: "", timestamp: "2014-06-04T13:41:58Z", path: "/v1/calls?limit=1")
    #expect(empty.compute(secret: secret) == "drBv2HV1B+2Ld5QMCjW06BTzxD/hZSnbL5ckDrWuSiI=")
  }

  private static let now = Instant(milliseconds: 1_795_309_200_000)

  private func token(_ text: String) -> ApplicationToken? {
    ApplicationToken(text, application: Self.key, user: "foo", secret: Self.secret, clock: Self.now)
  }

  @Test("a token made elsewhere is taken") func foreignToken() throws {
    let text =
      "eyJhbGciOiAiSFMyNTYiLCAia2lkIjogImhrZGZ2MS0yMDI2MTEyMiIsICJ0eXAiOiAiSldUIn0.eyJpc3MiOiAiLy9ydGMuc2luY2guY29tL2FwcGxpY2F0aW9ucy8xOTYwODdhMS1lODE1LTRiYzQtODk4NC02MGQ4ZDhhNDNmMWQiLCAic3ViIjogIi8vcnRjLnNpbmNoLmNvbS9hcHBsaWNhdGlvbnMvMTk2MDg3YTEtZTgxNS00YmM0LTg5ODQtNjBkOGQ4YTQzZjFkL3VzZXJzL2ZvbyIsICJpYXQiOiAxNzk1MzA5MjAwLCAiZXhwIjogMTc5NTMwOTgwMCwgIm5vbmNlIjogIjZiNDM4YmRhLTJkNWMtNGU4Yy05MmIwLTM5ZjIwYTk0YjM0ZSIsICJzaW5jaDpydGM6aW5zdGFuY2U6ZXhwIjogMTc5NTQ4MjAwMH0.7Yva0JpjPe17reldtl9teO9HJXbYDCVSDqnxInH6mFI"
    let token = try #require(self.token(text))
    #expect(token.nonce == "6b438bda-2d5c-4e8c-92b0-39f20a94b34e")
    #expect(token.usableUntil == Self.now.advanced(byMilliseconds: 660_000))
    #expect(token.instanceExpiresAt == Self.now.advanced(byMilliseconds: 172_800_000))
    // Padding, blanks, a fourth part: one spelling only.
    for other in [text + "=", text + " ", " " + text, text + ".", text.replacing(".", with: ".."), ""] {
      #expect(self.token(other) == nil, "\(other)")
    }
  }

  @Test(
    "signed rightly and still wrong",
    arguments: [
      (
        "none",
        "eyJhbGciOiAibm9uZSIsICJraWQiOiAiaGtkZnYxLTIwMjYxMTIyIiwgInR5cCI6ICJKV1QifQ.eyJpc3MiOiAiLy9ydGMuc2luY2guY29tL2FwcGxpY2F0aW9ucy8xOTYwODdhMS1lODE1LTRiYzQtODk4NC02MGQ4ZDhhNDNmMWQiLCAic3ViIjogIi8vcnRjLnNpbmNoLmNvbS9hcHBsaWNhdGlvbnMvMTk2MDg3YTEtZTgxNS00YmM0LTg5ODQtNjBkOGQ4YTQzZjFkL3VzZXJzL2ZvbyIsICJpYXQiOiAxNzk1MzA5MjAwLCAiZXhwIjogMTc5NTMwOTgwMCwgIm5vbmNlIjogIjZiNDM4YmRhLTJkNWMtNGU4Yy05MmIwLTM5ZjIwYTk0YjM0ZSJ9._nhL7NwHaAVFI8VI9x0cY-k7G-w4W2HU9yvEhlP-spw"
      ),
      (
        "another algorithm",
        "eyJhbGciOiAiSFM1MTIiLCAia2lkIjogImhrZGZ2MS0yMDI2MTEyMiIsICJ0eXAiOiAiSldUIn0.eyJpc3MiOiAiLy9ydGMuc2luY2guY29tL2FwcGxpY2F0aW9ucy8xOTYwODdhMS1lODE1LTRiYzQtODk4NC02MGQ4ZDhhNDNmMWQiLCAic3ViIjogIi8vcnRjLnNpbmNoLmNvbS9hcHBsaWNhdGlvbnMvMTk2MDg3YTEtZTgxNS00YmM0LTg5ODQtNjBkOGQ4YTQzZjFkL3VzZXJzL2ZvbyIsICJpYXQiOiAxNzk1MzA5MjAwLCAiZXhwIjogMTc5NTMwOTgwMCwgIm5vbmNlIjogIjZiNDM4YmRhLTJkNWMtNGU4Yy05MmIwLTM5ZjIwYTk0YjM0ZSJ9.x19w2XK3Ig9Qyf2AMG0RZCRy_nxHIJSCerH_skFwEXNsfLadjKKxxxaNpHQIcZCfwGWtUd2fbO2FRWXnO9t8kA"
      ),
      (
        "lower case",
        "eyJhbGciOiAiaHMyNTYiLCAia2lkIjogImhrZGZ2MS0yMDI2MTEyMiIsICJ0eXAiOiAiSldUIn0.eyJpc3MiOiAiLy9ydGMuc2luY2guY29tL2FwcGxpY2F0aW9ucy8xOTYwODdhMS1lODE1LTRiYzQtODk4NC02MGQ4ZDhhNDNmMWQiLCAic3ViIjogIi8vcnRjLnNpbmNoLmNvbS9hcHBsaWNhdGlvbnMvMTk2MDg3YTEtZTgxNS00YmM0LTg5ODQtNjBkOGQ4YTQzZjFkL3VzZXJzL2ZvbyIsICJpYXQiOiAxNzk1MzA5MjAwLCAiZXhwIjogMTc5NTMwOTgwMCwgIm5vbmNlIjogIjZiNDM4YmRhLTJkNWMtNGU4Yy05MmIwLTM5ZjIwYTk0YjM0ZSJ9.hiEOhYd6FbmHlVHxJ8dDIo-ngE9UF5GTt-FxOCJ4bGA"
      ),
      (
        "a critical extension",
        "eyJhbGciOiAiSFMyNTYiLCAia2lkIjogImhrZGZ2MS0yMDI2MTEyMiIsICJ0eXAiOiAiSldUIiwgImNyaXQiOiBbIngiXX0.eyJpc3MiOiAiLy9ydGMuc2luY2guY29tL2FwcGxpY2F0aW9ucy8xOTYwODdhMS1lODE1LTRiYzQtODk4NC02MGQ4ZDhhNDNmMWQiLCAic3ViIjogIi8vcnRjLnNpbmNoLmNvbS9hcHBsaWNhdGlvbnMvMTk2MDg3YTEtZTgxNS00YmM0LTg5ODQtNjBkOGQ4YTQzZjFkL3VzZXJzL2ZvbyIsICJpYXQiOiAxNzk1MzA5MjAwLCAiZXhwIjogMTc5NTMwOTgwMCwgIm5vbmNlIjogIjZiNDM4YmRhLTJkNWMtNGU4Yy05MmIwLTM5ZjIwYTk0YjM0ZSJ9.5JYiKq87QAPEYmSTXnn7R462K6DmLRYmDt98Obhsa_A"
      ),
      (
        "no key id",
        "eyJhbGciOiJIUzI1NiJ9.eyJpc3MiOiAiLy9ydGMuc2luY2guY29tL2FwcGxpY2F0aW9ucy8xOTYwODdhMS1lODE1LTRiYzQtODk4NC02MGQ4ZDhhNDNmMWQiLCAic3ViIjogIi8vcnRjLnNpbmNoLmNvbS9hcHBsaWNhdGlvbnMvMTk2MDg3YTEtZTgxNS00YmM0LTg5ODQtNjBkOGQ4YTQzZjFkL3VzZXJzL2ZvbyIsICJpYXQiOiAxNzk1MzA5MjAwLCAiZXhwIjogMTc5NTMwOTgwMCwgIm5vbmNlIjogIjZiNDM4YmRhLTJkNWMtNGU4Yy05MmIwLTM5ZjIwYTk0YjM0ZSJ9.3wXo6B5gWWl3a8xv_ZNSA9YUoGvf_HTF5n1hNsOVZz4"
      ),
      (
        "another kind of key",
        "eyJhbGciOiAiSFMyNTYiLCAia2lkIjogImhrZGZ2Mi0yMDI2MTEyMiIsICJ0eXAiOiAiSldUIn0.eyJpc3MiOiAiLy9ydGMuc2luY2guY29tL2FwcGxpY2F0aW9ucy8xOTYwODdhMS1lODE1LTRiYzQtODk4NC02MGQ4ZDhhNDNmMWQiLCAic3ViIjogIi8vcnRjLnNpbmNoLmNvbS9hcHBsaWNhdGlvbnMvMTk2MDg3YTEtZTgxNS00YmM0LTg5ODQtNjBkOGQ4YTQzZjFkL3VzZXJzL2ZvbyIsICJpYXQiOiAxNzk1MzA5MjAwLCAiZXhwIjogMTc5NTMwOTgwMCwgIm5vbmNlIjogIjZiNDM4YmRhLTJkNWMtNGU4Yy05MmIwLTM5ZjIwYTk0YjM0ZSJ9.ujUNlVXHn15r2cDltOfIBdGunKDg7PUMe7L9wBXRIOQ"
      ),
      (
        "a day that is none",
        "eyJhbGciOiAiSFMyNTYiLCAia2lkIjogImhrZGZ2MS0yMDI2MTEzMSIsICJ0eXAiOiAiSldUIn0.eyJpc3MiOiAiLy9ydGMuc2luY2guY29tL2FwcGxpY2F0aW9ucy8xOTYwODdhMS1lODE1LTRiYzQtODk4NC02MGQ4ZDhhNDNmMWQiLCAic3ViIjogIi8vcnRjLnNpbmNoLmNvbS9hcHBsaWNhdGlvbnMvMTk2MDg3YTEtZTgxNS00YmM0LTg5ODQtNjBkOGQ4YTQzZjFkL3VzZXJzL2ZvbyIsICJpYXQiOiAxNzk1MzA5MjAwLCAiZXhwIjogMTc5NTMwOTgwMCwgIm5vbmNlIjogIjZiNDM4YmRhLTJkNWMtNGU4Yy05MmIwLTM5ZjIwYTk0YjM0ZSJ9.j8KGfRnLuXtBT7Et6l1ZPjL5TIi6kWO1qBsP0VSdhM0"
      ),
      (
        "the key of another week",
        "eyJhbGciOiAiSFMyNTYiLCAia2lkIjogImhrZGZ2MS0yMDI2MTExNSIsICJ0eXAiOiAiSldUIn0.eyJpc3MiOiAiLy9ydGMuc2luY2guY29tL2FwcGxpY2F0aW9ucy8xOTYwODdhMS1lODE1LTRiYzQtODk4NC02MGQ4ZDhhNDNmMWQiLCAic3ViIjogIi8vcnRjLnNpbmNoLmNvbS9hcHBsaWNhdGlvbnMvMTk2MDg3YTEtZTgxNS00YmM0LTg5ODQtNjBkOGQ4YTQzZjFkL3VzZXJzL2ZvbyIsICJpYXQiOiAxNzk1MzA5MjAwLCAiZXhwIjogMTc5NTMwOTgwMCwgIm5vbmNlIjogIjZiNDM4YmRhLTJkNWMtNGU4Yy05MmIwLTM5ZjIwYTk0YjM0ZSJ9.rK9_GpERC7usYwUhMuSw5IQg0rm2ORX0TLvYMWW9stY"
      ),
      (
        "a member twice",
        "eyJhbGciOiAiSFMyNTYiLCAia2lkIjogImhrZGZ2MS0yMDI2MTEyMiIsICJ0eXAiOiAiSldUIn0.eyJpc3MiOiAiLy9ydGMuc2luY2guY29tL2FwcGxpY2F0aW9ucy8xOTYwODdhMS1lODE1LTRiYzQtODk4NC02MGQ4ZDhhNDNmMWQiLCAic3ViIjogIi8vcnRjLnNpbmNoLmNvbS9hcHBsaWNhdGlvbnMvMTk2MDg3YTEtZTgxNS00YmM0LTg5ODQtNjBkOGQ4YTQzZjFkL3VzZXJzL2ZvbyIsICJpYXQiOiAxNzk1MzA5MjAwLCAiZXhwIjogMTc5NTMwOTgwMCwgIm5vbmNlIjogIm4iLCJub25jZSI6Im0ifQ.K9TpyiEiP_GD2xMAvOn9q59jP388SzBFmdyhHoiu4jY"
      ),
      (
        "no object",
        "eyJhbGciOiAiSFMyNTYiLCAia2lkIjogImhrZGZ2MS0yMDI2MTEyMiIsICJ0eXAiOiAiSldUIn0.W10.ykarPbXblTJ3U_zVfi_tlqEvnIDD-hHFfnhe4TvkwyU"
      ),
      (
        "no nonce",
        "eyJhbGciOiAiSFMyNTYiLCAia2lkIjogImhrZGZ2MS0yMDI2MTEyMiIsICJ0eXAiOiAiSldUIn0.eyJpc3MiOiAiLy9ydGMuc2luY2guY29tL2FwcGxpY2F0aW9ucy8xOTYwODdhMS1lODE1LTRiYzQtODk4NC02MGQ4ZDhhNDNmMWQiLCAic3ViIjogIi8vcnRjLnNpbmNoLmNvbS9hcHBsaWNhdGlvbnMvMTk2MDg3YTEtZTgxNS00YmM0LTg5ODQtNjBkOGQ4YTQzZjFkL3VzZXJzL2ZvbyIsICJpYXQiOiAxNzk1MzA5MjAwLCAiZXhwIjogMTc5NTMwOTgwMH0.SvigfsfkFPAQKLoFa0QNkQiI7rQN6Z-mfqNHal9CwuI"
      ),
      (
        "an empty nonce",
        "eyJhbGciOiAiSFMyNTYiLCAia2lkIjogImhrZGZ2MS0yMDI2MTEyMiIsICJ0eXAiOiAiSldUIn0.eyJpc3MiOiAiLy9ydGMuc2luY2guY29tL2FwcGxpY2F0aW9ucy8xOTYwODdhMS1lODE1LTRiYzQtODk4NC02MGQ4ZDhhNDNmMWQiLCAic3ViIjogIi8vcnRjLnNpbmNoLmNvbS9hcHBsaWNhdGlvbnMvMTk2MDg3YTEtZTgxNS00YmM0LTg5ODQtNjBkOGQ4YTQzZjFkL3VzZXJzL2ZvbyIsICJpYXQiOiAxNzk1MzA5MjAwLCAiZXhwIjogMTc5NTMwOTgwMCwgIm5vbmNlIjogIiJ9.a3Goj2QNNkBKxPsi8cNnSAuqFUV_xKq6rF9TZpWqSb0"
      ),
      (
        "a long nonce",
        "eyJhbGciOiAiSFMyNTYiLCAia2lkIjogImhrZGZ2MS0yMDI2MTEyMiIsICJ0eXAiOiAiSldUIn0.eyJpc3MiOiAiLy9ydGMuc2luY2guY29tL2FwcGxpY2F0aW9ucy8xOTYwODdhMS1lODE1LTRiYzQtODk4NC02MGQ4ZDhhNDNmMWQiLCAic3ViIjogIi8vcnRjLnNpbmNoLmNvbS9hcHBsaWNhdGlvbnMvMTk2MDg3YTEtZTgxNS00YmM0LTg5ODQtNjBkOGQ4YTQzZjFkL3VzZXJzL2ZvbyIsICJpYXQiOiAxNzk1MzA5MjAwLCAiZXhwIjogMTc5NTMwOTgwMCwgIm5vbmNlIjogIm5ubm5ubm5ubm5ubm5ubm5ubm5ubm5ubm5ubm5ubm5ubm5ubm5ubm5ubm5ubm5ubm5ubm5ubm5ubm5ubm5ubm5ubm5ubm5ubm5ubm5ubm5ubm5ubm5ubm5ubm5ubm5ubm5ubm5ubm5ubm5ubm5ubm5ubm5ubm5ubm5ubm5ubm5ubiJ9.1ouaMj7m9y3Zg4K7FjeaupAXubVRD974YTS3FVdFZPk"
      ),
      (
        "a nonce that is a number",
        "eyJhbGciOiAiSFMyNTYiLCAia2lkIjogImhrZGZ2MS0yMDI2MTEyMiIsICJ0eXAiOiAiSldUIn0.eyJpc3MiOiAiLy9ydGMuc2luY2guY29tL2FwcGxpY2F0aW9ucy8xOTYwODdhMS1lODE1LTRiYzQtODk4NC02MGQ4ZDhhNDNmMWQiLCAic3ViIjogIi8vcnRjLnNpbmNoLmNvbS9hcHBsaWNhdGlvbnMvMTk2MDg3YTEtZTgxNS00YmM0LTg5ODQtNjBkOGQ4YTQzZjFkL3VzZXJzL2ZvbyIsICJpYXQiOiAxNzk1MzA5MjAwLCAiZXhwIjogMTc5NTMwOTgwMCwgIm5vbmNlIjogMX0.lvfRGcoJHLSLJ9eihnkoIiV2VgGxxx06arQ9_f5ullU"
      ),
      (
        "another issuer",
        "eyJhbGciOiAiSFMyNTYiLCAia2lkIjogImhrZGZ2MS0yMDI2MTEyMiIsICJ0eXAiOiAiSldUIn0.eyJpc3MiOiAiLy9ydGMuc2luY2guY29tL2FwcGxpY2F0aW9ucy94IiwgInN1YiI6ICIvL3J0Yy5zaW5jaC5jb20vYXBwbGljYXRpb25zLzE5NjA4N2ExLWU4MTUtNGJjNC04OTg0LTYwZDhkOGE0M2YxZC91c2Vycy9mb28iLCAiaWF0IjogMTc5NTMwOTIwMCwgImV4cCI6IDE3OTUzMDk4MDAsICJub25jZSI6ICI2YjQzOGJkYS0yZDVjLTRlOGMtOTJiMC0zOWYyMGE5NGIzNGUifQ.y4V_hzdmdjpZ7HtE0zNfyxXFoUct0qeTMPzoW412ALA"
      ),
      (
        "another user",
        "eyJhbGciOiAiSFMyNTYiLCAia2lkIjogImhrZGZ2MS0yMDI2MTEyMiIsICJ0eXAiOiAiSldUIn0.eyJpc3MiOiAiLy9ydGMuc2luY2guY29tL2FwcGxpY2F0aW9ucy8xOTYwODdhMS1lODE1LTRiYzQtODk4NC02MGQ4ZDhhNDNmMWQiLCAic3ViIjogIi8vcnRjLnNpbmNoLmNvbS9hcHBsaWNhdGlvbnMvMTk2MDg3YTEtZTgxNS00YmM0LTg5ODQtNjBkOGQ4YTQzZjFkL3VzZXJzL2JhciIsICJpYXQiOiAxNzk1MzA5MjAwLCAiZXhwIjogMTc5NTMwOTgwMCwgIm5vbmNlIjogIjZiNDM4YmRhLTJkNWMtNGU4Yy05MmIwLTM5ZjIwYTk0YjM0ZSJ9.UFCJbethZDnmKj2akJ6LjzYx77RGlMRp5t0hGeuAg4g"
      ),
      (
        "no end",
        "eyJhbGciOiAiSFMyNTYiLCAia2lkIjogImhrZGZ2MS0yMDI2MTEyMiIsICJ0eXAiOiAiSldUIn0.eyJpc3MiOiAiLy9ydGMuc2luY2guY29tL2FwcGxpY2F0aW9ucy8xOTYwODdhMS1lODE1LTRiYzQtODk4NC02MGQ4ZDhhNDNmMWQiLCAic3ViIjogIi8vcnRjLnNpbmNoLmNvbS9hcHBsaWNhdGlvbnMvMTk2MDg3YTEtZTgxNS00YmM0LTg5ODQtNjBkOGQ4YTQzZjFkL3VzZXJzL2ZvbyIsICJpYXQiOiAxNzk1MzA5MjAwLCAibm9uY2UiOiAiNmI0MzhiZGEtMmQ1Yy00ZThjLTkyYjAtMzlmMjBhOTRiMzRlIn0.tVhkvICy1rQpVPYbp42N9cEcIABuXb4gkQweof92KUE"
      ),
      (
        "a text as time",
        "eyJhbGciOiAiSFMyNTYiLCAia2lkIjogImhrZGZ2MS0yMDI2MTEyMiIsICJ0eXAiOiAiSldUIn0.eyJpc3MiOiAiLy9ydGMuc2luY2guY29tL2FwcGxpY2F0aW9ucy8xOTYwODdhMS1lODE1LTRiYzQtODk4NC02MGQ4ZDhhNDNmMWQiLCAic3ViIjogIi8vcnRjLnNpbmNoLmNvbS9hcHBsaWNhdGlvbnMvMTk2MDg3YTEtZTgxNS00YmM0LTg5ODQtNjBkOGQ4YTQzZjFkL3VzZXJzL2ZvbyIsICJpYXQiOiAxNzk1MzA5MjAwLCAiZXhwIjogIjE3OTUzMDk4MDAiLCAibm9uY2UiOiAiNmI0MzhiZGEtMmQ1Yy00ZThjLTkyYjAtMzlmMjBhOTRiMzRlIn0.GLcdgOp_F4U6vvf3650kH882PtcCcqG0U68DTPhv0dY"
      ),
      (
        "a fraction",
        "eyJhbGciOiAiSFMyNTYiLCAia2lkIjogImhrZGZ2MS0yMDI2MTEyMiIsICJ0eXAiOiAiSldUIn0.eyJpc3MiOiAiLy9ydGMuc2luY2guY29tL2FwcGxpY2F0aW9ucy8xOTYwODdhMS1lODE1LTRiYzQtODk4NC02MGQ4ZDhhNDNmMWQiLCAic3ViIjogIi8vcnRjLnNpbmNoLmNvbS9hcHBsaWNhdGlvbnMvMTk2MDg3YTEtZTgxNS00YmM0LTg5ODQtNjBkOGQ4YTQzZjFkL3VzZXJzL2ZvbyIsICJpYXQiOiAxNzk1MzA5MjAwLjUsICJleHAiOiAxNzk1MzA5ODAwLCAibm9uY2UiOiAiNmI0MzhiZGEtMmQ1Yy00ZThjLTkyYjAtMzlmMjBhOTRiMzRlIn0.C62zT-hBUe0NWqrh16GJP4aD484qkaqGN4iexpvvg9c"
      ),
      (
        "before 1970",
        "eyJhbGciOiAiSFMyNTYiLCAia2lkIjogImhrZGZ2MS0yMDI2MTEyMiIsICJ0eXAiOiAiSldUIn0.eyJpc3MiOiAiLy9ydGMuc2luY2guY29tL2FwcGxpY2F0aW9ucy8xOTYwODdhMS1lODE1LTRiYzQtODk4NC02MGQ4ZDhhNDNmMWQiLCAic3ViIjogIi8vcnRjLnNpbmNoLmNvbS9hcHBsaWNhdGlvbnMvMTk2MDg3YTEtZTgxNS00YmM0LTg5ODQtNjBkOGQ4YTQzZjFkL3VzZXJzL2ZvbyIsICJpYXQiOiAtMSwgImV4cCI6IDYwMCwgIm5vbmNlIjogIjZiNDM4YmRhLTJkNWMtNGU4Yy05MmIwLTM5ZjIwYTk0YjM0ZSJ9.2NV9KwKS51kil1yKIcT05tLVthd4I37yhotVtqXazrc"
      ),
      (
        "far away",
        "eyJhbGciOiAiSFMyNTYiLCAia2lkIjogImhrZGZ2MS0yMDI2MTEyMiIsICJ0eXAiOiAiSldUIn0.eyJpc3MiOiAiLy9ydGMuc2luY2guY29tL2FwcGxpY2F0aW9ucy8xOTYwODdhMS1lODE1LTRiYzQtODk4NC02MGQ4ZDhhNDNmMWQiLCAic3ViIjogIi8vcnRjLnNpbmNoLmNvbS9hcHBsaWNhdGlvbnMvMTk2MDg3YTEtZTgxNS00YmM0LTg5ODQtNjBkOGQ4YTQzZjFkL3VzZXJzL2ZvbyIsICJpYXQiOiAxNzk1MzA5MjAwLCAiZXhwIjogNDYxMTY4NjAxODQyNzM4NzkwNCwgIm5vbmNlIjogIjZiNDM4YmRhLTJkNWMtNGU4Yy05MmIwLTM5ZjIwYTk0YjM0ZSJ9.pTPKZXtQyPdA5D9xRUTUi6yKuW5lzwDqzUOCxtMc9CM"
      ),
      (
        "too short a life",
        "eyJhbGciOiAiSFMyNTYiLCAia2lkIjogImhrZGZ2MS0yMDI2MTEyMiIsICJ0eXAiOiAiSldUIn0.eyJpc3MiOiAiLy9ydGMuc2luY2guY29tL2FwcGxpY2F0aW9ucy8xOTYwODdhMS1lODE1LTRiYzQtODk4NC02MGQ4ZDhhNDNmMWQiLCAic3ViIjogIi8vcnRjLnNpbmNoLmNvbS9hcHBsaWNhdGlvbnMvMTk2MDg3YTEtZTgxNS00YmM0LTg5ODQtNjBkOGQ4YTQzZjFkL3VzZXJzL2ZvbyIsICJpYXQiOiAxNzk1MzA5MjAwLCAiZXhwIjogMTc5NTMwOTI1OSwgIm5vbmNlIjogIjZiNDM4YmRhLTJkNWMtNGU4Yy05MmIwLTM5ZjIwYTk0YjM0ZSJ9.mBeysgu6L5a74gu3CVsxy2CX5kY7iKme8sG9XMr6kNQ"
      ),
      (
        "too long a life",
        "eyJhbGciOiAiSFMyNTYiLCAia2lkIjogImhrZGZ2MS0yMDI2MTEyMiIsICJ0eXAiOiAiSldUIn0.eyJpc3MiOiAiLy9ydGMuc2luY2guY29tL2FwcGxpY2F0aW9ucy8xOTYwODdhMS1lODE1LTRiYzQtODk4NC02MGQ4ZDhhNDNmMWQiLCAic3ViIjogIi8vcnRjLnNpbmNoLmNvbS9hcHBsaWNhdGlvbnMvMTk2MDg3YTEtZTgxNS00YmM0LTg5ODQtNjBkOGQ4YTQzZjFkL3VzZXJzL2ZvbyIsICJpYXQiOiAxNzk1MzA5MjAwLCAiZXhwIjogMTc5NTMxMjgwMSwgIm5vbmNlIjogIjZiNDM4YmRhLTJkNWMtNGU4Yy05MmIwLTM5ZjIwYTk0YjM0ZSJ9.yQYdkB0sNg9gu6O23u00rkpf0Wl6t-rI2GBF6_IBs0A"
      ),
      (
        "too short a bound",
        "eyJhbGciOiAiSFMyNTYiLCAia2lkIjogImhrZGZ2MS0yMDI2MTEyMiIsICJ0eXAiOiAiSldUIn0.eyJpc3MiOiAiLy9ydGMuc2luY2guY29tL2FwcGxpY2F0aW9ucy8xOTYwODdhMS1lODE1LTRiYzQtODk4NC02MGQ4ZDhhNDNmMWQiLCAic3ViIjogIi8vcnRjLnNpbmNoLmNvbS9hcHBsaWNhdGlvbnMvMTk2MDg3YTEtZTgxNS00YmM0LTg5ODQtNjBkOGQ4YTQzZjFkL3VzZXJzL2ZvbyIsICJpYXQiOiAxNzk1MzA5MjAwLCAiZXhwIjogMTc5NTMwOTgwMCwgIm5vbmNlIjogIjZiNDM4YmRhLTJkNWMtNGU4Yy05MmIwLTM5ZjIwYTk0YjM0ZSIsICJzaW5jaDpydGM6aW5zdGFuY2U6ZXhwIjogMTc5NTQ4MTk5OX0.8aMv6G1U8fpsWPeNpm9UE8AsDXg-Nr7GFqYhao1gxew"
      ),
      (
        "a bound that is null",
        "eyJhbGciOiAiSFMyNTYiLCAia2lkIjogImhrZGZ2MS0yMDI2MTEyMiIsICJ0eXAiOiAiSldUIn0.eyJpc3MiOiAiLy9ydGMuc2luY2guY29tL2FwcGxpY2F0aW9ucy8xOTYwODdhMS1lODE1LTRiYzQtODk4NC02MGQ4ZDhhNDNmMWQiLCAic3ViIjogIi8vcnRjLnNpbmNoLmNvbS9hcHBsaWNhdGlvbnMvMTk2MDg3YTEtZTgxNS00YmM0LTg5ODQtNjBkOGQ4YTQzZjFkL3VzZXJzL2ZvbyIsICJpYXQiOiAxNzk1MzA5MjAwLCAiZXhwIjogMTc5NTMwOTgwMCwgIm5vbmNlIjogIjZiNDM4YmRhLTJkNWMtNGU4Yy05MmIwLTM5ZjIwYTk0YjM0ZSIsICJzaW5jaDpydGM6aW5zdGFuY2U6ZXhwIjogbnVsbH0.rK27805yvyL3RywrOlSFwBSwquzrGrU0md3BY4dADIY"
      ),
      (
        "over",
        "eyJhbGciOiAiSFMyNTYiLCAia2lkIjogImhrZGZ2MS0yMDI2MTEyMiIsICJ0eXAiOiAiSldUIn0.eyJpc3MiOiAiLy9ydGMuc2luY2guY29tL2FwcGxpY2F0aW9ucy8xOTYwODdhMS1lODE1LTRiYzQtODk4NC02MGQ4ZDhhNDNmMWQiLCAic3ViIjogIi8vcnRjLnNpbmNoLmNvbS9hcHBsaWNhdGlvbnMvMTk2MDg3YTEtZTgxNS00YmM0LTg5ODQtNjBkOGQ4YTQzZjFkL3VzZXJzL2ZvbyIsICJpYXQiOiAxNzk1MzA4NTAwLCAiZXhwIjogMTc5NTMwOTE0MCwgIm5vbmNlIjogIjZiNDM4YmRhLTJkNWMtNGU4Yy05MmIwLTM5ZjIwYTk0YjM0ZSJ9.x7MKVr62uC5FUiGKm8T06_SkDU7kRbl5Tcy8Q7lX_6g"
      ),
      (
        "not yet",
        "eyJhbGciOiAiSFMyNTYiLCAia2lkIjogImhrZGZ2MS0yMDI2MTEyMiIsICJ0eXAiOiAiSldUIn0.eyJpc3MiOiAiLy9ydGMuc2luY2guY29tL2FwcGxpY2F0aW9ucy8xOTYwODdhMS1lODE1LTRiYzQtODk4NC02MGQ4ZDhhNDNmMWQiLCAic3ViIjogIi8vcnRjLnNpbmNoLmNvbS9hcHBsaWNhdGlvbnMvMTk2MDg3YTEtZTgxNS00YmM0LTg5ODQtNjBkOGQ4YTQzZjFkL3VzZXJzL2ZvbyIsICJpYXQiOiAxNzk1MzA5MjYxLCAiZXhwIjogMTc5NTMwOTg2MSwgIm5vbmNlIjogIjZiNDM4YmRhLTJkNWMtNGU4Yy05MmIwLTM5ZjIwYTk0YjM0ZSJ9.JhdxLNAaCeD1Ict_0EcSpyHkraTefxgGhgbsU-3Ypkw"
      ),
    ])
  func wrong(_ why: String, _ text: String) { #expect(token(text) == nil, "\(why)") }

  @Test("credentials are long, all different, and kept without their secret") func credentials() throws {
    var word: UInt64 = 0
    let made = DeviceCredential.make(id: "c-1", expiresAt: nil) {
      word += 1
      return word
    }
    #expect(made.secret.exposed == "AQAAAAAAAAACAAAAAAAAAAMAAAAAAAAABAAAAAAAAAA")
    let stored = made.stored(application: "a", user: try UserID("u"), device: "d")
    #expect(stored.matches(secret: made.secret.exposed) && !stored.matches(secret: made.secret.exposed + "A"))
    #expect(stored.digest.count == 32 && !"\(stored)".contains(made.secret.exposed))
    let ids = [("a", "bc", "d"), ("ab", "c", "d"), ("a", "b", "cd"), ("a", "bc", "e")].flatMap { parts in
      [true, false].map {
        StoredCredential.id(application: parts.0, user: parts.1, device: parts.2, isBounded: $0)
      }
    }
    #expect(Set(ids).count == 8)
    #expect(ids.allSatisfy { $0.utf8.count == 26 })
  }
}
