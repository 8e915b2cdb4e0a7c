public import CallModel

/// What was seen of one call, kept with its record: every SIP message, what its app and the gateway said to each other,
/// every second of its sound. Secrets are blotted out before anything gets in.
///
/// Times are microseconds since the call began.
public struct CallTrace: Decodable, Hashable, Sendable {
  /// SIP messages of a call; later ones are counted only.
  public static let maximumMessages = 400
  /// Bytes of one SIP message; the rest is cut off.
  public static let maximumMessageBytes = 16 * 1024
  /// Bytes of all messages and lines together.
  public static let maximumBytes = 512 * 1024
  /// What the app and the gateway said to each other; later lines are counted only.
  public static let maximumLines = 400
  /// Bytes of the words of a line or a note; the rest is cut off.
  public static let maximumTextBytes = 1024
  /// Seconds of sound that are kept one by one, of each side; of a longer call every second, fourth, … of them.
  public static let maximumSeconds = 900
  /// SIP dialogs of a call; messages of later ones are not kept.
  public static let maximumDialogs = 64
  /// Agreements on the sound; of more, the first ones and the last one stay.
  public static let maximumPlans = 64
  /// Later notes are counted in ``omittedLines`` only.
  public static let maximumNotes = 400

  /// Of the encoding; a trace with a later one is refused.
  public static let currentVersion = 1
  /// Of the encoding that it was written in.
  public var version = CallTrace.currentVersion
  /// The call's id.
  public var call: String
  /// Unix time in microseconds.
  public var startedAt: Int64
  /// In the order in which they began; at most ``maximumDialogs``.
  public var dialogs: [Dialog] = []
  /// As they were told, at most ``maximumMessages``; each points into ``dialogs``.
  public var messages: [Message] = []
  /// What the app asked and was told; at most ``maximumLines``.
  public var lines: [Line] = []
  /// What was agreed for the sound; at most ``maximumPlans``.
  public var plans: [Plan] = []
  /// Both sides by time; of a long call only every second, fourth, … one, and always the last.
  public var seconds: [Second] = []
  /// At most ``maximumNotes``.
  public var notes: [Note] = []
  /// What the configuration said of the trunks that were tried, by name.
  public var trunks: [String: CallStorySources.TrunkFacts] = [:]
  /// What was left out because of a limit.
  public var omittedMessages = 0
  /// Lines and notes.
  public var omittedLines = 0

  /// Nothing seen yet. `startedAt` is Unix time in microseconds.
  public init(call: String, startedAt: Int64) {
    self.call = call
    self.startedAt = startedAt
  }

  /// Legs whose sound was measured, in the order in which they joined the call.
  public var soundingLegs: [LegID] { Set(seconds.map(\.side)).sorted() }

  /// A SIP dialog of the call, one for each attempt at a trunk.
  public struct Dialog: Decodable, Hashable, Sendable {
    /// By this a message finds its dialog.
    public var sipCallID: String
    /// The leg that it belongs to.
    public var side: LegID
    /// `nil` for a SIP address that was called directly.
    public var trunk: String?

    public init(sipCallID: String, side: LegID, trunk: String?) {
      self.sipCallID = sipCallID
      self.side = side
      self.trunk = trunk
    }
  }

  /// A SIP message as it was sent or came, secrets blotted out with as many letters.
  public struct Message: Decodable, Hashable, Sendable {
    /// Microseconds since the call began.
    public var at: Int64
    /// The gateway sent it; otherwise it came.
    public var isSent: Bool
    /// Place in ``CallTrace/dialogs``.
    public var dialog: Int
    /// `udp`, `tcp`, `tls`.
    public var transport: String
    /// Numeric, `192.0.2.1:5060` or `[2001:db8::1]:5060`.
    public var local: String
    /// As ``local``.
    public var remote: String
    /// At most ``CallTrace/maximumMessageBytes`` of it; what is no UTF-8 is replaced.
    public var text: String
    /// Bytes that it had.
    public var bytes: Int
    /// Whether the same bytes went the same way before.
    public var isRepeated: Bool

    /// Takes the text as it is: ``CallTraceRecorder`` has blotted out its secrets.
    public init(
      at: Int64, isSent: Bool, dialog: Int, transport: String, local: String, remote: String, text: String, bytes: Int,
      isRepeated: Bool
    ) {
      self.at = at
      self.isSent = isSent
      self.dialog = dialog
      self.transport = transport
      self.local = local
      self.remote = remote
      self.text = text
      self.bytes = bytes
      self.isRepeated = isRepeated
    }
  }

  /// Something that the app asked or was told.
  public struct Line: Decodable, Hashable, Sendable {
    /// Microseconds since the call began.
    public var at: Int64
    /// The app asked; otherwise it was told.
    public var isFromApp: Bool
    /// The device of a called user that said or heard it; `nil` for the app that calls.
    public var device: String?
    /// The message's type in `landline.v1`: `call`, `ringing`, `ended`.
    public var type: String
    /// A few words more; empty for none.
    public var text: String
    /// The session description it carried.
    public var description: String?

    /// Takes texts as they are: ``CallTraceRecorder`` has blotted out their secrets.
    public init(
      at: Int64, isFromApp: Bool, device: String? = nil, type: String, text: String, description: String? = nil
    ) {
      self.at = at
      self.isFromApp = isFromApp
      self.device = device
      self.type = type
      self.text = text
      self.description = description
    }
  }

