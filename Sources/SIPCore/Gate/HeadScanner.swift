/// One walk over the head of a message, from the start line to the empty line.
///
/// The walk goes on behind the first fault, so that a refused request can still be answered; only the first fault
/// counts.
struct HeadScanner {
  private(set) var bytes: [UInt8]
  let limits: GateLimits
  private(set) var position = 0
  private(set) var fault: (rule: GateRule, offset: Int?)?
  private(set) var startLine: ScannedMessage.StartLine?
  private(set) var version = ""
  private(set) var headers: [HeaderField] = []
  /// Whether the empty line was reached.
  private(set) var isComplete = false
  /// Whether the bytes ended before the empty line.
  private var isUnterminated = false
  /// Whether a line is no header field: it may have been meant as any.
  private(set) var hasUnreadableName = false
  private var lines = 0
  private var viaElements = 0
  private var routeElements = 0
  private var recordRouteElements = 0
  private var contactElements = 0

  init(_ bytes: [UInt8], limits: GateLimits) {
    self.bytes = bytes
    self.limits = limits
    headers.reserveCapacity(24)
  }

  mutating func note(_ rule: GateRule, _ offset: Int?) {
    if fault == nil { fault = (rule, offset) }
  }

  mutating func scan() {
    scanStartLine()
    guard startLine != nil else { return }
    while position < bytes.count {
      if bytes[position] == MessageCharacter.lf {
        note(.bareLineFeed, position)
        position += 1
        isComplete = true
        return
      }
      if bytes[position] == MessageCharacter.cr, position + 1 < bytes.count, bytes[position + 1] == MessageCharacter.lf
      {
        position += 2
        isComplete = true
        return
      }
      guard headers.count < limits.headerCount else { return note(.headerCount, position) }
      guard lines < limits.lineCount else { return note(.lineCount, position) }
      scanHeader()
    }
    isUnterminated = true
  }

  /// The first Content-Length and, where it is repeated, the next one.
  var contentLengths: (first: HeaderField, second: HeaderField?)? {
    guard let place = headers.firstIndex(where: { $0.kind == .contentLength }) else { return nil }
    return (headers[place], headers[(place + 1)...].first { $0.kind == .contentLength })
  }

  /// The first fault, a missing empty line being the last one.
  var firstFault: (rule: GateRule, offset: Int?)? {
    fault ?? (isUnterminated ? (.headUnterminated, bytes.count) : nil)
  }

  /// Puts the empty line behind a datagram that ends with its last header field. Such messages are common in the field,
  /// and the end of the datagram leaves no doubt about where the head ends.
  mutating func completeHead() {
    guard isUnterminated, bytes.suffix(2) == [MessageCharacter.cr, MessageCharacter.lf], !headers.isEmpty else {
      return
    }
    bytes += [MessageCharacter.cr, MessageCharacter.lf]
    position = bytes.count
    isUnterminated = false
    isComplete = true
  }

  // MARK: Start line

  private mutating func scanStartLine() {
    var end = 0
    while end < bytes.count {
      let byte = bytes[end]
      if byte == MessageCharacter.lf {
        note(.bareLineFeed, end)
        position = end + 1
        break
      }
      if byte == MessageCharacter.cr {
        if end + 1 < bytes.count, bytes[end + 1] == MessageCharacter.lf {
          position = end + 2
          break
        }
        note(.bareCarriageReturn, end)
      } else if byte == 0 {
        note(.nul, end)
      } else if MessageCharacter.isControl(byte) {
        note(.controlByte, end)
      }
      end += 1
    }
    if end == bytes.count {
      position = end
    }
    if end > limits.lineBytes { note(.requestURIBytes, limits.lineBytes) }
    lines = 1
    if isVersionStart(0) { scanStatusLine(0..<end) } else { scanRequestLine(0..<end) }
  }

  private func isVersionStart(_ offset: Int) -> Bool {
    guard offset + 4 <= bytes.count else { return false }
    return zip(bytes[offset...], "sip/".utf8).allSatisfy { MessageCharacter.lowercase($0) == $1 }
  }

  private mutating func scanStatusLine(_ line: Range<Int>) {
    let versionEnd = bytes[line].firstIndex(of: MessageCharacter.space) ?? line.upperBound
    // Within: the line begins with the four bytes of `SIP/`, and none of them is a space.
    version = String(decoding: bytes[line.lowerBound + 4..<versionEnd], as: UTF8.self)
    let rest = min(versionEnd + 1, line.upperBound)..<line.upperBound
    var status = 0
    // The parser loses the header after a status line without the space before the reason phrase.
    if let digitsEnd = bytes[rest].firstIndex(of: MessageCharacter.space), digitsEnd - rest.lowerBound == 3,
      case .value(let number) = ScannedNumber(bytes[rest.lowerBound..<digitsEnd]), number >= 100, number < 700
    {
      status = Int(number)
    } else {
      note(.status, rest.lowerBound)
    }
    startLine = .response(status: status)
  }

