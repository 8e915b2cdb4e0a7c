extension CallFailure {
  /// Whom a caller can turn to who was blocked by call analytics, and who blocked it: 603 with the marks of ATIS-1000099, or
  /// 608 (RFC 8688).
  public struct Redress: Hashable, Sendable {
    /// Most bytes that are kept of an address.
    public static let maximumBytes = 256

    /// The network that blocked: the host of ``url`` where there is one, else where in the telephone network it was
    /// (RFC 8606); `nil` where nothing says so.
    public let network: String?
    /// An http or https address.
    public let url: String?
    /// A telephone number: `+` and digits.
    public let telephone: String?

    /// What is too long or no such address is left out; `nil` where nothing is left.
    public init?(network: String? = nil, url: String?, telephone: String?) {
      let url = url.flatMap(Redress.checked)
      let telephone = telephone.flatMap { text -> String? in
        let digits = text.utf8.filter { (0x30...0x39).contains($0) }
        let isNumber = text.utf8.allSatisfy { "0123456789+-(). ".utf8.contains($0) } && (3...15).contains(digits.count)
        return isNumber ? "+" + String(decoding: digits, as: UTF8.self) : nil
      }
      guard url != nil || telephone != nil || network != nil else { return nil }
      self.url = url
      self.telephone = telephone
      self.network = (network ?? url.flatMap(Redress.host)).map(CallFailure.shortened)
    }

    /// Reads the texts of Reason headers (`v=analytics1;url=https://…;tel=+1…`), and the values of Call-Info, of which
    /// one has `purpose=jwscard` (RFC 8688 section 3.2).
    public init?(reasons: [Reason], callInfo: some Sequence<String> = []) {
      let marked = reasons.first { Redress.isMarked($0.text) }
      var url: String?
      var telephone: String?
      for part in (marked?.text ?? "").split(separator: ";") {
        if let value = Redress.value(of: "url", in: part) { url = url ?? value }
        if let value = Redress.value(of: "tel", in: part) { telephone = telephone ?? value }
      }
      for field in callInfo where field.lowercased().contains("purpose=jwscard") {
        guard let begin = field.utf8.firstIndex(of: 0x3C), let end = field.utf8.firstIndex(of: 0x3E), begin < end else {
          continue
        }
        url = url ?? String(field[field.utf8.index(after: begin)..<end])
      }
      let isUsable = url.flatMap(Redress.checked) != nil
      self.init(network: isUsable ? nil : marked?.location.map { "\($0)" }, url: url, telephone: telephone)
    }

    /// Whether the text of a Reason is that of call analytics.
    static func isMarked(_ text: String?) -> Bool { text?.lowercased().hasPrefix("v=analytics") ?? false }

    private static func value(of name: String, in part: Substring) -> String? {
      let pair = part.split(separator: "=", maxSplits: 1)
      guard pair.count == 2, pair[0].drop(while: { $0 == " " }).lowercased() == name else { return nil }
      return String(pair[1])
    }

    private static func checked(_ url: String) -> String? {
      let lower = url.lowercased()
      guard lower.hasPrefix("https://") || lower.hasPrefix("http://"), url.utf8.count <= maximumBytes,
        url.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != 0x22 && $0 != 0x3C && $0 != 0x3E }),
        host(of: url) != nil
      else { return nil }
      return url
    }

    private static func host(of url: String) -> String? {
      guard let scheme = url.utf8.firstIndex(of: 0x3A) else { return nil }
      let rest = url[scheme...].drop { $0 == ":" || $0 == "/" }
      let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
      let host = authority.split(separator: "@").last?.prefix { $0 != ":" } ?? ""
      return host.isEmpty ? nil : String(host)
    }
  }
}
