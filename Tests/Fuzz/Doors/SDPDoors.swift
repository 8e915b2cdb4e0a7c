import CallModel
import SDPCore

/// Session descriptions as browsers, trunks and gateways send them.
enum SDPDoors {
  static let all = [
    FuzzDoor("sdp-read", "a session description", dictionary: "sdp", maximumBytes: 17_000, read),
    FuzzDoor("sdp-answer", "an offer that is answered", dictionary: "sdp", maximumBytes: 16_384, answer),
    FuzzDoor("sdp-accept", "the answer to an offer of ours", dictionary: "sdp", maximumBytes: 16_384, accept),
    FuzzDoor("sdp-call", "offers and answers in a row, a 0x1E between", dictionary: "sdp", maximumBytes: 16_384, call),
    FuzzDoor("sdp-crypto", "a crypto attribute", dictionary: "sdp", maximumBytes: 512, crypto),
  ]

  static let host = SIPHost.ipv4(0x7F00_0001)
  private static let policies = [MediaPolicy.app, .client, .trunk([.none, .sdes])]
  static let local = LocalMedia(
    host: host, port: 4000, keyMaterial: Array(repeating: 7, count: LocalMedia.keyMaterialLength),
    fingerprint: CertificateFingerprint(hash: .sha256, bytes: Array(repeating: 9, count: 32)),
    iceCredentials: ICECredentials(userFragment: "abcd", password: "abcdefghijklmnopqrstuv"), source: 1)

  /// What was read is written so that it reads the same, and within the limits.
  private static func read(_ input: [UInt8]) throws(BrokenPromise) {
    guard let description = try? SessionDescription(parsing: input) else { return }
    let limits = SessionDescriptionLimits.standard
    try promise(description.media.count <= limits.mediaSections, "\(description.media.count) media")
    try promise(description.attributes.count <= limits.attributes, "\(description.attributes.count) attributes")
    for media in description.media {
      try promise(media.formats.count <= limits.formats, "\(media.formats.count) formats")
      try promise(media.attributes.count <= limits.attributes, "\(media.attributes.count) attributes")
    }
    _ = (description.sections, description.bundleGroups, description.description)
    guard let again = try? SessionDescription(parsing: Array(description.text.utf8)) else {
      // A few bytes more may pass a limit.
      try promise(input.count > limits.bytes / 2, "what was written is refused: \(description.text)")
      return
    }
    try promise(again == description, "another description: \(again.text)")
  }

  /// An answer of ours has as many media as the offer, and is one that can be read.
  private static func answer(_ input: [UInt8]) throws(BrokenPromise) {
    guard let offer = try? SessionDescription(parsing: input) else { return }
    for policy in policies {
      var exchange = OfferAnswer(sessionID: 1, host: host, policy: policy)
      guard let answer = try? exchange.answer(offer, from: local) else { continue }
      try promise(answer.description.media.count == offer.media.count, "another count of media")
      try check(answer.plan, policy)
      try check(answer.description)
      guard let second = try? exchange.answer(offer, from: local) else {
        throw BrokenPromise(description: "the same offer is refused the second time")
      }
      try promise(second.plan.remote == answer.plan.remote, "the same offer leads elsewhere")
      _ = exchange.restartsICE(offer)
    }
  }

  private static func accept(_ input: [UInt8]) throws(BrokenPromise) {
    guard let answer = try? SessionDescription(parsing: input) else { return }
    for policy in policies {
      var exchange = OfferAnswer(sessionID: 1, host: host, policy: policy)
      guard (try? exchange.offer(from: local)) != nil, let plan = try? exchange.accept(answer) else { continue }
      try check(plan, policy)
      try promise(!exchange.isOfferPending, "the offer still waits")
    }
  }

  /// The state that one description leaves is what the next one meets.
  private static func call(_ input: [UInt8]) throws(BrokenPromise) {
    guard let first = input.first else { return }
    let policy = policies[Int(first) % policies.count]
    var exchange = OfferAnswer(sessionID: 1, host: host, policy: policy)
    var isOurs = first & 0x40 != 0
    for part in input.dropFirst().split(separator: 0x1E).prefix(12) {
      if isOurs, let offer = try? exchange.offer(from: local) { try check(offer) }
      guard let description = try? SessionDescription(parsing: Array(part)) else {
        exchange.withdrawOffer()
        isOurs.toggle()
        continue
      }
      if exchange.isOfferPending {
        if let plan = try? exchange.accept(description) { try check(plan, policy) }
        exchange.withdrawOffer()
      } else if let answer = try? exchange.answer(description, from: local) {
        try check(answer.plan, policy)
        try check(answer.description)
        try promise(answer.description.media.count == description.media.count, "another count of media")
      }
      isOurs.toggle()
    }
  }

  private static func check(_ description: SessionDescription) throws(BrokenPromise) {
    let again = try promised(
      try? SessionDescription(parsing: Array(description.text.utf8)), "our own text is refused: \(description.text)")
    try promise(again == description, "our own text says something else: \(description.text)")
  }

  private static func check(_ plan: MediaPlan, _ policy: MediaPolicy) throws(BrokenPromise) {
    try promise(MediaPolicy.packetTimes.contains(plan.audio.packetTime), "packets of \(plan.audio.packetTime) ms")
    try promise((0...65_535).contains(plan.remote.port), "port \(plan.remote.port)")
    try promise(policy.codecs.contains(plan.audio.send.codec), "a codec that nobody wanted")
    switch plan.protection {
    case .none: try promise(policy.protection.contains(.none), "no protection where one is wanted")
    case .sdes: try promise(policy.protection.contains(.sdes), "keys in the text where none are wanted")
    case .dtls(let terms):
      try promise(policy.protection.contains(.dtls), "DTLS where none is wanted")
      try promise(terms.fingerprints.allSatisfy(\.isAcceptable) && !terms.fingerprints.isEmpty, "a weak fingerprint")
    }
  }

  private static func crypto(_ input: [UInt8]) throws(BrokenPromise) {
    let text = String(decoding: input, as: UTF8.self)
    guard case .usable(let tag, let suite, let key) = CryptoAttribute(text).verdict else { return }
    try promise((0...999_999_999).contains(tag), "tag \(tag)")
    let count = key.keyAndSalt.exposed.count
    try promise(count == suite.keyLength + suite.saltLength, "a key of \(count) bytes")
    if let lifetime = key.lifetime {
      try promise((1...SRTPMasterKey.maximumLifetime).contains(lifetime), "a lifetime of \(lifetime)")
    }
  }
}
