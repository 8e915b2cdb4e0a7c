import CallModel
import MediaCore
import SDPCore
import SecureTransport
import Synchronization
import Testing

/// An endpoint on one side of a bridge, and another one on its other side or none, in memory, with a clock that the test
/// moves. The left one is an app with DTLS and ICE, the right one speaks plain RTP.
final class EndpointNetwork {
  enum End: Int { case left, right }

  private struct Flying {
    let due: MonotonicInstant
    let order: Int
    /// From an endpoint to the bridge.
    let isInward: Bool
    let end: End
    let port: MediaPort
    let source: MediaAddress
    let bytes: [UInt8]
  }

  private static let appPort = MediaPort(rawValue: 1)
  private static let appAddress = MediaAddress(ipv4: 0x7F00_0001, port: 4_000)
  private static let trunkPort = MediaPort(rawValue: 2)
  private static let trunkControl = MediaPort(rawValue: 3)
  private static let trunkAddress = MediaAddress(ipv4: 0x7F00_0001, port: 5_000)
  private static let client = ClientTransport.Local(
    port: MediaPort(rawValue: 11), address: MediaAddress(ipv4: 0x7F00_0002, port: 6_000))
  private static let phonePort = MediaPort(rawValue: 12)
  private static let phoneControl = MediaPort(rawValue: 13)
  private static let phoneAddress = MediaAddress(ipv4: 0x7F00_0003, port: 7_000)

  let bridge: MediaBridge
  let left: AudioEndpoint
  let right: AudioEndpoint?
  var now = MonotonicInstant(milliseconds: 1_000)
  var bridgeEvents: [MediaEvent] = []
  var events: [End: [AudioEndpoint.Event]] = [.left: [], .right: []]
  /// Percent of the datagrams that bear media.
  var lost = 0
  /// Datagrams that the app sends and is sent are lost.
  var isLeftCut = false
  /// Milliseconds by which a datagram may be later than another, at most.
  var uneven: Int64 = 0
  /// Of the bridge's packets to the right, so many pass before one of padding alone comes behind them; 0: none does.
  var paddedEvery: UInt16 = 0
  private var paddings: UInt16 = 0
  /// What each endpoint plays.
  var played: [End: [Int16]] = [.left: [], .right: []]
  /// What each endpoint is given to send; silence behind its end.
  var spoken: [End: [Int16]] = [.left: [], .right: []]
  private var position: [End: Int] = [.left: 0, .right: 0]
  private let samplingRate: Int
  /// What app and bridge agree by.
  private var app: (policies: (MediaPolicy, MediaPolicy), locals: (LocalMedia, LocalMedia))
  private var flying: [Flying] = []
  private var order = 0
  private var random = DTMFChance(state: 7)
  private let outbox = PacketOutbox()
  private let packet = PacketBuffer()

