import Foundation
import PeerKit

/// The pages of `landline dev`, as somebody meets them who has just started it.
enum DevelopmentPageCases {
  static let cases = [
    PeerCase(
      peer: "Chromium", transport: "pages", "landline dev, by keyboard alone, without any key",
      expected: "the prompt is heard; another origin and another host's name get no session",
      run: { try await development(stranger) }),
    PeerCase(
      peer: "Chromium", transport: "pages", "landline dev, two browsers",
      expected:
        "alice and bob: each hears the other, declines and misses calls, by buttons and keys; axe finds nothing",
      run: { try await development(neighbours) }),
    PeerCase(
      peer: "Chromium", transport: "pages", "landline dev, its number is called from the telephone network",
      expected: "the page rings, says who calls, and hears every word",
      run: { try await development(telephone) }),
    PeerCase(
      peer: "Chromium", transport: "pages", "landline dev, three browsers: a call is transferred",
      expected: "taken back, put through after talking, put through at once; who was put through hears the third",
      run: { try await development(transfers) }),
    PeerCase(
      peer: "Chromium", transport: "pages", "landline dev, a conference and its operator",
      expected: "each sees who is there; muted, taken out and ended by the operator's page; axe finds nothing",
      run: { try await development(conference) }),
    PeerCase(
      peer: "Chromium", transport: "pages", "landline dev, a call is recorded from its page",
      expected: "begun, paused, ended and played there, from its middle too; axe finds nothing",
      run: { try await development(recording) }),
  ]

  /// A gateway as a developer starts it.
  private static func development(
    _ body: @escaping @Sendable (PythonPeer, UInt16, PeerProcess) async throws -> String
  ) async throws -> String {
    let folder = try TemporaryFolder("development")
    let process = try PeerProcess(
      path: GatewayBooks.landline.path,
      ["dev", "--state", folder.url.appendingPathComponent("state").path, "--port", "0"],
      environment: ["HOME": folder.url.path, "LC_ALL": "C.UTF-8", "LANDLINE_LOG_LEVEL": "debug"],
      startedIn: folder.url, in: folder)
    defer { process.end() }
    let port = try await Deadline(seconds: 20).first("port of landline dev: \(log(process))", everyMilliseconds: 50) {
      let text = process.output
      guard text.contains("\n  try "), let place = text.firstRange(of: "//127.0.0.1:") else { return UInt16?.none }
      return UInt16(text[place.upperBound...].prefix(while: \.isNumber))
    }
    return try await BrowserDriver.shared.run { peer in try await body(peer, port, process) }
  }

  private static func stranger(_ peer: PythonPeer, _ port: UInt16, _ process: PeerProcess) async throws -> String {
    let folder = try TemporaryFolder("heard")
    let window = try await BrowserWindow(peer, port: port) { log(process) }
    try await window.run("visit", ["path": "/"])
    let said = try await BrowserCase.words(expected: BrowserCase.prompt) {
      let call = try await window.call("+46000000000", byKeys: true)
      try await window.run("sounded")
      let end = try await window.ended(call)
      try require(end.text("message.cause") == "hungUp", "it ends by itself: \(end)")
      return try await window.heard(seconds: 4, in: folder)
    }
    let used = try await window.run("used")
    try require(used.number("pointer") == 0, "no pointer was used: \(used)")
    for host in ["localhost", "127.0.0.1"] {
      let found = try await window.run("foreign", ["host": host, "account": "demo"])
      // Pages of this machine may connect as apps, which then have to prove who they are.
      try require(found.text("trials.socket") == "open", "a socket from \(host): \(found)")
      for name in ["me", "accounts", "signIn", "phone"] {
        try require(found.text("trials.\(name)") == "refused", "\(name) from \(host): \(found)")
      }
      try require(found.texts("given").isEmpty, "no cookie is given to \(host): \(found)")
    }
    // A name that somebody else's server leads to this machine.
    let sign = try await window.run("rebound", ["host": "phone.example"])
    try require(sign.number("status") == 401 && sign.text("cookie") == nil, "no session by another name: \(sign)")
    try await window.close(allowing: ["."])
    return said
  }

