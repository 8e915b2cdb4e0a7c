import CallModel
import SIPCore
import Testing

/// REGISTER over time, without a transaction or a socket.
@Suite struct RegistrationMachineTests {
  private static func seconds(_ value: Int64) -> MonotonicInstant { MonotonicInstant(milliseconds: value * 1000) }

  private static let registrar = SIPURI(scheme: .sip, user: nil, host: .name("trunk.example"))
  private static let contact = NameAddress(
    SIPURI(scheme: .sip, user: "line", host: .ipv4(0xC000_0201), port: 5060))

  /// A source without jitter, unless another draw is given.
  private func machine(
    account: Bool = true, expires: UInt32 = 3600, draw: UInt64 = 0
  ) throws -> RegistrationMachine {
    let registration = OutgoingRegistration(
      registrar: Self.registrar, address: NameAddress(SIPURI(scheme: .sip, user: "4670", host: .name("trunk.example"))),
      contactUser: "line",
      account: account ? DigestAccount(username: "4670", password: Redacted("secret"), realm: "trunk") : nil,
      expires: expires)
    return try RegistrationMachine(
      registration, contact: Self.contact, identifiers: IdentifierSource { draw })
  }

  /// The requests among actions, and the states.
  private func split(_ actions: [RegistrationMachine.Action]) -> ([OutgoingRequest], [RegistrationState]) {
    var requests: [OutgoingRequest] = []
    var states: [RegistrationState] = []
    for action in actions {
      switch action {
      case .send(let request): requests.append(request)
      case .report(let state): states.append(state)
      }
    }
    return (requests, states)
  }

  private func field(_ name: String, _ request: OutgoingRequest?) -> String? {
    request?.fields.first { $0.name == name }?.value
  }

  private func challenge(_ nonce: String, stale: Bool = false) -> RegistrationResponse {
    RegistrationResponse(
      status: 401, phrase: "Unauthorized",
      challenges: [
        DigestField(
          .userAgent, "Digest realm=\"trunk\", nonce=\"\(nonce)\", qop=\"auth\"" + (stale ? ", stale=true" : ""))
      ])
  }

  private func success(_ expires: UInt32) -> RegistrationResponse {
    var contact = Self.contact
    contact.parameters = [SIPParameter("expires", "\(expires)")]
    return RegistrationResponse(status: 200, phrase: "OK", contacts: [contact])
  }

  @Test func `registers with a challenge, refreshes with the same nonce, and leaves`() throws {
    var machine = try machine()
    var (requests, states) = split(machine.start())
    #expect(states == [.registering])
    let first = try #require(requests.first)
    #expect(first.method == .register && first.uri == Self.registrar && first.cseq == 1)
    #expect(first.to.tag == nil && first.from.tag != nil && first.contact == Self.contact)
    #expect(field("Expires", first) == "3600")
    #expect(field("Authorization", first) == nil)
    let via = Via(
      transport: "UDP", host: .ipv4(0xC000_0201), port: 5060, parameters: [SIPParameter("branch", "z9hG4bK1")])
    let text = String(decoding: try first.encoded(via: via), as: UTF8.self)
    #expect(text.hasPrefix("REGISTER sip:trunk.example SIP/2.0\r\n") && text.contains("\r\nExpires: 3600\r\n"))

    (requests, states) = split(machine.respond(challenge("a"), to: 1, at: .zero))
    #expect(states.isEmpty && requests.map(\.cseq) == [2])
    #expect(requests.first?.callID == first.callID && requests.first?.from == first.from)
    #expect(field("Authorization", requests.first)?.contains("nc=00000001") == true)
    // A late copy of the first answer changes nothing.
    #expect(machine.respond(challenge("b"), to: 1, at: .zero).isEmpty)
    #expect(machine.respond(RegistrationResponse(status: 100), to: 2, at: .zero).isEmpty)

    (requests, states) = split(machine.respond(success(600), to: 2, at: .zero))
    #expect(requests.isEmpty && states == [.registered(expiresInSeconds: 600)])
    #expect(machine.nextDeadline == Self.seconds(540))
    #expect(machine.advance(to: Self.seconds(539)).isEmpty)

    (requests, states) = split(machine.advance(to: Self.seconds(540)))
    #expect(states.isEmpty && requests.map(\.cseq) == [3])
    #expect(field("Authorization", requests.first)?.contains("nc=00000002") == true)
    _ = machine.respond(success(600), to: 3, at: Self.seconds(540))

    (requests, states) = split(machine.stop())
    #expect(requests.map(\.cseq) == [4] && field("Expires", requests.first) == "0")
    (requests, states) = split(machine.respond(challenge("c", stale: true), to: 4, at: Self.seconds(541)))
    #expect(requests.map(\.cseq) == [5] && field("Expires", requests.first) == "0")
    (requests, states) = split(machine.respond(RegistrationResponse(status: 200), to: 5, at: Self.seconds(541)))
    #expect(requests.isEmpty && states == [.unregistered])
    #expect(machine.isOver && machine.nextDeadline == nil)
    #expect(machine.stop().isEmpty && machine.start().isEmpty)
  }

