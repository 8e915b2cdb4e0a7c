extension SessionDescription {
  /// Reads a description.
  ///
  /// Lines may end in CRLF or LF; lines of the session may stand in any order after `v=` and `o=`, except that `r=` and
  /// `z=` follow `t=`. The time taken is linear in the bytes.
  /// - Throws: ``InvalidSessionDescription`` with a rule named `sdp.…`.
  public init(
    parsing bytes: some Collection<UInt8>, limits: SessionDescriptionLimits = .standard
  ) throws(InvalidSessionDescription) {
    guard bytes.count <= limits.bytes else {
      throw InvalidSessionDescription(
        line: 1, column: 1, rule: "sdp.limit.bytes", problem: "the description is too long",
        accepted: "at most \(limits.bytes) bytes")
    }
    var reader = SessionDescriptionReader(limits: limits)
    self = try reader.read(Array(bytes))
  }

  /// Reads a description from text, as ``init(parsing:limits:)``.
  public init(
    parsing text: some StringProtocol, limits: SessionDescriptionLimits = .standard
  ) throws(InvalidSessionDescription) {
    try self.init(parsing: text.utf8, limits: limits)
  }
}

/// Reads line after line into one description; refuses at the first fault.
private struct SessionDescriptionReader {
  typealias Line = SessionDescriptionLine

  let limits: SessionDescriptionLimits
  var origin: SessionOrigin?
  var sessionName: String?
  var session = SessionDescription(
    origin: SessionOrigin(sessionID: "0", sessionVersion: "0", addressType: "IP4", address: "0.0.0.0"), times: [])

  init(limits: SessionDescriptionLimits) { self.limits = limits }

  /// The place of the media section that is being read; `nil` above the first `m=`.
  private var section: Int? { session.media.indices.last }

  mutating func read(_ bytes: [UInt8]) throws(InvalidSessionDescription) -> SessionDescription {
    var start = 0
    var number = 0
    var emptyLine: Int?
    while start < bytes.count {
      number += 1
      let end = bytes[start...].firstIndex(of: 0x0A) ?? bytes.count
      let content = end > start && bytes[end - 1] == 0x0D ? start..<end - 1 : start..<end
      defer { start = end + 1 }
      try check(bytes[content], number: number)
      if content.isEmpty {
        emptyLine = emptyLine ?? number
        continue
      }
      // Blank lines at the end are common; one in the middle would hide what follows from other readers.
      if let emptyLine {
        throw InvalidSessionDescription(
          line: emptyLine, column: 1, rule: "sdp.line.empty", problem: "an empty line stands between lines",
          accepted: "lines of the form m=audio 49170 RTP/AVP 0, without gaps")
      }
      guard content.count >= 2, bytes[content.lowerBound + 1] == UInt8(ascii: "=") else {
        throw InvalidSessionDescription(
          line: number, column: 1, rule: "sdp.line.form", problem: "the line is not a letter and '='",
          accepted: "lines of the form m=audio 49170 RTP/AVP 0")
      }
      try read(
        Line(
          number: number, type: bytes[content.lowerBound], value: bytes[content.lowerBound + 2..<content.upperBound],
          start: content.lowerBound))
    }
    return try finished(lines: number)
  }

  private func check(_ line: ArraySlice<UInt8>, number: Int) throws(InvalidSessionDescription) {
    func refusal(_ rule: String, _ column: Int, _ problem: String, _ accepted: String) -> InvalidSessionDescription {
      InvalidSessionDescription(
        line: number, column: column, rule: rule, problem: problem, accepted: accepted)
    }
    guard number <= limits.lines else {
      throw refusal("sdp.limit.lines", 1, "there are too many lines", "at most \(limits.lines) lines")
    }
    guard line.count <= limits.lineBytes else {
      throw refusal(
        "sdp.limit.lineBytes", limits.lineBytes + 1, "the line is too long", "at most \(limits.lineBytes) bytes a line")
    }
    if let index = line.firstIndex(where: { $0 == 0 || $0 == 0x0D }) {
      throw refusal(
        "sdp.line.byte", index - line.startIndex + 1,
        line[index] == 0 ? "a NUL stands in the line" : "a carriage return stands inside the line",
        "UTF-8 text, lines ended by CR LF")
    }
  }