  /// Two browsers of one machine are two people, who find each other on the page.
  private static func neighbours(_ peer: PythonPeer, _ port: UInt16, _ process: PeerProcess) async throws -> String {
    let folder = try TemporaryFolder("neighbours")
    let windows = try await windows(of: ["alice", "bob"], peer, port, process)
    let (alice, bob) = (windows[0], windows[1])
    for (user, presence) in [("alice", "reachable"), ("test-echo", "reachable"), ("nobody", "unknown")] {
      let answer = try await bob.ask("/v1/users/\(user)")
      try require(answer.status == 200 && answer.body.contains("\"\(presence)\""), "\(user): \(answer)")
    }
    // Answered by keys alone, and heard.
    let call = try await ring(alice, by: bob)
    let seen = try await alice.run("look", ["name": "phone-ringing", "folder": BrowserCase.pictures.path])
    try require(seen.count("complaints") == 0, "fit to be seen and read aloud: \(seen.texts("complaints"))")
    try await alice.run("answer", ["user": "bob", "by": "key"])
    let spoken = try await BrowserDriver.shared.spoken()
    var said: [String] = []
    for window in windows {
      try await window.run("wait", ["text": "^Connected$"])
      said.append(
        try await BrowserCase.words(expected: BrowserDriver.speech) {
          // Two turns of the microphone hold all of its words once; what came before was the ringing tone.
          try await window.run("afresh")
          return try await window.heard(seconds: 2 * spoken.seconds, in: folder)
        })
    }
    try await alice.run("hang-up", ["by": "key"])
    for window in windows {
      try require(try await window.ended(call).text("message.cause") == "hungUp", "hung up")
    }
    try await bob.run("wait", ["text": "The other side ended the call"])
    try await alice.run("wait", ["text": "You ended the call"])
    // Declined, and missed.
    _ = try await ring(alice, by: bob)
    try await alice.run("decline", ["user": "bob"])
    try await bob.run("wait", ["text": "declined the call"])
    _ = try await ring(alice, by: bob)
    try await bob.run("hang-up")
    try await alice.run("wait", ["text": "^Missed calls$"])
    let missed = try await alice.run("look", ["name": "phone-missed", "folder": BrowserCase.pictures.path])
    try require(missed.count("complaints") == 0, "fit to be read: \(missed.texts("complaints"))")
    // Called back.
    try await alice.run("call-user", ["user": "bob back"])
    try await bob.run("answer", ["user": "alice"])
    try await alice.run("wait", ["text": "^Connected$"])
    try await bob.run("hang-up")
    try await alice.run("wait", ["text": "The other side ended the call"])
    for window in windows { try await window.close() }
    return said.joined(separator: "; ")
  }

  /// The built-in far end calls the page, as `landline call --inbound` asks it to.
  private static func telephone(_ peer: PythonPeer, _ port: UInt16, _ process: PeerProcess) async throws -> String {
    let folder = try TemporaryFolder("telephone")
    let page = try await windows(of: ["alice"], peer, port, process)[0]
    let said = try await BrowserCase.words(expected: BrowserCase.prompt) {
      let telephone = try PeerProcess(
        path: GatewayBooks.landline.path, ["call", "--inbound", "+46850000536", "--from", "+46702222222", "--json"],
        environment: ["HOME": process.folder.url.path, "LC_ALL": "C.UTF-8"], startedIn: folder.url, in: folder)
      let ringing = try await page.run("ringing", ["user": "+46702222222"])
      try require(ringing.text("text")?.hasPrefix("+46702222222 calls") == true, "who calls: \(ringing)")
      try await page.run("answer", ["user": "+46702222222"])
      try await page.run("wait", ["text": "^Connected$"])
      // It rang before it spoke.
      let file = try await page.heard(seconds: 6, in: folder)
      try await page.run("hang-up")
      let status = try await telephone.exited(within: 10)
      try require(
        status == 0 && telephone.output.contains("\"end_cause\":\"hungUp\""), "the far end: \(telephone.output)")
      return file
    }
    try await page.run("wait", ["text": "You ended the call"])
    try await page.close()
    return said
  }

