/// One look at the text before the reader of YAML gets it. That one descends without a bound of its own, and puts an
/// anchored node in the place of each alias, so that a few lines could stand for billions of nodes.
///
/// It reads brackets, quotes, comments and indents only; what it misjudges is text that no configuration needs.
struct YAMLPrecheck {
  enum Finding: Equatable {
    case tooDeep(line: Int)
    /// An anchor `&name` or an alias `*name`.
    case anchor(line: Int, column: Int)
  }

  private enum Quote { case single, double }

  private let maximumDepth: Int
  private var quote: Quote?
  private var isEscaped = false
  private var brackets = 0
  private(set) var findings: [Finding] = []

  /// - Parameter maximumFindings: Further ones are not kept.
  init(_ text: String, maximumDepth: Int, maximumFindings: Int = 20) {
    self.maximumDepth = maximumDepth
    for (index, line) in text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
      read(line, number: index + 1)
      if findings.count >= maximumFindings { return }
    }
  }

  private mutating func read(_ line: Substring.UTF8View, number: Int) {
    var column = 0
    var indent = 0
    // Dashes and question marks open a level each, where a node may begin.
    var openers = 0
    var mayBegin = quote == nil
    var isIndent = true
    var previous = UInt8(ascii: " ")
    let isMarker = line.starts(with: "---".utf8)
    for (offset, byte) in line.enumerated() {
      // Continuation bytes of UTF-8 are no columns.
      if byte & 0xC0 != 0x80 { column += 1 }
      defer { previous = byte }
      if let open = quote {
        readQuoted(byte, open)
        continue
      }
      if isIndent, byte == UInt8(ascii: " ") {
        indent += 1
        continue
      }
      isIndent = false
      let isBlankBefore = previous == UInt8(ascii: " ") || previous == UInt8(ascii: "\t")
      switch byte {
      case UInt8(ascii: "#") where offset == 0 || isBlankBefore: return
      case UInt8(ascii: " "), UInt8(ascii: "\t"):
        if previous == UInt8(ascii: ":") { mayBegin = true }
        continue
      case UInt8(ascii: "-"), UInt8(ascii: "?"):
        let next = line.dropFirst(offset + 1).first
        let opens = next == nil || next == UInt8(ascii: " ")
        if mayBegin, opens, !isMarker { openers += 1 }
        if !opens { mayBegin = false }
      case UInt8(ascii: "'") where mayBegin: quote = .single
      case UInt8(ascii: "\"") where mayBegin: quote = .double
      case UInt8(ascii: "[") where mayBegin || brackets > 0, UInt8(ascii: "{") where mayBegin || brackets > 0:
        brackets += 1
        mayBegin = true
      case UInt8(ascii: "]") where brackets > 0, UInt8(ascii: "}") where brackets > 0: brackets -= 1
      case UInt8(ascii: ",") where brackets > 0: mayBegin = true
      case UInt8(ascii: "&") where mayBegin, UInt8(ascii: "*") where mayBegin:
        findings.append(.anchor(line: number, column: column))
        mayBegin = false
      default: mayBegin = false
      }
      if quote != nil { mayBegin = false }
      if indent / 2 + openers + brackets > maximumDepth {
        findings.append(.tooDeep(line: number))
        return
      }
    }
    isEscaped = false
  }

  private mutating func readQuoted(_ byte: UInt8, _ open: Quote) {
    if isEscaped {
      isEscaped = false
      return
    }
    switch (open, byte) {
    case (.double, UInt8(ascii: "\\")): isEscaped = true
    case (.double, UInt8(ascii: "\"")), (.single, UInt8(ascii: "'")): quote = nil
    default: break
    }
  }
}