  /// What both ends of a leg agreed on.
  public struct Plan: Decodable, Hashable, Sendable {
    /// Microseconds since the call began.
    public var at: Int64
    public var side: LegID
    /// `opus`, `PCMA`.
    public var codec: String
    /// Ticks a second of the RTP timestamp.
    public var clockRate: Int
    /// Of the packets that the gateway sends, 0 to 127.
    public var payloadType: Int
    /// Sound in each packet that the gateway sends.
    public var packetMilliseconds: Int
    /// `DTLS-SRTP`, `SDES`, `RTP`.
    public var security: String
    /// `sendrecv` and so on, as seen from the gateway.
    public var direction: String
    /// Where the gateway sends to; empty before an address proved itself.
    public var remote: String

    public init(
      at: Int64, side: LegID, codec: String, clockRate: Int, payloadType: Int, packetMilliseconds: Int,
      security: String,
      direction: String, remote: String
    ) {
      self.at = at
      self.side = side
      self.codec = codec
      self.clockRate = clockRate
      self.payloadType = payloadType
      self.packetMilliseconds = packetMilliseconds
      self.security = security
      self.direction = direction
      self.remote = remote
    }
  }

  /// One second of one leg. Counts are since the leg's start.
  public struct Second: Codable, Hashable, Sendable {
    /// Microseconds since the call began.
    public var at: Int64
    public var side: LegID
    /// What the gateway received of this leg.
    public var received: Direction
    /// What the gateway sent to this leg; loss and jitter as the peer reports them.
    public var sent: Direction
    /// Milliseconds; `nil` before the first report.
    public var roundTrip: Double?
    /// Compounds of RTCP that the peer sent since the leg's start; `nil` where nobody counted them.
    public var reports: Int64?

    public init(
      at: Int64, side: LegID, received: Direction, sent: Direction, roundTrip: Double?, reports: Int64? = nil
    ) {
      self.at = at
      self.side = side
      self.received = received
      self.sent = sent
      self.roundTrip = roundTrip
      self.reports = reports
    }
  }

  /// Counts and measures of one direction of a leg, as the gateway knows them.
  public struct Direction: Codable, Hashable, Sendable {
    /// Since the leg's start.
    public var packets: Int64
    /// Since the leg's start.
    public var bytes: Int64
    /// Packets that never came, or when their sound had been made up; of what was sent, as the peer reports. 0 or more.
    public var lost: Int64
    /// Of the last second, 0 to 1.
    public var lossRate: Double
    /// ``lossRate`` without what copies made good; `nil` where nobody measured it.
    public var effectiveLoss: Double?
    /// Packets of ``lost`` that came, but too late; `nil` where nobody counted them.
    public var tooLate: Int64?
    /// Packets of ``lost`` that were made good from copies; `nil` where nobody counted them.
    public var recovered: Int64?
    /// Milliseconds (RFC 3550 A.8).
    public var jitter: Double
    /// 1 to 4.5 (ITU-T G.107); 0 where it is not known.
    public var score: Double
    /// Milliseconds that a packet of the last second was held at most, to be put in order; `nil` where nobody measured it.
    public var buffered: Double?
    /// Parts per million that the sender's clock is faster than ours, below 0 where it is slower; `nil` where it is not known,
    /// and of what was sent.
    public var clockDrift: Double?

    /// A negative number of packets lost, which RFC 3550 allows, becomes 0.
    public init(
      packets: Int64, bytes: Int64, lost: Int64, lossRate: Double, jitter: Double, score: Double,
      buffered: Double? = nil, effectiveLoss: Double? = nil, tooLate: Int64? = nil, recovered: Int64? = nil,
      clockDrift: Double? = nil
    ) {
      self.packets = packets
      self.bytes = bytes
      self.lost = max(0, lost)
      self.effectiveLoss = effectiveLoss
      self.tooLate = tooLate
      self.recovered = recovered
      self.lossRate = lossRate
      self.jitter = jitter
      self.score = score
      self.buffered = buffered
      self.clockDrift = clockDrift
    }
  }

  /// Anything else worth a line: keys agreed, first sound, silence, ICE and DTLS failures, ledger steps.
  public struct Note: Decodable, Hashable, Sendable {
    /// What happened; ``Note/text`` has the particulars.
    public enum Kind: String, Decodable, Hashable, Sendable, CaseIterable {
      /// Keys agreed.
      case secured
      /// Media of the side failed: the reason is the text.
      case mediaFailed
      case firstMedia
      case silence
      case soundAgain
      /// Nothing at all can come from an app any more, and again.
      case wayLost
      case wayBack
      /// Packets go to another address, and come from there: the text.
      case moved
      case promptEnded
      /// A step at the ledger: its name, outcome and time taken.
      case ledger
      /// The session's connection was lost, taken up again, or given up.
      case appLost
      case appBack
      case appGone
      /// A line of the call's own story.
      case story
    }
    /// Microseconds since the call began.
    public var at: Int64
    public var kind: Kind
    /// `nil` for what concerns no single leg.
    public var side: LegID?
    /// Empty where the kind says it all; at most ``CallTrace/maximumTextBytes``.
    public var text: String

    public init(at: Int64, kind: Kind, side: LegID? = nil, text: String = "") {
      self.at = at
      self.kind = kind
      self.side = side
      self.text = text
    }
  }
}
