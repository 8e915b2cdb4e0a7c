import Glibc
import Synchronization

/// A SIP peer over plain UDP that does nothing by itself: the test says what it sends, drops, repeats or forks.
public final class DatagramPeer: Sendable {
  public let port: UInt16
  /// The port it speaks to.
  public let target: UInt16
  private let descriptor: Int32
  private let arrived = Mutex<(messages: [PeerMessage], read: Int)>(([], 0))
  private let identifiers = Mutex(0)

  /// - Parameter target: where requests and responses of this peer go, on loopback.
  public init(target: UInt16) throws {
    self.target = target
    (descriptor, port) = try FreePort.bound(isDatagram: true)
    _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
  }

  deinit { close(descriptor) }

  public func send(_ message: PeerMessage) throws {
    let bytes = message.bytes
    let sent = withLoopback(target) { sendto(descriptor, bytes, bytes.count, 0, $0, $1) }
    guard sent == bytes.count else { throw PeerFailure("not sent: \(message.startLine)") }
  }

  /// Everything that has arrived, repetitions included.
  public func messages() -> [PeerMessage] {
    collect()
    return arrived.withLock { $0.messages }
  }

  /// The next message with this method or status, after the last one that was asked for; others between are passed over.
  /// A message that came twice is found twice.
  public func next(
    _ what: String, within seconds: Double = 20, where condition: @Sendable (PeerMessage) -> Bool
  ) async throws -> PeerMessage {
    do {
      return try await Deadline(seconds: seconds).first(what) {
        collect()
        return arrived.withLock { arrived in
          while arrived.read < arrived.messages.count {
            let message = arrived.messages[arrived.read]
            arrived.read += 1
            if condition(message) { return message }
          }
          return nil
        }
      }
    } catch let failure as PeerFailure {
      throw PeerFailure("\(failure); arrived: \(messages().map(\.startLine).joined(separator: " | "))")
    }
  }

  public func request(_ method: String, within seconds: Double = 20) async throws -> PeerMessage {
    try await next(method, within: seconds) { $0.method == method }
  }

  public func response(_ status: Int, to method: String, within seconds: Double = 20) async throws -> PeerMessage {
    try await next("\(status) to \(method)", within: seconds) {
      $0.status == status && $0["CSeq"]?.hasSuffix(" " + method) == true
    }
  }

  /// A response to a request, in the early or confirmed dialog with this tag.
  public func respond(
    _ status: Int, _ phrase: String, to request: PeerMessage, tag: String?, headers: [(String, String)] = [],
    description: String? = nil
  ) throws {
    try send(
      response(status, phrase, to: request, tag: tag, headers: headers, description: description))
  }

  public func response(
    _ status: Int, _ phrase: String, to request: PeerMessage, tag: String?, headers: [(String, String)] = [],
    description: String? = nil
  ) -> PeerMessage {
    var copied = request.headers.filter {
      ["via", "from", "call-id", "cseq", "record-route"].contains($0.name.lowercased())
    }
    let to = request["To"] ?? ""
    let tagged = tag.map { request.toTag == nil ? "\(to);tag=\($0)" : to } ?? to
    copied.append(.init(name: "To", value: tagged))
    copied += headers.map { PeerMessage.Header(name: $0.0, value: $0.1) }
    if !headers.contains(where: { $0.0 == "Contact" }), status < 300 {
      copied.append(.init(name: "Contact", value: "<sip:peer@127.0.0.1:\(port)>"))
    }
    if description != nil { copied.append(.init(name: "Content-Type", value: "application/sdp")) }
    return PeerMessage(startLine: "SIP/2.0 \(status) \(phrase)", headers: copied, body: description ?? "")
  }

  /// A request outside of or inside a dialog; every one gets a branch of its own.
  public func message(
    _ method: String, to uri: String, from: String, toHeader: String, callID: String, cseq: Int,
    branch: String? = nil, headers: [(String, String)] = [], description: String? = nil
  ) -> PeerMessage {
    var list: [(String, String)] = [
      ("Via", "SIP/2.0/UDP 127.0.0.1:\(port);branch=\(branch ?? newBranch());rport"), ("Max-Forwards", "70"),
      ("From", from), ("To", toHeader), ("Call-ID", callID), ("CSeq", "\(cseq) \(method)"),
    ]
    if method != "ACK", method != "BYE", method != "CANCEL" {
      list.append(("Contact", "<sip:peer@127.0.0.1:\(port)>"))
    }
    list += headers
    if description != nil { list.append(("Content-Type", "application/sdp")) }
    return PeerMessage(
      startLine: "\(method) \(uri) SIP/2.0", headers: list.map { .init(name: $0.0, value: $0.1) },
      body: description ?? "")
  }

  public func newBranch() -> String {
    let number = identifiers.withLock { number in
      number += 1
      return number
    }
    return "z9hG4bKpeer\(port)n\(number)"
  }

  /// Waits that long for a message that must not come.
  public func stays(without what: String, for seconds: Double, where condition: (PeerMessage) -> Bool) async throws {
    let before = messages().count
    let deadline = Deadline(seconds: seconds)
    while !deadline.hasPassed {
      if let message = messages().dropFirst(before).first(where: condition) {
        throw PeerFailure("\(what) came: \(message.startLine)")
      }
      try await Task.sleep(for: .milliseconds(10))
    }
  }

  private func collect() {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    arrived.withLock { arrived in
      while true {
        let count = recv(descriptor, &buffer, buffer.count, 0)
        guard count > 0 else { return }
        // Keep-alive bytes are no messages.
        if count > 4 { arrived.messages.append(PeerMessage(Array(buffer[0..<count]))) }
      }
    }
  }
}
