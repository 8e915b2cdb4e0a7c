/// Names of header fields that have a compact form (RFC 3261 section 7.3.3 and IANA's registry).
enum FieldName {
  private static let longForms: [UInt8: String] = {
    var forms: [UInt8: String] = [:]
    for (letter, name) in [
      ("a", "Accept-Contact"), ("b", "Referred-By"), ("c", "Content-Type"), ("d", "Request-Disposition"),
      ("e", "Content-Encoding"), ("f", "From"), ("i", "Call-ID"), ("j", "Reject-Contact"), ("k", "Supported"),
      ("l", "Content-Length"), ("m", "Contact"), ("n", "Identity-Info"), ("o", "Event"), ("r", "Refer-To"),
      ("s", "Subject"), ("t", "To"), ("u", "Allow-Events"), ("v", "Via"), ("x", "Session-Expires"), ("y", "Identity"),
    ] {
      for byte in letter.utf8 { forms[byte] = name }
    }
    return forms
  }()

  /// The name as written, a compact form as its long one.
  static func spelledOut(_ name: ArraySlice<UInt8>) -> String {
    if name.count == 1, let letter = name.first, let long = longForms[MessageCharacter.lowercase(letter)] {
      return long
    }
    return String(decoding: name, as: UTF8.self)
  }
}
