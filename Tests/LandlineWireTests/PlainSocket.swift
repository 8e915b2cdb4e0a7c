import Glibc

/// A socket on the loopback address, for peers that behave as no library would. It waits for input without a thread.
final class PlainSocket: Sendable {
  struct Failure: Error {
    let call: String
    var code = errno
  }

  let handle: CInt

  private init(_ handle: CInt) { self.handle = handle }
  deinit { close(handle) }

  private static func make(_ type: CInt) throws -> CInt {
    // No program that another test starts meanwhile may hold it open.
    let handle = socket(AF_INET, type | CInt(SOCK_CLOEXEC.rawValue), 0)
    guard handle >= 0 else { throw Failure(call: "socket") }
    var timeout = timeval(tv_sec: 20, tv_usec: 0)
    setsockopt(handle, SOL_SOCKET, SO_SNDTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
    return handle
  }

  private static func withAddress<Result>(
    _ port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
  ) -> Result {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    return withUnsafePointer(to: address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
    }
  }

  static func connected(to port: UInt16, datagrams: Bool = false) throws -> PlainSocket {
    let type = datagrams ? CInt(SOCK_DGRAM.rawValue) : CInt(SOCK_STREAM.rawValue)
    let made = PlainSocket(try make(type))
    let result = withAddress(port) { connect(made.handle, $0, $1) }
    guard result == 0 else { throw Failure(call: "connect") }
    return made
  }

  static func listening(backlog: CInt = 16) throws -> PlainSocket {
    let made = PlainSocket(try make(CInt(SOCK_STREAM.rawValue)))
    let result = withAddress(0) { bind(made.handle, $0, $1) }
    guard result == 0, listen(made.handle, backlog) == 0 else { throw Failure(call: "listen") }
    return made
  }

  var port: UInt16 {
    var address = sockaddr_in()
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    _ = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(handle, $0, &length) }
    }
    return UInt16(bigEndian: address.sin_port)
  }

  /// Waits for input, for the end of the stream or for another connection.
  private func readable() async throws {
    let end = ContinuousClock.now + .seconds(20)
    var wanted = pollfd(fd: handle, events: Int16(POLLIN), revents: 0)
    while poll(&wanted, 1, 0) == 0 {
      guard ContinuousClock.now < end else { throw Failure(call: "poll", code: ETIMEDOUT) }
      try await Task.sleep(for: .milliseconds(1))
    }
  }

  func accepted() async throws -> PlainSocket {
    try await readable()
    let other = accept(handle, nil, nil)
    guard other >= 0 else { throw Failure(call: "accept") }
    _ = fcntl(other, F_SETFD, FD_CLOEXEC)
    return PlainSocket(other)
  }

  func write(_ bytes: some Collection<UInt8>) throws {
    var rest = Array(bytes)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { send(handle, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL)) }
      guard count > 0 else { throw Failure(call: "send") }
      rest = rest.dropFirst(count)
    }
  }

  /// What has come, at least one byte; empty at the end of the stream or when it broke.
  func read() async throws -> [UInt8] {
    try await readable()
    var buffer = [UInt8](repeating: 0, count: 65_536)
    let count = recv(handle, &buffer, buffer.count, 0)
    return count > 0 ? Array(buffer[..<count]) : []
  }

  func readToEnd() async throws -> [UInt8] {
    var all: [UInt8] = []
    while true {
      let more = try await read()
      if more.isEmpty { return all }
      all += more
    }
  }
}
