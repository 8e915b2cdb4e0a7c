import AppProtocol
import CallModel
import Foundation
import LandlineConfiguration
import LandlineHTTP
import LandlineNode
import Synchronization

/// Who may ask over REST: operators and owners by their bearer keys, applications by signed requests. A reload can replace both.
final class NodeAuthenticator: RESTAuthenticator {
  private struct State {
    var keys: OperatorKeys
    var applications: [AppCredentials]

    init(_ configuration: GatewayConfiguration) {
      applications = NodeAssembly.credentials(configuration)
      keys = OperatorKeys(
        configuration.environments.flatMap { environment in
          environment.operators.map { OperatorKeys.Key(environment: environment.name, name: $0.name, key: $0.key) }
            + environment.owners.map {
              OperatorKeys.Key(environment: environment.name, name: $0.name, account: $0.account, key: $0.key)
            }
        }, else: ApplicationSignatures(applications))
    }
  }

  private let current: Mutex<State>

  init(_ configuration: GatewayConfiguration) { current = Mutex(State(configuration)) }

  func replace(_ configuration: GatewayConfiguration) { current.withLock { $0 = State(configuration) } }

  /// In the order of the configuration.
  func applications(_ environment: String) -> [AppCredentials] {
    current.withLock { $0.applications }.filter { $0.environment == environment }
  }

  func authenticate(_ request: RESTRequest) async -> RESTPrincipal? {
    await current.withLock { $0.keys }.authenticate(request)
  }

  func principal(ofKey digest: [UInt8]) async -> RESTPrincipal? {
    await current.withLock { $0.keys }.principal(ofKey: digest)
  }
}

/// Requests that an application signed with its secret: `Authorization: Application KEY:SIGNATURE`.
struct ApplicationSignatures: RESTAuthenticator {
  private let applications: [String: AppCredentials]
  /// Stands in for the secret of an application that does not exist, so that both take the same time.
  private static let nobody = "AAAAAAAAAAAAAAAAAAAAAA=="

  init(_ applications: [AppCredentials]) {
    self.applications = Dictionary(applications.map { ($0.key, $0) }, uniquingKeysWith: { first, _ in first })
  }

  func authenticate(_ request: RESTRequest) async -> RESTPrincipal? {
    let scheme = "application "
    guard let header = request.header("authorization"), header.lowercased().hasPrefix(scheme) else { return nil }
    let parts = header.dropFirst(scheme.count).split(separator: ":", maxSplits: 1)
    guard parts.count == 2, let timestamp = request.header("x-timestamp") else { return nil }
    let application = applications[String(parts[0])]
    let signature = RequestSignature(
      verb: request.method, body: request.body, contentType: request.header("content-type") ?? "",
      timestamp: timestamp, path: request.path + (request.query.map { "?\($0)" } ?? ""))
    let isValid = signature.isValid(String(parts[1]), secret: application?.secret.exposed ?? Self.nobody)
    // Whoever overheard a request could send it again for this long; its idempotency key keeps it from taking effect twice.
    guard isValid, let application, let sent = try? Date(timestamp, strategy: .iso8601),
      abs(sent.timeIntervalSinceNow) <= Double(RequestSignature.maximumSkewSeconds)
    else { return nil }
    return RESTPrincipal(
      environment: application.environment, actor: "app:\(application.key)",
      role: .application(account: application.account))
  }
}

/// Whoever can open the gateway's control socket is its user: an operator of every environment, which the query names
/// where there are several.
struct LocalOperator: RESTAuthenticator {
  let environments: [String]

  func authenticate(_ request: RESTRequest) async -> RESTPrincipal? {
    let items = URLComponents(string: "?\(request.query ?? "")")?.queryItems
    let named = items?.first { $0.name == "environment" }?.value
    guard let environment = named ?? environments.first, environments.contains(environment) else { return nil }
    return RESTPrincipal(environment: environment, actor: "local", role: .operator)
  }
}
