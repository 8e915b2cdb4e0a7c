import CallModel
import LandlineDigest

/// The bytes that tie each transfer and each account event to everything before it:
/// hash = SHA-256(previous hash ‖ record). Integers are 8 bytes little-endian, texts are length-prefixed UTF-8.
struct HashChain: ~Copyable {
  private let digest = MessageDigest.sha256()
  private var bytes: [UInt8] = []

  init() { bytes.reserveCapacity(512) }

  /// A transfer together with its two entries.
  mutating func hash(after previous: [UInt8], transfer: Transfer, debit: Entry, credit: Entry) -> [UInt8] {
    bytes.removeAll(keepingCapacity: true)
    append("transfer")
    append(transfer.seq)
    append(transfer.kind.rawValue)
    append(transfer.debit)
    append(transfer.credit)
    append(transfer.amount.count)
    append(transfer.currency.description)
    append(transfer.call?.text ?? "")
    append(transfer.reverses ?? 0)
    append(transfer.key)
    append(transfer.actor)
    append(transfer.at.milliseconds)
    append(transfer.eventAt.milliseconds)
    append(transfer.detail)
    for entry in [debit, credit] {
      append(entry.account)
      append(entry.version)
      append(entry.amount.count)
      append(entry.balanceAfter.count)
    }
    return finish(after: previous)
  }

  mutating func hash(after previous: [UInt8], event: AccountEvent) -> [UInt8] {
    bytes.removeAll(keepingCapacity: true)
    append("event")
    append(event.seq)
    append(event.account)
    append(event.kind)
    append(event.settings)
    append(event.actor)
    append(event.at.milliseconds)
    // Events of before have none, and their hashes stand.
    if let reason = event.reason { append(reason) }
    return finish(after: previous)
  }

  /// The first eight bytes of the digest of a request's content.
  mutating func requestHash(of content: String) -> Int64 {
    bytes.removeAll(keepingCapacity: true)
    append(content)
    let hash = bytes.withUnsafeBytes { digest.digest(of: $0) }
    return hash.prefix(8).reduce(0) { $0 << 8 | Int64($1) }
  }

  private func finish(after previous: [UInt8]) -> [UInt8] {
    previous.withUnsafeBytes { previous in
      bytes.withUnsafeBytes { bytes in digest.digest(of: previous, bytes) }
    }
  }

  private mutating func append(_ value: Int64) {
    withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
  }

  private mutating func append(_ text: String) {
    append(Int64(text.utf8.count))
    bytes.append(contentsOf: text.utf8)
  }
}