  /// Seconds granted, then when the refresh goes out, in milliseconds.
  @Test(arguments: [
    (3_600 as UInt32, 3_240_000 as Int64), (600, 540_000), (200, 170_000), (60, 30_000), (40, 20_000), (8, 5_000),
    (1, 5_000), (.max, 77_760_000),
  ])
  func `when a registration is refreshed`(_ granted: UInt32, _ due: Int64) throws {
    var still = try machine()
    _ = still.start()
    _ = still.respond(success(granted), to: 1, at: .zero)
    #expect(still.nextDeadline?.milliseconds == due)

    let draw: UInt64 = 0x9E37_79B9_7F4A_7C15
    var early = try machine(draw: draw)
    _ = early.start()
    _ = early.respond(success(granted), to: 1, at: .zero)
    let time = try #require(early.nextDeadline?.milliseconds)
    #expect(time <= due && time >= min(due, max(5_000, due - due / 20)), "drawn \(draw)")
  }

  /// Where the life of a registration is read from.
  @Test func `what a 200 grants`() throws {
    var moved = NameAddress(SIPURI(scheme: .sip, user: "line", host: .ipv4(0x0808_0808), port: 40_000))
    moved.parameters = [SIPParameter("expires", "300")]
    var ours = Self.contact
    ours.uri.port = nil
    let bare = NameAddress(SIPURI(scheme: .sip, user: "line", host: .ipv4(0x0808_0808)))
    let table: [(String, RegistrationResponse, UInt32?)] = [
      ("ours among others", RegistrationResponse(status: 200, contacts: [moved] + success(120).contacts), 120),
      ("rewritten by the registrar", RegistrationResponse(status: 200, contacts: [moved]), 300),
      ("Expires, port left out", RegistrationResponse(status: 200, contacts: [bare, ours], expires: 240), 240),
      ("Expires alone", RegistrationResponse(status: 200, expires: 180), 180),
      ("neither: what was asked", RegistrationResponse(status: 200, contacts: [ours]), 3_600),
      ("nothing at all", RegistrationResponse(status: 200), nil),
      ("taken away", success(0), nil),
    ]
    for (name, response, granted) in table {
      var machine = try machine()
      _ = machine.start()
      let (_, states) = split(machine.respond(response, to: 1, at: .zero))
      let malformed = RegistrationFailure(kind: .malformed, status: 200, phrase: response.phrase)
      #expect(
        states == [
          granted.map { .registered(expiresInSeconds: $0) } ?? .retrying(malformed, afterMilliseconds: 30_000)
        ],
        "\(name)")
    }
  }

  /// A status with its Retry-After, then what it means; `nil` is no answer at all.
  @Test(arguments: [
    (nil as Int?, nil as Int?, RegistrationFailure.Kind.unreachable, 30_000 as Int64?),
    (503, nil, .temporary, 30_000), (503, 120, .temporary, 120_000), (500, 0, .temporary, 10_000),
    (503, 86_400, .temporary, 3_600_000), (408, nil, .temporary, 30_000), (480, nil, .temporary, 30_000),
    (403, nil, .refused, nil), (404, nil, .refused, nil), (603, nil, .refused, nil), (302, nil, .refused, nil),
    (400, nil, .refused, nil), (501, nil, .refused, nil), (423, nil, .malformed, nil),
  ])
  func `what a failure means`(
    _ status: Int?, _ retryAfter: Int?, _ kind: RegistrationFailure.Kind, _ delay: Int64?
  ) throws {
    var machine = try machine()
    _ = machine.start()
    let actions =
      if let status {
        machine.respond(
          RegistrationResponse(status: status, phrase: "No", retryAfterSeconds: retryAfter), to: 1, at: .zero)
      } else { machine.fail(1, at: .zero) }
    let failure = RegistrationFailure(kind: kind, status: status, phrase: status == nil ? "" : "No")
    #expect(
      split(actions).1 == [delay.map { .retrying(failure, afterMilliseconds: $0) } ?? .failed(failure)])
    #expect(machine.nextDeadline?.milliseconds == delay)
    #expect(machine.isOver == (delay == nil))
  }

  @Test func `retries double up to half an hour and start over after a success`() throws {
    var machine = try machine()
    _ = machine.start()
    var sequence: UInt32 = 1
    var now = MonotonicInstant.zero
    for delay: Int64 in [30, 60, 120, 240, 480, 960, 1_800, 1_800, 1_800] {
      _ = machine.fail(sequence, at: now)
      let deadline = try #require(machine.nextDeadline)
      #expect(deadline.milliseconds(since: now) == delay * 1000)
      now = deadline
      let (requests, states) = split(machine.advance(to: now))
      #expect(states == [.registering])
      sequence = try #require(requests.first?.cseq)
    }
    _ = machine.respond(success(600), to: sequence, at: now)
    now = try #require(machine.nextDeadline)
    sequence = try #require(split(machine.advance(to: now)).0.first?.cseq)
    _ = machine.fail(sequence, at: now)
    #expect(machine.nextDeadline == now.advanced(byMilliseconds: 30_000))
  }

  @Test func `credentials that are refused are never sent again`() throws {
    let refused = RegistrationState.failed(
      RegistrationFailure(kind: .credentials, status: 401, phrase: "Unauthorized"))
    var wrong = try machine()
    _ = wrong.start()
    _ = wrong.respond(challenge("a"), to: 1, at: .zero)
    #expect(split(wrong.respond(challenge("b"), to: 2, at: .zero)).1 == [refused])
    #expect(wrong.isOver && wrong.nextDeadline == nil)
    #expect(wrong.advance(to: Self.seconds(1_000_000)).isEmpty && wrong.start().isEmpty)

    var without = try machine(account: false)
    _ = without.start()
    #expect(split(without.respond(challenge("a"), to: 1, at: .zero)).1 == [refused])

    // Stale nonces without end say nothing against the password.
    var stale = try machine()
    _ = stale.start()
    _ = stale.respond(challenge("a"), to: 1, at: .zero)
    #expect(split(stale.respond(challenge("b", stale: true), to: 2, at: .zero)).0.count == 1)
    _ = stale.respond(challenge("c", stale: true), to: 3, at: .zero)
    #expect(stale.nextDeadline != nil)
  }

  @Test func `423 is obeyed twice and within reason`() throws {
    for (minimum, isObeyed): (UInt32?, Bool) in [
      (7_200, true), (nil, false), (60, false), (3_600, false), (86_401, false),
    ] {
      var machine = try machine()
      _ = machine.start()
      let (requests, _) = split(
        machine.respond(RegistrationResponse(status: 423, minimumExpires: minimum), to: 1, at: .zero))
      #expect(field("Expires", requests.first) == (isObeyed ? "7200" : nil), "\(minimum ?? 0)")
      #expect(machine.isOver != isObeyed)
    }
    var climbing = try machine()
    _ = climbing.start()
    for (sequence, minimum): (UInt32, UInt32) in [(1, 4_000), (2, 5_000), (3, 6_000)] {
      _ = climbing.respond(RegistrationResponse(status: 423, minimumExpires: minimum), to: sequence, at: .zero)
    }
    #expect(climbing.isOver)
  }

  @Test func `a stop waits for the REGISTER under way`() throws {
    var bound = try machine()
    _ = bound.start()
    #expect(bound.stop().isEmpty)
    let (requests, states) = split(bound.respond(success(600), to: 1, at: .zero))
    #expect(states == [.registered(expiresInSeconds: 600)])
    #expect(field("Expires", requests.first) == "0")
    #expect(split(bound.fail(2, at: .zero)).1 == [.unregistered])

    var refused = try machine()
    _ = refused.start()
    _ = refused.stop()
    #expect(split(refused.respond(RegistrationResponse(status: 403), to: 1, at: .zero)).1.last == .unregistered)
    #expect(refused.isOver)

    var fresh = try machine()
    #expect(split(fresh.stop()).1 == [.unregistered])
  }
}
