/// Callers that were signed with throw-away keys, for tests whose clock stands at ``unixSeconds``: values of Identity fields
/// (RFC 8224), and the certificates that they are judged by. Made once with Python's `cryptography`.
public enum SignedCaller {
  /// When the tokens were signed.
  public static let unixSeconds: Int64 = 1_795_000_000
  public static let caller = "+46701111111"
  public static let called = "+46850000536"
  /// Where the certificate is, says each token.
  public static let address = "https://cert.example.org/provider.pem"

  /// The one that is trusted.
  public static let authority = """
    -----BEGIN CERTIFICATE-----
    MIIBajCCARGgAwIBAgIUIF1T8O0pWe/l1S8XmJO8XcCg7zwwCgYIKoZIzj0EAwIw
    IjEgMB4GA1UEAwwXTGFuZGxpbmUgdGVzdCBhdXRob3JpdHkwIBcNMjQwMTAxMDAw
    MDAwWhgPMjA5OTAxMDEwMDAwMDBaMCIxIDAeBgNVBAMMF0xhbmRsaW5lIHRlc3Qg
    YXV0aG9yaXR5MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEDPsV8ZEbYddxXevA
    uE37koOsGkfY0vj+TJKlrqcg6fxfLy7Wt42HNykgNY3QT8M7Ljip2czQMVL2k9JE
    GmUgUaMjMCEwDwYDVR0TAQH/BAUwAwEB/zAOBgNVHQ8BAf8EBAMCAQYwCgYIKoZI
    zj0EAwIDRwAwRAIgMOBmKhIwus4bs4HkAhV1f+uDtYx6E/hJ7MQEOTBzt/MCIFlG
    S4Dsq9Oy9rMxGBt3mh+7XbQIEq1IYnGT822GfwmY
    -----END CERTIFICATE-----

    """
  /// That of the signer, for provider code 1234.
  public static let provider = """
    -----BEGIN CERTIFICATE-----
    MIIBfjCCASWgAwIBAgIUfrnMV7qmASRNeK3B68tcPgUg8CQwCgYIKoZIzj0EAwIw
    IjEgMB4GA1UEAwwXTGFuZGxpbmUgdGVzdCBhdXRob3JpdHkwIBcNMjQwMTAxMDAw
    MDAwWhgPMjA5OTAxMDEwMDAwMDBaMCExHzAdBgNVBAMMFkxhbmRsaW5lIHRlc3Qg
    cHJvdmlkZXIwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAR1Sst2qoC3Hl8kpdiU
    //+FE3aW0LzkcxH6EZXsOK8mfbYXLZvoi8N0f3xf4SeQv/CzgAap/nUHFyVd/giY
    SeNkozgwNjAMBgNVHRMBAf8EAjAAMA4GA1UdDwEB/wQEAwIHgDAWBggrBgEFBQcB
    GgQKMAigBhYEMTIzNDAKBggqhkjOPQQDAgNHADBEAiAyBD4JOIl33wx7WkRlFLOr
    kForkm9p0w4BbDQdse/NCwIgCs3bwV1TTsep+1Vbl1tQlrnO4qNJREPhl5TtqyYm
    +IM=
    -----END CERTIFICATE-----

    """
  /// With a key on the curve P-384.
  public static let otherCurve = """
    -----BEGIN CERTIFICATE-----
    MIIBmjCCAT+gAwIBAgIUV0UvodsXu0OfLCPM/xc5deN8SJYwCgYIKoZIzj0EAwIw
    IjEgMB4GA1UEAwwXTGFuZGxpbmUgdGVzdCBhdXRob3JpdHkwIBcNMjQwMTAxMDAw
    MDAwWhgPMjA5OTAxMDEwMDAwMDBaMB4xHDAaBgNVBAMME0xhbmRsaW5lIHRlc3Qg
    UC0zODQwdjAQBgcqhkjOPQIBBgUrgQQAIgNiAATZH46BH7sBvIZmT4FGy6o8lvQa
    HUu/AsoWcR8tDlljoqdn5dSd5vvu3QDxInz+Om2T3fme0BAhIjbNj4uG3pgd7uoO
    1gLp34JhlxS8+Mc5ogKZiNPTfP9g0G+p5/PcjEqjODA2MAwGA1UdEwEB/wQCMAAw
    DgYDVR0PAQH/BAQDAgeAMBYGCCsGAQUFBwEaBAowCKAGFgQxMjM0MAoGCCqGSM49
    BAMCA0kAMEYCIQD5J524e21vzj7YSvsRR8Inn0mEdbzwkmhbB38BVzvKHQIhAIak
    D6qBo3oIXb3QdwHHicj01tpnjzWM2mkNmquwQX7K
    -----END CERTIFICATE-----

    """