  private mutating func finished(lines: Int) throws(InvalidSessionDescription) -> SessionDescription {
    guard let origin else {
      throw InvalidSessionDescription(
        line: max(lines, 1), column: 1, rule: "sdp.origin.missing", problem: "there is no o= line",
        accepted: "o=- 1 1 IN IP4 192.0.2.1")
    }
    // Some stacks leave the name out of descriptions of calls; without media as well there is no session at all.
    guard sessionName != nil || !session.media.isEmpty else {
      throw InvalidSessionDescription(
        line: max(lines, 1), column: 1, rule: "sdp.name.missing", problem: "there is neither an s= nor an m= line",
        accepted: "s=-")
    }
    session.origin = origin
    session.name = sessionName ?? "-"
    if session.times.isEmpty { session.times = [SessionTime()] }
    return session
  }

  private mutating func read(_ line: Line) throws(InvalidSessionDescription) {
    if line.number == 1 {
      guard line.type == UInt8(ascii: "v"), isVersion0(line) else {
        throw line.refusal("version", "the description does not begin with version 0", accepted: "v=0")
      }
      return
    }
    switch line.type {
    case UInt8(ascii: "a"): try readAttribute(line)
    case UInt8(ascii: "m"): try readMedia(line)
    case UInt8(ascii: "c"): try readConnection(line)
    case UInt8(ascii: "b"): try readBandwidth(line)
    case UInt8(ascii: "i"): try readInformation(line)
    case UInt8(ascii: "k"): try readKey(line)
    case UInt8(ascii: "o"): try readOrigin(line)
    case UInt8(ascii: "t"): try readTime(line)
    case UInt8(ascii: "r"): try readRepeat(line)
    case UInt8(ascii: "z"): try readTimeZones(line)
    case UInt8(ascii: "s"):
      try onlyOnce(line, sessionName != nil)
      sessionName = line.value.isEmpty ? "-" : line.text
    case UInt8(ascii: "u"):
      try onlyOnce(line, session.uri != nil)
      session.uri = line.text
    case UInt8(ascii: "e"):
      try sessionLevel(line)
      session.emails.append(line.text)
    case UInt8(ascii: "p"):
      try sessionLevel(line)
      session.phones.append(line.text)
    default:
      throw line.refusal(
        "line.type", at: line.start, "no such type of line", accepted: "one of v o s i u e p c b t r z k a m")
    }
  }

  private func isVersion0(_ line: Line) -> Bool {
    var fields = line.fields
    return fields.next() == [UInt8(ascii: "0")] && fields.next() == nil
  }

  private func sessionLevel(_ line: Line) throws(InvalidSessionDescription) {
    guard section == nil else {
      throw line.refusal(
        "line.order", at: line.start, "a line of the session stands below an m= line",
        accepted: "i, c, b, k and a below an m= line")
    }
  }

  /// The line may stand once, above the first `m=`: two would let two readers see two sessions.
  private func onlyOnce(_ line: Line, _ isPresent: Bool) throws(InvalidSessionDescription) {
    try sessionLevel(line)
    try single(line, isPresent)
  }

  private func single(_ line: Line, _ isPresent: Bool) throws(InvalidSessionDescription) {
    guard !isPresent else {
      throw line.refusal("line.repeated", at: line.start, "the line stands twice", accepted: "the line once")
    }
  }

  private mutating func readOrigin(_ line: Line) throws(InvalidSessionDescription) {
    try onlyOnce(line, origin != nil)
    let accepted = "o=- 2890844526 1 IN IP4 192.0.2.1"
    var fields = line.fields
    guard let userName = fields.nextText(), let id = fields.next(), let version = fields.next(),
      let networkType = fields.nextText(), let addressType = fields.nextText(), let address = fields.nextText(),
      fields.next() == nil
    else {
      throw line.refusal("origin.fields", "the origin does not have six fields", accepted: accepted)
    }
    guard Line.isDecimal(id, digits: 40), Line.isDecimal(version, digits: 40) else {
      throw line.refusal(
        "origin.number", at: id.startIndex, "the session id or version is not a number", accepted: accepted)
    }
    origin = SessionOrigin(
      userName: userName, sessionID: String(decoding: id, as: UTF8.self),
      sessionVersion: String(decoding: version, as: UTF8.self), networkType: networkType, addressType: addressType,
      address: address)
  }

