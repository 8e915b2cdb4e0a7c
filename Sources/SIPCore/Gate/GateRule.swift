/// The rule a message broke. The raw value is stable: counters, logs and tests match on it.
public enum GateRule: String, Hashable, Sendable, CaseIterable, Error {
  // Silence is the answer to these.
  case empty = "gate.empty"
  case keepAlive = "gate.keepAlive"
  case notSIP = "gate.notSIP"

  // Bytes.
  case bareCarriageReturn = "gate.bareCarriageReturn"
  case bareLineFeed = "gate.bareLineFeed"
  case nul = "gate.nul"
  case controlByte = "gate.controlByte"
  /// In a URI, but not in a user part: there it is a text like any other.
  case escapedNUL = "gate.escapedNUL"
  case headUnterminated = "gate.headUnterminated"

  // Sizes.
  case messageBytes = "gate.messageBytes"
  case bodyBytes = "gate.bodyBytes"
  case lineBytes = "gate.lineBytes"
  case lineCount = "gate.lineCount"
  case headerCount = "gate.headerCount"
  case semicolons = "gate.semicolons"
  case commas = "gate.commas"
  case repeats = "gate.repeats"
  case requestURIBytes = "gate.requestURIBytes"

  // Start line and header names.
  case startLine = "gate.startLine"
  case method = "gate.method"
  case requestURI = "gate.requestURI"
  case status = "gate.status"
  case headerName = "gate.headerName"

  // Content-Length.
  case contentLength = "gate.contentLength"
  case contentLengthRepeated = "gate.contentLengthRepeated"
  case contentLengthMissing = "gate.contentLengthMissing"
  case bodyShort = "gate.bodyShort"
  case bytesBehind = "gate.bytesBehind"

  // Meaning.
  case version = "semantic.version"
  case scheme = "semantic.scheme"
  case missingHeader = "semantic.missingHeader"
  case repeatedHeader = "semantic.repeatedHeader"
  case via = "semantic.via"
  case address = "semantic.address"
  case contact = "semantic.contact"
  case callID = "semantic.callID"
  case cseq = "semantic.cseq"
  case cseqRange = "semantic.cseqRange"
  case cseqMethod = "semantic.cseqMethod"
  case maxForwards = "semantic.maxForwards"
  case contentType = "semantic.contentType"

  // What the parser behind the gate says.
  case fieldValue = "parser.fieldValue"
  case unparsable = "parser.unparsable"
  case disagreement = "parser.disagreement"

  /// The status a request earns that breaks the rule.
  public var status: Int {
    switch self {
    case .messageBytes, .bodyBytes, .lineBytes, .lineCount, .headerCount: 513
    case .requestURIBytes: 414
    case .scheme: 416
    case .version: 505
    default: 400
    }
  }

  /// The reason phrase that goes with ``status``.
  public var reason: String {
    switch self {
    case .empty: "Empty Message"
    case .keepAlive: "Keep-Alive"
    case .notSIP: "Not a SIP Message"
    case .bareCarriageReturn: "Bad Request: CR without LF"
    case .bareLineFeed: "Bad Request: LF without CR"
    case .nul: "Bad Request: NUL Byte"
    case .controlByte: "Bad Request: Control Byte"
    case .escapedNUL: "Bad Request: %00 in a URI Outside the User Part"
    case .headUnterminated: "Bad Request: No Empty Line After the Header Fields"
    case .messageBytes: "Message Too Large"
    case .bodyBytes: "Message Too Large: Body"
    case .lineBytes: "Message Too Large: Line Length"
    case .lineCount: "Message Too Large: Lines"
    case .headerCount: "Message Too Large: Header Fields"
    case .semicolons: "Bad Request: Too Many Parameters"
    case .commas: "Bad Request: Too Many Elements in a Header Field"
    case .repeats: "Bad Request: Too Many Via, Route or Contact Values"
    case .requestURIBytes: "Request-URI Too Long"
    case .startLine: "Bad Request: Request-Line"
    case .method: "Bad Request: Method"
    case .requestURI: "Bad Request: Request-URI"
    case .status: "Bad Status-Line"
    case .headerName: "Bad Request: Header Field Name"
    case .contentLength: "Bad Request: Content-Length"
    case .contentLengthRepeated: "Bad Request: Content-Length Twice"
    case .contentLengthMissing: "Bad Request: Content-Length Missing on a Stream"
    case .bodyShort: "Bad Request: Content-Length Exceeds the Body"
    case .bytesBehind: "Bad Request: Bytes Behind the Body"
    case .version: "Version Not Supported"
    case .scheme: "Unsupported URI Scheme"
    case .missingHeader: "Bad Request: Mandatory Header Field Missing"
    case .repeatedHeader: "Bad Request: Header Field Repeated"
    case .via: "Bad Request: Via"
    case .address: "Bad Request: From or To"
    case .contact: "Bad Request: Contact"
    case .callID: "Bad Request: Call-ID"
    case .cseq: "Bad Request: CSeq"
    case .cseqRange: "Bad Request: CSeq Number Out of Range"
    case .cseqMethod: "Bad Request: CSeq Method Mismatch"
    case .maxForwards: "Bad Request: Max-Forwards"
    case .contentType: "Bad Request: Content-Type"
    case .fieldValue: "Bad Request: Header Field Value"
    case .unparsable: "Bad Request: Syntax"
    case .disagreement: "Bad Request: Ambiguous Syntax"
    }
  }
}
