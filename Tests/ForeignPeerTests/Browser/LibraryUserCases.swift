import Foundation
import PeerKit

/// Users that call each other with landline.js: tabs of one browser, each a device of its user.
enum LibraryUserCases {
  /// From the answer to the first sound, where the device offered while it rang: the 19th of 20.
  private static let mostSoundMilliseconds = 100.0
  private static let soundCalls = 20
  /// What a device waits for calls at least, and the gateway's own time for it.
  private static let ringSeconds = 40.0...45.0

  static let cases: [PeerCase] = [
    make("call and are heard", ["bob"], expected: "who calls, headers, sound and keys both ways, free") {
      try await heard($0[0], $0[1])
    },
    make(
      "answer to the first sound", ["bob"],
      expected: "19 of 20 within \(Int(mostSoundMilliseconds)) ms, by an offer made while it rings"
    ) { try await promptly($0[0], $0[1]) },
    make(
      "decline, and give up", ["bob", "bob"], expected: "denied, busy, canceled, missed: each told whom it concerns"
    ) {
      try await declined($0)
    },
    make("a second tab", ["bob", "bob"], expected: "a device of its own that rings as well, and is known again") {
      try await tabs($0)
    },
    make(
      "are busy or absent", ["bob", "carol"], expected: "userBusy, a call that waits, userUnreachable, userUnknown"
    ) {
      try await busy($0)
    },
    make("call each other at once", ["bob"], expected: "the call that comes in stands for the one that goes out") {
      try await crossed($0[0], $0[1])
    },
    make("act while they are told", ["bob"], expected: "answered and declined inside the handler") {
      try await atOnce($0[0], $0[1])
    },
    make("lose the WebSocket while it rings", ["bob"], expected: "it rings on, once, and is answered") {
      try await lost($0[0], $0[1])
    },
    make(
      "of a page that nobody has updated", ["bob"], library: "landline_before_users.js",
      expected: "it calls numbers and users as ever, is never called, and whoever calls it hears why"
    ) { try await older($0[0], $0[1]) },
    make("are shown who calls", ["bob"], expected: "a notification while nobody looks, gone with the ringing") {
      try await noticed($0[0], $0[1])
    },
  ]

  /// Alice in the first tab, the others in further ones: all are connected, and the others listen.
  private static func make(
    _ name: String, _ others: [String], library: String? = nil, expected: String,
    _ body: @escaping @Sendable ([LibraryPage]) async throws -> String
  ) -> PeerCase {
    LibraryCase.make("users \(name)", expected: expected, library: library) { alice in
      var pages = [alice]
      try await alice.connected(["name": "Alice"])
      for (number, user) in others.enumerated() {
        let page = try await LibraryPage("tab \(number)", beside: alice, user: user)
        try await page.connected(["keeps": true])
        try await page.order("listen", for: "listening")
        pages.append(page)
      }
      let happened = try await body(pages)
      for page in pages.dropFirst() {
        try await page.order("stop", for: "stopped")
        try await page.isEmpty()
        try await page.isSound()
      }
      return happened
    }
  }

  /// Calls a user whose tabs ring.
  /// - Returns: the call's id.
  @discardableResult
  private static func ring(
    _ alice: LibraryPage, _ tabs: [LibraryPage], _ values: [String: any Sendable] = [:]
  ) async throws -> String {
    try await alice.call(tabs[0].user, values.merging(["kind": "user"]) { $1 })
    guard let id = try await alice.told("placed").text("call") else { throw PeerFailure("the call has no id") }
    for tab in tabs {
      let incoming = try await tab.event("incoming")
      try require(
        incoming.text("call") == id && incoming.text("direction") == "incoming"
          && incoming.text("from.value") == alice.user && incoming.text("target") == alice.user,
        "who calls: \(incoming)")
    }
    try await alice.told("ringing")
    return id
  }

  /// A tab answers a call that rings.
  private static func answer(_ tab: LibraryPage, _ values: [String: any Sendable] = [:]) async throws {
    try await tab.order("answer", values, for: "answered")
  }

  /// The end of a call as one side is told it, with its cause.
  @discardableResult
  private static func end(_ page: LibraryPage, _ cause: String) async throws -> PythonEvent {
    let end = try await page.ended()
    try require(end.text("cause") == cause, "\(cause): \(end)")
    return end
  }

  // MARK: Heard

