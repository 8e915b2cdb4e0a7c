import CLandlinePages

/// One page of the documentation that the gateway serves: a document of the repository, built into the executable.
package struct DocumentationPage: Sendable {
  package enum Group: String, CaseIterable, Sendable {
    case start = "Start"
    case apps = "For apps"
    case operators = "For operators"
    case failures = "Calls and failures"
    case inside = "Inside the gateway"
  }

  /// Its name under `/docs/`.
  package let name: String
  package let group: Group
  package let title: String
  /// One sentence.
  package let summary: String
  /// As Markdown.
  package let text: String
  /// Its path in the repository; `nil` for a page that is made of the program's own tables.
  package let path: String?

  /// - Parameter target: where a link to a document of the repository leads; `nil` for one that is not served.
  package func page(_ target: @escaping @Sendable (String) -> String?) -> MarkdownPage {
    MarkdownPage(text) { address in
      if address.hasPrefix("#") || address.hasPrefix("/") || address.hasPrefix("http") { return address }
      return target(address)
    }
  }
}

/// All that the gateway documents of itself.
package enum Documentation {
  /// A document, where its page stands, and what is said of it in lists.
  private struct Row {
    let name: String
    let group: DocumentationPage.Group
    let title: String
    let summary: String
    let path: String
  }

  private static let rows: [Row] = [
    Row(
      name: "readme", group: .start, title: "Landline",
      summary: "What it is, the first five minutes, the floor plan.",
      path: "README.md"),
    Row(
      name: "promises", group: .operators, title: "Promises",
      summary: "What it promises, and the commands that try to break it.",
      path: "Sources/LandlineServer/LandlineServer.docc/Promises.md"),
    Row(
      name: "landline-js", group: .apps, title: "landline.js", summary: "Calls from web pages: one ES module.",
      path: "Sources/CLandlinePages/Documentation/LandlineJS.md"),
    Row(
      name: "swift", group: .apps, title: "LandlineClient for Swift", summary: "Calls from a Swift program.",
      path: "Sources/LandlineClient/LandlineClient.docc/LandlineClient.md"),
    Row(
      name: "porting", group: .apps, title: "Porting",
      summary: "Names of the iOS calling library whose guides this one follows.",
      path: "Sources/LandlineClient/LandlineClient.docc/Porting.md"),
    Row(
      name: "protocol", group: .apps, title: "The apps' protocol",
      summary: "landline.v1: sessions, proofs, close codes; what the messages are stands in messages.",
      path: "Sources/AppProtocol/AppProtocol.docc/AppProtocol.md"),
    Row(
      name: "call-failures", group: .failures, title: "Call failures",
      summary: "Every class of failure a call can end with, its causes and remedies.",
      path: "Sources/CallModel/CallModel.docc/CallFailures.md"),
    Row(
      name: "cause-mapping", group: .failures, title: "SIP statuses and Q.850 causes",
      summary: "What a status becomes in the telephone network, and a cause in SIP.",
      path: "Sources/SIPCore/SIPCore.docc/CauseMapping.md"),
    Row(
      name: "stories", group: .failures, title: "Stories of calls",
      summary: "How a call's ladder, sound, money and causes are put together.",
      path: "Sources/CallStory/CallStory.docc/CallStory.md"),
    inside("call-model", "CallModel", "Validated values that every part is written in."),
    inside("call-engine", "CallEngine", "One call, one machine."),
    inside("node", "LandlineNode", "A running node: cores joined to sockets, stores and clocks."),
    inside("doors", "LandlineHTTP", "WebSocket, REST, pages: who may see and ask what."),
    inside("app-server", "LandlineServer", "A whole gateway, and what is looked at before it starts."),
    inside("sip", "SIPCore", "SIP without sockets, from the gate to a call."),
    inside("session-descriptions", "SDPCore", "Session descriptions, and what two ends agree on."),
    inside("secure-transport", "SecureTransport", "STUN, ICE, DTLS, SRTP: the packet side of a leg."),
    inside("media", "MediaCore", "Sound from the packets of one leg to those of the other."),
    inside("routing", "RoutingCore", "Rate decks, prices, the choice of a trunk."),
    inside("ledger", "LedgerCore", "Credit, holds, transfers, the hash chain."),
    inside("ledger-sqlite", "LedgerSQLite", "The ledger in one SQLite file."),
    inside("records-sqlite", "RecordsSQLite", "Records, registrations and idempotency keys in one SQLite file."),
    inside("sqlite", "LandlineSQLite", "What every store in an SQLite file shares: one writer, readers, versions."),
    inside("ledger-spool", "LedgerSpool", "Answers and ends that wait for a ledger that is away."),
    inside("resolver", "LandlineResolver", "Where a SIP address lives: DNS."),
    inside("gateway", "LandlineWire", "Sockets, timers and threads around the cores."),
    inside("number-plan", "NumberPlan", "What numbering plans say about a number."),
    inside("configuration-library", "LandlineConfiguration", "How the configuration file is read."),
    inside("console", "LandlineConsole", "From a parsed command to printed bytes."),
    inside("simulation", "SimulationKit", "Lives of accounts and calls that never happened."),
    inside("benchmarks", "LandlineBench", "How far this is from the least that could do the job."),
  ]

  private static func inside(_ name: String, _ target: String, _ summary: String) -> Row {
    Row(
      name: name, group: .inside, title: target, summary: summary,
      path: "Sources/\(target)/\(target).docc/\(target).md")
  }

  /// The example configuration, which names every key.
  package static let configurationPath = "Config/landline.yaml"
  /// The description of the apps' protocol.
  package static let protocolPath = "Sources/AppProtocol/API/landline.v1.asyncapi.json"

  /// A document of the repository as it was built in.
  package static func document(_ path: String) -> [UInt8]? {
    var count = 0
    guard let start = landline_document(path, &count) else { return nil }
    return Array(UnsafeBufferPointer(start: start, count: count))
  }

  private static func text(_ path: String) -> String {
    document(path).map { String(decoding: $0, as: UTF8.self) } ?? ""
  }

  /// The pages whose text does not depend on the running gateway, in the order of the list; made once.
  static let fixedPages: [DocumentationPage] =
    rows.map { row in
      DocumentationPage(
        name: row.name, group: row.group, title: row.title, summary: row.summary,
        text: titled(row.title, text(row.path)), path: row.path)
    } + [
      DocumentationPage(
        name: "messages", group: .apps, title: "Messages of landline.v1",
        summary: "Each message of the apps' protocol with its members and an example.",
        text: ProtocolText.text(document(protocolPath) ?? []), path: nil),
      DocumentationPage(
        name: "configuration", group: .operators, title: "Configuration",
        summary: "Every key of the configuration file, with what it means.",
        text: """
          # Configuration

          One YAML file, read by `landline serve` and the commands beside it: `--config FILE`, else `LANDLINE_CONFIG`. \
          `landline serve --check` reads it and says what is wrong; SIGHUP reads it again and drops no call. Every key \
          stands below, with its meaning and its default.

          ```yaml
          \(text(configurationPath))```
          """, path: configurationPath),
    ]

  /// The document under a title of ours, without the lists of symbols that only a symbol browser can follow.
  private static func titled(_ title: String, _ text: String) -> String {
    var lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    if let topics = lines.firstIndex(of: "## Topics") { lines.removeSubrange(topics...) }
    if lines.first?.hasPrefix("# ") ?? false { lines.removeFirst() }
    // A single overview is the page itself.
    lines.removeAll { $0 == "## Overview" }
    return "# \(title)\n" + lines.joined(separator: "\n")
  }

  /// The name of the page that a link between documents means: a path, or the name of a symbol browser's page.
  static func name(of address: String) -> String? {
    let plain = address.hasPrefix("doc:") ? String(address.dropFirst(4)) + ".md" : address
    return rows.first { $0.path == plain || $0.path.hasSuffix("/" + plain) }?.name
  }
}