  /// Alice talks with bob, and puts him through to carol.
  private static func transfers(_ peer: PythonPeer, _ port: UInt16, _ process: PeerProcess) async throws -> String {
    let folder = try TemporaryFolder("transfers")
    let windows = try await windows(of: ["alice", "bob", "carol"], peer, port, process)
    let (alice, bob, carol) = (windows[0], windows[1], windows[2])
    for consults in [true, false] {
      let call = try await ring(alice, by: bob)
      try await alice.run("answer", ["user": "bob"])
      for window in [alice, bob] { try await window.run("wait", ["text": "^Connected$"]) }
      if consults {
        try await alice.run("transfer", ["to": "carol", "button": "Talk first"])
        try await carol.run("ringing", ["user": "bob"])
        try await bob.run("wait", ["text": "put you on hold"])
        try await alice.run("press-button", ["button": "Take back"])
        try await alice.run("wait", ["text": "You talk with the other side again"])
        try await bob.run("wait", ["text": "^Connected$"])
      }
      try await alice.run("transfer", ["to": "carol", "button": consults ? "Talk first" : "Transfer"])
      try await carol.run("ringing", ["user": "bob"])
      let seen = try await alice.run("look", ["name": "phone-transfer", "folder": BrowserCase.pictures.path])
      try require(seen.count("complaints") == 0, "fit to be seen and read aloud: \(seen.texts("complaints"))")
      try await carol.run("answer", ["user": "bob"])
      if consults {
        try await alice.run("wait", ["text": "You talk with them now"])
        try await alice.run("press-button", ["button": "Put through"])
      }
      try require(
        try await alice.ended(call).text("message.cause") == "transferred", "whoever transfers is out of the call")
      try await alice.run("wait", ["text": "You put the other side through"])
      try await bob.run("wait", ["text": "You were put through to carol"])
      let spoken = try await BrowserDriver.shared.spoken()
      for window in [bob, carol] {
        _ = try await BrowserCase.words(expected: BrowserDriver.speech) {
          try await window.run("afresh")
          return try await window.heard(seconds: 2 * spoken.seconds, in: folder)
        }
      }
      try await carol.run("hang-up")
      try require(try await bob.ended(call).text("message.cause") == "hungUp", "bob hears the end")
      try await bob.run("wait", ["text": "The other side ended the call"])
    }
    for window in windows { try await window.close() }
    return "twice heard both ways"
  }

  /// Alice and bob meet, and an operator's page has them muted, taken out and sent home.
  private static func conference(_ peer: PythonPeer, _ port: UInt16, _ process: PeerProcess) async throws -> String {
    let windows = try await windows(of: ["alice", "bob"], peer, port, process)
    let (alice, bob) = (windows[0], windows[1])
    var calls: [String] = []
    for window in windows {
      calls.append(try await window.run("conference", ["conference": "weekly"]).text("call") ?? "")
      try await window.run("wait", ["text": "^Connected$"])
    }
    for window in windows { try await window.run("wait", ["text": "In the conference: 2"]) }
    // Both browsers speak without a pause.
    try await alice.run("wait", ["text": "^leads$"])
    var seen = try await alice.run("look", ["name": "phone-conference", "folder": BrowserCase.pictures.path])
    try require(seen.count("complaints") == 0, "fit to be read: \(seen.texts("complaints"))")
    let desk = try await BrowserWindow(peer, port: port) { log(process) }
    try await desk.run("visit", ["path": "/conferences"])
    try await desk.run("wait", ["text": "^weekly$"])
    seen = try await desk.run("look", ["name": "conferences-live", "folder": BrowserCase.pictures.path])
    try require(seen.count("complaints") == 0, "fit to be read: \(seen.texts("complaints"))")
    try await desk.run("press-button", ["button": "Record"])
    try await desk.run("wait", ["text": "^recording$"])
    try await desk.run("press-button", ["button": "Stop recording"])
    try await desk.run("press-button", ["button": "Mute bob"])
    try await alice.run("wait", ["text": "^muted$"])
    try await desk.run("press-button", ["button": "Remove bob"])
    try await desk.run("press-button", ["button": "Take out"])
    let end = try await bob.ended(calls[1])
    try require(end.text("message.failure.code") == "gw.kicked", "bob is taken out: \(end)")
    try await alice.run("wait", ["text": "In the conference: 1"])
    try await desk.run("press-button", ["button": "Lock"])
    try await desk.run("wait", ["text": "^locked$"])
    try await desk.run("press-button", ["button": "End weekly"])
    try await desk.run("press-button", ["button": "End"])
    try require(try await alice.ended(calls[0]).text("message.cause") == "hungUp", "alice is sent home")
    try await desk.run("wait", ["text": "Nobody is in a conference"])
    for window in windows + [desk] { try await window.close() }
    return "as expected"
  }

