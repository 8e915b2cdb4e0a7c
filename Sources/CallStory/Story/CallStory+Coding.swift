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
}
