import Foundation

/// Why bytes are no trace.
public enum InvalidCallTrace: Error, Hashable, Sendable {
  /// More than ``CallTrace/maximumEncodedBytes``.
  case tooLong
  /// Not what ``CallTrace/encoded()`` writes, or damaged.
  case unreadable
  /// Of a later version of this gateway.
  case laterVersion(Int)
}

extension CallTrace {
  /// Bytes that are read as a trace at most: several times what the limits allow.
  public static let maximumEncodedBytes = 8 * 1024 * 1024

  /// The trace as bytes to keep: JSON.
  public func encoded() -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.withoutEscapingSlashes]
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
    // Every value of a trace can be written: texts, whole numbers, and numbers with the names above.
    return (try? encoder.encode(self)).map { Array($0) } ?? []
  }

  /// Reads what ``encoded()`` wrote. Whatever bytes these are, the limits hold for what comes out.
  public init(_ bytes: [UInt8]) throws(InvalidCallTrace) {
    guard bytes.count <= CallTrace.maximumEncodedBytes else { throw .tooLong }
    let decoder = JSONDecoder()
    decoder.nonConformingFloatDecodingStrategy = .convertFromString(
      positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
    let data = Data(bytes)
    if let version = try? decoder.decode(Version.self, from: data).version, version > CallTrace.currentVersion {
      throw .laterVersion(version)
    }
    guard let trace = try? decoder.decode(CallTrace.self, from: data) else { throw .unreadable }
    self = trace.limited
  }

  private struct Version: Decodable { var version: Int }

  /// The trace without what no recorder would have put into it.
  private var limited: CallTrace {
    var trace = self
    trace.dialogs = Array(dialogs.prefix(CallTrace.maximumDialogs))
    trace.messages = Array(
      messages.lazy.filter { trace.dialogs.indices.contains($0.dialog) && $0.at >= 0 }.prefix(
        CallTrace.maximumMessages))
    trace.lines = Array(lines.lazy.filter { $0.at >= 0 }.prefix(CallTrace.maximumLines))
    trace.plans = Array(plans.lazy.filter { $0.at >= 0 }.prefix(CallTrace.maximumPlans))
    trace.notes = Array(notes.lazy.filter { $0.at >= 0 }.prefix(CallTrace.maximumNotes))
    trace.seconds = Array(
      seconds.lazy.filter { $0.at >= 0 && $0.isFinite }.prefix(CallTrace.maximumSeconds * 2 + 2))
    trace.omittedMessages = max(0, omittedMessages)
    trace.omittedLines = max(0, omittedLines)
    return trace
  }
}

extension CallTrace.Second {
  fileprivate var isFinite: Bool { received.isFinite && sent.isFinite && (roundTrip ?? 0).isFinite }
}

extension CallTrace.Direction {
  fileprivate var isFinite: Bool { lossRate.isFinite && jitter.isFinite && score.isFinite && (buffered ?? 0).isFinite }
}
