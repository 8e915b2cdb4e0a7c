import CallModel
import LandlineConfiguration
import LandlineWire
import SDPCore
import SIPCore

extension TrunkTest {
  /// What the steps found that the summary and the lines of configuration are made of.
  struct Findings {
    var best: Reached?
    /// The steps that failed, each once, in their order.
    private(set) var failed: [TrunkStep.Kind] = []
    private(set) var hasCalled = false
    /// The keys under `caller` that the trunk wants.
    var callerKeys: String?
    var plan: MediaPlan?
    /// Packets of sound that came.
    var packets = 0

    mutating func add(_ step: TrunkStep) {
      if step.verdict == .fail, !failed.contains(step.kind) { failed.append(step.kind) }
      if step.kind == .call, step.verdict == .ok { hasCalled = true }
    }
  }

  /// The last step: what came of it all, and what to write into the configuration.
  var summaryStep: TrunkStep {
    var parts: [String] = []
    if let best = findings.best {
      let place = TrunkText.text(best.path.remote)
      parts.append(
        best.status.map { "OPTIONS is answered at \(place) with \($0)" } ?? "OPTIONS is not answered at \(place)")
    } else {
      parts.append("nothing that speaks SIP was reached")
    }
    if findings.hasCalled { parts.append("calls go through") }
    if let sound = findings.plan?.audio.send {
      parts.append("sound as \(TrunkText.text(sound.codec))" + (findings.packets > 0 ? "" : ", none of which came"))
    }
    if settings.number == nil, findings.best != nil { parts.append("no call was tried (--number)") }
    let failed = findings.failed.map(\.rawValue)
    if !failed.isEmpty { parts.append("failed: \(failed.joined(separator: ", "))") }
    let lines = findings.best.map(configuration)
    return TrunkStep(
      .summary, worst == .fail ? .fail : worst == .warn ? .warn : .ok, parts.joined(separator: "; "),
      details: lines.map { ["for the configuration:"] + $0 } ?? [],
      facts: [
        ("failed", .array(failed.map { .string($0) })),
        ("configuration", .string(optional: lines.map { $0.joined(separator: "\n") + "\n" })),
      ])
  }

  /// The trunk as lines of the configuration, with what the test found out.
  private func configuration(_ best: Reached) -> [String] {
    let isNamedSo = best.path.remote.transport.rawValue == trunk.uri.parameters["transport"]?.value?.lowercased()
    let usual = trunk.uri.parameters["transport"] == nil && best.path.remote.transport == .udp
    let uri = isNamedSo || usual || trunk.uri.scheme == .sips ? trunk.uri : uri(over: best.path.remote)
    var lines = ["trunks:", "  \(name):", "    uri: \(TrunkTest.quoted(TrunkText.text(uri)))"]
    if !trunk.proxies.isEmpty {
      lines.append(
        "    proxies: [\(trunk.proxies.map { TrunkTest.quoted(TrunkText.text($0)) }.joined(separator: ", "))]")
    }
    if let account = trunk.account {
      lines += [
        "    account:", "      username: \(TrunkTest.quoted(account.username))", "      password-file: secrets/\(name)",
      ]
      let realm = account.realm ?? challenges.first?.challenge.realm
      if let realm { lines.append("      realm: \(TrunkTest.quoted(realm))") }
    }
    if let seconds = trunk.registrationSeconds { lines.append("    register: \(seconds)s") }
    switch trunk.tls?.trust {
    case .authorities(let files):
      lines += ["    tls:", "      authorities: [\(files.map(TrunkTest.quoted).joined(separator: ", "))]"]
    case .fingerprints(let pins):
      let texts = pins.map { TrunkTest.quoted(TrunkText.hexadecimal($0)) }
      lines += ["    tls:", "      fingerprints: [\(texts.joined(separator: ", "))]"]
    case .system, nil: break
    }
    var codecs = trunk.media.codecs
    if let chosen = findings.plan?.audio.send.codec, let place = codecs.firstIndex(of: chosen) {
      codecs.remove(at: place)
      codecs.insert(chosen, at: 0)
    }
    lines.append("    codecs: [\(codecs.map { TrunkText.text($0) }.joined(separator: ", "))]")
    lines.append("    srtp: \(TrunkText.text(trunk.media.protection))")
    lines += callerLines
    if best.status == nil { lines.append("    ping: 0s") }
    return lines
  }

  private var callerLines: [String] {
    var lines = (findings.callerKeys ?? "").split(separator: ",").map { "      \($0.drop { $0 == " " })" }
    let numbers = trunk.identity.ownedNumbers?.sorted() ?? settings.caller.map { [$0] } ?? []
    if !numbers.isEmpty { lines.append("      numbers: [\(numbers.map { "\"\($0)\"" }.joined(separator: ", "))]") }
    return lines.isEmpty ? [] : ["    caller:"] + lines
  }

  /// The trunk's name, or one made of its host.
  private var name: String {
    if settings.file != nil { return settings.name }
    let host = trunk.uri.host.map { "\($0)" } ?? ""
    let letters = host.lowercased().map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "-" }
    let name = String(letters).split(separator: "-").joined(separator: "-").prefix(32)
    return name.first?.isLetter == true ? String(name) : "carrier-a"
  }

  private static func quoted(_ text: String) -> String {
    "\"" + TrunkText.clean(text).replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
  }
}
