/// The call whose place the new call of a REFER is to take (RFC 3891).
public enum TransferReplaces: Hashable, Sendable {
  /// One of our own, that was answered.
  case call(CallHandle)
  /// The value of Replaces, for a dialog that is none of ours.
  case foreign(String)
}
