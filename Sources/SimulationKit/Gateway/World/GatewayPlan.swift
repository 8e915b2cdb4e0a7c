import AppProtocol
import CallModel

/// Everything that a seed decides beforehand: who calls whom when, how the called behave, which faults come.
struct GatewayPlan {
  /// How the one who is called behaves at the trunk.
  struct Callee {
    enum Conduct: String, CaseIterable {
      case answers, refuses, rings, earlyThenAnswers, earlyOnly, deaf, wrongDescription, forks
    }
    var conduct: Conduct
    var status = 486
    /// Milliseconds from the INVITE to ringing and from there to the answer.
    var ringsAfter: Int64
    var answersAfter: Int64
    /// From the answer to its BYE; `nil` leaves that to others.
    var hangsUpAfter: Int64?
    /// From the answer to the moment when it sends no more sound and says no more: no BYE ever.
    var vanishesAfter: Int64?
    /// Re-INVITEs that it sends, from when on, and how far apart.
    var holds = 0
    var holdsAfter: Int64 = 1000
    var holdsEvery: Int64 = 100
    var refusesOffers = false
  }

  /// How a device behaves that rings for its user.
  struct Ringing {
    enum Conduct: String, CaseIterable {
      case answers, declines, declinesHere, isBusyHere, rings, isSilent, lacksOffer, brokenOffer, hangsUpBeforeAnswer
    }
    var conduct: Conduct
    /// Milliseconds from being told of the call to the word that it rings.
    var alertsAfter: Int64
    /// Whether that word brings its offer, so that sound can flow with the answer.
    var offersEarly: Bool
    /// Milliseconds from being told of the call to what ends its ringing.
    var actsAfter: Int64
    /// From its answer to its hang-up; `nil` leaves that to others.
    var hangsUpAfter: Int64?
  }

  enum Deed {
    case hangUp
    case hold(Bool)
    case digits(String)
    case mute(Bool)
    case report
  }

  struct Call {
    let number: Int
    let app: Int
    let startsAt: Int64
    let target: String
    let callee: Callee
    /// Milliseconds after the request.
    let deeds: [(after: Int64, deed: Deed)]
    let isEmergency: Bool
    /// The behaviour of each device of the called user, in their order; empty for calls to numbers.
    var ringing: [Ringing] = []

    /// The id of the conference that the app calls, or that calls the number where ``isInvited``.
    var conference: String?
    /// An operator has the conference call the number.
    var isInvited = false

    var isForUser: Bool { !ringing.isEmpty }
  }

  enum Fault {
    /// Nothing reaches a trunk, or nothing comes from it, or both.
    case cut(trunk: Int, toTrunk: Bool, fromTrunk: Bool, milliseconds: Int64)
    /// A trunk dies and comes back without memory.
    case trunkDeath(trunk: Int, milliseconds: Int64)
    case ledgerAway(milliseconds: Int64)
    case ledgerSlow(milliseconds: Int64)
    /// The node is killed and comes back.
    case kill(milliseconds: Int64)
    /// The node stands still, as a suspended machine does.
    case stall(milliseconds: Int64)
    case clockJump(milliseconds: Int64)
    /// The connection of an app breaks; `returns` false keeps it away for good.
    case disconnect(app: Int, milliseconds: Int64, returns: Bool)
    /// Frames of an app wait in one direction.
    case congestion(app: Int, toNode: Bool, milliseconds: Int64)
    case topUp(account: Int)
    case lock(account: Int)
    case unlock(account: Int)
    /// An operator ends the oldest call.
    case operatorHangUp
    /// An app asks not to be called for a while.
    case deaf(app: Int, milliseconds: Int64)
    /// An operator does something to a conference.
    case conference(Meeting, RoomDeed)

