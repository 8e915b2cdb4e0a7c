import CallModel

/// Whether the `uri` of credentials names the resource of the Request-URI (RFC 3261 section 22.4).
enum DigestURI {
  /// Parameters that make two URIs differ when only one has them (RFC 3261 section 19.1.4).
  private static let decisive: Set<String> = ["user", "ttl", "method", "maddr"]

  /// Equal bytes, or equal SIP URIs by RFC 3261 section 19.1.4: an element on the way may respell what it forwards.
  /// URIs with headers and of other schemes must be equal bytes.
  static func matches(_ left: String, _ right: String) -> Bool {
    if left.utf8.elementsEqual(right.utf8) { return true }
    guard let left = Parts(left), let right = Parts(right), left.address == right.address else { return false }
    for (name, value) in left.parameters {
      guard let other = right.parameters[name] else {
        if decisive.contains(name) { return false }
        continue
      }
      if value != other { return false }
    }
    return !right.parameters.keys.contains { decisive.contains($0) && left.parameters[$0] == nil }
  }

  private struct Parts {
    let address: SIPAddress
    var parameters: [String: String] = [:]

    init?(_ text: String) {
      guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else { return nil }
      let scheme = text[..<colon].lowercased()
      guard scheme == "sip" || scheme == "sips", !text.utf8.contains(UInt8(ascii: "?")) else { return nil }
      let rest = text[text.utf8.index(after: colon)...]
      // The user part may hold semicolons, so parameters begin behind the '@'.
      let at = rest.utf8.lastIndex(of: UInt8(ascii: "@"))
      let hostStart = at.map { rest.utf8.index(after: $0) } ?? rest.startIndex
      let pieces = rest[hostStart...].split(separator: ";", omittingEmptySubsequences: false)
      guard let host = pieces.first else { return nil }
      // An address of a server has no user part; both sides get the same one, which no address with '@' can equal
      // by accident as the flag below is compared too.
      let user = at.map { String(rest[..<$0]) } ?? "-"
      guard let address = try? SIPAddress("\(scheme):\(user)@\(host)") else { return nil }
      self.address = address
      parameters["@"] = at == nil ? "no" : "yes"
      for piece in pieces.dropFirst() {
        let pair = piece.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard let name = pair.first, !name.isEmpty else { return nil }
        guard parameters.updateValue(pair.dropFirst().joined().lowercased(), forKey: name.lowercased()) == nil else {
          return nil
        }
      }
    }
  }
}
