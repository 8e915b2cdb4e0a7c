import SIPCore

/// What both sides of one call are going to do, as far as it is known beforehand. Times are milliseconds.
struct CallScript {
  /// Where the INVITE goes.
  enum Way {
    /// To an address where nobody is, then to the callee.
    case deadThenDirect
    case direct
    /// The agent has to ask.
    case located
    case nowhere
  }

  struct Ringing {
    var after: Int64
    var status: Int
    var hasDescription: Bool
  }

  enum Verdict {
    case accept
    case reject(Int)
    case redirect
    case hangUp
    case silence
  }

  /// What both sides do in the same instant.
  enum Meeting {
    case offers, hangUps, both
  }

  /// Nobody talks longer: what ends a call that nothing else has ended.
  static let longest: Int64 = 600_000
  /// Statuses that no agent gives by itself.
  static let ownStatuses = [402, 403, 409, 410, 433, 436, 470, 486, 502, 513, 580, 599, 600, 603, 604, 606, 607, 699]
  /// Statuses that agents give as well.
  static let sharedStatuses = [400, 404, 408, 480, 487, 488, 500, 503, 504]

  var startsAt: Int64
  var caller: Int
  var hasOffer: Bool
  var isLarge: Bool
  var reliability: OutgoingCall.Reliability
  var sessionInterval: UInt32?
  var ringTimeout: Int64
  var maximumRedirections: Int
  var way: Way
  /// After the start, answered or not.
  var callerGivesUpAfter: Int64?
  var ringings: [Ringing]
  var verdict: Verdict
  var verdictAfter: Int64
  /// After the answer as each side knows it.
  var callerHangsUpAfter: Int64
  var calleeHangsUpAfter: Int64
  var meetsAfter: Int64?
  var meeting: Meeting
  /// After the start or the arrival.
  var callerOffers: [Int64]
  var calleeOffers: [Int64]
  var callerInformations: [Int64]
  var calleeInformations: [Int64]
  /// After the answer, by the caller.
  var transfersAfter: Int64?

  init(_ random: inout SeededGenerator) {
    startsAt = random.number(0...30_000)
    caller = random.index(2)
    hasOffer = !random.chance(250)
    isLarge = random.chance(50)
    reliability = [.supported, .supported, .required, .off][random.index(4)]
    sessionInterval = random.one(nil, 90, 90, 120, 1800)
    ringTimeout = random.one(180_000, 180_000, random.number(1...60_000))
    maximumRedirections = random.index(3)
    way =
      [Way.direct, .direct, .direct, .located, .located, .deadThenDirect, .nowhere][
        random.weighted([20, 20, 20, 10, 10, 5, 2])]
    callerGivesUpAfter = random.chance(250) ? random.one(0, random.number(0...400), random.number(0...20_000)) : nil
    ringings = []
    for _ in 0..<random.weighted([20, 50, 20, 10]) {
      let status = random.one(180, 180, 183, 183, 181, 182, 199)
      let hasDescription = random.chance(500)
      // 199 says that a fork is over, and nothing of a session (RFC 6228 section 4).
      ringings.append(
        Ringing(
          after: random.one(0, random.number(0...500), random.number(0...10_000)), status: status,
          hasDescription: hasDescription && status != 199))
    }
    switch random.weighted([65, 12, 6, 5, 12]) {
    case 0: verdict = .accept
    case 1:
      let statuses = random.chance(700) ? CallScript.ownStatuses : CallScript.sharedStatuses
      verdict = .reject(random.element(of: statuses) ?? 486)
    case 2: verdict = .redirect
    case 3: verdict = .hangUp
    default: verdict = .silence
    }
    verdictAfter = random.one(
      0, random.number(0...500), random.number(500...15_000), random.number(500...15_000),
      random.number(15_000...150_000))
    func talk(_ random: inout SeededGenerator) -> Int64 {
      random.one(
        random.number(0...100), random.number(0...5000), random.number(0...60_000), random.number(60_000...400_000),
        CallScript.longest)
    }
    callerHangsUpAfter = talk(&random)
    calleeHangsUpAfter = talk(&random)
    meetsAfter = random.chance(300) ? random.one(random.number(0...500), random.number(0...60_000)) : nil
    meeting = [.offers, .hangUps, .both][random.weighted([6, 3, 1])]
    func moments(_ random: inout SeededGenerator, _ weights: [UInt64]) -> [Int64] {
      (0..<random.weighted(weights)).map { _ in
        random.one(random.number(0...3000), random.number(0...30_000), random.number(0...300_000))
      }
    }
    callerOffers = moments(&random, [50, 25, 15, 10])
    calleeOffers = moments(&random, [50, 25, 15, 10])
    callerInformations = moments(&random, [70, 20, 10])
    calleeInformations = moments(&random, [70, 20, 10])
    transfersAfter = random.chance(150) ? random.number(0...60_000) : nil
  }
}
