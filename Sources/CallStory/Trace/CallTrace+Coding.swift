import CallModel
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

  /// The trace as bytes to keep: JSON with the names of the properties. A second with a number that is none is left out,
  /// as it is when one is read.
  public func encoded() -> [UInt8] {
    var writer = JSONWriter()
    writer.object { writer in
      writer.member("version", version)
      writer.member("call", call)
      writer.member("startedAt", startedAt)
      writer.array("dialogs", dialogs) { writer, dialog in writer.object { dialog.write(to: &$0) } }
      writer.array("messages", messages) { writer, message in writer.object { message.write(to: &$0) } }
      writer.array("lines", lines) { writer, line in writer.object { line.write(to: &$0) } }
      writer.array("plans", plans) { writer, plan in writer.object { plan.write(to: &$0) } }
      writer.array("seconds", seconds.lazy.filter(\.isFinite)) { writer, second in
        writer.object { second.write(to: &$0) }
      }
      writer.array("notes", notes) { writer, note in writer.object { note.write(to: &$0) } }
      writer.object("trunks") { writer in
        for (name, facts) in trunks.sorted(by: { $0.key < $1.key }) {
          writer.object(name) { facts.write(to: &$0) }
        }
      }
      writer.member("omittedMessages", omittedMessages)
      writer.member("omittedLines", omittedLines)
    }
    return writer.bytes
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
      seconds.lazy.filter { $0.at >= 0 && $0.isFinite }.map(\.withoutNegatives)
        .prefix(CallTrace.maximumSeconds * 2 + 2))
    trace.omittedMessages = max(0, omittedMessages)
    trace.omittedLines = max(0, omittedLines)
    return trace
  }
}

extension CallTrace.Second {
  fileprivate var isFinite: Bool { received.isFinite && sent.isFinite && (roundTrip ?? 0).isFinite }

  /// Traces of former versions have packets that came twice as a loss below 0.
  fileprivate var withoutNegatives: CallTrace.Second {
    var second = self
    second.received.lost = max(0, received.lost)
    second.sent.lost = max(0, sent.lost)
    return second
  }
}

extension CallTrace.Direction {
  fileprivate var isFinite: Bool {
    lossRate.isFinite && jitter.isFinite && score.isFinite && (buffered ?? 0).isFinite && (effectiveLoss ?? 0).isFinite
      && (clockDrift ?? 0).isFinite
  }
}

// MARK: - Each part, as its decoder reads it

extension CallTrace.Dialog {
  fileprivate func write(to writer: inout JSONWriter) {
    writer.member("sipCallID", sipCallID)
    writer.member("side", side.description)
    writer.optional("trunk", trunk)
  }
}

extension CallTrace.Message {
  fileprivate func write(to writer: inout JSONWriter) {
    writer.member("at", at)
    writer.member("isSent", isSent)
    writer.member("dialog", dialog)
    writer.member("transport", transport)
    writer.member("local", local)
    writer.member("remote", remote)
    writer.member("text", text)
    writer.member("bytes", bytes)
    writer.member("isRepeated", isRepeated)
  }
}

extension CallTrace.Line {
  fileprivate func write(to writer: inout JSONWriter) {
    writer.member("at", at)
    writer.member("isFromApp", isFromApp)
    writer.optional("device", device)
    writer.member("type", type)
    writer.member("text", text)
    writer.optional("description", description)
  }
}

extension CallTrace.Plan {
  fileprivate func write(to writer: inout JSONWriter) {
    writer.member("at", at)
    writer.member("side", side.description)
    writer.member("codec", codec)
    writer.member("clockRate", clockRate)
    writer.member("payloadType", payloadType)
    writer.member("packetMilliseconds", packetMilliseconds)
    writer.member("security", security)
    writer.member("direction", direction)
    writer.member("remote", remote)
  }
}

extension CallTrace.Second {
  fileprivate func write(to writer: inout JSONWriter) {
    writer.member("at", at)
    writer.member("side", side.description)
    writer.object("received") { received.write(to: &$0) }
    writer.object("sent") { sent.write(to: &$0) }
    writer.optional("roundTrip", roundTrip)
    writer.optional("reports", reports)
  }
}

extension CallTrace.Direction {
  fileprivate func write(to writer: inout JSONWriter) {
    writer.member("packets", packets)
    writer.member("bytes", bytes)
    writer.member("lost", lost)
    writer.member("lossRate", lossRate)
    writer.member("jitter", jitter)
    writer.member("score", score)
    writer.optional("buffered", buffered)
    writer.optional("effectiveLoss", effectiveLoss)
    writer.optional("tooLate", tooLate)
    writer.optional("recovered", recovered)
    writer.optional("clockDrift", clockDrift)
  }
}

extension CallTrace.Note {
  fileprivate func write(to writer: inout JSONWriter) {
    writer.member("at", at)
    writer.member("kind", kind.rawValue)
    writer.optional("side", side?.description)
    writer.member("text", text)
  }
}

extension CallStorySources.TrunkFacts {
  fileprivate func write(to writer: inout JSONWriter) {
    writer.member("uri", uri)
    writer.array("codecs", codecs) { $0.string($1) }
    writer.member("encryption", encryption)
    writer.optional("username", username)
    writer.member("fromUser", fromUser)
    writer.member("assertsIdentity", assertsIdentity)
    writer.member("dialFormat", dialFormat)
    writer.optional("maximumCalls", maximumCalls)
  }
}
