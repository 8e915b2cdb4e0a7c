import CallModel
public import LandlineConfiguration
import LandlineNode
import LandlineWire
import RoutingCore

/// Whether the certificates and keys of a configuration can be read, belong together and are valid now.
public enum CertificateCheck {
  /// Fewer days left than this are worth a word.
  private static let soonDays = 14

  /// Blocks while it reads.
  public static func findings(_ configuration: GatewayConfiguration) -> [StartFinding] {
    let now = Int(NodeClock.wallClock().milliseconds / 1000)
    var findings: [StartFinding] = []
    func check(_ place: String, _ read: () throws(InvalidValue) -> CertificateFacts?) {
      do throws(InvalidValue) {
        if let facts = try read(), let finding = validity(facts, place, now) { findings.append(finding) }
      } catch {
        findings.append(StartFinding(place, error.problem, fix: error.accepted))
      }
    }
    if let tls = configuration.http.tls {
      check("http.certificate") { () throws(InvalidValue) in try CertificateFacts.check(tls) }
    }
    for listener in configuration.listeners {
      guard let tls = listener.listener.tls else { continue }
      check("listeners.\(listener.name)") { () throws(InvalidValue) in try CertificateFacts.check(tls) }
    }
    // Trunks of one host share what one of them says.
    var known: Set<TLSClientPolicy> = []
    for trunk in configuration.trunks {
      guard let policy = trunk.tls, known.insert(policy).inserted else { continue }
      check("trunks.\(trunk.trunk.name).tls") { () throws(InvalidValue) in try CertificateFacts.check(policy) }
    }
    return findings
  }

  private static func validity(_ facts: CertificateFacts, _ place: String, _ now: Int) -> StartFinding? {
    let day = 86_400
    let name = facts.subject ?? facts.names.first ?? "the certificate"
    func days(_ seconds: Int) -> String { seconds / day == 1 ? "a day" : "\(seconds / day) days" }
    if facts.validUntil < now {
      return StartFinding(
        place, "the certificate of \(name) expired \(days(now - facts.validUntil)) ago", fix: "renew it")
    }
    if facts.validFrom > now {
      return StartFinding(
        place, "the certificate of \(name) is valid only in \(days(facts.validFrom - now))",
        fix: "look at this machine's clock, or take one that is valid")
    }
    guard facts.validUntil - now < soonDays * day else { return nil }
    return StartFinding(
      place, "the certificate of \(name) expires in \(days(facts.validUntil - now))", fix: "renew it", isSerious: false)
  }
}