  /// A repeatable generator (xorshift).
  private struct DTMFChance: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
      state ^= state << 13
      state ^= state >> 7
      state ^= state << 17
      return state
    }
  }

  /// `rightCodec` nil: the bridge has one leg.
  init(_ leftCodec: AudioCodec, _ rightCodec: AudioCodec?, samplingRate: Int = 48_000, packetTime: Int = 20) throws {
    self.samplingRate = samplingRate
    let (clientCertificate, gatewayCertificate) = (try DTLSCertificate(), try DTLSCertificate())
    let draws = Mutex(DTMFChance(state: 99))
    let ours = try #require(ICECredentials(userFragment: "client", password: "clientclientclientclient"))
    let theirs = try #require(ICECredentials(userFragment: "gateway", password: "gatewaygatewaygateway00"))
    func stream(_ number: UInt32) -> MediaLegConfiguration.Stream {
      .init(
        source: number * 1_000, sequence: 10, timestamp: 90_000, canonicalName: "test", seed: UInt64(number),
        unixMicroseconds: 1_700_000_000_000_000)
    }
    let workspace = MediaWorkspace()
    bridge = MediaBridge(MediaBridge.Identifier(rawValue: 1), workspace: workspace, at: now)
    bridge.attach(
      .near,
      MediaLegConfiguration(
        .app(.init(port: Self.appPort, certificate: gatewayCertificate, credentials: theirs)), stream: stream(1)),
      at: now)
    var configuration = AudioEndpoint.Configuration(
      MediaLegConfiguration(
        .client(
          .init(
            locals: [Self.client], certificate: clientCertificate, credentials: ours,
            draw: { draws.withLock { $0.next() } })), stream: stream(2)))
    configuration.samplingRate = samplingRate
    left = AudioEndpoint(configuration, workspace: workspace, at: now)
    if rightCodec != nil {
      bridge.attach(
        .far,
        MediaLegConfiguration(
          .trunk(.init(port: Self.trunkPort, controlPort: Self.trunkControl)), stream: stream(3)), at: now)
      var phone = AudioEndpoint.Configuration(
        MediaLegConfiguration(
          .trunk(.init(port: Self.phonePort, controlPort: Self.phoneControl)), stream: stream(4)))
      phone.samplingRate = samplingRate
      right = AudioEndpoint(phone, workspace: workspace, at: now)
    } else {
      right = nil
    }
    var policy = MediaPolicy.client
    policy.codecs = [leftCodec]
    policy.packetTime = packetTime
    let offering = LocalMedia(
      host: .ipv4(0x7F00_0002), port: 6_000, fingerprint: clientCertificate.fingerprint, iceCredentials: ours,
      candidates: [Self.client.candidate])
    let answering = LocalMedia(
      host: .ipv4(0x7F00_0001), port: 4_000, fingerprint: gatewayCertificate.fingerprint, iceCredentials: theirs,
      candidates: [
        ICECandidate(foundation: "1", component: 1, priority: 2_130_706_431, address: "127.0.0.1", port: 4_000)
      ])
    var app = MediaPolicy.app
    app.codecs = AudioCodec.allCases
    self.app = ((policy, app), (offering, answering))
    let plans = try Self.agree(policy, offering, app, answering)
    command(.plan(.near, plans.answerer))
    handle(.plan(plans.offerer), .left)
    guard let rightCodec else { return }
    let trunk = try Self.agree(
      MediaPolicy(codecs: [rightCodec], protection: .none), LocalMedia(host: .ipv4(0x7F00_0001), port: 5_000),
      MediaPolicy(codecs: [rightCodec], protection: .none), LocalMedia(host: .ipv4(0x7F00_0003), port: 7_000))
    command(.plan(.far, trunk.offerer))
    handle(.plan(trunk.answerer), .right)
  }

  /// The app finds another way for the same keys.
  func restartICE() throws {
    let ours = try #require(ICECredentials(userFragment: "client2", password: "client2client2client2222"))
    let theirs = try #require(ICECredentials(userFragment: "gateway2", password: "gateway2gateway2gateway2"))
    app.locals.0.iceCredentials = ours
    app.locals.1.iceCredentials = theirs
    let plans = try Self.agree(app.policies.0, app.locals.0, app.policies.1, app.locals.1)
    command(.restartICE(.near, theirs))
    command(.plan(.near, plans.answerer))
    handle(.restart(ours, locals: nil), .left)
    handle(.plan(plans.offerer), .left)
  }

  private static func agree(
    _ first: MediaPolicy, _ offering: LocalMedia, _ second: MediaPolicy, _ answering: LocalMedia
  ) throws -> (offerer: MediaPlan, answerer: MediaPlan) {
    var offerer = OfferAnswer(sessionID: 1, host: offering.host, policy: first)
    var answerer = OfferAnswer(sessionID: 2, host: answering.host, policy: second)
    let offer = try SessionDescription(parsing: Array(offerer.offer(from: offering).text.utf8))
    let (answer, plan) = try answerer.answer(offer, from: answering)
    return (try offerer.accept(SessionDescription(parsing: Array(answer.text.utf8))), plan)
  }

  func command(_ command: MediaCommand) {
    bridge.handle(command, at: now, outbox: outbox, events: &bridgeEvents)
    collect(from: nil)
  }

  func handle(_ command: AudioEndpoint.Command, _ end: End) {
    endpoint(end)?.handle(command, at: now, outbox: outbox, events: &events[end, default: []])
    collect(from: end)
  }

  private func endpoint(_ end: End) -> AudioEndpoint? { end == .left ? left : right }

  /// Until the app's keys are there.
  func join() throws {
    for _ in 0..<100 {
      run(milliseconds: 20)
      if has(.left, where: { if case .secured = $0 { true } else { false } }) { return }
    }
    Issue.record("no keys: \(events)")
  }

  func has(_ end: End, where fits: (AudioEndpoint.Event) -> Bool) -> Bool {
    events[end, default: []].contains(where: fits)
  }

  /// Moves the clock; every 20 ms each endpoint speaks and plays one piece.
  func run(milliseconds: Int64) {
    for _ in 0..<(milliseconds / 20) {
      speak(.left)
      speak(.right)
      advance(20)
      played[.left]? += left.nextFrame(at: now)
      if let right { played[.right]? += right.nextFrame(at: now) }
    }
  }

  private func speak(_ end: End) {
    guard let endpoint = endpoint(end) else { return }
    let count = samplingRate / 50
    let start = position[end, default: 0]
    let sound = spoken[end, default: []].dropFirst(start).prefix(count)
    position[end] = start + count
    endpoint.send(
      Array(sound) + Array(repeating: 0, count: count - sound.count), at: now, outbox: outbox)
    collect(from: end)
  }

  /// Starts what is to be said from here on.
  func say(_ sound: [Int16], _ end: End) {
    spoken[end] = sound
    position[end] = 0
  }

  private func advance(_ milliseconds: Int64) {
    let limit = now.advanced(byMilliseconds: milliseconds)
    while true {
      let arrival = flying.indices.min { (flying[$0].due, flying[$0].order) < (flying[$1].due, flying[$1].order) }
      let times = [
        arrival.map { flying[$0].due }, bridge.nextDeadline, left.nextDeadline, right?.nextDeadline,
      ].compactMap { $0 }
      guard let next = times.min(), next <= limit else { break }
      now = max(now, next)
      if let arrival, flying[arrival].due <= now { deliver(flying.remove(at: arrival)) }
      bridge.advance(to: now, outbox: outbox, events: &bridgeEvents)
      collect(from: nil)
      for end in [End.left, .right] {
        guard let endpoint = endpoint(end), let due = endpoint.nextDeadline, due <= now else { continue }
        endpoint.advance(to: now, outbox: outbox, events: &events[end, default: []])
        collect(from: end)
      }
    }
    now = limit
  }

  private func deliver(_ one: Flying) {
    packet.replace(with: one.bytes)
    if one.isInward {
      bridge.receive(
        packet, of: one.end == .left ? .near : .far, on: one.port, from: one.source, at: now, outbox: outbox,
        events: &bridgeEvents)
      collect(from: nil)
    } else {
      endpoint(one.end)?.receive(
        packet, on: one.port, from: one.source, at: now, outbox: outbox, events: &events[one.end, default: []])
      collect(from: one.end)
    }
  }

  private func collect(from end: End?) {
    defer { outbox.removeAll() }
    for index in 0..<outbox.count {
      let buffer = outbox.buffer(at: index)
      let isMedia = (128...191).contains(buffer[0])
      if isMedia, lost > 0, Int.random(in: 0..<100, using: &random) < lost { continue }
      let port = outbox.port(at: index)
      let route: (End, MediaPort, MediaAddress)? =
        switch port {
        case Self.client.port: (.left, Self.appPort, Self.client.address)
        case Self.phonePort: (.right, Self.trunkPort, Self.phoneAddress)
        case Self.phoneControl:
          (.right, Self.trunkControl, MediaAddress(ipv4: 0x7F00_0003, port: Self.phoneAddress.port + 1))
        case Self.appPort: (.left, Self.client.port, Self.appAddress)
        case Self.trunkPort: (.right, Self.phonePort, Self.trunkAddress)
        case Self.trunkControl:
          (.right, Self.phoneControl, MediaAddress(ipv4: 0x7F00_0001, port: Self.trunkAddress.port + 1))
        default: nil
        }
      guard let (leg, arrival, source) = route, !(isLeftCut && leg == .left) else { continue }
      let delay = 5 + (isMedia && uneven > 0 ? Int64.random(in: 0...uneven, using: &random) : 0)
      for bytes in port == Self.trunkPort ? padded(buffer) : [buffer.bytes] {
        order += 1
        flying.append(
          Flying(
            due: now.advanced(byMilliseconds: delay), order: order, isInward: end != nil, end: leg, port: arrival,
            source: source, bytes: bytes))
      }
    }
  }

  /// The packet under its number in a stream with padding, and what comes behind it.
  private func padded(_ buffer: PacketBuffer) -> [[UInt8]] {
    guard paddedEvery > 0, let header = RTPHeader(buffer) else { return [buffer.bytes] }
    let packet = PacketBuffer(buffer.bytes)
    packet.store(header.sequence &+ paddings, at: 2)
    guard header.sequence.isMultiple(of: paddedEvery) else { return [packet.bytes] }
    paddings &+= 1
    let padding = PacketBuffer()
    padding.writeRTPHeader(
      marker: false, payloadType: header.payloadType, sequence: header.sequence &+ paddings,
      timestamp: header.timestamp, source: header.source)
    padding[0] |= 0x20
    for byte in [UInt8](repeating: 0, count: 223) + [224] { padding.append(byte) }
    return [packet.bytes, padding.bytes]
  }

  func digits(_ end: End) -> String {
    String(
      events[end, default: []].compactMap { event -> Character? in
        if case .digit(let digit) = event { return digit.character }
        return nil
      })
  }

  func statistics(_ end: End) -> [MediaStatistics] {
    events[end, default: []].compactMap { if case .statistics(let statistics) = $0 { statistics } else { nil } }
  }
}