  private mutating func readInformation(_ line: Line) throws(InvalidSessionDescription) {
    if let section {
      try single(line, session.media[section].information != nil)
      session.media[section].information = line.text
    } else {
      try single(line, session.information != nil)
      session.information = line.text
    }
  }

  private mutating func readConnection(_ line: Line) throws(InvalidSessionDescription) {
    let accepted = "c=IN IP4 192.0.2.1"
    var fields = line.fields
    guard let networkType = fields.nextText(), let addressType = fields.nextText(), let address = fields.next(),
      fields.next() == nil
    else {
      throw line.refusal("connection.fields", "the connection does not have three fields", accepted: accepted)
    }
    guard hasKnownSuffixes(address, addressType) else {
      throw line.refusal(
        "connection.suffix", at: address.startIndex, "the address has a suffix that is no time to live or count",
        accepted: "c=IN IP4 233.252.0.1/127/3, c=IN IP6 ff15::101/3")
    }
    let connection = ConnectionData(
      networkType: networkType, addressType: addressType, address: String(decoding: address, as: UTF8.self))
    if let section {
      session.media[section].connections.append(connection)
    } else {
      try single(line, session.connection != nil)
      session.connection = connection
    }
  }

  /// Whether numbers alone follow an address of IPv4 (at most two) or IPv6 (one); others may be followed by anything.
  private func hasKnownSuffixes(_ address: ArraySlice<UInt8>, _ addressType: String) -> Bool {
    let allowed: Int
    switch addressType.uppercased() {
    case "IP4": allowed = 2
    case "IP6": allowed = 1
    default: return true
    }
    let parts = address.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    return parts.count <= 1 + allowed && !parts[0].isEmpty
      && parts.dropFirst().allSatisfy { Line.isDecimal($0, digits: 10) }
  }

  private mutating func readBandwidth(_ line: Line) throws(InvalidSessionDescription) {
    // `CT 1000` with a space is seen from old stacks.
    let parts = line.value.split(maxSplits: 1, omittingEmptySubsequences: false) {
      $0 == UInt8(ascii: ":") || $0 == 0x20
    }
    guard let modifier = parts.first, !modifier.isEmpty, parts.count == 2, Line.isDecimal(parts[1], digits: 20) else {
      throw line.refusal("bandwidth", "the bandwidth is not a name and a whole number", accepted: "b=AS:64")
    }
    let bandwidth = Bandwidth(
      modifier: String(decoding: modifier, as: UTF8.self), value: String(decoding: parts[1], as: UTF8.self))
    if let section {
      session.media[section].bandwidths.append(bandwidth)
    } else {
      session.bandwidths.append(bandwidth)
    }
  }

  private mutating func readTime(_ line: Line) throws(InvalidSessionDescription) {
    try sessionLevel(line)
    var fields = line.fields
    guard let start = fields.next(), let stop = fields.next(), fields.next() == nil,
      Line.isDecimal(start, digits: 20), Line.isDecimal(stop, digits: 20)
    else {
      throw line.refusal("time", "the time is not two whole numbers", accepted: "t=0 0")
    }
    session.times.append(
      SessionTime(start: String(decoding: start, as: UTF8.self), stop: String(decoding: stop, as: UTF8.self)))
  }

  private mutating func readRepeat(_ line: Line) throws(InvalidSessionDescription) {
    try sessionLevel(line)
    guard !session.times.isEmpty else {
      throw line.refusal("line.order", at: line.start, "r= stands before t=", accepted: "r= after its t= line")
    }
    let fields = line.value.split(separator: 0x20, omittingEmptySubsequences: false)
    guard fields.count >= 3, fields.allSatisfy(Line.isTypedTime) else {
      throw line.refusal(
        "repeat", "the repetition is not three or more times with one space between", accepted: "r=7d 1h 0 25h")
    }
    session.times[session.times.count - 1].repeats.append(line.text)
  }