  private static func heard(_ alice: LibraryPage, _ bob: LibraryPage) async throws -> String {
    try await alice.call("bob", ["kind": "user", "headers": ["order": "42"], "video": true])
    let incoming = try await bob.event("incoming")
    try require(
      incoming.text("from.kind") == "user" && incoming.text("from.value") == "alice"
        && incoming.text("from.name") == "Alice" && incoming.text("headers.order") == "42"
        && incoming.flag("video") == true && incoming.flag("waiting") == false
        && ringSeconds.contains(incoming.number("seconds") ?? 0), "all that is known of the call: \(incoming)")
    try await alice.told("ringing")
    // What cannot be sent is refused, and it rings on.
    try bob.run("answer", ["headers": ["a b": "7"]])
    let refused = try await bob.event("not-answered")
    try require(refused.text("code") == "gw.header", "a header that is none: \(refused)")
    try await answer(bob, ["headers": ["room": "7"]])
    let accepted = try await alice.told("accepted")
    try require(accepted.text("headers.room") == "7", "headers of the answer: \(accepted)")
    for page in [alice, bob] {
      try await page.told("established")
      try await page.hears(LibraryPage.tone, "the other one")
    }
    // Each hears the other, and not itself.
    try await alice.ask("mute", [true])
    try await bob.hears(LibraryPage.silence, "nothing of alice")
    try await alice.hears(LibraryPage.tone, "bob still")
    try await alice.ask("mute", [false])
    try await bob.hears(LibraryPage.tone, "alice again")
    try await bob.ask("sendDigits", ["5"])
    try require(try await alice.told("digit").text("digit") == "5", "a key from bob")
    try await bob.ask("hold", [true])
    try await alice.told("held")
    try await alice.hears(LibraryPage.silence, "nothing on hold")
    try await bob.ask("hold", [false])
    try await alice.hears(LibraryPage.tone, "bob after it")
    try await bob.hangUp()
    try await end(bob, "hungUp")
    let over = try await end(alice, "hungUp")
    try require(over.number("cost_micro") == 0, "free: \(over)")
    try await alice.gateway.uncharged(over.text("call"), alice.payer)
    try require(bob.count("missed") == 0, "nothing was missed")
    return "answered, heard both ways, keys, mute and hold"
  }

  private static func older(_ alice: LibraryPage, _ bob: LibraryPage) async throws -> String {
    _ = try await alice.established("+46000000000")
    try await end(alice, "hungUp")
    // It calls a user whose app is of today.
    try await ring(alice, [bob])
    try await answer(bob)
    for page in [alice, bob] {
      try await page.told("established")
      try await page.hears(LibraryPage.tone, "the other one")
    }
    try await bob.hangUp()
    for page in [alice, bob] { try await end(page, "hungUp") }
    // Nothing of a call for its user comes to it.
    let before = alice.peer.events.count { !$0.name.hasPrefix("tab 0:") }
    try await bob.call("alice", ["kind": "user"])
    let refused = try await bob.ended()
    try require(refused.text("error.code") == "capability.remote", "its app is older than calls: \(refused)")
    try require(
      alice.peer.events.count { !$0.name.hasPrefix("tab 0:") } == before, "the older page is told nothing of it")
    try require(try await alice.failed("+46000000486").text("error.code") == "sip.busy", "and goes on as before")
    return "called numbers and a user; \(refused.text("error.message") ?? "")"
  }

  private static func promptly(_ alice: LibraryPage, _ bob: LibraryPage) async throws -> String {
    let listened = try await Listening.during {
      var times: [Double] = []
      for _ in 0..<soundCalls {
        try await ring(alice, [bob])
        // The path is there before anybody answers.
        try await bob.told("media")
        _ = try await Deadline(seconds: 5).first("path while it rings", everyMilliseconds: 10) { () -> Bool? in
          try await bob.order("path", for: "path").text("state") == "connected" ? true : nil
        }
        let sounds = bob.count("heard")
        try await answer(bob)
        times.append(try await bob.event("heard").number("milliseconds") ?? .infinity)
        try require(bob.count("heard") == sounds + 1, "nothing was heard before the answer")
        try await alice.hangUp()
        for page in [alice, bob] { _ = try await page.ended() }
      }
      return times.sorted()
    }
    let times = listened.value
    try ListeningCase.judge(
      Heard(
        [.init("milliseconds to the first sound", times[soundCalls - 2], 0...mostSoundMilliseconds)],
        lateness: listened.lateness, seconds: listened.seconds))
    return "\(rounded(times.first)) to \(rounded(times.last)) ms, 19 of 20 within \(rounded(times[soundCalls - 2])) ms"
  }

  // MARK: Not answered

