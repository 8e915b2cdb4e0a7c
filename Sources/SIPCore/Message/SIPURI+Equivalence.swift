import CallModel

extension SIPURI {
  /// Whether both URIs name the same resource: RFC 3261 section 19.1.4, and RFC 3966 section 4 for numbers.
  ///
  /// Not transitive: a parameter that one of them lacks counts as the same, except `user`, `ttl`, `method`, `maddr` and
  /// `transport`. Passwords are not kept and so not compared.
  public func isEquivalent(to other: SIPURI) -> Bool {
    guard scheme == other.scheme else { return false }
    if scheme == .tel { return isSameNumber(as: other) }
    guard SIPURI.canonical(user) == SIPURI.canonical(other.user), host == other.host, port == other.port else {
      return false
    }
    return areParametersEquivalent(to: other) && areHeadersEquivalent(to: other)
  }

  private static let decisive = ["user", "ttl", "method", "maddr", "transport"]

  private func areParametersEquivalent(to other: SIPURI) -> Bool {
    for name in SIPURI.decisive where (parameters[name] == nil) != (other.parameters[name] == nil) { return false }
    for name in parameterNames {
      guard let parameter = parameters[name], let counterpart = other.parameters[name] else { continue }
      guard SIPURI.folded(parameter.value) == SIPURI.folded(counterpart.value) else { return false }
    }
    return true
  }

  /// Of a name that stands twice, which section 19.1.1 forbids, the first counts on either side.
  private var parameterNames: Set<String> { Set(parameters.map(\.name)) }

  /// Each header field of one stands in the other (RFC 3261 section 19.1.4), in any order.
  private func areHeadersEquivalent(to other: SIPURI) -> Bool {
    guard headers.count == other.headers.count else { return false }
    func canonical(_ headers: [SIPParameter]) -> [String] {
      headers.map { "\($0.name)=\(SIPURI.canonical($0.value) ?? "")" }.sorted()
    }
    return canonical(headers) == canonical(other.headers)
  }

  /// Numbers without visual separators; all parameters of one stand in the other.
  private func isSameNumber(as other: SIPURI) -> Bool {
    guard SIPURI.digits(user) == SIPURI.digits(other.user), parameters.count == other.parameters.count else {
      return false
    }
    return parameterNames.allSatisfy { name in
      guard let parameter = parameters[name], let counterpart = other.parameters[name] else { return false }
      let isNumber =
        parameter.name == "ext" || parameter.name == "phone-context" && parameter.value?.utf8.first == UInt8(ascii: "+")
      return isNumber
        ? SIPURI.digits(parameter.value) == SIPURI.digits(counterpart.value)
        : SIPURI.folded(parameter.value) == SIPURI.folded(counterpart.value)
    }
  }

  private static func digits(_ text: String?) -> [UInt8] {
    (text ?? "").utf8.filter { !URICharacter.isVisualSeparator($0) }.map(MessageCharacter.lowercase)
  }

  private static func folded(_ text: String?) -> [UInt8] {
    (canonical(text) ?? "").utf8.map(MessageCharacter.lowercase)
  }

  /// With escapes only where one is needed, so that `%61` is `a` and `#` is `%23`.
  private static func canonical(_ text: String?) -> String? {
    guard let text else { return nil }
    let written = Array(text.utf8)
    var bytes: [UInt8] = []
    var index = 0
    while index < written.count {
      var byte = written[index]
      var wasEscaped = false
      if byte == MessageCharacter.percent, index + 2 < written.count, let high = Hexadecimal.digit(written[index + 1]),
        let low = Hexadecimal.digit(written[index + 2])
      {
        byte = high << 4 | low
        wasEscaped = true
        index += 2
      }
      index += 1
      // Reserved bytes differ from their escapes (RFC 3261 section 19.1.4), all others do not.
      let isReserved = ";/?:@&=+$,".utf8.contains(byte)
      if wasEscaped, isReserved || !URICharacter.isUser(byte) {
        bytes += [MessageCharacter.percent] + Hexadecimal.text([byte]).utf8
      } else if !isReserved, !URICharacter.isUser(byte) {
        bytes += [MessageCharacter.percent] + Hexadecimal.text([byte]).utf8
      } else {
        bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