    var name: String {
      switch self {
      case .cut(_, true, true, _): "partition"
      case .cut: "one-way partition"
      case .trunkDeath: "trunk death"
      case .ledgerAway: "ledger away"
      case .ledgerSlow: "ledger slow"
      case .kill: "node kill"
      case .stall: "node stall"
      case .clockJump: "clock jump"
      case .disconnect(_, _, true): "app disconnect"
      case .disconnect: "app loss"
      case .congestion: "app congestion"
      case .topUp: "top-up"
      case .lock: "account lock"
      case .unlock: "account unlock"
      case .operatorHangUp: "operator hang-up"
      case .deaf: "app not listening"
      case .conference: "conference order"
      }
    }
  }

  static let trunkCount = 3
  static let accountCount = 4
  /// How many calls are asked for in an hour: most gateways are quiet, some busy, a few crowded.
  private static let load: [(weight: UInt64, callsPerHour: ClosedRange<Int64>)] = [
    (550, 12...36), (370, 40...120), (80, 200...500),
  ]
  /// A busy gateway meets more faults: one more for so many calls.
  private static let callsPerFault = 40

  var lostPerThousand: UInt64 = 0
  var duplicatedPerThousand: UInt64 = 0
  var reorderedPerThousand: UInt64 = 0
  /// How many devices each user has. An app is a device: those of user 0 come first.
  var devices = [1]
  /// What a call does to a user whose device is in a call.
  var busyRule = BusyRule.device
  /// Micro-units of each account at the start.
  var credits: [MicroUnits] = []
  var caps: [Int64?] = []
  var calls: [Call] = []
  var faults: [(at: Int64, fault: Fault)] = []
  /// Another node watches the leases.
  var hasPeer = false
  var ports = 32
  /// How long app and gateway let a silent connection be before they ask for a sign of life.
  var pingMilliseconds: Int64 = 20_000
  /// Milliseconds after which everybody hangs up and every fault is healed.
  let window: Int64