  /// Alice's call is recorded from its page, and heard there.
  private static func recording(_ peer: PythonPeer, _ port: UInt16, _ process: PeerProcess) async throws -> String {
    let alice = try await windows(of: ["alice"], peer, port, process)[0]
    let call = try await alice.call("+46701234567")
    try await alice.run("wait", ["text": "^Connected$"])
    let desk = try await BrowserWindow(peer, port: port) { log(process) }
    try await desk.run("visit", ["path": "/calls/\(call)"])
    try await desk.run("press-button", ["button": "Record, and say so"])
    try await desk.run("wait", ["text": "^recording$"])
    try await desk.run("press-button", ["button": "Pause"])
    try await desk.run("wait", ["text": "^recording paused$"])
    try await desk.run("press-button", ["button": "Go on"])
    try await desk.run("wait", ["text": "^recording$"])
    try await desk.run("press-button", ["button": "Stop recording"])
    try await desk.run("wait", ["text": "^Save$"])
    let seen = try await desk.run("look", ["name": "call-recorded", "folder": BrowserCase.pictures.path])
    try require(seen.count("complaints") == 0, "fit to be read: \(seen.texts("complaints"))")
    let played = try await desk.run("played")
    try require(played.number("seconds") ?? 0 > 0.2, "it plays to its end: \(played)")
    try await alice.run("hang-up")
    _ = try await alice.ended(call)
    for window in [alice, desk] { try await window.close() }
    return "\(rounded(played.number("seconds"))) s"
  }

  /// Browsers of one machine are people, who find each other on the page.
  private static func windows(
    of users: [String], _ peer: PythonPeer, _ port: UInt16, _ process: PeerProcess
  ) async throws -> [BrowserWindow] {
    var windows: [BrowserWindow] = []
    for user in users {
      let window = try await BrowserWindow(peer, port: port) { log(process) }
      try await window.run("visit", ["path": "/"])
      try await window.run("wait", ["text": "^ready as \(user), demo pays"])
      try await window.run("wait", ["text": "call \(user) from there"])
      windows.append(window)
    }
    return windows
  }

  /// Calls a user who is there, and waits until their page says so.
  private static func ring(_ called: BrowserWindow, by caller: BrowserWindow) async throws -> String {
    let call = try await caller.run("call-user", ["user": "alice"]).text("call") ?? ""
    let ringing = try await called.run("ringing", ["user": "bob"])
    try require(
      ringing.text("text")?.hasPrefix("bob calls") == true && ringing.text("title")?.hasPrefix("bob calls") == true,
      "who calls: \(ringing)")
    return call
  }

  private static func log(_ process: PeerProcess) -> [String] {
    (process.output + process.diagnostics).split(separator: "\n").map(String.init)
  }
}
