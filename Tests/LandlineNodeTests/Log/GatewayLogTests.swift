import CallModel
import Foundation
import LandlineConfiguration
import LandlineNode
import Logging
import PeerKit
import Synchronization
import Testing

/// An output whose far end this test reads, on a thread of its own.
private final class LogPipe: Sendable {
  private let reading: FileHandle
  private let writing: FileHandle
  private let text = Mutex(Data())
  private let isRead = DispatchSemaphore(value: 0)
  let output: LogOutput

  init(_ configuration: LogConfiguration = LogConfiguration(), reads: Bool = true) {
    let pipe = Pipe()
    (reading, writing) = (pipe.fileHandleForReading, pipe.fileHandleForWriting)
    output = LogOutput(configuration, descriptor: writing.fileDescriptor) {
      Instant(milliseconds: 1_795_000_000_118)
    }
    if reads { read() }
  }

  func read() {
    Thread { [self] in
      let data = (try? reading.readToEnd()) ?? Data()
      text.withLock { $0 = data }
      isRead.signal()
    }.start()
  }

  func logger(_ label: String = "landline.test") -> Logger {
    Logger(label: label) { GatewayLogHandler(label: $0, output: self.output) }
  }

  /// Everything that was written; nothing can be logged afterwards.
  func lines() throws -> [String] {
    #expect(output.flush(seconds: 60))
    output.close()
    try writing.close()
    isRead.wait()
    let text = try #require(String(data: text.withLock { $0 }, encoding: .utf8))
    #expect(text.isEmpty || text.hasSuffix("\n"))
    return text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
  }
}

private func object(_ line: String) throws -> [String: Any] {
  try #require(JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
}

