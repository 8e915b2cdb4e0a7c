public import CallModel

/// What both ends of a leg agreed on: all that the media side needs to know.
///
/// What belongs to the way between the ends stands here once; what belongs to one stream on it stands in ``Stream``. Only
/// payload types that were negotiated stand in it.
public struct MediaPlan: Hashable, Sendable {
  /// A codec with the payload type that names it in one direction.
  public struct Format: Hashable, Sendable {
    public let codec: AudioCodec
    /// What the packets of this direction carry in their header.
    public let payloadType: PayloadType
    /// What the receiver of this direction asked for; ``OpusParameters`` reads it for Opus.
    public let parameters: FormatParameters
  }

  /// Touch tones (RFC 4733).
  public struct Events: Hashable, Sendable {
    /// Ticks a second: the codec's clock, unless the peer offered events at 8000 only.
    public let clockRate: Int
    /// What our packets with touch tones carry.
    public let sendPayloadType: PayloadType
    /// What the peer's packets with touch tones carry.
    public let receivePayloadType: PayloadType
    /// Events the peer understands.
    public let send: TelephoneEvents
    /// Events we said we understand.
    public let receive: TelephoneEvents
    /// What the peer may send as well: an answer may keep more than one clock of our offer, and some browsers use the
    /// slower one.
    public let alsoReceived: [Received]
    /// All that the peer may send.
    public var received: [Received] {
      [Received(payloadType: receivePayloadType, clockRate: clockRate)] + alsoReceived
    }

    /// A payload type with its ticks a second.
    public struct Received: Hashable, Sendable {
      public let payloadType: PayloadType
      /// Ticks a second.
      public let clockRate: Int
    }
  }

  /// Where the peer wants its packets, as the description says. With ICE, checks decide instead.
  public struct Remote: Hashable, Sendable {
    /// `nil`: nowhere (on hold, multicast, or no address given).
    public let host: SIPHost?
    /// Where RTP goes on ``host``.
    public let port: Int
    /// Equal to ``host`` unless the peer named another for RTCP; `nil`: nowhere.
    public let rtcpHost: SIPHost?
    /// Equal to ``port`` when RTCP shares it; `nil` when there is none.
    public let rtcpPort: Int?
  }

  /// The peer's end of ICE, as its description says.
  public struct RemoteICE: Hashable, Sendable {
    /// Others in a later plan mean that ICE starts anew.
    public let credentials: ICECredentials
    /// The peer answers checks and sends none (RFC 8839 section 5.3).
    public let isLite: Bool
    /// May be empty; ``MediaSection/maximumCandidates`` at most.
    public let candidates: [ICECandidate]
    /// No more candidates will follow (RFC 8840 section 8.2).
    public let endOfCandidates: Bool
  }

  /// How the stream is protected: one way, for both directions.
  public enum Protection: Hashable, Sendable {
    case none
    case sdes(SDES)
    case dtls(DTLS)
  }

  /// SRTP with keys from the descriptions (RFC 4568).
  public struct SDES: Hashable, Sendable {
    /// Of the `crypto` line that offer and answer have in common.
    public let tag: Int
    /// For both directions.
    public let suite: CryptoSuite
    /// Ours: protects what we send.
    public let send: SRTPMasterKey
    /// The peer's: opens what we receive.
    public let receive: SRTPMasterKey
  }

  /// SRTP with keys from a handshake (RFC 5764).
  public struct DTLS: Hashable, Sendable {
    /// Our part of the handshake; the client opens it.
    public enum Role: String, Hashable, Sendable {
      case server, client
    }
    /// Ours.
    public let role: Role
    /// The peer's certificate must match one of them. All are SHA-256 or better.
    public let fingerprints: [CertificateFingerprint]
  }

  /// One stream that travels the leg's way: an `m=` line that both ends took.
  public struct Stream: Hashable, Sendable {
    /// Position of the stream among the `m=` lines, from 0.
    public let index: Int
    /// `nil` when the section has no `mid`.
    public let mid: String?
    /// Seen from us.
    public let direction: MediaDirection
    /// What we send: the first usable codec of the answer.
    public let send: Format
    /// What the peer may send; the first is the likely one.
    public let receive: [Format]
    /// What packets carry, in either direction, that hold the one before them again (RFC 2198); `nil`: the peer offered
    /// none. Their blocks are of the codec's own payload type.
    public let redundancy: PayloadType?
    /// The number, 1 to 14, of the header extension by which the peer's packets say how loud their sound is (RFC 6464);
    /// `nil`: they do not. Another number changes no format.
    public let audioLevelExtension: Int?
    /// `nil`: touch tones were not agreed on.
    public let events: Events?
    /// Milliseconds of sound in each packet we send.
    public let packetTime: Int
    /// Milliseconds of sound that the peer takes in a packet (`maxptime`, RFC 8866 section 6.4).
    public let maximumPacketTime: Int

