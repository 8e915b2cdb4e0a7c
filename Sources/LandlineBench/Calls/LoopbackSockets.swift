import Foundation

/// Plain sockets of 127.0.0.1 for probes and stubs.
enum LoopbackSockets {
  static func address(_ port: UInt16) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    return address
  }

  /// A TCP port that nobody has.
  static func freeStreamPort() throws(BenchProblem) -> UInt16 {
    let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard socket >= 0 else { throw BenchProblem("no socket can be made") }
    defer { close(socket) }
    return try bind(socket, port: 0)
  }

  /// - Returns: the port that the socket has now.
  static func bind(_ socket: Int32, port: UInt16) throws(BenchProblem) -> UInt16 {
    var address = address(port)
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let result = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        Glibc.bind(socket, $0, length) == 0 ? getsockname(socket, $0, &length) : -1
      }
    }
    guard result == 0 else { throw BenchProblem("port \(port) of 127.0.0.1 cannot be had") }
    return UInt16(bigEndian: address.sin_port)
  }

  static func connect(_ socket: Int32, port: UInt16) -> Bool {
    withUnsafePointer(to: address(port)) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        Glibc.connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
  }

  /// Reads and writes of the socket give up after this long.
  static func limit(_ socket: Int32, milliseconds: Int) {
    var time = timeval(tv_sec: milliseconds / 1000, tv_usec: milliseconds % 1000 * 1000)
    setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
    setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
  }

  /// Asks for a page over HTTP and reads the whole answer.
  /// - Returns: what stands behind its head.
  static func get(
    _ page: String, port: UInt16, maximumBytes: Int, milliseconds: Int
  ) throws(BenchProblem) -> String {
    let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard socket >= 0 else { throw BenchProblem("no socket can be made") }
    defer { close(socket) }
    limit(socket, milliseconds: milliseconds)
    let request = Array("GET \(page) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nConnection: close\r\n\r\n".utf8)
    guard connect(socket, port: port),
      request.withUnsafeBytes({ send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }) == request.count
    else { throw BenchProblem("the gateway takes no question about \(page)") }
    var answer: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while answer.count < maximumBytes {
      let count = recv(socket, &buffer, buffer.count, 0)
      guard count > 0 else { break }
      answer += buffer[..<count]
    }
    let text = String(decoding: answer, as: UTF8.self)
    // CR LF is one character.
    guard text.hasPrefix("HTTP/1.1 200"), let end = text.range(of: "\r\n\r\n") else {
      throw BenchProblem("the gateway does not show \(page)")
    }
    return String(text[end.upperBound...])
  }
}