@Suite("Log")
struct GatewayLogTests {
  @Test("an event is one object: time, level, label, message, metadata")
  func whole() throws {
    let log = LogPipe()
    var logger = log.logger()
    logger[metadataKey: "call_id"] = "c-1"
    logger.info("placed", metadata: ["trunk": "a", "n": "\(7)", "list": ["x", ["k": "v"]]])
    logger.warning("odd", metadata: ["call_id": "c-2"])
    let lines = try log.lines()
    #expect(
      lines == [
        #"{"time":"2026-11-18T11:06:40.118Z","level":"info","label":"landline.test","message":"placed","#
          + #""metadata":{"call_id":"c-1","list":["x",{"k":"v"}],"n":"7","trunk":"a"}}"#,
        #"{"time":"2026-11-18T11:06:40.118Z","level":"warning","label":"landline.test","message":"odd","#
          + #""metadata":{"call_id":"c-2"}}"#,
      ])
  }

  @Test("for people: one line, with values behind the message")
  func text() throws {
    var configuration = LogConfiguration()
    configuration.format = .text
    let log = LogPipe(configuration)
    log.logger().error("it broke\nbadly", metadata: ["b": "two words", "a": "1"])
    #expect(
      try log.lines() == [
        #"2026-11-18T11:06:40.118Z error landline.test: it broke\nbadly a="1" b="two words""#
      ])
  }

  static let hostile = [
    "a\nb", "a\r\nb", "\u{0}", "\u{1B}[2J\u{1B}]0;x\u{7}", "\"}\n{\"level\":\"critical\"}", "\\\"\\n",
    "\u{2028}\u{2029}",
    "\u{85}\u{9B}31m", "\u{202E}gpj.exe", "%s%n%x", "${jndi:ldap://x}", "\u{FEFF}", "🇸🇪 é ü 漢", "\u{7F}", "\t",
    String(repeating: "\n", count: 3000), String(repeating: "\u{1F600}", count: 5000), "</script>",
    "'; DROP TABLE x;--",
  ]

  @Test("whatever a text holds, an event is one record, in either format", arguments: hostile)
  func injection(_ text: String) throws {
    for format in LogConfiguration.Format.allCases {
      var configuration = LogConfiguration()
      configuration.format = format
      let log = LogPipe(configuration)
      log.logger(text).info("\(text)", metadata: [text: "\(text)", "list": [.string(text)]])
      log.logger().info("after")
      let lines = try log.lines()
      try #require(lines.count == 2)
      let line = try #require(lines.first)
      #expect(
        line.unicodeScalars.allSatisfy {
          $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) && !(0x2028...0x202E).contains($0.value)
            && $0.value != 0xFEFF
        })
      guard format == .json else { continue }
      let record = try object(line)
      #expect(Set(record.keys) == ["time", "level", "label", "message", "metadata"])
      #expect(record["level"] as? String == "info")
      if text.utf8.count < 1000 { #expect(record["message"] as? String == text) }
    }
    // Reached only where both formats wrote two records for two events.
    try ScoreboardRow(
      "B11", figure: "0", unit: "effects", target: "= 0", passed: true,
      detail: "the log: a hostile text as message, label and metadata is one record", gate: true
    ).record()
  }

  @Test("lengths, depths and numbers have bounds")
  func bounds() throws {
    let log = LogPipe()
    var deep: Logger.MetadataValue = "x"
    for _ in 0..<1000 { deep = ["d": deep] }
    var wide: Logger.Metadata = [:]
    let long = String(repeating: "v", count: 100_000)
    for number in 0..<5000 { wide["k\(number)"] = .string(long) }
    log.logger().info(
      "\(String(repeating: "m", count: 1_000_000))", metadata: ["deep": deep, "wide": .dictionary(wide)])
    let lines = try log.lines()
    #expect(lines.count == 1)
    let record = try object(try #require(lines.first))
    #expect((record["message"] as? String)?.utf8.count == 4096 + "…".utf8.count)
    #expect((lines.first?.utf8.count ?? 0) < 24_000)
  }

  @Test(
    "numbers are written with their ends alone",
    arguments: [
      ("call to +46701234567 now", "call to +4670•••••67 now"),
      ("+4612345", "+46•••••"),
      ("+123456", "+123456"),
      ("sip:+46701234567@x;user=phone", "sip:+4670•••••67@x;user=phone"),
      ("sip:46701234567@x", "sip:4670•••••67@x"),
      ("tel:0701234567", "tel:0701••••67"),
      ("SIPS:46701234567@x", "SIPS:4670•••••67@x"),
      ("%2B46701234567", "%2B4670•••••67"),
      ("+46 70-123 45 67", "+46 70-••• •• 67"),
      ("+46 (0)701234567", "+46 (0)7••••••67"),
      ("+46701234567+46701234568", "+4670•••••67+4670•••••68"),
      ("1795000000118 and 2026-11-22", "1795000000118 and 2026-11-22"),
      ("+", "+"), ("a+", "a+"), ("%2", "%2"), (":1234567", ":1234567"),
    ])
  func masking(_ text: String, _ masked: String) throws {
    let log = LogPipe()
    log.logger().info("\(text)", metadata: ["note": "\(text)"])
    let record = try object(try #require(try log.lines().first))
    #expect(record["message"] as? String == masked)
    #expect((record["metadata"] as? [String: String])?["note"] == masked)
  }

  @Test("values known to be numbers are masked whatever stands before them; a switch leaves all as it is")
  func maskedKeys() throws {
    var log = LogPipe()
    log.logger().info("x", metadata: ["caller": "46701234567", "n": "46701234567", "l": ["to": "0046701234567"]])
    var line = try #require(try log.lines().first)
    #expect(line.contains(#""caller":"4670•••••67""#))
    #expect(line.contains(#""n":"46701234567""#))
    #expect(line.contains(#""to":"0046•••••••67""#))
    var open = LogConfiguration()
    open.masksNumbers = false
    log = LogPipe(open)
    log.logger().info("+46701234567", metadata: ["caller": "46701234567"])
    line = try #require(try log.lines().first)
    #expect(line.contains(#""message":"+46701234567""#) && line.contains(#""caller":"46701234567""#))
  }

  @Test("the same digits stay hidden as in the model's own form")
  func likeTheModel() throws {
    for text in ["+46701234567", "+12025550123", "+4612345", "+35812345678", "+123456789012345", "+37212345"] {
      let number = try E164Number(text)
      let log = LogPipe()
      log.logger().info("\(number)")
      #expect(try object(try #require(try log.lines().first))["message"] as? String == number.masked)
    }
  }

  @Test("secrets show themselves as hidden")
  func secrets() throws {
    let log = LogPipe()
    log.logger().info(
      "key \(Redacted("topsecret"))",
      metadata: ["key": .stringConvertible(Redacted("topsecret")), "k": "\(Redacted(1))"])
    let line = try #require(try log.lines().first)
    #expect(!line.contains("topsecret"))
    #expect(line.contains("<redacted>"))
  }

  @Test("the level changes while loggers live; a logger's own level is its own")
  func level() throws {
    let log = LogPipe()
    let logger = log.logger()
    var own = log.logger()
    own.logLevel = .trace
    logger.debug("no")
    own.trace("own")
    log.output.configuration.level = .debug
    logger.debug("yes")
    log.output.configuration.level = .critical
    logger.error("no")
    logger.critical("last")
    let messages = try log.lines().map { try object($0)["message"] as? String }
    #expect(messages == ["own", "yes", "last"])
  }

  @Test("closing writes what waits; what comes later is counted as lost")
  func closing() throws {
    let log = LogPipe()
    log.logger().info("waits")
    log.output.close()
    log.logger().info("late")
    #expect(log.output.droppedLines == 1)
    #expect(try log.lines().map { try object($0)["message"] as? String } == ["waits"])
  }

  @Test("many tasks write whole lines, in the order of each")
  func crowd() async throws {
    let log = LogPipe()
    let logger = log.logger()
    await withTaskGroup(of: Void.self) { group in
      for task in 0..<16 {
        group.addTask { for number in 0..<200 { logger.info("\(task) \(number)") } }
      }
    }
    let lines = try log.lines()
    #expect(lines.count == 3200)
    var last = [Int](repeating: -1, count: 16)
    for line in lines {
      let words = (try object(line)["message"] as? String ?? "").split(separator: " ").compactMap { Int($0) }
      try #require(words.count == 2)
      #expect(words[1] == last[words[0]] + 1)
      last[words[0]] = words[1]
    }
  }

  @Test("when nobody reads, lines are dropped without waiting, counted, and told as soon as somebody does")
  func dropping() throws {
    let log = LogPipe(reads: false)
    let logger = log.logger()
    let text = String(repeating: "x", count: 4000)
    // A pipe holds 64 KiB and the queue 4 MiB: the rest has no room.
    for _ in 0..<2000 { logger.info("\(text)") }
    let dropped = log.output.droppedLines
    #expect(dropped > 500 && dropped < 1500)
    #expect(!log.output.flush(seconds: 0))
    log.read()
    let lines = try log.lines()
    #expect(lines.count == 2000 - dropped + 1)
    let last = try object(try #require(lines.last))
    #expect(last["level"] as? String == "warning")
    #expect((last["metadata"] as? [String: String])?["dropped"] == "\(dropped)")
  }
}
