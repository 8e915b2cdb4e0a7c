import AppProtocol
import CallEngine
import CallModel
import Foundation
import LedgerCore
import NodeCore
import PeerKit

/// Who sees what on the pages, and what a page of somebody else can do.
enum PageRightCases {
  static let cases: [PeerCase] = [roles, foreign]

  private static let pages = ["/", "/account", "/calls", "/conferences", "/numbers", "/trunks"]

  private static let roles = BrowserCase.make(
    "signed out, owner, operator", expected: "nothing; one account and its calls; everything"
  ) { peer, gateway, _ in
    // Somebody's call that somebody else may not see.
    let other = try await BrowserWindow(peer, gateway, as: .operations)
    let created = try await other.ask("/v1/phone-registrations", method: "POST", ["account": "broke"])
    try require(created.status == 201, "an operator has a phone of any account: \(created)")

    let stranger = try await BrowserWindow(peer, gateway)
    for path in pages + ["/calls/some"] {
      let text = try await stranger.text(path)
      try require(text.contains("Sign in") && !text.contains("trial"), "\(path) shows the sign-in alone: \(text)")
    }
    try require(try await stranger.text("/errors/sip.busy").lowercased().contains("busy"), "errors are for everybody")
    for path in [
      "/v1/me", "/v1/accounts", "/v1/accounts/trial", "/v1/calls", "/v1/live-calls", "/v1/trunks",
      "/v1/number-hints?target=1",
    ] {
      let answer = try await stranger.ask(path)
      try require(answer.status == 401, "\(path) is not for strangers: \(answer)")
    }
    try await stranger.run("end")

    let owner = try await BrowserWindow(peer, gateway, as: .owner)
    let call = try await owner.call("+46000000000")
    _ = try await owner.ended(call)
    _ = try await gateway.record(call, in: "sandbox")
    for path in pages {
      let text = try await owner.text(path)
      try require(!text.contains("broke"), "\(path) shows nothing of another account: \(text)")
    }
    try require(try await owner.text("/account").contains("trial"), "an owner's account")
    try require(try await owner.ask("/v1/accounts").body.contains("broke") == false, "one account in the list")
    for (path, method) in [
      ("/v1/accounts/broke", "GET"), ("/v1/accounts/broke/history", "GET"),
      ("/v1/accounts/broke/export?format=csv", "GET"),
      ("/v1/accounts/broke/spend", "GET"), ("/v1/accounts/trial/topup", "POST"), ("/v1/trunks", "GET"),
    ] {
      let answer = try await owner.ask(path, method: method, method == "GET" ? nil : ["amount": "5", "method": "card"])
      try require([403, 404].contains(answer.status), "\(method) \(path) is not for this owner: \(answer)")
    }
    let phone = try await owner.ask("/v1/phone-registrations", method: "POST", ["account": "broke"])
    try require([403, 404].contains(phone.status), "no phone of another account: \(phone.status)")
    try require(try await owner.ask("/v1/calls/\(call)/story").status == 200, "an owner's call")

    let broke = try await BrowserWindow(peer, gateway, as: .broke)
    for part in ["", "/story", "/story.txt", "/capture"] {
      let answer = try await broke.ask("/v1/calls/\(call)\(part)")
      try require([403, 404].contains(answer.status), "another owner's call\(part): \(answer.status)")
    }
    try require(try await broke.ask("/v1/calls").body.contains(call) == false, "no call of others in the list")
    try require(
      try await broke.text("/calls/\(call)").contains("No such call"), "the page of another owner's call shows nothing")

    let accounts = try await other.ask("/v1/accounts").body
    try require(accounts.contains("trial") && accounts.contains("broke"), "an operator sees every account: \(accounts)")
    try require(try await other.ask("/v1/calls").body.contains(call), "an operator sees every call")
    try require(try await other.ask("/v1/trunks").status == 200, "an operator sees the trunks")
    let refusals = ["status of 40[134] "]
    try await owner.close(allowing: refusals)
    try await broke.close(allowing: refusals)
    try await other.close()
    return "as expected"
  }

  /// What a page of another origin may come to: nothing, or nothing that it can see.
  private static let foreign = BrowserCase.make(
    "a page of another origin tries", expected: "no session, no answer, no change, no cookie across sites"
  ) { peer, gateway, _ in
    let window = try await BrowserWindow(peer, gateway, as: .operations)
    var trials = 0
    // Another port of the same host is the same site to a cookie; another name is not.
    for (host, isSameSite) in [("localhost", false), ("127.0.0.1", true)] {
      let found = try await window.run("foreign", ["host": host, "account": "trial"])
      trials += found.count("trials")
      try require(found.text("trials.socket") == "refused", "no socket from \(host): \(found)")
      for name in [
        "me", "accounts", "calls", "page", "signIn", "signOut", "phone", "library",
      ] { try require(found.text("trials.\(name)") == "refused", "\(name) from \(host): \(found)") }
      for name in ["blindMe", "signInBlind", "signInForm", "phoneBlind", "topup", "topupForm", "frame"] {
        try require(
          ["refused", "blind"].contains(found.text("trials.\(name)")),
          "nothing is read by \(name) from \(host): \(found)")
      }
      if !isSameSite { try require(found.count("carried") == 0, "no cookie goes across sites: \(found)") }
      try require(
        found.texts("frames").allSatisfy {
          $0.hasPrefix("chrome-error:") || $0.hasPrefix("about:") || $0.contains("/v1/")
        },
        "no page of ours in a frame: \(found)")
    }
    let account = try await gateway.account(.trial)
    try require(account.posted == GatewayPayer.trial.credit, "no money came: \(account)")
    try require(await gateway.operations.liveCalls(environment: nil).isEmpty, "no call came")
    // Whoever was signed in still is: nobody else could sign out.
    try require(try await window.ask("/v1/me").status == 200, "the session is as it was")
    try await window.close(allowing: ["."])
    return "\(trials) trials"
  }
}