  /// - Parameter rooms: draws for conferences alone: what a seed decides of other calls stays as it was without them.
  init(_ random: inout SeededGenerator, rooms: SeededGenerator, hours: Int) {
    window = Int64(hours) * 3_600_000
    switch random.weighted([300, 500, 200]) {
    case 0: break
    case 1:
      lostPerThousand = UInt64(random.number(0...50))
      duplicatedPerThousand = UInt64(random.number(0...50))
      reorderedPerThousand = UInt64(random.number(0...100))
    default:
      lostPerThousand = UInt64(random.number(50...250))
      duplicatedPerThousand = UInt64(random.number(0...200))
      reorderedPerThousand = UInt64(random.number(0...300))
    }
    let load = GatewayPlan.load[random.weighted(GatewayPlan.load.map(\.weight))]
    let callsPerHour = Int(random.number(load.callsPerHour))
    let users = 1 + random.index(min(12, 2 + callsPerHour / 10))
    devices = (0..<users).map { _ in 1 + random.weighted([550, 300, 150]) }
    busyRule = BusyRule.allCases[random.weighted([350, 500, 150])]
    hasPeer = random.chance(300)
    pingMilliseconds = [20_000, 60_000, 300_000][random.weighted([150, 250, 600])]
    ports = random.chance(150) ? 2 + random.index(4) : 1024
    for _ in 0..<GatewayPlan.accountCount {
      // 1000 micro-units a second: nothing, one grant, some minutes, plenty.
      credits.append([0, 60_000, random.amount(60_000...900_000), 1_000_000_000][random.weighted([50, 50, 120, 780])])
      caps.append(random.chance(100) ? random.number(1...random.one(3, 20)) : nil)
    }
    let count = callsPerHour * hours
    let isBurst = random.chance(150)
    for number in 1...count {
      let startsAt =
        isBurst && number <= 10 ? 5000 + random.number(0...50) : 2000 + random.number(0...(window * 3 / 4))
      let app = random.index(apps)
      let called = random.chance(Self.userCallsPerThousand) ? peer(of: app, &random) : nil
      calls.append(GatewayPlan.call(number, app: app, at: startsAt, to: called, &random))
    }
    let some = random.weighted([200, 300, 300, 200])
    let faultCount = some == 0 ? 0 : some * (1 + random.index(4 * hours)) + count / GatewayPlan.callsPerFault
    for _ in 0..<faultCount {
      let at = 3000 + random.number(0...(window - 10_000))
      let fault = fault(&random)
      faults.append((at, fault))
      // What a dead node's calls have cost must not depend on what its clock was set to before.
      if case .clockJump = fault, random.chance(400) {
        faults.append((min(at + random.number(0...90_000), window), .kill(milliseconds: random.number(200...20_000))))
      }
    }
    var rooms = rooms
    if rooms.chance(GatewayPlan.meetingsPerThousand) { addMeetings(&rooms, hours: hours) }
    // Of the same time, the one that was drawn first.
    faults = faults.enumerated().sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }.map(\.element)
  }

  // MARK: Users

  /// Of a thousand calls so many are for a user, where the caller's application has another device.
  private static let userCallsPerThousand: UInt64 = 250
  /// Two users in a row share an application, so that they can call each other.
  static func account(ofUser user: Int) -> Int { user / 2 % accountCount }

  var apps: Int { devices.reduce(0, +) }

  /// Whose device an app is, and which of that user's.
  func owner(of app: Int) -> (user: Int, device: Int) {
    var rest = app
    for (user, count) in devices.enumerated() {
      if rest < count { return (user, rest) }
      rest -= count
    }
    return (0, 0)
  }

  /// A user whom the app may call: of the same application, itself only where it has another device.
  private func peer(of app: Int, _ random: inout SeededGenerator) -> Int? {
    let caller = owner(of: app).user
    let peers = devices.indices.filter {
      GatewayPlan.account(ofUser: $0) == GatewayPlan.account(ofUser: caller) && ($0 != caller || devices[$0] > 1)
    }
    return peers.isEmpty ? nil : peers[random.index(peers.count)]
  }

  // MARK: Calls

  /// Durations of all sizes: most calls take some minutes, a few take hours, past the longest that the gateway allows.
  private static func duration(_ random: inout SeededGenerator) -> Int64 {
    switch random.weighted([70, 110, 420, 240, 160]) {
    case 0: random.number(0...2000)
    case 1: random.number(1000...60_000)
    case 2: random.number(60_000...1_200_000)
    case 3: random.number(1_200_000...3_600_000)
    default: random.number(3_600_000...16_000_000)
    }
  }

  /// Devices of a user, at most.
  static let maximumDevices = 3

  private static func ringing(_ random: inout SeededGenerator) -> [Ringing] {
    let common = random.one(random.number(0...3000), random.number(500...50_000))
    let isTogether = random.chance(300)
    return (0..<maximumDevices).map { _ in
      let conducts = Ringing.Conduct.allCases
      return Ringing(
        conduct: conducts[random.weighted([550, 80, 80, 50, 90, 40, 30, 40, 40])],
        alertsAfter: random.number(0...random.one(20, 1500)), offersEarly: random.chance(500),
        actsAfter: isTogether ? max(0, common + random.number(-40...40)) : random.number(0...random.one(3000, 60_000)),
        hangsUpAfter: random.chance(500) ? duration(&random) : nil)
    }
  }

  private static func call(
    _ number: Int, app: Int, at startsAt: Int64, to user: Int?, _ random: inout SeededGenerator
  ) -> Call {
    let ringing = user == nil ? [] : ringing(&random)
    var callee = Callee(
      conduct: conduct(&random), ringsAfter: random.number(0...800),
      answersAfter: random.one(
        random.number(0...200), random.number(200...20_000), random.number(2000...20_000), random.number(0...80_000)))
    callee.status = [486, 503, 500, 404, 603, 480, 408, 487, 302, 606][random.index(10)]
    let talk = duration(&random)
    var deeds: [(Int64, Deed)] = []
    let upAt = (ringing.map(\.actsAfter).min() ?? callee.ringsAfter + callee.answersAfter) + 100
    switch random.weighted([370, 360, 100, 70, 100]) {
    case 0: callee.hangsUpAfter = talk
    case 1: deeds.append((upAt + talk, .hangUp))
    case 2:
      // Both at once.
      callee.hangsUpAfter = talk
      deeds.append((upAt + talk + random.number(-60...60), .hangUp))
    case 3: deeds.append((random.number(0...max(1, upAt + 200)), .hangUp))
    default: break
    }
    if random.chance(40) { callee.vanishesAfter = duration(&random) }
    if random.chance(60) {
      callee.holds = random.one(2, 2, 4, 2 * random.index(15))
      callee.holdsAfter = random.number(0...30_000)
      callee.holdsEvery = random.one(random.number(0...20), random.number(50...500), random.number(1000...20_000))
    }
    callee.refusesOffers = random.chance(80)
    for _ in 0..<random.weighted([700, 150, 100, 50]) {
      let at = max(0, upAt + random.number(-500...60_000))
      switch random.index(4) {
      case 0:
        deeds.append((at, .hold(true)))
        deeds.append((at + random.one(random.number(0...300), random.number(500...90_000)), .hold(false)))
      case 1: deeds.append((at, .digits("12#")))
      case 2:
        deeds.append((at, .mute(true)))
        deeds.append((at + random.number(0...90_000), .mute(false)))
      default: deeds.append((at, .report))
      }
    }
    // The number carries the call's own, so that the trunk knows how to behave.
    let digits = String(number)
    let suffix = String(repeating: "0", count: 5 - digits.utf8.count) + digits
    let isEmergency = user == nil && random.chance(10)
    let target =
      isEmergency
      ? "112"
      : user.map { random.chance(20) ? "nobody" : SimulatedApp.userName($0) }
        ?? (random.chance(30)
          ? "+46000000000"
          : random.one("+4670", "+4670", "+4671", "+4672", "+4673", random.chance(120) ? "+4690" : "+4670") + suffix)
    return Call(
      number: number, app: app, startsAt: startsAt, target: target, callee: callee,
      deeds: deeds.sorted { $0.0 < $1.0 }.map { ($0.0, $0.1) }, isEmergency: isEmergency, ringing: ringing)
  }

  private static func conduct(_ random: inout SeededGenerator) -> Callee.Conduct {
    [.answers, .refuses, .rings, .earlyThenAnswers, .earlyOnly, .deaf, .wrongDescription, .forks][
      random.weighted([640, 80, 40, 100, 20, 30, 30, 60])]
  }

  // MARK: Faults

  private func fault(_ random: inout SeededGenerator) -> Fault {
    let short = random.number(200...8000)
    let long = random.one(random.number(1000...10_000), random.number(10_000...60_000), random.number(30_000...180_000))
    let trunk = random.index(GatewayPlan.trunkCount)
    let app = random.index(apps)
    let account = random.index(GatewayPlan.accountCount)
    switch random.weighted([120, 80, 60, 90, 60, 70, 40, 40, 160, 40, 70, 100, 20, 40, 40, 60]) {
    case 0:
      let way = random.index(3)
      return .cut(trunk: trunk, toTrunk: way != 1, fromTrunk: way != 2, milliseconds: random.chance(500) ? short : long)
    case 1: return .cut(trunk: trunk, toTrunk: true, fromTrunk: true, milliseconds: long)
    case 2: return .trunkDeath(trunk: trunk, milliseconds: long)
    case 3: return .ledgerAway(milliseconds: random.chance(500) ? short : long)
    case 4: return .ledgerSlow(milliseconds: long)
    case 5: return .kill(milliseconds: random.chance(500) ? short : long)
    case 6: return .stall(milliseconds: random.number(500...12_000))
    case 7: return .clockJump(milliseconds: random.number(-3_600_000...3_600_000))
    case 8: return .disconnect(app: app, milliseconds: random.chance(600) ? short : long, returns: true)
    case 9: return .disconnect(app: app, milliseconds: long, returns: false)
    case 10: return .congestion(app: app, toNode: random.chance(500), milliseconds: long)
    case 11: return .topUp(account: account)
    case 12: return .lock(account: account)
    case 13: return .unlock(account: account)
    case 14: return .operatorHangUp
    default: return .deaf(app: app, milliseconds: long)
    }
  }
}
