import LandlineConfiguration
import LandlineServer
import Logging
import Synchronization

/// Where a gateway of this process is, written down for the other commands of its user while it runs.
final class Whereabouts: Sendable {
  private struct State {
    var configuration: GatewayConfiguration
    var port: UInt16?
    var isRemoved = false
  }

  private let folder: RunningGateways
  private let command: String
  private let path: String
  private let gateway: RunningGateway
  private let log: Logger
  private let state: Mutex<State>

  /// - Parameters:
  ///   - command: `dev` or `serve`.
  ///   - path: The configuration's file.
  init(
    folder: RunningGateways, command: String, path: String, gateway: RunningGateway, log: Logger,
    _ configuration: GatewayConfiguration
  ) {
    self.folder = folder
    self.command = command
    self.path = path
    self.gateway = gateway
    self.log = log
    state = Mutex(State(configuration: configuration))
  }

  /// - Parameter port: The port of the app door.
  func write(port: UInt16) {
    state.withLock { $0.port = port }
    write()
  }

  /// A reload may have brought other applications.
  func changed(_ configuration: GatewayConfiguration) {
    // Addresses, files and environments change with the next start alone.
    state.withLock { state in
      for index in state.configuration.environments.indices {
        let name = state.configuration.environments[index].name
        if let environment = configuration.environment(name) {
          state.configuration.environments[index].applications = environment.applications
        }
      }
    }
    write()
  }

  private func write() {
    let failure = state.withLock { state -> (any Error)? in
      guard !state.isRemoved, let port = state.port else { return nil }
      let places = GatewayPlaces(state.configuration, path: path, port: port, farEnd: gateway.farEndURI)
      guard let pointer = RunningGateways.ownPointer(command: command, places) else { return nil }
      do { try folder.write(pointer) } catch { return error }
      return nil
    }
    guard let failure else { return }
    // The gateway runs all the same; its user has to say where it is.
    log.notice(
      "other commands will not find this gateway by themselves",
      metadata: ["folder": "\(folder.folder)", "problem": "\(failure)"])
  }

  func remove() {
    state.withLock { state in
      state.isRemoved = true
      folder.removeOwn()
    }
  }
}
