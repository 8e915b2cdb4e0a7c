extension CallTrace {
  /// The messages as a file of packets (pcapng): each one with IP and UDP or TCP headers of its own, what went over TLS
  /// as plain TCP. What the app and the gateway said meanwhile stands in the comments of the next packet.
  public func capture() -> [UInt8] {
    var file = PacketCapture()
    file.section(
      comments: ["Call \(call): secrets are blotted out with *, letter for letter"]
        + (messages.isEmpty ? remarks(through: .max, after: nil) : []))
    file.interface()
    var flows = CaptureFlows()
    let order = messages.indices.sorted { (messages[$0].at, $0) < (messages[$1].at, $1) }
    var before: Int64?
    for (place, index) in order.enumerated() {
      let message = messages[index]
      let isLast = place == order.count - 1
      let packet = flows.packet(message)
      var comments = remarks(through: isLast ? .max : message.at, after: before)
      comments.insert(remark(message, packet.isMadeUp), at: 0)
      file.packet(
        packet.packet.bytes, at: unixTime(message.at), isSent: message.isSent, comments: comments)
      before = message.at
    }
    return file.bytes
  }

  private func unixTime(_ at: Int64) -> UInt64 {
    let (time, isTooLarge) = startedAt.addingReportingOverflow(at)
    return isTooLarge ? 0 : UInt64(max(0, time))
  }

  /// What is not to be seen in the packet itself.
  private func remark(_ message: Message, _ isMadeUp: Bool) -> String {
    var words: [String] = []
    if dialogs.indices.contains(message.dialog) {
      let dialog = dialogs[message.dialog]
      words.append("\(dialog.side) side" + (dialog.trunk.map { ", trunk \($0)" } ?? ""))
    }
    if message.transport == "tls" { words.append("went over TLS") }
    if message.isRepeated { words.append("repeated") }
    if message.text.utf8.count < message.bytes { words.append("cut: it had \(message.bytes) bytes") }
    if isMadeUp { words.append("its addresses are not known") }
    return words.joined(separator: "; ")
  }

  /// What the app, the gateway, media and ledger did in `(after, through]`.
  private func remarks(through: Int64, after: Int64?) -> [String] {
    var remarks: [(at: Int64, text: String)] = []
    func add(_ at: Int64, _ text: @autoclosure () -> String) {
      guard at <= through, after.map({ at > $0 }) ?? true else { return }
      remarks.append((at, "+\(at / 1000) ms \(text())"))
    }
    for line in lines {
      let way = line.isFromApp ? "app -> gateway" : "gateway -> app"
      add(line.at, "\(way) \(line.type)\(line.text.isEmpty ? "" : ": \(line.text)")")
    }
    for note in notes {
      let side = note.side.map { "\($0) side " } ?? ""
      add(note.at, "\(side)\(note.kind.rawValue)\(note.text.isEmpty ? "" : ": \(note.text)")")
    }
    return remarks.enumerated().sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }.map(\.element.text)
  }
}

/// The streams of the captured messages: where the sequence numbers of TCP stand.
private struct CaptureFlows {
  private struct Flow: Hashable {
    let local: CapturedAddress
    let remote: CapturedAddress
  }

  private var positions: [Flow: (sent: UInt32, received: UInt32)] = [:]

  /// Where TLS is spoken; its content stands here in the open, so the port must not promise TLS.
  private static let securePort: UInt16 = 5061

  mutating func packet(_ message: CallTrace.Message) -> (packet: CapturedPacket, isMadeUp: Bool) {
    var (local, remote, isMadeUp) = CapturedAddress.pair(message.local, message.remote)
    let payload = Array(message.text.utf8.prefix(CapturedPacket.maximumPayload))
    if message.transport == "tls" {
      local = CaptureFlows.plain(local)
      remote = CaptureFlows.plain(remote)
    }
    let transport: CapturedPacket.Transport
    if message.transport == "udp" {
      transport = .udp
    } else {
      let flow = Flow(local: local, remote: remote)
      var position = positions[flow] ?? (1, 1)
      let count = UInt32(payload.count)
      if message.isSent {
        transport = .tcp(sequence: position.sent, acknowledged: position.received)
        position.sent &+= count
      } else {
        transport = .tcp(sequence: position.received, acknowledged: position.sent)
        position.received &+= count
      }
      positions[flow] = position
    }
    let packet = CapturedPacket(
      source: message.isSent ? local : remote, destination: message.isSent ? remote : local, transport: transport,
      payload: payload)
    return (packet, isMadeUp)
  }

  private static func plain(_ address: CapturedAddress) -> CapturedAddress {
    address.port == securePort ? CapturedAddress(bytes: address.bytes, port: 5060) : address
  }
}
