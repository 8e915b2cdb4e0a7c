import Dispatch
import Foundation

/// Tells the service manager how the gateway does (sd_notify(3), `Type=notify`): one datagram for each change.
public struct ServiceNotifier: Sendable {
  /// Most bytes of a status.
  public static let maximumStatusBytes = 512

  private let address: [UInt8]
  /// How often the manager wants to hear that the gateway is alive: at least twice within this time. `nil` for never.
  public let watchdogMicroseconds: Int64?

  /// `nil` where no service manager listens, or at a kind of address that is none of Unix's.
  /// - Parameter environment: Of the process.
  public init?(environment: [String: String]) {
    guard let socket = environment["NOTIFY_SOCKET"], socket.hasPrefix("/") || socket.hasPrefix("@") else { return nil }
    // An abstract address begins with a zero byte in place of the @ (unix(7)).
    address = socket.hasPrefix("@") ? [0] + socket.utf8.dropFirst() : Array(socket.utf8)
    guard address.count > 1, address.count < MemoryLayout.size(ofValue: sockaddr_un().sun_path) else { return nil }
    let isOurs = environment["WATCHDOG_PID"].map { $0 == String(getpid()) } ?? true
    watchdogMicroseconds = environment["WATCHDOG_USEC"].flatMap(Int64.init).flatMap { isOurs && $0 > 0 ? $0 : nil }
  }

  /// The gateway takes calls; also after a reload.
  @discardableResult
  public func ready(status: String) -> Bool { send("READY=1\n\(ServiceNotifier.line(status))") }

  /// The configuration is read again; ``ready(status:)`` follows whatever came of it.
  @discardableResult
  public func reloading() -> Bool {
    let microseconds = DispatchTime.now().uptimeNanoseconds / 1000
    return send("RELOADING=1\nMONOTONIC_USEC=\(microseconds)")
  }

  /// The gateway ends: no new calls; live ones go on for a while.
  @discardableResult
  public func stopping(status: String) -> Bool { send("STOPPING=1\n\(ServiceNotifier.line(status))") }

  /// What `systemctl status` shows.
  @discardableResult
  public func status(_ text: String) -> Bool { send(ServiceNotifier.line(text)) }

  /// The gateway is alive.
  @discardableResult
  public func watchdog() -> Bool { send("WATCHDOG=1") }

  private static func line(_ status: String) -> String {
    let clean = String(
      String.UnicodeScalarView(status.unicodeScalars.map { $0.value < 0x20 || $0.value == 0x7F ? " " : $0 }))
    return "STATUS=" + String(decoding: clean.utf8.prefix(maximumStatusBytes), as: UTF8.self)
  }

  /// - Returns: whether the manager's socket took it. Nothing here ever waits.
  private func send(_ text: String) -> Bool {
    let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    var target = sockaddr_un()
    target.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &target.sun_path) { $0.copyBytes(from: address) }
    // Without the bytes behind an abstract name, which would be part of it; a path may have its zero.
    let length = MemoryLayout<sockaddr_un>.offset(of: \.sun_path).map { $0 + address.count } ?? 0
    let message = Array(text.utf8)
    let sent = withUnsafePointer(to: &target) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        sendto(
          descriptor, message, message.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT), $0,
          socklen_t(length))
      }
    }
    return sent == message.count
  }
}