  private mutating func scanRequestLine(_ line: Range<Int>) {
    var fields: [Range<Int>] = []
    var start = line.lowerBound
    var versionField: Range<Int>?
    for offset in line.lowerBound...line.upperBound {
      guard offset == line.upperBound || bytes[offset] == MessageCharacter.space else { continue }
      let field = start..<offset
      if fields.count < 4 { fields.append(field) }
      if start > line.lowerBound, isVersionStart(start) { versionField = field }
      start = offset + 1
    }
    guard let versionField else { return note(.notSIP, 0) }
    version = String(decoding: bytes[versionField].dropFirst(4), as: UTF8.self)
    let method = fields[0]
    let isMethod = !method.isEmpty && bytes[method].allSatisfy(MessageCharacter.isToken)
    if !isMethod || method.count > limits.methodBytes { note(.method, line.lowerBound) }
    let name = isMethod ? String(decoding: bytes[method].prefix(limits.methodBytes), as: UTF8.self) : ""
    guard fields.count == 3, fields[2] == versionField else {
      startLine = .request(method: name, uri: method.upperBound..<method.upperBound)
      return note(.startLine, method.upperBound)
    }
    let uri = fields[1]
    startLine = .request(method: name, uri: uri)
    if uri.count > limits.requestURIBytes { note(.requestURIBytes, uri.lowerBound + limits.requestURIBytes) }
    scanRequestURI(uri)
  }

  /// Bytes of the Request-URI, whatever its scheme.
  private mutating func scanRequestURI(_ uri: Range<Int>) {
    if uri.isEmpty { note(.requestURI, uri.lowerBound) }
    var semicolons = 0
    let escapedNUL =
      bytes[uri].contains(MessageCharacter.percent) ? firstEscapedNUL(outsideUserPartsOf: uri, isURI: true) : nil
    for offset in uri {
      switch bytes[offset] {
      case MessageCharacter.open, MessageCharacter.close, MessageCharacter.quote, 0..<0x21, 0x7F...:
        note(.requestURI, offset)
      case MessageCharacter.semicolon:
        semicolons += 1
        if semicolons > limits.semicolons { note(.semicolons, offset) }
      case MessageCharacter.percent where offset == escapedNUL: note(.escapedNUL, offset)
      default: break
      }
    }
  }

  private func isEscapedNUL(_ offset: Int, before end: Int) -> Bool {
    offset + 2 < end && bytes[offset] == MessageCharacter.percent && bytes[offset + 1] == MessageCharacter.zero
      && bytes[offset + 2] == MessageCharacter.zero
  }

  /// The first `%00` that stands elsewhere than in what a sip or sips URI has before its `@`: there it is a text like
  /// any other (RFC 4475 section 3.1.1.4), which nobody here unescapes.
  /// - Parameter isURI: Whether all of the bytes are one URI, as between angle brackets.
  private func firstEscapedNUL(outsideUserPartsOf value: Range<Int>, isURI: Bool) -> Int? {
    var isEnclosed = isURI
    var mayBegin = true
    var isQuoted = false
    var isInUser = false
    /// One that is no fault if an `@` comes behind it.
    var waiting: Int?
    var offset = value.lowerBound
    while offset < value.upperBound {
      let byte = bytes[offset]
      if isEscapedNUL(offset, before: value.upperBound) {
        guard isInUser else { return offset }
        waiting = waiting ?? offset
        offset += 3
        continue
      }
      if isQuoted {
        if byte == MessageCharacter.quote { isQuoted = false }
        let isPair = byte == MessageCharacter.backslash && !isEscapedNUL(offset + 1, before: value.upperBound)
        offset += isPair ? 2 : 1
        continue
      }
      if mayBegin, let end = schemeEnd(at: offset, before: value.upperBound) {
        mayBegin = false
        isInUser = true
        offset = end
        continue
      }
      switch byte {
      case MessageCharacter.open, MessageCharacter.close, MessageCharacter.quote, MessageCharacter.space,
        MessageCharacter.tab:
        if let waiting { return waiting }
        isInUser = false
        if byte == MessageCharacter.open { isEnclosed = true }
        if byte == MessageCharacter.close { isEnclosed = false }
        if byte == MessageCharacter.quote { isQuoted = true }
        mayBegin = byte == MessageCharacter.open || mayBegin && MessageCharacter.isBlank(byte)
      case UInt8(ascii: "@"):
        waiting = nil
        isInUser = false
        mayBegin = false
      case MessageCharacter.comma, MessageCharacter.semicolon, UInt8(ascii: "?"):
        // Without brackets a URI ends here (RFC 3261 section 20).
        mayBegin = byte == MessageCharacter.comma && !isEnclosed
        guard !isEnclosed else { break }
        if let waiting { return waiting }
        isInUser = false
      default: mayBegin = false
      }
      offset += 1
    }
    return waiting
  }

