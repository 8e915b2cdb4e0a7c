import Glibc
import LandlineConsole

/// A numeric address and port as the system writes them.
struct SocketPlace: Hashable {
  /// The bytes of a `sockaddr_in` or `sockaddr_in6`.
  fileprivate let bytes: [UInt8]

  /// Looks a host up where it is no numeric address.
  /// - Throws: ``ConsoleError`` with the option's name.
  init(_ text: String, option: String) throws {
    func refusal(_ problem: String) -> ConsoleError {
      ConsoleError.usage(
        "address", "address: \"\(text)\" \(problem)", at: option, fix: "HOST:PORT, such as 127.0.0.1:5004 or [::1]:5004"
      )
    }
    guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
      throw refusal("names no port")
    }
    var host = String(text[..<colon])
    if host.hasPrefix("["), host.hasSuffix("]") {
      host = String(host.dropFirst().dropLast())
    } else if host.contains(":") {
      throw refusal("needs brackets")
    }
    guard !host.isEmpty else { throw refusal("names no host") }
    var hints = addrinfo()
    hints.ai_family = AF_UNSPEC
    hints.ai_socktype = CInt(SOCK_DGRAM.rawValue)
    var found: UnsafeMutablePointer<addrinfo>?
    let status = getaddrinfo(host, String(port), &hints, &found)
    defer { if found != nil { freeaddrinfo(found) } }
    guard status == 0, let first = found?.pointee, let address = first.ai_addr else {
      throw refusal("is not found: \(String(cString: gai_strerror(status)))")
    }
    bytes = Array(UnsafeRawBufferPointer(start: address, count: Int(first.ai_addrlen)))
  }

  fileprivate init(_ storage: UnsafeRawBufferPointer) { bytes = Array(storage) }

  fileprivate var family: CInt {
    bytes.withUnsafeBytes { $0.count >= 2 ? CInt($0.loadUnaligned(as: sa_family_t.self)) : 0 }
  }

  /// `HOST:PORT`.
  var text: String {
    var host = [CChar](repeating: 0, count: Int(NI_MAXHOST))
    var port = [CChar](repeating: 0, count: Int(NI_MAXSERV))
    let status = withSystem {
      getnameinfo(
        $0, $1, &host, socklen_t(host.count), &port, socklen_t(port.count), NI_NUMERICHOST | NI_NUMERICSERV)
    }
    guard status == 0 else { return "?" }
    func string(_ characters: [CChar]) -> String {
      String(decoding: characters.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
    return family == AF_INET6 ? "[\(string(host))]:\(string(port))" : "\(string(host)):\(string(port))"
  }

  fileprivate func withSystem<Result>(_ body: (UnsafePointer<sockaddr>?, socklen_t) -> Result) -> Result {
    bytes.withUnsafeBytes { body($0.baseAddress?.assumingMemoryBound(to: sockaddr.self), socklen_t($0.count)) }
  }
}

/// A UDP socket that never waits.
final class DatagramSocket {
  /// Bytes of the longest datagram.
  static let maximumDatagram = 65_535
  /// Bytes that the system is asked to keep until they are read.
  static let receiveRoom: CInt = 1 << 20

  let descriptor: CInt

  /// A socket bound to a place.
  init(bound place: SocketPlace, option: String) throws {
    descriptor = try DatagramSocket.open(place)
    guard place.withSystem({ bind(descriptor, $0, $1) }) == 0 else {
      let problem = String(cString: strerror(errno))
      throw ConsoleError(.refused, code: "bind", "\(place.text) cannot be listened on: \(problem)", at: option)
    }
  }

  /// A socket on a port of the system's choice that speaks to one place only.
  init(connected place: SocketPlace) throws {
    descriptor = try DatagramSocket.open(place)
    guard place.withSystem({ connect(descriptor, $0, $1) }) == 0 else {
      throw ConsoleError(.refused, code: "connect", "no way to \(place.text): \(String(cString: strerror(errno)))")
    }
  }

  deinit { close(descriptor) }

  private static func open(_ place: SocketPlace) throws -> CInt {
    let type = CInt(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
    let descriptor = socket(place.family, type, 0)
    guard descriptor >= 0 else {
      throw ConsoleError(.failed, code: "socket", "no socket: \(String(cString: strerror(errno)))")
    }
    // A burst must wait here and not be lost twice; the system may grant less.
    var room = DatagramSocket.receiveRoom
    setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &room, socklen_t(MemoryLayout<CInt>.size))
    return descriptor
  }

  /// Where it listens.
  var place: SocketPlace? {
    var storage = sockaddr_storage()
    return withUnsafeMutableBytes(of: &storage) { raw in
      var length = socklen_t(raw.count)
      let address = raw.baseAddress?.assumingMemoryBound(to: sockaddr.self)
      guard getsockname(descriptor, address, &length) == 0, Int(length) <= raw.count else { return nil }
      return SocketPlace(UnsafeRawBufferPointer(rebasing: raw[..<Int(length)]))
    }
  }

  /// The next datagram and who sent it; `nil` when none waits.
  func receive(into buffer: inout [UInt8]) -> (bytes: [UInt8], from: SocketPlace)? {
    var storage = sockaddr_storage()
    return withUnsafeMutableBytes(of: &storage) { raw in
      var length = socklen_t(raw.count)
      let address = raw.baseAddress?.assumingMemoryBound(to: sockaddr.self)
      let count = recvfrom(descriptor, &buffer, buffer.count, 0, address, &length)
      guard count >= 0, Int(length) <= raw.count else { return nil }
      return (Array(buffer[..<count]), SocketPlace(UnsafeRawBufferPointer(rebasing: raw[..<Int(length)])))
    }
  }

  /// - Parameter place: `nil` for a connected socket.
  /// - Returns: whether the system took the datagram.
  func send(_ bytes: [UInt8], to place: SocketPlace?) -> Bool {
    guard let place else { return Glibc.send(descriptor, bytes, bytes.count, 0) == bytes.count }
    return place.withSystem { sendto(descriptor, bytes, bytes.count, 0, $0, $1) } == bytes.count
  }
}
