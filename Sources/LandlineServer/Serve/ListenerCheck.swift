import CallModel
import Glibc
public import LandlineConfiguration
import LandlineWire
import NIOCore
import SIPCore

/// Whether everything that a gateway listens on can be opened: each address is bound and let go at once.
public enum ListenerCheck {
  /// One address of the configuration.
  private struct Place {
    var key: String
    var host: SIPHost
    var port: UInt16
    var isDatagram: Bool
  }

  /// - Parameter own: A gateway that runs with this configuration: what it holds is no problem.
  public static func findings(_ configuration: GatewayConfiguration, own: Int32? = nil) -> [StartFinding] {
    places(configuration).compactMap { finding($0, own: own) }
  }

  private static func places(_ configuration: GatewayConfiguration) -> [Place] {
    var places = [
      Place(key: "http.bind", host: configuration.http.host, port: configuration.http.port, isDatagram: false)
    ]
    for listener in configuration.listeners {
      places.append(
        Place(
          key: "listeners.\(listener.name)", host: listener.listener.host, port: listener.listener.port,
          isDatagram: listener.listener.transport == .udp))
    }
    for loop in configuration.media.loops {
      for app in loop.app { places.append(Place(key: "media.app", host: app.bind, port: app.port, isDatagram: true)) }
    }
    // A port of the range is looked for with each call; that the address is this machine's can be seen now.
    for trunk in configuration.media.trunk {
      places.append(Place(key: "media.trunk", host: trunk.bind, port: 0, isDatagram: true))
    }
    return places
  }

  private static func finding(_ place: Place, own: Int32?) -> StartFinding? {
    guard let problem = bind(place) else { return nil }
    let address = "\(place.host):\(place.port) (\(place.isDatagram ? "UDP" : "TCP"))"
    switch problem {
    case EADDRINUSE:
      let holder = PortHolder.find(place.port, isDatagram: place.isDatagram)
      if let holder, holder.process == own { return nil }
      return StartFinding(
        place.key, "\(address) is taken" + (holder.map { " by \($0)" } ?? " by a program of another user"),
        fix: holder.map { "end it (kill \($0.process)), or choose another port" } ?? "choose another port")
    case EADDRNOTAVAIL:
      return StartFinding(
        place.key, "\(address) cannot be bound: this machine has no such address",
        fix: "an address that 'ip address' lists, or 0.0.0.0 with 'advertise'")
    case EACCES:
      return StartFinding(
        place.key, "\(address) may not be bound by this user",
        fix: place.port < 1024 ? "a port from 1024 on, or CAP_NET_BIND_SERVICE" : nil)
    default:
      return StartFinding(place.key, "\(address) cannot be bound: \(String(cString: strerror(problem)))", fix: nil)
    }
  }

  /// - Returns: the error's number; `nil` where the address can be bound.
  private static func bind(_ place: Place) -> Int32? {
    let text = "\(place.host)"
    let plain = text.hasPrefix("[") ? String(text.dropFirst().dropLast()) : text
    guard let address = try? SocketAddress(ipAddress: plain, port: Int(place.port)) else { return EADDRNOTAVAIL }
    let family = address.protocol == .inet6 ? AF_INET6 : AF_INET
    let type = place.isDatagram ? SOCK_DGRAM : SOCK_STREAM
    let socket = Glibc.socket(family, Int32(type.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard socket >= 0 else { return errno }
    defer { close(socket) }
    var yes: Int32 = 1
    let size = socklen_t(MemoryLayout<Int32>.size)
    // As the listeners do: connections of an earlier run that linger are in nobody's way.
    if !place.isDatagram { setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, size) }
    if family == AF_INET6 { setsockopt(socket, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &yes, size) }
    let isBound = address.withSockAddr { Glibc.bind(socket, $0, socklen_t($1)) } == 0
    guard isBound else { return errno }
    // Two that reuse an address may both bind it; only one may listen.
    if !place.isDatagram, listen(socket, 1) != 0 { return errno }
    return nil
  }
}
