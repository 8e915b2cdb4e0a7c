import CallModel
import LandlineOutbound
import NIOCore
import NIOEmbedded
import SIPCore
import TestVectors

/// Signed callers: the fields of a call, what is fetched for them, and how.
enum IdentityDoors {
  static let all = [
    FuzzDoor("sip-identity", "Identity fields, one a line", dictionary: "token", maximumBytes: 16_384, fields),
    FuzzDoor(
      "stir-certificate", "what a certificate's address holds", dictionary: "token", maximumBytes: 32_768, certificate),
    FuzzDoor("stir-numbers", "the TNAuthList of a certificate", dictionary: "binary", maximumBytes: 8192, numbers),
    FuzzDoor("web-address", "an address that others chose", dictionary: "sip", maximumBytes: 2500, address),
    FuzzDoor(
      "web-answer", "what a web server sends, cut at bytes 0x1E", dictionary: "rest", maximumBytes: 8192, answer),
  ]

  private static let clock = Instant(seconds: SignedCaller.unixSeconds)
  private static let authorities = (try? IdentityAuthorities(pems: [Array(SignedCaller.authority.utf8)])) ?? .init()
  private static let signed = [
    SignedCaller.full, SignedCaller.partial, SignedCaller.gateway, SignedCaller.otherCalled,
  ].map { String($0.prefix { $0 != ";" }) }

  private static func examine(_ fields: [String]) -> IdentityExamination {
    IdentityExamination(
      fields,
      for: .init(
        caller: try? E164Number(SignedCaller.caller), called: (try? E164Number(SignedCaller.called)).map { [$0] } ?? []),
      at: clock)
  }

  /// Nothing is verified that was not signed, and nothing is fetched from anywhere but by https.
  private static func fields(_ input: [UInt8]) throws(BrokenPromise) {
    let fields = input.split(separator: 0x0A, omittingEmptySubsequences: false).map {
      String(decoding: $0, as: UTF8.self)
    }
    let examination = examine(fields)
    let wanted = examination.wanted
    try promise(wanted.count <= IdentityExamination.maximumFields, "\(wanted.count) certificates")
    for address in wanted { try promise(address.text.lowercased().hasPrefix("https://"), "\(address) is fetched") }
    let answers = Dictionary(
      uniqueKeysWithValues: wanted.map {
        ($0, IdentityExamination.Certificate.fetched(Array(SignedCaller.provider.utf8)))
      })
    switch examination.verdict(answers, authorities, at: clock) {
    case .absent, .failed: break
    case .late: throw BrokenPromise(description: "late, and nothing was")
    case .verified:
      try promise(signed.contains { token in fields.contains { $0.contains(token) } }, "verified, and nobody signed it")
    }
  }

  /// Only the signer's own certificate verifies what it signed.
  private static func certificate(_ input: [UInt8]) throws(BrokenPromise) {
    let examination = examine([SignedCaller.full])
    let answers = Dictionary(
      uniqueKeysWithValues: examination.wanted.map { ($0, IdentityExamination.Certificate.fetched(input)) })
    guard case .verified = examination.verdict(answers, authorities, at: clock) else { return }
    let letters = SignedCaller.provider.split(separator: "\n").filter { !$0.hasPrefix("-") }.joined()
    let isOwn =
      input.first == 0x30
      ? input == Base64.decode(Array(letters.utf8))
      : String(decoding: input.filter { $0 > 0x20 }, as: UTF8.self).contains(letters)
    try promise(isOwn, "verified with another certificate")
  }

  private static func numbers(_ input: [UInt8]) throws(BrokenPromise) {
    guard let authority = NumberAuthority(der: input) else { return }
    try promise((1...NumberAuthority.maximumEntries).contains(authority.entries.count), "too many entries")
    for entry in authority.entries {
      switch entry {
      case .provider: try promise(authority.covers("46850000536"), "a provider without numbers")
      case .one(let number): try promise(authority.covers(number), "\(number) is not covered")
      case .range(let first, let count):
        try promise(count >= 2, "a range of \(count)")
        if let value = UInt64(first), String(value).utf8.count == first.utf8.count {
          try promise(authority.covers(first), "\(first) is not covered")
        }
      }
    }
  }

  /// What is read says the same when it is put together again, and leads nowhere else.
  private static func address(_ input: [UInt8]) throws(BrokenPromise) {
    let text = String(decoding: input, as: UTF8.self)
    if let range = try? AddressGate.Range(text) {
      try promise((try? AddressGate.Range(range.description)) == range, "\(range) is another range")
      try promise(range.contains(range.host), "\(range) does not contain its own address")
    }
    guard let address = try? WebAddress(text) else { return }
    let whole = "https://\(address.host):\(address.port)\(address.target)"
    let again = try promised(try? WebAddress(whole), "\(whole) is none")
    try promise(
      again.host == address.host && again.port == address.port && again.target == address.target,
      "\(whole) is another address")
    try promise(address.target.hasPrefix("/") && !address.target.contains(" "), "the target is \(address.target)")
    if case .name = address.host { return }
    try promise(AddressGate().allows(address.host) != address.host.isInternal, "the gate and the host differ")
  }

  /// One result at most, one at the end of the connection, and never more bytes than were allowed.
  private static func answer(_ input: [UInt8]) throws(BrokenPromise) {
    let limit = 512
    guard let address = try? WebAddress(SignedCaller.address) else { return }
    var results: [Result<WebAnswer, WebProblem>] = []
    let channel = EmbeddedChannel()
    defer {
      _ = try? channel.finish()
      // A channel that has closed itself lets go of its handlers in the next turn of its loop.
      channel.embeddedEventLoop.run()
    }
    do {
      try channel.pipeline.syncOperations.addHandlers(WebAnswerHandler.codec)
      try channel.pipeline.syncOperations.addHandler(
        WebAnswerHandler(address, maximumBytes: limit, userAgent: "fuzz") { results.append($0) })
      try channel.connect(to: SocketAddress(ipAddress: "192.0.2.1", port: 443)).wait()
    } catch { throw BrokenPromise(description: "the channel does not start: \(error)") }
    for part in input.split(separator: 0x1E) { _ = try? channel.writeInbound(ByteBuffer(bytes: part)) }
    try promise(results.count <= 1, "\(results.count) results")
    channel.pipeline.fireChannelInactive()
    try promise(results.count == 1, "\(results.count) results at the end")
    guard case .success(let answer)? = results.first else { return }
    try promise(answer.body.count <= limit, "\(answer.body.count) bytes")
    if let seconds = answer.freshSeconds { try promise(seconds >= 0, "fresh for \(seconds) s") }
  }
}
