import Foundation

extension CallStory {
  /// The story as JSON with names in `snake_case`, as the REST interface and `landline explain --json` give it.
  public func json() -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.keyEncodingStrategy = .convertToSnakeCase
    encoder.outputFormatting = [.withoutEscapingSlashes, .sortedKeys]
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
    // Every value of a story can be written: texts, whole numbers, and numbers with the names above.
    return (try? encoder.encode(self)).map { Array($0) } ?? []
  }

  /// Reads what ``json()`` wrote.
  /// - Returns: `nil` for anything else.
  public init?(json bytes: [UInt8]) {
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .custom { CallStory.Name(CallStory.camelCase($0.last?.stringValue ?? "")) }
    decoder.nonConformingFloatDecodingStrategy = .convertFromString(
      positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
    guard let story = try? decoder.decode(CallStory.self, from: Data(bytes)) else { return nil }
    self = story
  }

  private struct Name: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(_ text: String) {
      stringValue = text
      intValue = nil
    }
    init?(stringValue: String) { self.init(stringValue) }
    init?(intValue: Int) {
      stringValue = "\(intValue)"
      self.intValue = intValue
    }
  }

  /// `sip_call_id` as `sipCallID`: unlike what Foundation makes of it, with our spelling of an id.
  private static func camelCase(_ name: String) -> String {
    let words = name.split(separator: "_")
    let rest = words.dropFirst().map { $0 == "id" ? "ID" : $0.prefix(1).uppercased() + $0.dropFirst() }
    return (words.first.map(String.init) ?? "") + rest.joined()
  }
}
