import CallModel
import SIPCore
import Testing

/// Long random lives: whatever comes in whatever order, every transaction ends once and nothing stays behind.
struct TransactionLifeTests {
  /// Two layers that talk to each other over a network that loses, repeats and delays.
  final class Network {
    struct Packet {
      let at: Int64
      let toFirst: Bool
      let bytes: [UInt8]
    }

    let transport: SIPTransport
    var generator: SeededBytes
    var now: Int64 = 0
    let layers: [TransactionLayer]
    var packets: [Packet] = []
    /// Transactions of each layer that began and have not ended.
    var open: [Set<TransactionID>] = [[], []]
    /// Requests of the peer that want an answer.
    var waiting: [[TransactionID]] = [[], []]
    var invites: [[TransactionID]] = [[], []]
    var faults: [String] = []
    var passed = 0

    init(_ transport: SIPTransport, seed: UInt64) {
      self.transport = transport
      generator = SeededBytes(state: seed)
      layers = [seed &+ 1, seed &+ 2].map { seed in
        let scene = TransactionScene(transport, seed: seed)
        return scene.layer
      }
    }

    func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &generator) < percent }

    func address(_ side: Int) -> AdvertisedAddress {
      AdvertisedAddress(
        listener: ListenerID(UInt16(side)), transport: transport, host: .ipv4(0xC000_0201 + UInt32(side)), port: 5060)
    }

    func path(from side: Int) -> SIPPath {
      let other = address(1 - side)
      return SIPPath(
        listener: ListenerID(UInt16(side)), remote: TransportAddress(transport, other.host, port: other.port))
    }

    func perform(_ effects: [TransactionEffect], of side: Int) {
      for effect in effects {
        switch effect {
        case .send(let bytes, _, _):
          let copies = transport.isStream ? 1 : chance(20) ? 0 : chance(10) ? 2 : 1
          for _ in 0..<copies {
            let delay = transport.isStream ? 10 : Int64.random(in: 1...900, using: &generator)
            packets.append(Packet(at: now + delay, toFirst: side == 1, bytes: bytes))
          }
        case .request(let id, let message, _):
          passed += 1
          if !open[side].insert(id).inserted { faults.append("\(id) began twice") }
          waiting[side].append(id)
          if message.method == .ack || message.method == .cancel {
            faults.append("\(message.cseq.method) as a request")
          }
        case .cancelled(let id, _):
          if !open[side].contains(id) { faults.append("\(id) cancelled and not open") }
        case .response(let id, _, _), .unreadable(let id, _), .failed(let id, _):
          if !open[side].contains(id) { faults.append("\(id) is not open") }
        case .ended(let id):
          if open[side].remove(id) == nil { faults.append("\(id) ended and was not open") }
          waiting[side].removeAll { $0 == id }
        case .acknowledgement, .lateSuccess: break
        }
      }
    }

    func act(_ side: Int) {
      var effects: [TransactionEffect] = []
      let instant = MonotonicInstant(milliseconds: now)
      switch Int.random(in: 0..<10, using: &generator) {
      case 0...2:
        let method = chance(60) ? SIPMethod.invite : .options
        let call = "c\(now)-\(side)-\(generator.next())"
        if let id = try? layers[side].send(
          TransactionScene.request(method, callID: call), to: path(from: side), as: address(side), at: instant,
          into: &effects)
        {
          open[side].insert(id)
          if method == .invite { invites[side].append(id) }
        }
      case 3...7:
        guard !waiting[side].isEmpty else { return }
        let place = Int.random(in: 0..<waiting[side].count, using: &generator)
        let id = waiting[side][place]
        let status = [100, 180, 183, 200, 200, 302, 404, 486, 503, 603].randomElement(using: &generator) ?? 200
        if status >= 200 { waiting[side].remove(at: place) }
        do {
          try layers[side].respond(id, OutgoingResponse(status, toTag: "t"), at: instant, into: &effects)
        } catch { faults.append("\(error)") }
      case 8:
        if let id = invites[side].randomElement(using: &generator) {
          layers[side].cancel(id, fields: [], at: instant, into: &effects)
        }
      default:
        if chance(10), let id = open[side].sorted(by: { $0.number < $1.number }).randomElement(using: &generator) {
          layers[side].transportFailed(id, at: instant, into: &effects)
        }
      }
      perform(effects, of: side)
    }

    /// The next millisecond when anything is due.
    func step() -> Bool {
      let times = packets.map(\.at) + layers.compactMap { $0.nextDeadline?.milliseconds }
      guard let next = times.min() else { return false }
      if next < now { faults.append("a deadline in the past") }
      now = max(now, next)
      for side in 0...1 {
        var effects: [TransactionEffect] = []
        layers[side].advance(to: MonotonicInstant(milliseconds: now), into: &effects)
        perform(effects, of: side)
      }
      let due = packets.filter { $0.at <= now }
      packets.removeAll { $0.at <= now }
      for packet in due {
        let side = packet.toFirst ? 0 : 1
        guard case .success(let message) = SIPGate.admit(packet.bytes, transport: transport) else {
          faults.append("the gate refuses what a layer sent")
          continue
        }
        var effects: [TransactionEffect] = []
        layers[side].receive(
          message, from: path(from: side), at: MonotonicInstant(milliseconds: now), into: &effects)
        perform(effects, of: side)
      }
      return true
    }
  }

  @Test(arguments: [SIPTransport.udp, .tcp], [UInt64(1), 2, 3, 4])
  func everythingEnds(_ transport: SIPTransport, _ seed: UInt64) {
    let network = Network(transport, seed: seed)
    for _ in 0..<400 {
      network.act(Int.random(in: 0...1, using: &network.generator))
      if network.chance(70) { _ = network.step() }
    }
    // Whoever still waits for an answer gets one.
    var steps = 0
    while steps < 100_000 {
      for side in 0...1 {
        for id in network.waiting[side] {
          var effects: [TransactionEffect] = []
          _ = try? network.layers[side].respond(
            id, OutgoingResponse(480, toTag: "t"), at: MonotonicInstant(milliseconds: network.now), into: &effects)
          network.waiting[side].removeAll { $0 == id }
          network.perform(effects, of: side)
        }
        // An INVITE whose final response is lost for good waits for its user.
        for id in network.invites[side] where steps > 2000 && network.open[side].contains(id) {
          var effects: [TransactionEffect] = []
          network.layers[side].cancel(
            id, fields: [], at: MonotonicInstant(milliseconds: network.now), into: &effects)
          network.perform(effects, of: side)
        }
      }
      if !network.step() { break }
      steps += 1
    }
    for side in 0...1 where !network.invites[side].isEmpty {
      for id in network.invites[side] {
        var effects: [TransactionEffect] = []
        network.layers[side].cancel(id, fields: [], at: MonotonicInstant(milliseconds: network.now), into: &effects)
        network.perform(effects, of: side)
      }
    }
    while network.step() {}
    #expect(network.faults == [], "seed \(seed)")
    #expect(network.open == [[], []], "seed \(seed)")
    #expect(network.layers.map(\.count) == [0, 0], "seed \(seed)")
    #expect(network.layers.allSatisfy { $0.nextDeadline == nil }, "seed \(seed)")
    #expect(network.passed > 20)
    #expect(TransactionLayer.libraryRandomDraws == 0)
  }

  /// The same inputs make the same effects.
  @Test func repeatable() {
    func trace() -> [String] {
      let scene = TransactionScene(seed: 42)
      for number in 0..<20 {
        scene.receive(.invite, branch: "z9hG4bK\(number)", callID: "in\(number)")
        scene.send(.options, callID: "c\(number)")
      }
      scene.run(until: 40_000)
      return scene.trace + [scene.sentLine("OPTIONS", "Via") ?? ""]
    }
    #expect(trace() == trace())
  }
}
