import CallModel
import Foundation
import LandlineClient
import Testing

@Suite(.timeLimit(.minutes(1))) struct CredentialTests {
  private let owner = CredentialOwner(application: "key", user: "alice", device: "phone")

  private func withPath(_ body: (String) async throws -> Void) async throws {
    let directory = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: directory) }
    try await body(directory + "/credentials")
  }

  @Test func aFileKeepsThemForItsOwnerAlone() async throws {
    try await withPath { path in
      let storage = FileCredentialStorage(path: path)
      #expect(try await storage.load(owner) == nil)
      let kept = KeptCredentials(
        id: "id", secret: Redacted("secret"), expiresAt: Instant(milliseconds: 1_800_000_000_000), sequence: .max)
      try await storage.save(kept, for: owner)
      try await storage.save(
        KeptCredentials(sequence: 1), for: CredentialOwner(application: "key", user: "bob", device: "phone"))
      #expect(try await FileCredentialStorage(path: path).load(owner) == kept)
      let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
      #expect(mode == 0o600)
      #expect(!FileManager.default.fileExists(atPath: path + ".new"))
    }
  }

  @Test func aFileThatOthersReadIsRefused() async throws {
    try await withPath { path in
      let storage = FileCredentialStorage(path: path)
      try await storage.save(KeptCredentials(sequence: 1), for: owner)
      try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
      await #expect { try await storage.load(owner) } throws: { "\($0)".contains("0600") }
    }
  }

  @Test func aFileOfSomethingElseIsRefusedAndKept() async throws {
    try await withPath { path in
      try Data("not ours".utf8).write(to: URL(fileURLWithPath: path))
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
      let storage = FileCredentialStorage(path: path)
      await #expect(throws: FileCredentialStorage.Failure.self) {
        try await storage.save(KeptCredentials(sequence: 1), for: owner)
      }
      #expect(try String(contentsOfFile: path, encoding: .utf8) == "not ours")
    }
  }

  @Test func aSecretIsNeverPrinted() {
    let kept = KeptCredentials(id: "id", secret: Redacted("hunter2"))
    #expect(!"\(kept)".contains("hunter2"))
    #expect(!"\(ClientCredentials.secret("hunter2"))".contains("hunter2"))
  }
}
