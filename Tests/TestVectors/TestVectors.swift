public import Foundation

/// The folder of test vectors made by others, beside the checkout (`../shared/vectors`) or at `LANDLINE_VECTORS`.
///
/// A test that needs it is marked `.enabled(if: TestVectors.arePresent, TestVectors.absence)`.
public enum TestVectors {
  public static let folder: URL = {
    if let override = ProcessInfo.processInfo.environment["LANDLINE_VECTORS"] { return URL(fileURLWithPath: override) }
    let checkout = URL(fileURLWithPath: #filePath)
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    return checkout.deletingLastPathComponent().appendingPathComponent("shared/vectors")
  }()

  public static let arePresent = FileManager.default.fileExists(atPath: folder.path)
  public static let absence =
    "the test vectors are absent: put them in ../shared/vectors or name their folder in LANDLINE_VECTORS"

  public static func text(_ path: String) throws -> String {
    String(decoding: try Data(contentsOf: folder.appendingPathComponent(path)), as: UTF8.self)
  }

  /// The rows of a tab-separated table with a header line, each as column name → cell.
  public static func table(_ path: String) throws -> [[String: String]] {
    let lines = try text(path).split(separator: "\n", omittingEmptySubsequences: true)
    guard let header = lines.first?.split(separator: "\t", omittingEmptySubsequences: false).map(String.init) else {
      return []
    }
    return lines.dropFirst().map { line in
      let cells = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
      return Dictionary(uniqueKeysWithValues: zip(header, cells))
    }
  }
}