  /// Attested A, for +46701111111 calling +46850000536.
  public static let full =
    "eyJhbGciOiJFUzI1NiIsInBwdCI6InNoYWtlbiIsInR5cCI6InBhc3Nwb3J0IiwieDV1IjoiaHR0cHM6Ly9jZXJ0LmV4YW1wbGUub3Jn"
    + "L3Byb3ZpZGVyLnBlbSJ9.eyJhdHRlc3QiOiJBIiwiZGVzdCI6eyJ0biI6WyI0Njg1MDAwMDUzNiJdfSwiaWF0IjoxNzk1MDAwMDAwLCJ"
    + "vcmlnIjp7InRuIjoiNDY3MDExMTExMTEifSwib3JpZ2lkIjoiMGY3YzNiMWUtN2E1Mi00ZjBlLTlhM2MtMGMxZDJlM2Y0YTViIn0._Gv"
    + "NLsklPmfKcfnGacHumzj_V4rT4CYxhiKuPNHuAUyNqjNc4jzyvDkq99sozsl4H8j_LKlWdIva_Emvk2j7gg;info=<https://cert.e"
    + "xample.org/provider.pem>;alg=ES256;ppt=shaken"
  /// Attested B.
  public static let partial =
    "eyJhbGciOiJFUzI1NiIsInBwdCI6InNoYWtlbiIsInR5cCI6InBhc3Nwb3J0IiwieDV1IjoiaHR0cHM6Ly9jZXJ0LmV4YW1wbGUub3Jn"
    + "L3Byb3ZpZGVyLnBlbSJ9.eyJhdHRlc3QiOiJCIiwiZGVzdCI6eyJ0biI6WyI0Njg1MDAwMDUzNiJdfSwiaWF0IjoxNzk1MDAwMDAwLCJ"
    + "vcmlnIjp7InRuIjoiNDY3MDExMTExMTEifSwib3JpZ2lkIjoiMGY3YzNiMWUtN2E1Mi00ZjBlLTlhM2MtMGMxZDJlM2Y0YTViIn0.Cy4"
    + "4gx9_IlSdpsLCh1On9MQtWCNiBctsStkNC9pxEZlyswwzwJE5L0sLdYrFGt3KwT6GcGsqJ6LQB_6mYADG0A;info=<https://cert.e"
    + "xample.org/provider.pem>;alg=ES256;ppt=shaken"
  /// Attested C.
  public static let gateway =
    "eyJhbGciOiJFUzI1NiIsInBwdCI6InNoYWtlbiIsInR5cCI6InBhc3Nwb3J0IiwieDV1IjoiaHR0cHM6Ly9jZXJ0LmV4YW1wbGUub3Jn"
    + "L3Byb3ZpZGVyLnBlbSJ9.eyJhdHRlc3QiOiJDIiwiZGVzdCI6eyJ0biI6WyI0Njg1MDAwMDUzNiJdfSwiaWF0IjoxNzk1MDAwMDAwLCJ"
    + "vcmlnIjp7InRuIjoiNDY3MDExMTExMTEifSwib3JpZ2lkIjoiMGY3YzNiMWUtN2E1Mi00ZjBlLTlhM2MtMGMxZDJlM2Y0YTViIn0.61H"
    + "DNRzsAb3EzP8YUvAhgVGRrdYy6jRh4sqiZqssOfTvbAcR04bpkjJTqu5n8WZEJee4V9899wutKofgZL_Fgw;info=<https://cert.e"
    + "xample.org/provider.pem>;alg=ES256;ppt=shaken"
  /// 61 s old.
  public static let stale =
    "eyJhbGciOiJFUzI1NiIsInBwdCI6InNoYWtlbiIsInR5cCI6InBhc3Nwb3J0IiwieDV1IjoiaHR0cHM6Ly9jZXJ0LmV4YW1wbGUub3Jn"
    + "L3Byb3ZpZGVyLnBlbSJ9.eyJhdHRlc3QiOiJBIiwiZGVzdCI6eyJ0biI6WyI0Njg1MDAwMDUzNiJdfSwiaWF0IjoxNzk0OTk5OTM5LCJ"
    + "vcmlnIjp7InRuIjoiNDY3MDExMTExMTEifSwib3JpZ2lkIjoiMGY3YzNiMWUtN2E1Mi00ZjBlLTlhM2MtMGMxZDJlM2Y0YTViIn0.x_e"
    + "byiuzRw99IECDaJna8zucSchvKXZO1jDNNJy_qmlLqhF3TaQUdab0qlfOBi04piXkWDCGd_WCwEirs2x0vg;info=<https://cert.e"
    + "xample.org/provider.pem>;alg=ES256;ppt=shaken"
  /// 61 s in the future.
  public static let ahead =
    "eyJhbGciOiJFUzI1NiIsInBwdCI6InNoYWtlbiIsInR5cCI6InBhc3Nwb3J0IiwieDV1IjoiaHR0cHM6Ly9jZXJ0LmV4YW1wbGUub3Jn"
    + "L3Byb3ZpZGVyLnBlbSJ9.eyJhdHRlc3QiOiJBIiwiZGVzdCI6eyJ0biI6WyI0Njg1MDAwMDUzNiJdfSwiaWF0IjoxNzk1MDAwMDYxLCJ"
    + "vcmlnIjp7InRuIjoiNDY3MDExMTExMTEifSwib3JpZ2lkIjoiMGY3YzNiMWUtN2E1Mi00ZjBlLTlhM2MtMGMxZDJlM2Y0YTViIn0.s5d"
    + "UTi3yq_Kgstv6PifpvsNJ4Z1xyuMDqFbRl7Xhf06S3fBY4Okwp0Si1offn5HuJTPVB9JM61iEW1PH6kh8Kw;info=<https://cert.e"
    + "xample.org/provider.pem>;alg=ES256;ppt=shaken"
  /// Signed with another key than the certificate's.
  public static let forged =
    "eyJhbGciOiJFUzI1NiIsInBwdCI6InNoYWtlbiIsInR5cCI6InBhc3Nwb3J0IiwieDV1IjoiaHR0cHM6Ly9jZXJ0LmV4YW1wbGUub3Jn"
    + "L3Byb3ZpZGVyLnBlbSJ9.eyJhdHRlc3QiOiJBIiwiZGVzdCI6eyJ0biI6WyI0Njg1MDAwMDUzNiJdfSwiaWF0IjoxNzk1MDAwMDAwLCJ"
    + "vcmlnIjp7InRuIjoiNDY3MDExMTExMTEifSwib3JpZ2lkIjoiMGY3YzNiMWUtN2E1Mi00ZjBlLTlhM2MtMGMxZDJlM2Y0YTViIn0.LG7"
    + "X-CEnKTmBEohuymJQoQi4HCKK_GAqoWmLapJK9NZyLOHazNe1dUVvgaJHjciwY__ZLudjehZkVZDz9o8FOA;info=<https://cert.e"
    + "xample.org/provider.pem>;alg=ES256;ppt=shaken"
  /// `iat` is text, as RFC 8588 prints it (erratum 6656).
  public static let textTime =
    "eyJhbGciOiJFUzI1NiIsInBwdCI6InNoYWtlbiIsInR5cCI6InBhc3Nwb3J0IiwieDV1IjoiaHR0cHM6Ly9jZXJ0LmV4YW1wbGUub3Jn"
    + "L3Byb3ZpZGVyLnBlbSJ9.eyJhdHRlc3QiOiJBIiwiZGVzdCI6eyJ0biI6WyI0Njg1MDAwMDUzNiJdfSwiaWF0IjoiMTc5NTAwMDAwMCI"
    + "sIm9yaWciOnsidG4iOiI0NjcwMTExMTExMSJ9LCJvcmlnaWQiOiIwZjdjM2IxZS03YTUyLTRmMGUtOWEzYy0wYzFkMmUzZjRhNWIifQ."
    + "sp5AG2JLSvhIjYObW2sfz-NxmdJGo6b3i_DLQu4TS1SHm9IBx3aA8E6HVTj_aizZluTkB2gyRgkl0ThI3Som6w;info=<https://cer"
    + "t.example.org/provider.pem>;alg=ES256;ppt=shaken"
  /// For +46702222222 calling.
  public static let otherCaller =
    "eyJhbGciOiJFUzI1NiIsInBwdCI6InNoYWtlbiIsInR5cCI6InBhc3Nwb3J0IiwieDV1IjoiaHR0cHM6Ly9jZXJ0LmV4YW1wbGUub3Jn"
    + "L3Byb3ZpZGVyLnBlbSJ9.eyJhdHRlc3QiOiJBIiwiZGVzdCI6eyJ0biI6WyI0Njg1MDAwMDUzNiJdfSwiaWF0IjoxNzk1MDAwMDAwLCJ"
    + "vcmlnIjp7InRuIjoiNDY3MDIyMjIyMjIifSwib3JpZ2lkIjoiMGY3YzNiMWUtN2E1Mi00ZjBlLTlhM2MtMGMxZDJlM2Y0YTViIn0.cv5"
    + "sk0yI8cD2AizZzAznTtnwKSZxfBpVz4SXS0UtlPvxGl-ipnLJHuYBpGWgwC1I5r5QDFCuAmshi4AEMVcdZQ;info=<https://cert.e"
    + "xample.org/provider.pem>;alg=ES256;ppt=shaken"
  /// For a call to +46850000999, which ``diversion`` leads on.
  public static let otherCalled =
    "eyJhbGciOiJFUzI1NiIsInBwdCI6InNoYWtlbiIsInR5cCI6InBhc3Nwb3J0IiwieDV1IjoiaHR0cHM6Ly9jZXJ0LmV4YW1wbGUub3Jn"
    + "L3Byb3ZpZGVyLnBlbSJ9.eyJhdHRlc3QiOiJBIiwiZGVzdCI6eyJ0biI6WyI0Njg1MDAwMDk5OSJdfSwiaWF0IjoxNzk1MDAwMDAwLCJ"
    + "vcmlnIjp7InRuIjoiNDY3MDExMTExMTEifSwib3JpZ2lkIjoiMGY3YzNiMWUtN2E1Mi00ZjBlLTlhM2MtMGMxZDJlM2Y0YTViIn0.nbn"
    + "ogwSRAeCpKd0eTRwekIrNUJ1tnUqrAq5AczFriqz7KpNbq3GSqUiJIoY2gfjjYtucf0IkTDAJR7ezGF9AxA;info=<https://cert.e"
    + "xample.org/provider.pem>;alg=ES256;ppt=shaken"
  /// Its certificate is at another address.
  public static let elsewhere =
    "eyJhbGciOiJFUzI1NiIsInBwdCI6InNoYWtlbiIsInR5cCI6InBhc3Nwb3J0IiwieDV1IjoiaHR0cHM6Ly9jZXJ0LmV4YW1wbGUubmV0"
    + "L290aGVyLnBlbSJ9.eyJhdHRlc3QiOiJBIiwiZGVzdCI6eyJ0biI6WyI0Njg1MDAwMDUzNiJdfSwiaWF0IjoxNzk1MDAwMDAwLCJvcml"
    + "nIjp7InRuIjoiNDY3MDExMTExMTEifSwib3JpZ2lkIjoiMGY3YzNiMWUtN2E1Mi00ZjBlLTlhM2MtMGMxZDJlM2Y0YTViIn0.gxVDZbl"
    + "6uuBevKkHmbO8e98onXhytOrSDFTXVgRWLZW0mxQ6r3ZjXLLjG-6h3AWNlPtkIBwCk48pt91AoqCuSg;info=<https://cert.examp"
    + "le.net/other.pem>;alg=ES256;ppt=shaken"
  /// Its certificate is at a private address.
  public static let inside =
    "eyJhbGciOiJFUzI1NiIsInBwdCI6InNoYWtlbiIsInR5cCI6InBhc3Nwb3J0IiwieDV1IjoiaHR0cHM6Ly8xMC4wLjAuMS9wcm92aWRl"
    + "ci5wZW0ifQ.eyJhdHRlc3QiOiJBIiwiZGVzdCI6eyJ0biI6WyI0Njg1MDAwMDUzNiJdfSwiaWF0IjoxNzk1MDAwMDAwLCJvcmlnIjp7I"
    + "nRuIjoiNDY3MDExMTExMTEifSwib3JpZ2lkIjoiMGY3YzNiMWUtN2E1Mi00ZjBlLTlhM2MtMGMxZDJlM2Y0YTViIn0.mmuKQh_DhWLF-"
    + "xwjSHVPv00uKTCJUHKohem1kwpGL9gBlU0ggR4WVOV61S7Y3qwZ2jKxPOsb5wlkOGNGfHXpkQ;info=<https://10.0.0.1/provide"
    + "r.pem>;alg=ES256;ppt=shaken"
  /// Its certificate is fetched without TLS.
  public static let plain =
    "eyJhbGciOiJFUzI1NiIsInBwdCI6InNoYWtlbiIsInR5cCI6InBhc3Nwb3J0IiwieDV1IjoiaHR0cDovL2NlcnQuZXhhbXBsZS5vcmcv"
    + "cHJvdmlkZXIucGVtIn0.eyJhdHRlc3QiOiJBIiwiZGVzdCI6eyJ0biI6WyI0Njg1MDAwMDUzNiJdfSwiaWF0IjoxNzk1MDAwMDAwLCJv"
    + "cmlnIjp7InRuIjoiNDY3MDExMTExMTEifSwib3JpZ2lkIjoiMGY3YzNiMWUtN2E1Mi00ZjBlLTlhM2MtMGMxZDJlM2Y0YTViIn0.Hg2h"
    + "X1JP8u8BKYYbNIW9MVM1XPver-ZEPoJLEvivOVVHkb5CGIgjPlophJ5IvfVDxQGiBWDXoUuYHxTLdY8VPg;info=<http://cert.exa"
    + "mple.org/provider.pem>;alg=ES256;ppt=shaken"
  /// Demands an extension of JSON Web Signatures.
  public static let critical =
    "eyJhbGciOiJFUzI1NiIsImNyaXQiOlsiYjY0Il0sInBwdCI6InNoYWtlbiIsInR5cCI6InBhc3Nwb3J0IiwieDV1IjoiaHR0cHM6Ly9j"
    + "ZXJ0LmV4YW1wbGUub3JnL3Byb3ZpZGVyLnBlbSJ9.eyJhdHRlc3QiOiJBIiwiZGVzdCI6eyJ0biI6WyI0Njg1MDAwMDUzNiJdfSwiaWF"
    + "0IjoxNzk1MDAwMDAwLCJvcmlnIjp7InRuIjoiNDY3MDExMTExMTEifSwib3JpZ2lkIjoiMGY3YzNiMWUtN2E1Mi00ZjBlLTlhM2MtMGM"
    + "xZDJlM2Y0YTViIn0.YMhfLrOOEjF8kD-YKIRzlsZBxNCSyiOJu-uGhmksrZDmKOjwNMPLntIq5bScAGW8xcCJ0GbcFhO5k6NPGZ1J8A;"
    + "info=<https://cert.example.org/provider.pem>;alg=ES256;ppt=shaken"
  /// +46850000999 diverted to +46850000536.
  public static let diversion =
    "eyJhbGciOiJFUzI1NiIsInBwdCI6ImRpdiIsInR5cCI6InBhc3Nwb3J0IiwieDV1IjoiaHR0cHM6Ly9jZXJ0LmV4YW1wbGUub3JnL3By"
    + "b3ZpZGVyLnBlbSJ9.eyJkZXN0Ijp7InRuIjpbIjQ2ODUwMDAwNTM2Il19LCJkaXYiOnsidG4iOiI0Njg1MDAwMDk5OSJ9LCJpYXQiOjE"
    + "3OTUwMDAwMDAsIm9yaWciOnsidG4iOiI0NjcwMTExMTExMSJ9fQ.ZwHg2o5GOePaJOmly03-OO4a-Wx9eJRGmJjO6bLZumeeByDVN2t-"
    + "KdFzGb6P4j0Q5q6cKwRVCYvOFBeGELjjNA;info=<https://cert.example.org/provider.pem>;alg=ES256;ppt=div"
  /// The same, of another caller.
  public static let diversionOfAnother =
    "eyJhbGciOiJFUzI1NiIsInBwdCI6ImRpdiIsInR5cCI6InBhc3Nwb3J0IiwieDV1IjoiaHR0cHM6Ly9jZXJ0LmV4YW1wbGUub3JnL3By"
    + "b3ZpZGVyLnBlbSJ9.eyJkZXN0Ijp7InRuIjpbIjQ2ODUwMDAwNTM2Il19LCJkaXYiOnsidG4iOiI0Njg1MDAwMDk5OSJ9LCJpYXQiOjE"
    + "3OTUwMDAwMDAsIm9yaWciOnsidG4iOiI0NjcwMjIyMjIyMiJ9fQ.8py1_ixC2kn3eq97J2C4FElJNgkqedUfCIeIh0r9tXsOwcYiKa3l"
    + "2SbHQAHW7AXKPTTCECHIbE89TfkM0fuqFw;info=<https://cert.example.org/provider.pem>;alg=ES256;ppt=div"
  /// +46850000888 diverted to +46850000536.
  public static let secondDiversion =
    "eyJhbGciOiJFUzI1NiIsInBwdCI6ImRpdiIsInR5cCI6InBhc3Nwb3J0IiwieDV1IjoiaHR0cHM6Ly9jZXJ0LmV4YW1wbGUub3JnL3By"
    + "b3ZpZGVyLnBlbSJ9.eyJkZXN0Ijp7InRuIjpbIjQ2ODUwMDAwNTM2Il19LCJkaXYiOnsidG4iOiI0Njg1MDAwMDg4OCJ9LCJpYXQiOjE"
    + "3OTUwMDAwMDAsIm9yaWciOnsidG4iOiI0NjcwMTExMTExMSJ9fQ.a2j4jmvl4aSelT1hVQPJ5NOuzaDeGF0BU6qnadl9UW9hs-qovDl_"
    + "h1OC-3jSsalS_hPSl5HHi6VUir6oV0I13A;info=<https://cert.example.org/provider.pem>;alg=ES256;ppt=div"
  /// +46850000999 diverted to +46850000888.
  public static let firstDiversion =
    "eyJhbGciOiJFUzI1NiIsInBwdCI6ImRpdiIsInR5cCI6InBhc3Nwb3J0IiwieDV1IjoiaHR0cHM6Ly9jZXJ0LmV4YW1wbGUub3JnL3By"
    + "b3ZpZGVyLnBlbSJ9.eyJkZXN0Ijp7InRuIjpbIjQ2ODUwMDAwODg4Il19LCJkaXYiOnsidG4iOiI0Njg1MDAwMDk5OSJ9LCJpYXQiOjE"
    + "3OTUwMDAwMDAsIm9yaWciOnsidG4iOiI0NjcwMTExMTExMSJ9fQ.75CB_j7zobpMnLschorAhxAOyRy698-Xq_88xk7a8H2cvUfe14bT"
    + "-1ptWW7P04t37rE6gCGa0_0WjHzseSJVhQ;info=<https://cert.example.org/provider.pem>;alg=ES256;ppt=div"
  /// As ``diversion``, signed with another key.
  public static let forgedDiversion =
    "eyJhbGciOiJFUzI1NiIsInBwdCI6ImRpdiIsInR5cCI6InBhc3Nwb3J0IiwieDV1IjoiaHR0cHM6Ly9jZXJ0LmV4YW1wbGUub3JnL3By"
    + "b3ZpZGVyLnBlbSJ9.eyJkZXN0Ijp7InRuIjpbIjQ2ODUwMDAwNTM2Il19LCJkaXYiOnsidG4iOiI0Njg1MDAwMDk5OSJ9LCJpYXQiOjE"
    + "3OTUwMDAwMDAsIm9yaWciOnsidG4iOiI0NjcwMTExMTExMSJ9fQ.lkEmCM25zGaq8hTENP1I-C00ycTn4-pUZR29Ko1qsnnxvHbakEmP"
    + "j62eOqdpdO0KCQceGPlZGbxN5tBV_gZeJQ;info=<https://cert.example.org/provider.pem>;alg=ES256;ppt=div"
}
