import CLandlinePages
import LandlineDigest

/// One file of the web pages.
package struct PageFile: Sendable {
  package let bytes: [UInt8]
  /// The same compressed (RFC 1952); `nil` where that would not be smaller.
  package let compressed: [UInt8]?
  package let mediaType: String
  /// Strong entity tag (RFC 9110 section 8.8.3), made of the content.
  package let tag: String

  /// - Returns: `nil` for an ending that pages' files do not have.
  init?(_ name: String, _ bytes: [UInt8]) {
    guard let type = PageFile.mediaTypes.first(where: { name.hasSuffix($0.ending) })?.type else { return nil }
    self.init(bytes, mediaType: type)
  }

  /// Something else that is served as the pages' files are.
  init(_ bytes: [UInt8], mediaType: String) {
    self.bytes = bytes
    compressed = PageFile.compress(bytes)
    self.mediaType = mediaType
    let digest = bytes.withUnsafeBytes { MessageDigest.sha256().digest(of: $0) }
    tag = "\"" + RESTCursor.hexadecimal(digest.prefix(16)) + "\""
  }

  static let mediaTypes: [(ending: String, type: String)] = [
    (".html", "text/html; charset=utf-8"), (".js", "text/javascript; charset=utf-8"),
    (".css", "text/css; charset=utf-8"), (".svg", "image/svg+xml"), (".ts", "text/plain; charset=utf-8"),
  ]

  private static func compress(_ bytes: [UInt8]) -> [UInt8]? {
    let small = [UInt8](unsafeUninitializedCapacity: bytes.count) { output, count in
      count = landline_gzip(bytes, bytes.count, output.baseAddress, output.count)
    }
    return small.isEmpty ? nil : small
  }

  /// Most tags of one request that are compared.
  private static let maximumTags = 16

  /// Of the compressed form.
  package var compressedTag: String { tag.dropLast() + "-gzip\"" }

  /// Whether an `Accept-Encoding` field takes gzip (RFC 9110 section 12.5.3).
  package static func acceptsGzip(_ field: String?) -> Bool {
    guard let field else { return false }
    return field.lowercased().split(separator: ",", maxSplits: maximumTags).contains { part in
      let parts = part.split(separator: ";", maxSplits: 1)
      guard let name = parts.first, ["gzip", "x-gzip"].contains(String(name).trimmedSpaces) else { return false }
      guard parts.count > 1 else { return true }
      let weight = String(parts[1]).trimmedSpaces
      return weight.wholeMatch(of: /q=0(\.0*)?/) == nil
    }
  }

  /// Whether an `If-None-Match` field names this content (RFC 9110 section 13.1.2).
  package func isNamed(in field: String?) -> Bool {
    guard let field else { return false }
    return field.split(separator: ",", maxSplits: PageFile.maximumTags).contains { part in
      let text = String(part).trimmedSpaces
      let plain = text.hasPrefix("W/") ? text.dropFirst(2) : text
      return text == "*" || plain == tag || plain == compressedTag
    }
  }
}
