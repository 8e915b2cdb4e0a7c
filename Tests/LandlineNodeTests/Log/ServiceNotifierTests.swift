import Foundation
import LandlineNode
import Testing

/// A service manager's socket.
private final class ManagerSocket {
  let descriptor: Int32
  let name: String

  /// - Parameter name: A path, or `@` and an abstract name.
  init(_ name: String) throws {
    self.name = name
    descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
    try #require(descriptor >= 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = name.hasPrefix("@") ? [0] + name.utf8.dropFirst() : Array(name.utf8)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    let length = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count)
    let bound = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) }
    }
    try #require(bound == 0)
    var limit = timeval(tv_sec: 5, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
  }

  deinit {
    close(descriptor)
    if !name.hasPrefix("@") { unlink(name) }
  }

  func next() -> String {
    var bytes = [UInt8](repeating: 0, count: 4096)
    let count = recv(descriptor, &bytes, bytes.count, 0)
    return String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self)
  }
}

@Suite("Service manager")
struct ServiceNotifierTests {
  static let names = [
    FileManager.default.temporaryDirectory.appendingPathComponent("notify-\(UUID().uuidString)").path,
    "@landline-notify-\(UUID().uuidString)",
  ]

  @Test("each change is one datagram, to a path or an abstract name", arguments: names)
  func datagrams(_ name: String) throws {
    let manager = try ManagerSocket(name)
    let notifier = try #require(ServiceNotifier(environment: ["NOTIFY_SOCKET": name]))
    #expect(notifier.ready(status: "3 calls"))
    #expect(manager.next() == "READY=1\nSTATUS=3 calls")
    #expect(notifier.reloading())
    let reload = manager.next().split(separator: "\n")
    #expect(reload.first == "RELOADING=1")
    let time = try #require(reload.last?.split(separator: "=").last.flatMap { Int64($0) })
    #expect(reload.last?.hasPrefix("MONOTONIC_USEC=") == true && time > 0)
    #expect(notifier.watchdog())
    #expect(manager.next() == "WATCHDOG=1")
    #expect(notifier.status("a\nREADY=1\u{0}"))
    #expect(manager.next() == "STATUS=a READY=1 ")
    #expect(notifier.stopping(status: String(repeating: "é", count: 5000)))
    let stop = manager.next()
    #expect(stop.hasPrefix("STOPPING=1\nSTATUS=éé") && stop.utf8.count < 600)
  }

  @Test("where nobody listens nothing is sent, and nothing waits")
  func nobody() throws {
    #expect(ServiceNotifier(environment: [:]) == nil)
    for name in ["", "@", "vsock:2:1234", "relative", "/" + String(repeating: "x", count: 200)] {
      #expect(ServiceNotifier(environment: ["NOTIFY_SOCKET": name]) == nil, "\(name)")
    }
    let notifier = try #require(ServiceNotifier(environment: ["NOTIFY_SOCKET": "/nowhere/notify"]))
    #expect(!notifier.ready(status: "x"))
  }

  @Test("the watchdog's time counts only for this process")
  func watchdog() {
    func time(_ more: [String: String]) -> Int64? {
      ServiceNotifier(environment: ["NOTIFY_SOCKET": "/x"].merging(more) { $1 })?.watchdogMicroseconds
    }
    #expect(time([:]) == nil)
    #expect(time(["WATCHDOG_USEC": "30000000"]) == 30_000_000)
    #expect(time(["WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "\(getpid())"]) == 30_000_000)
    #expect(time(["WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "1"]) == nil)
    #expect(time(["WATCHDOG_USEC": "0"]) == nil)
    #expect(time(["WATCHDOG_USEC": "many"]) == nil)
  }
}
