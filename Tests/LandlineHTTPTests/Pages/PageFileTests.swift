import CallModel
import DoorKit
import Foundation
import LandlineHTTP
import Testing

/// The pages' files as browsers get them.
@Suite struct PageFileTests {
  static let policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; media-src 'self' blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

  @Test func aPageMayLoadFromItsGatewayAlone() async throws {
    let kit = try await RESTKit()
    let page = try await kit.send("GET", "/", as: nil)
    #expect(page.status == 200)
    #expect(page.headers["content-security-policy"] == Self.policy)
    #expect(!Self.policy.contains("unsafe"))
    #expect(page.headers["content-type"] == "text/html; charset=utf-8")
    #expect(page.headers["x-content-type-options"] == "nosniff")
    #expect(page.headers["referrer-policy"] == "no-referrer")
    #expect(page.headers["cross-origin-opener-policy"] == "same-origin")
    #expect(page.headers["cross-origin-resource-policy"] == "same-origin")
    #expect(
      page.headers["permissions-policy"]
        == "camera=(), display-capture=(), geolocation=(), microphone=(self), payment=(), usb=()")
    #expect(page.headers["set-cookie"] == nil)
    let library = try await kit.send("GET", "/landline.js", as: nil)
    #expect(library.headers["content-type"] == "text/javascript; charset=utf-8")
    #expect(library.headers["access-control-allow-origin"] == "*")
    #expect(library.headers["x-content-type-options"] == "nosniff")
    // What a person may see is for no other page.
    #expect(try await kit.send("GET", "/v1/accounts").headers["access-control-allow-origin"] == nil)
    await kit.close()
  }

  @Test func everyBuiltInFileIsServedUnderItsName() async throws {
    let kit = try await RESTKit()
    #expect(PageFiles.builtInFiles.count >= 2)
    var (total, sent) = (0, 0)
    for (name, file) in PageFiles.builtInFiles {
      let answer = try await kit.send("GET", "/pages/\(name)", as: nil)
      #expect(answer.status == 200, "\(name)")
      #expect(answer.body == file.bytes, "\(name)")
      #expect(answer.headers["content-security-policy"] == Self.policy, "\(name)")
      total += file.bytes.count
      sent += (file.compressed ?? file.bytes).count
    }
    #expect(sent < 150_000, "\(sent) bytes, \(total) before they are compressed")
    // What stands in HTML must work under the policy: no script, style or handler inline.
    for (name, file) in PageFiles.builtInFiles where name.hasSuffix(".html") {
      let text = String(decoding: file.bytes, as: UTF8.self)
      #expect(!text.contains(/<style|\sstyle=|\son[a-z]+=|javascript:|https?:\/\//), "\(name)")
      for match in text.matches(of: /<script([^>]*)>([^<]*)</) {
        #expect(match.1.contains("src=\"/"), "\(name)")
        #expect(match.2.allSatisfy { $0.isWhitespace }, "\(name)")
      }
    }
    await kit.close()
  }

  @Test func theLibraryForPagesHasTheVersionOfTheGateway() throws {
    let library = try #require(PageFiles.builtInFiles["landline.js"])
    let text = String(decoding: library.bytes, as: UTF8.self)
    #expect(text.contains("export const VERSION = \"\(LandlineVersion.text)\";"))
  }

  @Test func whatABrowserHasIsNotSentAgain() async throws {
    let kit = try await RESTKit()
    let page = try await kit.send("GET", "/", as: nil)
    let tag = try #require(page.headers["etag"])
    #expect(page.headers["cache-control"] == "no-cache")
    #expect(tag.wholeMatch(of: /"[0-9a-f]{32}"/) != nil)
    let other = "\"\(String(repeating: "0", count: 32))\""
    for (field, status) in [
      (tag, 304), ("W/\(tag)", 304), ("\(other), \(tag)", 304), ("*", 304), (other, 200), ("", 200), ("\"", 200),
      (String(tag.dropFirst().dropLast()), 200), (String(repeating: "\(other), ", count: 40) + tag, 200),
    ] {
      let answer = try await kit.send("GET", "/", as: nil, fields: [("If-None-Match", field)])
      #expect(answer.status == status, "\(field.prefix(80))")
      #expect(answer.headers["etag"] == tag)
      #expect(answer.headers["content-security-policy"] == Self.policy)
      #expect(answer.body.isEmpty == (status == 304))
    }
    await kit.close()
  }

  @Test func aBrowserThatCanReadGzipGetsIt() async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("gzip-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let text = (0..<2000).map { "a line of a page, number \($0)\n" }.joined()
    try Data(text.utf8).write(to: folder.appendingPathComponent("long.js"))
    // Nothing is gained here, so nothing is compressed.
    try Data("a".utf8).write(to: folder.appendingPathComponent("short.js"))
    let kit = try await RESTKit(pages: .folder(folder.path))
    let plain = try await kit.send("GET", "/pages/long.js", as: nil)
    #expect(plain.text == text)
    #expect(plain.headers["vary"] == "Accept-Encoding")
    let tag = try #require(plain.headers["etag"])
    for field in ["gzip", "gzip, deflate, br, zstd", "br;q=1.0, GZIP;q=0.5", "x-gzip"] {
      let answer = try await kit.send("GET", "/pages/long.js", as: nil, fields: [("Accept-Encoding", field)])
      #expect(answer.headers["content-encoding"] == "gzip", "\(field)")
      #expect(answer.headers["content-type"] == "text/javascript; charset=utf-8")
      #expect(answer.headers["etag"] == String(tag.dropLast()) + "-gzip\"")
      #expect(answer.body.count < text.utf8.count / 4)
      let file = folder.appendingPathComponent("answer.gz")
      try Data(answer.body).write(to: file)
      #expect(try Self.output(of: ["/usr/bin/gzip", "-dc", file.path]) == Data(text.utf8))
      let known = try await kit.send(
        "GET", "/pages/long.js", as: nil,
        fields: [("Accept-Encoding", field), ("If-None-Match", answer.headers["etag"] ?? "")])
      #expect(known.status == 304)
    }
    for field in ["", "identity", "br", "gzip;q=0", "gzip; q=0.000", "xgzip", "deflate"] {
      let answer = try await kit.send("GET", "/pages/long.js", as: nil, fields: [("Accept-Encoding", field)])
      #expect(answer.headers["content-encoding"] == nil, "\(field)")
      #expect(answer.text == text)
    }
    let short = try await kit.send("GET", "/pages/short.js", as: nil, fields: [("Accept-Encoding", "gzip")])
    #expect(short.text == "a")
    #expect(short.headers["content-encoding"] == nil)
    await kit.close()
  }

  private static func output(of command: [String]) throws -> Data {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: command[0])
    process.arguments = Array(command.dropFirst())
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    let data = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return data
  }

  @Test func aHeadIsAPageWithoutItsBody() async throws {
    let stores = try await RESTKit()
    try await RunningDoor.with(RecordingAcceptor(), operations: stores.operations) {
      $0.pages = .builtIn
    } _: { port, _ in
      let peer = try await RawPeer.connect(port)
      try await peer.write("HEAD / HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n")
      let head = try #require(await peer.head()).lowercased()
      #expect(head.hasPrefix("http/1.1 200"))
      let whole = try #require(await peer.response())
      #expect(whole.status == 200)
      #expect(!whole.body.isEmpty)
      #expect(head.contains("content-length: \(whole.body.utf8.count)\r\n"))
      #expect(head.contains("content-security-policy: default-src 'none'"))
    }
    await stores.close()
  }

  @Test func nothingLeadsOutOfTheFolder() async throws {
    let outer = FileManager.default.temporaryDirectory.appendingPathComponent("pages-\(UUID().uuidString)")
    let folder = outer.appendingPathComponent("pages")
    defer { try? FileManager.default.removeItem(at: outer) }
    try FileManager.default.createDirectory(
      at: folder.appendingPathComponent("inner.js"), withIntermediateDirectories: true)
    func write(_ name: String, _ text: String) throws {
      try Data(text.utf8).write(to: folder.appendingPathComponent(name))
    }
    try write("index.html", "<p>one</p>")
    try write("a.css", "a{}")
    try write(".hidden.js", "hidden")
    try write("notes.md", "notes")
    try write("inner.js/x.js", "deep")
    try write("large.js", String(repeating: "x", count: PageFiles.maximumBytes + 1))
    try Data("secret".utf8).write(to: outer.appendingPathComponent("secret.js"))
    #expect(mkfifo(folder.appendingPathComponent("pipe.js").path, 0o600) == 0)
    let kit = try await RESTKit(pages: .folder(folder.path))
    #expect(try await kit.send("GET", "/", as: nil).text == "<p>one</p>")
    let style = try await kit.send("GET", "/pages/a.css", as: nil)
    #expect(style.text == "a{}")
    #expect(style.headers["content-type"] == "text/css; charset=utf-8")
    for path in [
      "/pages/..%2fsecret.js", "/pages/../secret.js", "/pages/%2e%2e/secret.js", "/pages/..%5csecret.js",
      "/pages/%2e%2e%2fsecret.js", "/pages/inner.js%2f..%2f..%2fsecret.js", "/pages/.hidden.js", "/pages/%2ehidden.js",
      "/pages/notes.md", "/pages/inner.js", "/pages/inner.js%2fx.js", "/pages/large.js", "/pages/pipe.js",
      "/pages/none.js", "/pages/", "/pages/%00", "/pages/a.css%00.js", "/pages/a.css%20", "/pages//a.css",
      "/pages/" + String(repeating: "a", count: 300) + ".js", "/pages/%ff.js", "/account",
    ] {
      let answer = try await kit.send("GET", path, as: nil)
      #expect(answer.status == 404 || answer.status == 400, "\(path)")
      #expect(!answer.text.contains("secret\n") && answer.text != "secret" && answer.text != "hidden", "\(path)")
    }
    // Work on a page is seen with the next request.
    let tag = style.headers["etag"]
    try write("a.css", "b{}")
    let changed = try await kit.send("GET", "/pages/a.css", as: nil, fields: [("If-None-Match", tag ?? "")])
    #expect(changed.text == "b{}")
    await kit.close()
  }
}
