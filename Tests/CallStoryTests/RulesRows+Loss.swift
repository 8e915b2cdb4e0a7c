import CallModel
import CallStory

extension RulesRow {
  static let loss: [RulesRow] = [
    RulesRow("appUplinkLoss", sound { $0.fromApp = .losing(5) }, not: sound { $0.fromApp = .losing(1) }),
    RulesRow("appDownlinkLoss", sound { $0.toApp = .losing(5) }, not: sound { $0.toApp = .losing(1) }),
    RulesRow("trunkLoss", sound { $0.fromTrunk = .losing(5) }, not: sound { $0.fromTrunk = .losing(1) }),
    RulesRow("trunkFarLoss", sound { $0.toTrunk = .losing(5) }, not: sound { $0.toTrunk = .losing(1) }),
    RulesRow(
      "latePackets",
      sound {
        $0.fromApp = .losing(5)
        $0.fromApp.tooLate = { _ in 4 }
        $0.fromApp.jitter = 60
      },
      // Uneven, and yet in time.
      not: sound {
        $0.fromApp.jitter = 60
        $0.fromApp.tooLate = { $0 == 3 ? 2 : 0 }
      }),
    RulesRow(
      "clockDrift", sound { $0.fromTrunk.clockDrift = -340 },
      // As wrong as quartz may be.
      not: sound { $0.fromTrunk.clockDrift = 90 }),
    // The queue grows, and then packets are lost.
    RulesRow(
      "thinLink",
      sound {
        $0.fromApp = .losing { $0 < 8 ? 0 : 17 }
        $0.roundTrip = { $0 < 5 ? 40 : 40 + 150 * Double(min($0 - 4, 6)) }
      },
      // As much is lost, and nothing has to wait.
      not: sound { $0.fromApp = .losing { $0 < 8 ? 0 : 17 } }),
    RulesRow(
      "pathLost", sound { $0.silent = [.near: 6...16] },
      // It only says nothing: its reports come.
      not: sound {
        $0.silent = [.near: 6...16]
        $0.reportsInSilence = true
      }),
  ]

  private static func sound(
    _ change: @escaping @Sendable (inout SceneSound) -> Void
  ) -> @Sendable (inout RulesScene) -> Void {
    { scene in
      var sound = SceneSound()
      change(&sound)
      scene.talk(sound)
    }
  }
}

extension SceneSound.Way {
  /// So many of the 50 packets of each second.
  static func losing(_ packets: Int) -> SceneSound.Way { losing { _ in packets } }

  static func losing(_ packets: @escaping @Sendable (Int) -> Int) -> SceneSound.Way {
    var way = SceneSound.Way()
    way.lost = packets
    return way
  }
}