  private static func declined(_ pages: [LibraryPage]) async throws -> String {
    let (alice, first, second) = (pages[0], pages[1], pages[2])
    let tabs = [first, second]
    // By one device for all.
    try await ring(alice, tabs)
    try await first.ask("decline")
    let declined = try await end(alice, "denied")
    try require(declined.text("error.code") == "gw.userDeclined", "declined: \(declined)")
    let by = try await end(first, "denied").text("by")
    try require(try await end(second, "denied").text("by") == by && by != nil, "by whom: \(by ?? "")")
    // With another word.
    try await ring(alice, tabs)
    try await second.ask("decline", [["reason": "busy"]])
    try require(try await end(alice, "denied").text("error.code") == "gw.userBusy", "busy")
    for tab in tabs { try await end(tab, "denied") }
    // One device after the other.
    try await ring(alice, tabs)
    try await first.ask("decline", [["scope": "device"]])
    try await end(first, "denied")
    try require(second.count("call-ended") == 2, "the second still rings")
    try await second.ask("decline", [["scope": "device"]])
    for page in [alice, second] { try await end(page, "denied") }
    try require(tabs.allSatisfy { $0.count("missed") == 0 }, "who was declined was not missed")
    // Given up: whoever hears of it has missed a call.
    let call = try await ring(alice, tabs)
    try await alice.hangUp()
    try await end(alice, "canceled")
    for tab in tabs {
      try await end(tab, "canceled")
      let missed = try await tab.event("missed")
      try require(
        missed.text("call") == call && missed.text("from.value") == "alice" && missed.text("cause") == "canceled"
          && missed.text("startedAt") != nil && missed.text("endedAt") != nil, "missed: \(missed)")
    }
    // Too late for that call.
    try first.run("answer")
    let late = try await first.event("not-answered")
    try require(late.text("code") == "gw.address", "it is over: \(late)")
    // A client that ends lets the others ring.
    try await ring(alice, tabs)
    try await first.order("stop", for: "stopped")
    try await end(first, "canceled")
    try await answer(second)
    try await alice.told("established")
    try await second.hangUp()
    for page in [alice, second] { try await end(page, "hungUp") }
    // Nobody is asked twice for a stopped client's credentials; the case ends with both of them.
    try await first.order("connect", for: "connected")
    return "denied by one, by each, busy, canceled, missed"
  }

  // MARK: Devices

  private static func tabs(_ pages: [LibraryPage]) async throws -> String {
    let (alice, first, second) = (pages[0], pages[1], pages[2])
    func device(_ page: LibraryPage) async throws -> String {
      try await page.order("listen", for: "listening").text("device") ?? ""
    }
    let (one, two) = (try await device(first), try await device(second))
    try require(one != two && !one.isEmpty && !two.isEmpty, "two devices: \(one), \(two)")
    for (winner, loser, name) in [(first, second, one), (second, first, two)] {
      try await ring(alice, [first, second])
      try await answer(winner)
      let other = try await end(loser, "otherDeviceAnswered")
      try require(other.text("by") == name, "answered by \(name): \(other)")
      try await alice.told("established")
      try await winner.hears(LibraryPage.tone, "alice")
      try await winner.hangUp()
      for page in [alice, winner] { try await end(page, "hungUp") }
    }
    try require(first.count("missed") + second.count("missed") == 0, "nothing was missed")
    // The next run of the page is the same device, and needs no other proof.
    try await second.order("reload", for: "loaded")
    try await second.connected(["keeps": true, "credentials": "callback"])
    try require(try await device(second) == two, "it is \(two) again")
    try require(second.count("asked") == 0, "what the gateway gave will do")
    // Until it is forgotten.
    try await second.order("stop", for: "stopped")
    try await second.connected(["keeps": true, "credentials": "callback"])
    try await second.order("forget", for: "forgotten")
    try await second.order("stop", for: "stopped")
    try await second.order("connect", for: "connected")
    try require(second.count("asked") >= 1, "the page is asked again")
    return "\(one) and \(two)"
  }

  private static func busy(_ pages: [LibraryPage]) async throws -> String {
    let (alice, bob, carol) = (pages[0], pages[1], pages[2])
    try await ring(alice, [bob])
    try await answer(bob)
    try await alice.told("established")
    try await carol.call("bob", ["kind": "user"])
    let refused = try await end(carol, "denied")
    try require(refused.text("error.code") == "gw.userBusy", "bob is busy: \(refused)")
    // A device that wants to hear of a second call.
    try await bob.hangUp()
    for page in [alice, bob] { try await end(page, "hungUp") }
    try await bob.order("stop", for: "stopped")
    try await bob.connected(["keeps": true, "busy": "waiting"])
    try await bob.order("listen", for: "listening")
    try await ring(alice, [bob])
    try await answer(bob)
    try await alice.told("established")
    try await carol.call("bob", ["kind": "user"])
    let waiting = try await bob.event("incoming")
    try require(
      waiting.flag("waiting") == true && waiting.text("from.value") == "carol", "a call that waits: \(waiting)")
    try await bob.ask("decline")
    try await end(carol, "denied")
    try await end(bob, "denied")
    try await alice.hangUp()
    try await end(alice, "hungUp")
    // Nobody listens, and nobody is there.
    try await bob.event("over")
    try await bob.order("listen", ["on": false], for: "listening")
    for (user, code) in [("bob", "gw.userUnreachable"), ("nobody", "gw.userUnknown")] {
      try await alice.call(user, ["kind": "user"])
      let end = try await alice.ended()
      try require(end.text("error.code") == code, "\(code): \(end)")
    }
    // One that came without calling cannot be called, and says so.
    try await carol.order("stop", for: "stopped")
    try await carol.connected(["capabilities": ["messaging"]])
    try carol.run("listen")
    let incapable = try await carol.event("not-listening")
    try require(incapable.text("code") == "capability.local", "no calls without calling: \(incapable)")
    try await alice.call("carol", ["kind": "user"])
    try require(try await alice.ended().text("error.code") == "capability.remote", "nor to it")
    return "userBusy, waiting, userUnreachable, userUnknown, capability"
  }

