import AppProtocol
import CallModel
import SDPCore

extension CallMachine {
  /// One party of a call: how it is reached, who is charged for it, and what is known of its sound.
  ///
  /// What differs between the kinds of legs is the port, and how far the leg has come stands with it:
  /// ```
  /// whoever is called   planned ─▶ inviting ─▶ alerting [early sound] ─▶ answering ─▶ joined ─▶ leaving ─▶ gone
  /// whoever calls       asking ──────────────────────────────────────▶ joined ─▶ leaving ─▶ gone
  /// ```
  /// ``AppLeg`` and ``TrunkLeg`` have the diagrams of their own. A prompt is there from the beginning. A class, since a leg
  /// is one thing that many hands change: no copy of it may go its own way.
  final class Leg {
    enum Port {
      /// Whom it will be is decided when its turn comes.
      case waiting
      /// Its media is being prepared; nobody was called yet.
      case planned
      /// The devices of a user, until one of them answers and is the leg.
      case ringing(RingGroup)
      case app(AppLeg)
      case trunk(TrunkLeg)
      /// The gateway's own voice, which comes over no network.
      case prompt(PromptLeg)
      /// Whoever is at the other end of another call.
      case link(LinkLeg)
      /// All others of a conference.
      case room(RoomLeg)
      // Ports to come, each with its states: a stream to a program; a far app, over another node. A tap that only listens is no party: it is never called, and nobody has to hear it.
    }

    struct Sound {
      /// Keys are there, or packets came.
      var isReady = false
      /// Whether a packet of sound has come.
      var hasCome = false
      /// Whether the last plan has sound flow both ways: nobody is on hold.
      var isTalking = false
      /// Set while the leg is silent: when its last packet came, or when it was last allowed not to send any.
      var lastSound: MonotonicInstant?
      /// Set while nothing at all can come from an app.
      var lostWay: LostWay?
    }

    struct LostWay {
      /// When the last packet of any kind came.
      let lastPacket: MonotonicInstant
      /// The app has its time from here on to find another way.
      let noticedAt: MonotonicInstant
    }

    /// Its place in the call: near, far, or third while a transfer to it is under way.
    var id: LegID
    /// What its media are called; with several devices that offer while they ring, those of the one that answered.
    var media: LegID
    /// Whom it calls and at which price; `nil` for an app that calls.
    let terms: CallTerms?
    var port: Port
    /// When it answered; `nil` until then, and for an app that calls.
    var answeredAt: MonotonicInstant?
    /// It takes no sound: it has put the other side on hold.
    var isHolding = false
    /// `nil` where nobody is charged for the leg. Each billed leg is a call of its own in the ledger.
    var bill: CallBill?
    var sound = Sound()
    /// It came to a call that stands, and is told of sound once its own keys are there.
    var awaitsSound = false
    /// What came from it in the last second.
    var quality: CallQuality.Direction?
    /// Which limits of quality are kept towards it.
    var monitor = QualityMonitor()

    /// - Parameter media: As `id` unless it is given.
    init(id: LegID, terms: CallTerms?, port: Port, media: LegID? = nil, bill: CallBill? = nil) {
      self.id = id
      self.media = media ?? id
      self.terms = terms
      self.port = port
      self.bill = bill
    }

    var app: AppLeg? {
      get {
        guard case .app(let app) = port else { return nil }
        return app
      }
      set {
        guard case .app = port, let newValue else { return }
        port = .app(newValue)
      }
    }

    var ring: RingGroup? {
      get {
        guard case .ringing(let ring) = port else { return nil }
        return ring
      }
      set {
        guard case .ringing = port, let newValue else { return }
        port = .ringing(newValue)
      }
    }

    var trunk: TrunkLeg? {
      guard case .trunk(let trunk) = port else { return nil }
      return trunk
    }

    var prompt: PromptLeg? {
      get {
        guard case .prompt(let prompt) = port else { return nil }
        return prompt
      }
      set {
        guard case .prompt = port, let newValue else { return }
        port = .prompt(newValue)
      }
    }

    var room: RoomLeg? {
      guard case .room(let room) = port else { return nil }
      return room
    }

    var link: LinkLeg? {
      get {
        guard case .link(let link) = port else { return nil }
        return link
      }
      set {
        guard case .link = port, let newValue else { return }
        port = .link(newValue)
      }
    }

    var plan: MediaPlan? {
      switch port {
      case .app(let app): app.plan
      case .trunk(let trunk): trunk.plan
      case .link(let link): link.plan
      case .waiting, .planned, .ringing, .prompt, .room: nil
      }
    }

    /// Of the apps that have a part in the call, those of devices that may still answer included.
    var sessions: [SessionID] {
      switch port {
      case .app(let app): [app.session]
      case .ringing(let ring): ring.sessions
      case .trunk(let trunk): trunk.session.map { [$0] } ?? []
      case .waiting, .planned, .prompt, .link, .room: []
      }
    }

    /// What the gateway has to prepare for it; `nil` where it needs no way.
    var needs: MediaNeeds.Port? {
      switch port {
      case .app: .app
      case .ringing: .devices
      case .trunk(let trunk): trunk.telephoneHost.map { .telephone($0) } ?? .trunk
      case .planned: .trunk
      case .link: .link
      case .waiting, .prompt, .room: nil
      }
    }

    /// Whether sound can flow to it and from it.
    var isReady: Bool { needs == nil || sound.isReady }

    /// Which side of the gateway it is on.
    var side: CallLeg { app == nil && ring == nil ? .trunk : .app }

    /// The highest leg that a device of a ringing user was called.
    var told: UInt8? { ring?.told }

    /// Whether there is somebody who can hear keys.
    var hears: Bool {
      switch port {
      // Keys are for whoever controls something, and would be noise in everybody's ears.
      case .waiting, .planned, .ringing, .room: false
      case .app(let app): app.isJoined
      case .trunk(let trunk): trunk.plan != nil
      case .link(let link): link.plan != nil
      case .prompt: true
      }
    }

    /// When it has lasted as long as it may, where no bill says so.
    var lastsUntil: MonotonicInstant? {
      guard bill == nil, let terms, let answeredAt else { return nil }
      return answeredAt.advanced(byMilliseconds: terms.maximumSeconds * 1000)
    }

    /// Whether it is supposed to send. On hold nobody has to, whichever end holds: music is a courtesy.
    /// Whether the other end of another call is on hold is that call's to know.
    var mustSend: Bool { sound.isTalking && link == nil && !(app?.isMuted ?? false) }
  }
}
