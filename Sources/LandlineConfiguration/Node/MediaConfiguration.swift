public import AppProtocol
internal import CallModel
public import LandlineWire

/// `media`: where sound comes and goes.
public struct MediaConfiguration: Hashable, Sendable {
  /// The port of the first thread where the file names none.
  public static let standardAppPort: UInt16 = 10_000
  /// Interfaces of one kind.
  public static let maximumInterfaces = 16
  /// How many ``threads`` a file may ask for.
  public static let threadRange = 1...64

  /// The app port of thread `n`, from 0, is ``MediaLoopConfiguration/AppInterface/port`` + `n`, unless it is 0.
  public var app = [MediaLoopConfiguration.AppInterface(bind: .ipv4(0x7F00_0001), port: standardAppPort)]
  /// The ports are shared among the threads.
  public var trunk = [MediaLoopConfiguration.TrunkInterface(bind: .ipv4(0x7F00_0001))]
  /// Each has app ports of its own and its share of the trunk ports.
  public var threads = 1
  /// Relays that apps are told of; `nil` for none.
  public var turn: TURNService?

  /// What holds where the file has no `media`: one thread on loopback.
  public init() {}

  /// What the loops of all threads are started with.
  public var loops: [MediaLoopConfiguration] {
    let parts = trunk.map { MediaLoopConfiguration.TrunkInterface.parts(of: $0.ports, into: threads) }
    return (0..<threads).map { thread in
      let ports = app.map { interface in
        var own = interface
        if own.port != 0 { own.port = UInt16(clamping: Int(own.port) + thread) }
        return own
      }
      let shares = zip(trunk, parts).compactMap { interface, parts -> MediaLoopConfiguration.TrunkInterface? in
        guard thread < parts.count else { return nil }
        var own = interface
        own.ports = parts[thread]
        return own
      }
      return MediaLoopConfiguration(app: ports, trunk: shares)
    }
  }
}
