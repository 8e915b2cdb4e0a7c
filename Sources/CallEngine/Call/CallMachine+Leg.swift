import AppProtocol
import CallModel
import SDPCore

extension CallMachine {
  /// One party of a call: how it is reached, who is charged for it, and what is known of its sound.
  ///
  /// What differs between the kinds of legs is the port. A room, a program that streams, an app that is called and a tap
  /// that only listens are ports to come.
  struct Leg {
    enum Port {
      /// Its media is being prepared; nobody was called yet.
      case planned
      case app(AppLeg)
      case trunk(TrunkLeg)
      /// The gateway's own voice, which comes over no network.
      case prompt(PromptLeg)
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
    }

    let id: LegID
    /// Whom it calls and at which price; `nil` for an app that calls.
    let terms: CallTerms?
    var port: Port
    /// `nil` where nobody is charged for the leg. Each billed leg is a call of its own in the ledger.
    var bill: CallBill?
    var sound = Sound()
    /// What came from it in the last second.
    var quality: CallQuality.Direction?

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

    var plan: MediaPlan? {
      switch port {
      case .app(let app): app.negotiation.plan
      case .trunk(let trunk): trunk.plan
      case .planned, .prompt: nil
      }
    }

    /// What the gateway has to prepare for it; `nil` where it needs no way.
    var needs: MediaNeeds.Port? {
      switch port {
      case .app: .app
      case .planned, .trunk: .trunk
      case .prompt: nil
      }
    }

    /// Whether sound can flow to it and from it.
    var isReady: Bool { needs == nil || sound.isReady }

    /// Whether it is supposed to send. On hold nobody has to, whichever end holds: music is a courtesy.
    var mustSend: Bool { sound.isTalking && !(app?.isMuted ?? false) }
  }
}