    /// Milliseconds of sound in a packet that should hold at least `wanted`, as far as the peer takes it.
    public func packetTime(forAtLeast wanted: Int?) -> Int {
      guard let wanted, wanted > packetTime else { return packetTime }
      return min(wanted, maximumPacketTime)
    }

    /// Every payload type that may arrive.
    public var receivedPayloadTypes: [PayloadType] {
      receive.map(\.payloadType) + (redundancy.map { [$0] } ?? []) + (events?.received.map(\.payloadType) ?? [])
    }
  }

  /// Every stream that was agreed on, the one of ``audio`` first; never empty.
  public let streams: [Stream]
  /// Where the peer wants the packets of all streams.
  public let remote: Remote
  /// RTP and RTCP share a port (RFC 5761): both ends said so.
  public let multiplexesRTCP: Bool
  /// RFC 5506: both ends said so.
  public let reducedSizeRTCP: Bool
  /// Never `none` where the section's profile promises encryption.
  public let protection: Protection
  /// `nil`: no ICE on this leg.
  public let ice: RemoteICE?

  /// A leg has sound, whatever else it has.
  package init(
    audio: Stream, others: [Stream] = [], remote: Remote, multiplexesRTCP: Bool, reducedSizeRTCP: Bool,
    protection: Protection, ice: RemoteICE?
  ) {
    streams = others.isEmpty ? [audio] : [audio] + others
    self.remote = remote
    self.multiplexesRTCP = multiplexesRTCP
    self.reducedSizeRTCP = reducedSizeRTCP
    self.protection = protection
    self.ice = ice
  }

  /// The stream of sound. What runs for each packet keeps it, instead of asking the plan for it.
  public var audio: Stream { streams[0] }
}

extension MediaPlan {
  /// What a later plan of the same leg asks the media side to do.
  public struct Changes: OptionSet, Hashable, Sendable {
    /// One bit for each kind of change.
    public let rawValue: UInt8
    /// Bits without a name are kept and mean nothing.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Codecs, payload types, events or packet time of a stream, or another number of streams.
    public static let formats = Changes(rawValue: 1)
    /// Which way media may flow: hold, and its end.
    public static let direction = Changes(rawValue: 2)
    /// Addresses or ports.
    public static let remote = Changes(rawValue: 4)
    /// Our key. Without it, our roll-over counter and sequence numbers go on.
    public static let sendKey = Changes(rawValue: 8)
    /// The peer's key. The former one stays valid for packets on their way.
    public static let receiveKey = Changes(rawValue: 16)
    /// Another certificate or role: a new DTLS association.
    public static let association = Changes(rawValue: 32)
    /// Other ICE credentials: new checks (RFC 8445 section 9).
    public static let ice = Changes(rawValue: 64)
  }

  /// What is different from a former plan of the same leg. Another kind of protection changes both keys and the
  /// association.
  public func changes(since former: MediaPlan) -> Changes {
    var changes: Changes = []
    for (stream, former) in zip(streams, former.streams) { changes.formUnion(stream.changes(since: former)) }
    if streams.count != former.streams.count { changes.formUnion([.formats, .direction]) }
    if remote != former.remote || multiplexesRTCP != former.multiplexesRTCP { changes.insert(.remote) }
    if ice?.credentials != former.ice?.credentials { changes.insert(.ice) }
    switch (protection, former.protection) {
    case (.none, .none): break
    case (.sdes(let new), .sdes(let old)):
      if new.suite != old.suite || new.send != old.send { changes.insert(.sendKey) }
      if new.suite != old.suite || new.receive != old.receive { changes.insert(.receiveKey) }
    case (.dtls(let new), .dtls(let old)):
      if new != old { changes.insert(.association) }
    default: changes.formUnion([.sendKey, .receiveKey, .association])
    }
    return changes
  }
}

extension MediaPlan.Stream {
  /// What is different from the stream that stood in this place.
  func changes(since former: MediaPlan.Stream) -> MediaPlan.Changes {
    var changes: MediaPlan.Changes = []
    if send != former.send || receive != former.receive || redundancy != former.redundancy || events != former.events
      || packetTime != former.packetTime
    {
      changes.insert(.formats)
    }
    if direction != former.direction { changes.insert(.direction) }
    return changes
  }
}