  private mutating func readTimeZones(_ line: Line) throws(InvalidSessionDescription) {
    try sessionLevel(line)
    guard !session.times.isEmpty else {
      throw line.refusal("line.order", at: line.start, "z= stands before t=", accepted: "z= after its t= line")
    }
    // Each time has adjustments of its own (RFC 8866 section 9).
    try single(line, session.times[session.times.count - 1].timeZones != nil)
    let fields = line.value.split(separator: 0x20, omittingEmptySubsequences: false)
    guard fields.count.isMultiple(of: 2), fields.allSatisfy(Line.isTypedTime) else {
      throw line.refusal(
        "timeZones", "the adjustments are not pairs of a time and an offset with one space between",
        accepted: "z=2882844526 -1h 2898848070 0")
    }
    session.times[session.times.count - 1].timeZones = line.text
  }

  private mutating func readKey(_ line: Line) throws(InvalidSessionDescription) {
    let parts = line.value.split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.allSatisfy({ !$0.isEmpty }) else {
      throw line.refusal("key", "the method or the value of the key is empty", accepted: "k=prompt")
    }
    if let section {
      try single(line, session.media[section].key != nil)
      session.media[section].key = line.text
    } else {
      try single(line, session.key != nil)
      session.key = line.text
    }
  }

  private mutating func readAttribute(_ line: Line) throws(InvalidSessionDescription) {
    let (name, value) = line.value.cut(at: UInt8(ascii: ":"))
    // Some phones write a crypto line with nothing in it beside their real ones.
    let mayBeEmpty = name.elementsEqual("crypto".utf8)
    guard mayBeEmpty || !name.isEmpty && value?.isEmpty != true else {
      throw line.refusal(
        "attribute", "the name or the value of the attribute is empty", accepted: "a=rtcp-mux, a=ptime:20")
    }
    let section = section
    guard section.map({ session.media[$0].attributes.count }) ?? session.attributes.count < limits.attributes else {
      throw line.refusal(
        "limit.attributes", at: line.start, "there are too many attributes",
        accepted: "at most \(limits.attributes) in the session and in each media section")
    }
    let attribute = SessionAttribute(
      String(decoding: name, as: UTF8.self), value.map { String(decoding: $0, as: UTF8.self) })
    if let section {
      session.media[section].attributes.append(attribute)
    } else {
      session.attributes.append(attribute)
    }
  }

  private mutating func readMedia(_ line: Line) throws(InvalidSessionDescription) {
    let accepted = "m=audio 49170 RTP/AVP 0"
    guard session.media.count < limits.mediaSections else {
      throw line.refusal(
        "limit.mediaSections", at: line.start, "there are too many media sections",
        accepted: "at most \(limits.mediaSections)")
    }
    var fields = line.fields
    guard let kind = fields.nextText(), let ports = fields.next(), let profile = fields.nextText() else {
      throw line.refusal("media.fields", "the media line lacks a port or a protocol", accepted: accepted)
    }
    let formats = try formats(fields, of: line)
    let (first, following) = ports.cut(at: UInt8(ascii: "/"))
    guard let port = Line.number(first, upTo: 65_535) else {
      throw line.refusal(
        "media.port", at: ports.startIndex, "the port is not a number of 0 to 65535", accepted: accepted)
    }
    var portCount: Int?
    if let following {
      guard let count = Line.number(following, upTo: 65_535), count > 0 else {
        throw line.refusal(
          "media.portCount", at: following.startIndex, "the number of ports is not a number of 1 to 65535",
          accepted: "m=audio 49170/2 RTP/AVP 0")
      }
      portCount = count
    }
    session.media.append(
      MediaDescription(kind: kind, port: port, portCount: portCount, profile: profile, formats: formats))
  }

  /// What is left of an `m=` line. The list of formats may be missing: a refused stream needs none.
  private func formats(_ fields: Line.Fields, of line: Line) throws(InvalidSessionDescription) -> [String] {
    var fields = fields
    var formats: [String] = []
    // A format takes two bytes at least, with the space before it.
    formats.reserveCapacity(min(fields.rest.count / 2, limits.formats))
    while let format = fields.next() {
      guard formats.count < limits.formats else {
        throw line.refusal(
          "limit.formats", at: format.startIndex, "there are too many formats",
          accepted: "at most \(limits.formats) formats")
      }
      formats.append(String(decoding: format, as: UTF8.self))
    }
    return formats
  }
}
