import CallModel

// MARK: - Conferences

extension GatewayPlan {
  /// In so many of a thousand seeds there are conferences.
  static let meetingsPerThousand: UInt64 = 350

  /// Which conference is meant.
  struct Meeting {
    let account: Int
    let conference: String
  }

  /// What an operator does to a conference, or to whoever came first of those who are in it.
  enum RoomDeed: CaseIterable {
    case kick, end, lock, unlock, mute, unmute, deafen, hear, tones, noTones
  }

  /// People who meet: most come within a minute, some at the same instant, and some find others leaving.
  mutating func addMeetings(_ random: inout SeededGenerator, hours: Int) {
    for _ in 0..<(1 + random.index(4 * hours)) {
      let caller = random.index(apps)
      let account = GatewayPlan.account(ofUser: owner(of: caller).user)
      let meeting = Meeting(account: account, conference: "room\(random.index(2))")
      let colleagues = (0..<apps).filter { GatewayPlan.account(ofUser: owner(of: $0).user) == account }
      let begins = 3000 + random.number(0...(window * 3 / 4))
      let isTogether = random.chance(200)
      for _ in 0..<(2 + random.index(11)) {
        let startsAt = begins + (isTogether ? 0 : random.number(0...random.one(2000, 60_000, 600_000)))
        let app = colleagues[random.index(colleagues.count)]
        calls.append(GatewayPlan.participant(calls.count + 1, app: app, at: startsAt, in: meeting, &random))
      }
      for _ in 0..<random.weighted([300, 200, 200, 150, 150]) {
        let deed = RoomDeed.allCases[random.weighted([300, 60, 80, 80, 100, 100, 60, 60, 80, 80])]
        faults.append((begins + random.number(0...900_000), .conference(meeting, deed)))
      }
    }
  }

  private static func participant(
    _ number: Int, app: Int, at startsAt: Int64, in meeting: Meeting, _ random: inout SeededGenerator
  ) -> Call {
    let isInvited = random.chance(250)
    let stays = random.one(
      random.number(0...3000), random.number(1000...60_000), random.number(60_000...1_200_000),
      random.number(60_000...5_000_000))
    var callee = Callee(
      conduct: random.chance(800) ? .answers : Callee.Conduct.allCases[random.index(Callee.Conduct.allCases.count)],
      ringsAfter: random.number(0...800), answersAfter: random.number(0...15_000))
    callee.hangsUpAfter = random.chance(700) ? stays : nil
    var deeds: [(after: Int64, deed: Deed)] = []
    if random.chance(700) { deeds.append((stays, .hangUp)) }
    if random.chance(300) {
      let at = random.number(0...30_000)
      deeds.append((at, .mute(true)))
      deeds.append((at + random.number(0...60_000), .mute(false)))
    }
    if random.chance(100) { deeds.append((random.number(0...30_000), .digits("12#"))) }
    if random.chance(100) { deeds.append((random.number(0...30_000), .hold(true))) }
    let digits = String(number)
    let suffix = String(repeating: "0", count: max(0, 5 - digits.utf8.count)) + digits
    var call = Call(
      number: number, app: app, startsAt: startsAt, target: isInvited ? "+4670" + suffix : meeting.conference,
      callee: callee, deeds: isInvited ? [] : deeds.sorted { $0.after < $1.after }, isEmergency: false)
    call.conference = meeting.conference
    call.isInvited = isInvited
    return call
  }
}
