/// How a packet stands to those before it (RFC 3550 section A.1).
public enum Arrival: Hashable, Sendable {
  /// The first of all.
  case first
  /// The one that was expected.
  case next
  /// Newer than expected: so many between are not there, yet.
  case ahead(missing: Int)
  /// Older than the newest, and not seen before.
  case late
  /// Seen before.
  case duplicate
  /// Older than the newest, and not seen before, but its sound was heard from a copy: it is to be dropped.
  case heardFromCopy
  /// Too far from the others to belong to them. It is to be dropped; if the next one follows it, that one is
  /// ``restarted``.
  case stray
  /// The first of a new run of sequence numbers or of a new source: what came before says nothing about it.
  case restarted
}
