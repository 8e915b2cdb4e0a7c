/// When a transaction is due; of equal ones the smallest transaction first, so that every run has one order. It counts
/// only while the transaction still says so: none is taken out of the middle of a heap.
struct Deadline: Comparable, Sendable {
  /// Milliseconds.
  let time: Int64
  let id: TransactionID

  static func < (left: Deadline, right: Deadline) -> Bool {
    (left.time, left.id.number) < (right.time, right.id.number)
  }
}
