public import CallModel

extension CallRecord.StoryLine {
  /// What a line says, for those that somebody decides by. A line is kept as its words; they are written and read here, and
  /// nowhere else.
  public enum Event: Hashable, Sendable {
    case rings
    case callerGaveUp
    /// The called side hung up, with the reason that it gave: `Q.850 16`.
    case hungUp(reason: String?)
    case appLost
    case appBack
    case appGone
    /// Who: `operator:anna`.
    case endedByOperator(String)
    /// Why the ledger granted no more.
    case noMoreCredit(String)
    case noSound(LegID)
    /// Nothing at all can come from the side any more.
    case wayLost(LegID)
    case wayBack(LegID)
    /// Its packets come from another address than before.
    case moved(LegID)
    /// No sound came, or there was no way for it, for longer than is borne.
    case dead(LegID)
    case held
    case takenBack
    case noMediaInTime
    /// A device of the called user was told of the call.
    case calledOn(device: String)
    case acceptedOn(device: String)
    /// Declined there, for the device or the whole user.
    case declinedOn(device: String)
    case busyOn(device: String)
    /// Its session ended while it rang.
    case deviceGone(String)
    /// Which side asked for the call to be transferred, and to whom.
    case transferAsked(LegID, target: String)
    case transferred(target: String)
    /// Why whom the call was to be transferred to was not reached.
    case transferFailed(String)
    /// The id of the conference that the call takes part in.
    case inConference(String)
    /// Who had nobody hear it in its conference, or again.
    case mutedByOperator(String)
    case unmutedByOperator(String)
    /// Seconds for which nobody else was in the conference.
    case aloneInConference(Int64)

    /// The words of the line as they are kept; ``init(_:)`` reads them back.
    public var text: String {
      switch self {
      case .rings: "rings"
      case .callerGaveUp: "the caller gives up"
      case .hungUp(let reason): "BYE" + (reason.map { " (\($0))" } ?? "")
      case .appLost: "the app's connection is lost"
      case .appBack: "the app is back"
      case .appGone: "the app's session is over"
      case .endedByOperator(let actor): Event.endedBy + actor
      case .noMoreCredit(let refusal): Event.noCredit + refusal
      case .noSound(let leg): "no sound from the \(leg) side"
      case .wayLost(let leg): "nothing at all comes from the \(leg) side"
      case .wayBack(let leg): "the \(leg) side's way is back"
      case .moved(let leg): "the \(leg) side sends from another address"
      case .dead(let leg): "the \(leg) side is dead"
      case .held: "held by the other side"
      case .takenBack: "taken back by the other side"
      case .noMediaInTime: "no media in time"
      case .calledOn(let device): Event.called + device
      case .acceptedOn(let device): Event.accepted + device
      case .declinedOn(let device): Event.declined + device
      case .busyOn(let device): Event.busy + device
      case .deviceGone(let device): Event.gone + device
      case .transferAsked(.near, let target): Event.askedByNear + target
      case .transferAsked(_, let target): Event.askedByFar + target
      case .transferred(let target): Event.transferredTo + target
      case .transferFailed(let reason): Event.notTransferred + reason
      case .inConference(let id): Event.conference + id
      case .mutedByOperator(let actor): Event.muted + actor
      case .unmutedByOperator(let actor): Event.unmuted + actor
      case .aloneInConference(let seconds): Event.alone + "\(seconds)" + Event.aloneUnit
      }
    }

    private static let endedBy = "ended by "
    private static let noCredit = "no more credit: "
    private static let called = "called on "
    private static let accepted = "accepted on "
    private static let declined = "declined on "
    private static let busy = "busy on "
    private static let gone = "lost while it rang: "
    private static let askedByNear = "the near side transfers to "
    private static let askedByFar = "the far side transfers to "
    private static let transferredTo = "transferred to "
    private static let notTransferred = "not transferred: "
    private static let conference = "in conference "
    private static let muted = "muted by "
    private static let unmuted = "no longer muted by "
    private static let alone = "alone in the conference for "
    private static let aloneUnit = " s"
    /// Lines that end with a name.
    private static let named: [(words: String, make: @Sendable (String) -> Event)] = [
      (endedBy, { .endedByOperator($0) }), (noCredit, { .noMoreCredit($0) }), (called, { .calledOn(device: $0) }),
      (accepted, { .acceptedOn(device: $0) }), (declined, { .declinedOn(device: $0) }), (busy, { .busyOn(device: $0) }),
      (gone, { .deviceGone($0) }), (askedByNear, { .transferAsked(.near, target: $0) }),
      (askedByFar, { .transferAsked(.far, target: $0) }), (transferredTo, { .transferred(target: $0) }),
      (notTransferred, { .transferFailed($0) }), (conference, { .inConference($0) }), (muted, { .mutedByOperator($0) }),
      (unmuted, { .unmutedByOperator($0) }),
    ]
    private static let plain: [String: Event] = {
      let sides = [LegID.near, .far].flatMap { leg -> [Event] in
        [.noSound(leg), .wayLost(leg), .wayBack(leg), .moved(leg), .dead(leg)]
      }
      let events: [Event] = [
        .rings, .callerGaveUp, .hungUp(reason: nil), .appLost, .appBack, .appGone, .held, .takenBack, .noMediaInTime,
      ]
      return Dictionary((events + sides).map { ($0.text, $0) }) { first, _ in first }
    }()

    /// `nil` for words that nobody decides by.
    public init?(_ text: String) {
      if let event = Event.plain[text] {
        self = event
      } else if let named = Event.named.first(where: { text.hasPrefix($0.words) }) {
        self = named.make(String(text.dropFirst(named.words.count)))
      } else if text.hasPrefix("BYE ("), text.hasSuffix(")") {
        self = .hungUp(reason: String(text.dropFirst(5).dropLast()))
      } else if text.hasPrefix(Event.alone), text.hasSuffix(Event.aloneUnit),
        let seconds = Int64(text.dropFirst(Event.alone.count).dropLast(Event.aloneUnit.count))
      {
        self = .aloneInConference(seconds)
      } else {
        return nil
      }
    }
  }

  /// `nil` for a line that is for people alone.
  public var event: Event? { Event(text) }
}
