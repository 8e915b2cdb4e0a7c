public import CallModel

/// Who is in a conference that the app is in.
///
/// Told when the app enters and after a loss of its connection with all who are there, in as many parts as it takes;
/// otherwise with those that came, changed or left since, at most four times a second.
public struct RoomMembers: Hashable, Sendable {
  /// One participant.
  public struct Member: Hashable, Sendable {
    /// Counts from 1 in each conference; no other participant gets it while the conference lasts.
    public var participant: Int
    /// Numbers and addresses are masked: they are known to operators alone.
    public var from: CallerIdentity
    /// By itself or by an operator: the others hear nothing of it.
    public var isMuted: Bool
    /// When it came in.
    public var since: Instant

    public init(participant: Int, from: CallerIdentity, isMuted: Bool, since: Instant) {
      self.participant = participant
      self.from = from
      self.isMuted = isMuted
      self.since = since
    }
  }

  /// Most members of one message.
  public static let maximumMembers = 50

  /// In the order in which they came.
  public var members: [Member]
  /// Participants that are gone.
  public var left: [Int]
  /// Set in the first part of all: whoever is not in it or in a later one is not there. The app's own participant.
  public var own: Int?

  public init(_ members: [Member], left: [Int] = [], own: Int? = nil) {
    self.members = members
    self.left = left
    self.own = own
  }

  /// All who are there now, in the order in which they came.
  /// - Parameter known: those who were there before this was told.
  public func applied(to known: [Member]) -> [Member] {
    let gone = Set(left + members.map(\.participant))
    let rest = own == nil ? known.filter { !gone.contains($0.participant) } : []
    return (rest + members).sorted { $0.participant < $1.participant }
  }
}

/// Who speaks in a conference; at most four times a second, and not repeated after a loss.
public struct RoomSpeakers: Hashable, Sendable {
  /// Most that are named.
  public static let maximum = 5

  /// Participants that speak now, in the order in which they began.
  public var speaking: [Int]
  /// Who leads the talk, also in a pause; `nil` before anybody has.
  public var leads: Int?

  public init(_ speaking: [Int], leads: Int?) {
    self.speaking = speaking
    self.leads = leads
  }
}

/// What an app wants to be told of a conference that it is in.
public enum RoomWatch: String, Hashable, Sendable, CaseIterable {
  /// Who is there, and who speaks.
  case speakers
  /// Who is there.
  case members
  case none
}