/// Speech, and how like it another sound is.
enum TestSpeech {
  /// Made once for all tests.
  static let prompts = Result { try PromptLibrary() }

  /// A prompt at this rate.
  static func prompt(_ prompt: Prompt, samplingRate: Int) throws -> [Int16] {
    let decoder = try AudioDecoder(.opus, samplingRate: samplingRate)
    return try prompts.get().recording(prompt, .opus).packets.flatMap { TestSound.decode($0, decoder) }
  }

  /// The best correlation of `sound` with half a second of `original` from `start` milliseconds on, at 8 kHz, and by how
  /// many milliseconds it is later.
  static func likeness(
    _ original: [Int16], from start: Int, _ sound: [Int16], samplingRate: Int
  ) -> (correlation: Double, milliseconds: Int) {
    let (first, second) = (reduced(original, samplingRate), reduced(sound, samplingRate))
    let (offset, length, latest) = (start * 8, 4_000, 250 * 8)
    guard first.count >= offset + length, second.count >= offset + latest + length else { return (0, 0) }
    return first.withUnsafeBufferPointer { wanted in
      second.withUnsafeBufferPointer { heard in
        func correlation(_ lag: Int, step: Int) -> Float {
          var (product, power, energy) = (Float(0), Float(1), Float(1))
          var index = offset
          while index < offset + length {
            let (left, right) = (wanted[index], heard[index + lag])
            product += left * right
            power += left * left
            energy += right * right
            index += step
          }
          return product / (power * energy).squareRoot()
        }
        // Roughly first, then around the best.
        let rough = stride(from: 0, to: latest, by: 2).max { correlation($0, step: 4) < correlation($1, step: 4) } ?? 0
        let fine = (max(0, rough - 4)...(rough + 4)).map { ($0, correlation($0, step: 1)) }.max { $0.1 < $1.1 }
        return (Double(fine?.1 ?? 0), (fine?.0 ?? 0) / 8)
      }
    }
  }

  /// To 8 kHz, without what that cannot hold.
  private static func reduced(_ sound: [Int16], _ samplingRate: Int) -> [Float] {
    guard let converter = RateConverter(from: samplingRate, to: 8_000) else { return sound.map { Float($0) } }
    let output = SampleBuffer()
    let piece = samplingRate / 50
    return stride(from: 0, to: sound.count - sound.count % piece, by: piece).flatMap { start in
      _ = converter.convert(SampleBuffer(sound[start..<(start + piece)]), into: output)
      return output.samples.map { Float($0) }
    }
  }
}
