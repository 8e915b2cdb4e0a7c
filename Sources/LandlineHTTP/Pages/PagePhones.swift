import AppProtocol
import CallModel
import LandlineDigest
import LandlineNode

/// Short-lived registrations for the phone on the pages, signed with an application's own secret, which stays here.
struct PagePhones: Sendable {
  /// From the token's making to its last use.
  static let tokenSeconds: Int64 = 300

  /// Applications of an environment, in the order of the configuration.
  let applications: @Sendable (_ environment: String) -> [AppCredentials]
  let draw: @Sendable () -> UInt64

  /// The first application that the principal may call with.
  func application(_ principal: RESTPrincipal, account: AccountName?) -> AppCredentials? {
    let wanted = account ?? principal.account
    return applications(principal.environment).first { wanted == nil || $0.account == wanted }
  }

  /// The application with this key, where the principal may see it; without a key an application is its own, and anybody else's
  /// the first.
  func application(_ principal: RESTPrincipal, named key: String?) -> AppCredentials? {
    let seen = applications(principal.environment).filter { application in
      switch principal.role {
      case .operator: true
      case .owner(let account): application.account == account
      case .application: principal.actor == "app:\(application.key)"
      }
    }
    return key.map { key in seen.first { $0.key == key } } ?? seen.first
  }

  /// - Parameters:
  ///   - chosen: the user that it is to be, in place of the principal's own.
  ///   - label: tells the browser apart from others of the same person.
  func register(
    _ application: AppCredentials, _ principal: RESTPrincipal, chosen: UserID? = nil, label: String, at now: Instant
  ) -> JSONValue? {
    let user = chosen?.text ?? PagePhones.user(principal, most: application.userRules.maximumLength)
    var nonce: [UInt8] = []
    for _ in 0..<2 { withUnsafeBytes(of: draw()) { nonce += $0 } }
    let issuedAt = Instant(seconds: now.milliseconds / 1000)
    guard
      let token = ApplicationToken.make(
        application: application.key, user: user, secret: application.secret.exposed,
        nonce: RESTCursor.hexadecimal(nonce), issuedAt: issuedAt, lifeSeconds: PagePhones.tokenSeconds,
        // What the device is given in exchange ends as early as a token can ask.
        instanceExpiresAt: issuedAt.advanced(byMilliseconds: ApplicationToken.minimumInstanceSeconds * 1000))
    else { return nil }
    return .members([
      ("application_key", .string(application.key)), ("user", .string(user)), ("device", .string("web-\(label)")),
      ("token", .string(token)),
      ("expires_at", .string("\(issuedAt.advanced(byMilliseconds: PagePhones.tokenSeconds * 1000))")),
      ("account", .string(application.account.text)),
    ])
  }

  /// `web-alice`, of the characters that every user id may have.
  private static func user(_ principal: RESTPrincipal, most: Int) -> String {
    let name = principal.actor.split(separator: ":").last.map(String.init) ?? ""
    let plain = name.unicodeScalars.map { $0.value > 0x20 && $0.value < 0x7F ? Character($0) : "-" }
    return String(("web-" + String(plain)).prefix(most))
  }
}