  /// Where the user part begins, if `sip:` or `sips:` stands here.
  private func schemeEnd(at start: Int, before end: Int) -> Int? {
    var offset = start
    for expected in "sip".utf8 {
      guard offset < end, MessageCharacter.lowercase(bytes[offset]) == expected else { return nil }
      offset += 1
    }
    if offset < end, MessageCharacter.lowercase(bytes[offset]) == UInt8(ascii: "s") { offset += 1 }
    return offset < end && bytes[offset] == MessageCharacter.colon ? offset + 1 : nil
  }

  // MARK: Header fields

  private mutating func scanHeader() {
    let start = position
    var offset = start
    var end = bytes.count
    var colon: Int?
    var isQuoted = false
    var isEscaped = false
    var isInAngle = false
    var semicolons = 0
    var commas = 0
    var elementCount = 1
    var hasEscapedNUL = false
    position = bytes.count
    lines += 1
    walk: while offset < bytes.count {
      let byte = bytes[offset]
      let wasEscaped = isEscaped
      isEscaped = false
      switch byte {
      case MessageCharacter.cr, MessageCharacter.lf:
        let isPair = byte == MessageCharacter.cr && offset + 1 < bytes.count && bytes[offset + 1] == MessageCharacter.lf
        if byte == MessageCharacter.cr, !isPair {
          note(.bareCarriageReturn, offset)
          break
        }
        if byte == MessageCharacter.lf { note(.bareLineFeed, offset) }
        let next = offset + (isPair ? 2 : 1)
        guard next < bytes.count, MessageCharacter.isBlank(bytes[next]) else {
          end = offset
          position = next
          break walk
        }
        for folded in offset..<next { bytes[folded] = MessageCharacter.space }
        lines += 1
        offset = next
        continue
      case MessageCharacter.tab: break
      case 0..<0x20, 0x7F:
        // RFC 3261 lets any of these stand behind a backslash in quotes; a C string could not hold it.
        if isQuoted, wasEscaped {
          bytes[offset] = MessageCharacter.space
        } else {
          note(byte == 0 ? .nul : .controlByte, offset)
        }
      case MessageCharacter.backslash: isEscaped = isQuoted && !wasEscaped
      case MessageCharacter.quote: if !wasEscaped, colon != nil { isQuoted.toggle() }
      case MessageCharacter.colon: if colon == nil { colon = offset }
      case MessageCharacter.open: if !isQuoted { isInAngle = true }
      case MessageCharacter.close: if !isQuoted { isInAngle = false }
      case MessageCharacter.semicolon:
        semicolons += 1
        if semicolons > limits.semicolons { note(.semicolons, offset) }
      case MessageCharacter.comma:
        commas += 1
        if commas > limits.commas { note(.commas, offset) }
        if !isQuoted {
          semicolons = 0
          if !isInAngle { elementCount += 1 }
        }
      case MessageCharacter.percent where isEscapedNUL(offset, before: bytes.count): hasEscapedNUL = true
      default: break
      }
      offset += 1
    }
    if end - start > limits.lineBytes { note(.lineBytes, start + limits.lineBytes) }
    if lines > limits.lineCount { note(.lineCount, start) }
    guard let colon, let name = repairName(start..<colon) else {
      hasUnreadableName = true
      return note(.headerName, start)
    }
    let kind = HeaderKind(bytes[name])
    var value = colon + 1..<end
    while let first = value.first, MessageCharacter.isBlank(bytes[first]) { value = first + 1..<end }
    var last = value.upperBound
    while last > value.lowerBound, MessageCharacter.isBlank(bytes[last - 1]) { last -= 1 }
    value = value.lowerBound..<last
    headers.append(HeaderField(kind: kind, name: name, value: value))
    if hasEscapedNUL, kind.holdsURI, let escapedNUL = firstEscapedNUL(outsideUserPartsOf: value, isURI: false) {
      note(.escapedNUL, escapedNUL)
    }
    countElements(elementCount, of: kind, at: start)
  }

  /// A token with white space behind it; the colon is moved up to it, so that no spelling slips past a filter.
  private mutating func repairName(_ range: Range<Int>) -> Range<Int>? {
    var end = range.lowerBound
    while end < range.upperBound, MessageCharacter.isToken(bytes[end]) { end += 1 }
    guard end > range.lowerBound, bytes[end..<range.upperBound].allSatisfy(MessageCharacter.isBlank) else { return nil }
    if end < range.upperBound {
      bytes[range.upperBound] = MessageCharacter.space
      bytes[end] = MessageCharacter.colon
    }
    return range.lowerBound..<end
  }

  private mutating func countElements(_ count: Int, of kind: HeaderKind, at offset: Int) {
    switch kind {
    case .via: viaElements += count
    case .route: routeElements += count
    case .recordRoute: recordRouteElements += count
    case .contact: contactElements += count
    default: return
    }
    if viaElements > limits.vias || routeElements > limits.routes || recordRouteElements > limits.routes
      || contactElements > limits.contacts
    {
      note(.repeats, offset)
    }
  }
}
