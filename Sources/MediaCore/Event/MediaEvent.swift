public import CallModel
public import SecureTransport

/// What a bridge tells upwards. Never one a packet.
public enum MediaEvent: Hashable, Sendable {
  /// Something about the way packets take on a leg; the shell keeps its address table by it.
  case transport(LegID, TransportEvent)
  /// The first packet of sound that authenticated and was understood came in.
  case firstMedia(LegID)
  /// A key was pressed. Told once, at its end, in order.
  case digit(LegID, DigitPressed)
  /// Nothing has come in for ``MediaLegConfiguration/silence``; told once until sound comes again, or the way is back.
  case silence(LegID)
  case soundAgain(LegID)
  /// Nothing can come from an app any more, nor go to it: its consent is over (RFC 7675), or its keys are. For so long no
  /// packet of any kind had come. Told behind the ``TransportEvent`` that says why, once until the way is back.
  case wayLost(LegID, milliseconds: Int64)
  /// A packet that authenticates came, a check, a report or sound, and media can go both ways again.
  case wayBack(LegID)
  /// What goes to the peer was cut, for its link carries no more; or is whole again.
  case thinLink(LegID, Bool)
  /// What the last second was like. Told once a second while the bridge is open.
  case statistics(LegID, MediaStatistics)
  /// The prompt that was asked for is over, by itself or by another command.
  case promptEnded(LegID, finished: Bool)
  /// Bytes to append to the file of the recording; told five times a second.
  case recorded([UInt8])
  /// The recording is over, or could not begin; the head of a file is to be patched. Told within a second of the end of a
  /// room that is recorded.
  case recordingEnded([WAVRecorder.Patch])
  /// Who is in a room begins or ends to speak; by now as loud as this many dBov, averaged.
  case speaking(LegID, Bool, level: Int)
  /// Who is in a room leads its talk from now on; whoever did before does no longer.
  case leadsTalk(LegID)
  /// The room that a leg was to enter is full, or there are too many of them: the leg stays where it was.
  case roomRefused(LegID)
  /// The peer said BYE in RTCP.
  case bye(LegID)
  /// All is released; nothing follows.
  case closed
}

/// One leg over one second, and since its start.
public struct MediaStatistics: Hashable, Sendable {
  /// Counts and measures of one direction.
  public struct Direction: Hashable, Sendable {
    /// RTP packets since the start; of those received, duplicates count.
    public var packets: UInt64 = 0
    /// Payload bytes of RTP since the start, without headers.
    public var bytes: UInt64 = 0
    /// Packets that never came, or when their sound had been made up; since the start. Never negative: what came twice
    /// makes up for nothing.
    public var lost: Int64 = 0
    /// Part of the packets of the last second that were lost, 0 to 1; of what was sent, as the peer's newest report says.
    public var lossRate: Double = 0
    /// Part of the packets of the last second that were lost and not made good from copies, 0 to 1. Of what was sent, what
    /// the peer made good is not known; what it threw away is counted where it says so (RFC 3611).
    public var effectiveLoss: Double = 0
    /// Milliseconds (RFC 3550 A.8).
    public var jitter: Double = 0
    /// Parts per million that the sender's clock is faster than ours, below 0 where it is slower: what is received must be
    /// shortened or stretched by as much. `nil`: not known (``ReceptionStatistics/clockDrift``), or of what was sent.
    public var clockDrift: Double?
    /// Milliseconds that a packet of the last second was held at most, to be put in order; 0 where none had to wait.
    public var buffered: Double = 0
    /// Packets received out of order since the start; not known of what was sent.
    public var reordered: UInt64 = 0
    /// Packets received twice since the start; not known of what was sent.
    public var duplicated: UInt64 = 0
    /// Packets received when their sound had been made up, since the start; ``lost`` has them, too. Not known of what was
    /// sent.
    public var tooLate: UInt64 = 0
    /// Packets made good by in-band FEC, since the start.
    public var recovered: UInt64 = 0
    /// Packets that had to be concealed, since the start.
    public var concealed: UInt64 = 0
    /// 1 to 4.5 (ITU-T G.107); 0 where there is nothing to judge by: nothing came in since the last statistics, or the
    /// peer has not reported yet on what was sent.
    public var meanOpinionScore: Double = 0

    /// All zero.
    public init() {}
  }

  /// What we received.
  public var received = Direction()
  /// What we sent; loss and jitter as the peer reports them.
  public var sent = Direction()
  /// Milliseconds there and back; `nil` before the first report.
  public var roundTrip: Double?
  /// Compounds of RTCP that the peer sent since the start.
  public var reports: UInt64 = 0
  /// dBov of what came in last from a leg that is in a room, evened out over some frames; `nil` elsewhere.
  public var roomLevel: Int?
  /// Datagrams dropped since the start, in the order of ``DropReason``.
  public var dropped: [UInt64] = []

  /// All zero, no round trip and no level.
  public init() {}
}
