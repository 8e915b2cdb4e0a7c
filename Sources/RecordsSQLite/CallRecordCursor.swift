import CallModel

/// The place after which a page of records begins: the last record's start and id. Records that are added meanwhile do not
/// move it.
struct CallRecordCursor: Equatable {
  var start: Int64
  var id: String

  /// URL-safe Base64 of `start.id`, without padding (RFC 4648 section 5).
  var text: String { Base64.encode(Array("\(start).\(id)".utf8), .url) }

  init(start: Int64, id: String) {
    self.start = start
    self.id = id
  }

  /// - Throws: ``InvalidValue`` with rule `records.cursor`.
  init(_ text: String) throws(InvalidValue) {
    let refusal = InvalidValue(
      kind: "cursor", rule: "records.cursor", offset: nil, problem: "it is none that a page of records ended with",
      accepted: "the cursor of the page before, unchanged")
    guard text.utf8.count <= 256, let bytes = Base64.decode(text.utf8, .url),
      let plain = String(validating: bytes, as: UTF8.self), let dot = plain.firstIndex(of: "."),
      let start = Int64(plain[..<dot]), let call = try? CallID(validating: plain[plain.index(after: dot)...])
    else { throw refusal }
    self.init(start: start, id: call.text)
    guard self.text == text else { throw refusal }
  }
}
