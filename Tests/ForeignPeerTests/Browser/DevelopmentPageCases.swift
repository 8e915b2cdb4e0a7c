import Foundation
import PeerKit

/// The pages of `landline dev`, as somebody meets them who has just started it.
enum DevelopmentPageCases {
  static let cases = [
    PeerCase(
      peer: "Chromium", transport: "pages", "landline dev, by keyboard alone, without any key",
      expected: "the prompt is heard; another origin and another host's name get no session",
      run: { try await run() })
  ]

  private static func run() async throws -> String {
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
    return try await BrowserDriver.shared.run { peer in
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
  }

  private static func log(_ process: PeerProcess) -> [String] {
    (process.output + process.diagnostics).split(separator: "\n").map(String.init)
  }
}