  // MARK: Races

  private static func crossed(_ alice: LibraryPage, _ bob: LibraryPage) async throws -> String {
    let call = try await ring(alice, [bob])
    // The call that comes in is not the one under way any more.
    try await bob.call("alice", ["kind": "user"])
    let end = try await bob.ended()
    try require(
      end.text("error.code") == "gw.crossed" && end.text("instead") == call, "the other one stands for it: \(end)")
    try await bob.order("followInstead", for: "following")
    try await answer(bob)
    for page in [alice, bob] { try await page.told("established") }
    try await bob.hears(LibraryPage.tone, "alice")
    try await alice.hangUp()
    for page in [alice, bob] { try await page.told("ended") }
    return "gw.crossed, then answered"
  }

  private static func atOnce(_ alice: LibraryPage, _ bob: LibraryPage) async throws -> String {
    for reaction in ["hangUp", "answer"] {
      try await bob.order("stop", for: "stopped")
      try await bob.connected(["keeps": true, "reaction": reaction])
      try await bob.order("listen", for: "listening")
      try await alice.call("bob", ["kind": "user"])
      try await bob.event("incoming")
      if reaction == "answer" {
        try await bob.event("answered")
        try await alice.told("established")
        try await bob.hears(LibraryPage.tone, "alice")
        try await bob.hangUp()
      }
      let cause = reaction == "answer" ? "hungUp" : "denied"
      for page in [alice, bob] { try await end(page, cause) }
    }
    let messages = try await bob.order("messages", for: "messages")
    try require(messages.number("sent.alert") == nil, "it never rang: \(messages)")
    return "declined and answered before it rings"
  }

  private static func lost(_ alice: LibraryPage, _ bob: LibraryPage) async throws -> String {
    try await ring(alice, [bob])
    try await bob.order("cut", ["code": 4000], for: "cut")
    try await answer(bob)
    for page in [alice, bob] { try await page.told("established") }
    try await bob.hears(LibraryPage.tone, "alice")
    try require(bob.count("incoming") == 1, "told once")
    try await alice.hangUp()
    for page in [alice, bob] { try await end(page, "hungUp") }
    return "taken up, answered"
  }

  private static func noticed(_ alice: LibraryPage, _ bob: LibraryPage) async throws -> String {
    try require(try await bob.order("mayNotify", for: "may-notify").flag("may") == true, "the user gives leave")
    func shown(_ count: Double, open: Double) async throws {
      let found = try await bob.order("notices", for: "notices")
      try require(
        found.number("count") == count && found.number("open") == open, "\(count) shown, \(open) open: \(found)")
    }
    // Whoever looks at the page sees it there.
    try await ring(alice, [bob])
    try await shown(0, open: 0)
    try await alice.hangUp()
    for page in [alice, bob] { try await end(page, "canceled") }
    try await bob.order("look", ["away": true], for: "looking")
    try await ring(alice, [bob])
    try await shown(1, open: 1)
    let clicked = try await bob.order("notices", ["click": true], for: "notices")
    try require(
      clicked.text("title") == "Alice" && clicked.number("focused") == 1 && clicked.number("open") == 0,
      "a click brings the page: \(clicked)")
    try await alice.hangUp()
    for page in [alice, bob] { try await end(page, "canceled") }
    try await ring(alice, [bob])
    try await shown(2, open: 1)
    // The signal of the telephone, for bob alone.
    try await bob.order("tone", ["name": "ringtone"], for: "file-playing")
    try require(try await bob.order("hearOwn", for: "own-heard").flag("heard") == true, "it rings")
    try await bob.order("stopFile", for: "file-stopped")
    try await alice.hangUp()
    for page in [alice, bob] { try await end(page, "canceled") }
    try await shown(2, open: 0)
    return "shown, clicked, gone"
  }
}
