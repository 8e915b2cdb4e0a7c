import AppProtocol
import CallEngine
import CallModel
import Foundation
import NodeCore
import PeerKit
import SDPCore

/// Recordings of calls and conferences: what stands in their files, as programs of others read them.
enum RecordingCases {
  static let cases: [PeerCase] = RecordingFormat.allCases.map(call) + [conference]

  private static let greeting = "Good morning, this call is recorded."
  private static let aside = "The weather is fine today."
  private static let secret = "My card number is seven nine four."
  /// Of what is told of a recording, to what its file holds.
  private static let milliseconds = 100.0

  /// The telephone sends back what it hears: an app's words stand in both channels, unless the telephone is muted.
  private static func call(_ format: RecordingFormat) -> PeerCase {
    PeerCase(
      peer: "SIPp, aiortc, ffmpeg", transport: "UDP", "a call recorded as \(format.rawValue)",
      expected: "the words of each side in its channel, none of a pause, as long as it was recorded"
    ) {
      let phone = try await EchoCases.echo(.pcma)
      return try await GatewayRunning.run(GatewaySettings([.init("first", port: phone.port)])) { gateway in
        let alice = try await AppPeer(gateway)
        let call = CallID(unchecked: try await alice.established())
        return try await GatewayCase.reported(alice) {
          try await SoundJudge.shared.prepare()
          let folder = try TemporaryFolder("recorded")
          try await order(.record(.begin(RecordingOptions(format))), call, gateway)
          try await say(greeting, alice, in: folder)
          try await order(.mute(.called, true), call, gateway)
          try await say(aside, alice, in: folder)
          try await order(.mute(.called, false), call, gateway)
          try await order(.record(.pause(true)), call, gateway)
          try await say(secret, alice, in: folder)
          try await order(.record(.pause(false)), call, gateway)
          try alice.hangUp()
          _ = try await alice.ended()
          try await phone.succeeds()
          let ended = try await gateway.record(call.text).summary.endedAt
          let (recording, file) = try await sound(gateway, "production", call, in: folder)
          let length = Double(ended.milliseconds(since: recording.startedAt))
          let left = try await words(file, "left", [greeting, aside], not: [secret], in: folder)
          let right = try await words(file, "right", [greeting], not: [aside, secret], in: folder)
          let seconds = try await FFmpeg.seconds(file)
          for told in [Double(recording.milliseconds), seconds * 1000] {
            try require(abs(told - length) <= milliseconds, "\(told) ms of \(length) ms that it was recorded")
          }
          return "\(rounded(seconds)) s; left: \(left); right: \(right)"
        }
      }
    }
  }

  private static var conference: PeerCase {
    GatewayCase.make(
      "aiortc, ffmpeg", "UDP", "a recorded conference", expected: "all that is heard in it, in one channel, to its end"
    ) {
      try await GatewayRunning.run(GatewaySettings()) { gateway in
        var apps: [AppPeer] = []
        var calls: [CallID] = []
        for user in ["alice", "bob"] {
          let app = try await AppPeer(gateway, as: .trial, user: user)
          calls.append(CallID(unchecked: try await app.established("weekly", ["kind": "conference"])))
          apps.append(app)
        }
        let (alice, bob) = (apps[0], apps[1])
        return try await GatewayCase.reported(alice) {
          let room = RoomKey(
            environment: "sandbox", application: GatewayPayer.trial.key, conference: try ConferenceID("weekly"))
          let account = try AccountName(validating: GatewayPayer.trial.name)
          let begun = await gateway.operations.conference(
            room, .record(.begin(RecordingOptions(.opus, hasTracks: true)), for: account), by: "test")
          for app in apps { try require(try await app.told("recording").text("state") == "on", "apps are told") }
          try require(begun == .done, "it begins: \(begun)")
          _ = try await UserCases.heard(by: bob, from: alice, greeting)
          _ = try await UserCases.heard(by: alice, from: bob, aside)
          for app in apps {
            try app.hangUp()
            _ = try await app.ended()
          }
          let folder = try TemporaryFolder("recorded")
          let (recording, file) = try await sound(gateway, "sandbox", nil, in: folder)
          let all = try await words(file, "mono", [greeting, aside], not: [], in: folder)
          let seconds = try await FFmpeg.seconds(file)
          try require(
            abs(seconds * 1000 - Double(recording.milliseconds)) <= milliseconds, "\(seconds) s: \(recording)")
          for (call, own, other) in [(calls[0], greeting, aside), (calls[1], aside, greeting)] {
            let (_, track) = try await sound(gateway, "sandbox", call, in: folder)
            _ = try await words(track, "mono", [own], not: [other], in: folder)
          }
          return "\(rounded(seconds)) s: \(all); each in its track"
        }
      }
    }
  }

  private static func order(_ order: CallOrder, _ call: CallID, _ gateway: GatewayRunning) async throws {
    let refusal = await gateway.operations.order(order, call, by: "test")
    try require(refusal == nil, "refused: \(String(describing: refusal))")
  }

  private static func say(_ words: String, _ app: AppPeer, in folder: TemporaryFolder) async throws {
    let speech = try await Speech(words, in: folder)
    let microphone = folder.url.appendingPathComponent("microphone-\(UUID().uuidString).wav")
    try SoundFile(speech.file).padded(before: 0.3, after: 0.8).write(to: microphone)
    _ = try await EchoCases.recorded(by: app.peer, saying: microphone, as: .landlineApp, in: folder)
  }

  /// The recording of a call, or the only one there is, once it is over, and its file.
  private static func sound(
    _ gateway: GatewayRunning, _ environment: String, _ call: CallID?, in folder: TemporaryFolder
  ) async throws -> (Recording, URL) {
    guard let library = try gateway.stores(environment).recordings else { throw PeerFailure("nothing is recorded") }
    var query = RecordingQuery(environment: environment)
    query.call = call
    let asked = query
    let recording = try await Deadline(seconds: 5).first("a recording that is over", everyMilliseconds: 20) {
      try await library.store.recordings(asked).first { recording in
        if case .call = recording.subject, call == nil { return false }
        return recording.state == .complete
      }
    }
    let sound = try library.sound(of: recording)
    let file = folder.url.appendingPathComponent("recording.\(recording.format.fileExtension)")
    try Data(sound.read(from: 0, count: Int(sound.byteCount))).write(to: file)
    return (recording, file)
  }

  /// What is said in a channel, by the model of a speech recogniser.
  private static func words(
    _ file: URL, _ channel: String, _ expected: [String], not others: [String], in folder: TemporaryFolder
  ) async throws -> String {
    let part = folder.url.appendingPathComponent("\(channel).wav")
    try await FFmpeg.channel(channel, of: file, to: part)
    let text = expected.joined(separator: " ")
    let said = try await SoundJudge.shared.transcript(of: part, expected: text)
    guard said.text("skipped") == nil else { return "no speech model" }
    let heard = said.text("text") ?? ""
    try require(said.number("share") ?? 0 >= leastShare, "\(channel): \"\(heard)\" in place of \"\(text)\"")
    for other in others {
      let share = try await SoundJudge.shared.transcript(of: part, expected: other).number("share") ?? 0
      try require(share < mostShare, "\(channel): \"\(heard)\" has words of \"\(other)\"")
    }
    return heard
  }

  /// Of words that are there, and of those that only look like others.
  private static let (leastShare, mostShare) = (0.7, 0.5)
}

/// Reads sound files as others do.
enum FFmpeg {
  /// As its packets say.
  static func seconds(_ file: URL) async throws -> Double {
    let text = try await run(
      .ffprobe, ["-v", "error", "-show_entries", "format=duration", "-of", "csv=p=0", file.path])
    guard let seconds = Double(text.trimmingCharacters(in: .whitespacesAndNewlines)) else {
      throw PeerFailure("ffprobe says \(text)")
    }
    return seconds
  }

  /// - Parameter name: `left`, `right`, or `mono` for the only one.
  static func channel(_ name: String, of file: URL, to other: URL) async throws {
    let filter = name == "mono" ? "anull" : "pan=mono|c0=\(name == "left" ? "c0" : "c1")"
    // Whatever is wrong with the file is an error here.
    _ = try await run(
      .ffmpeg, ["-v", "error", "-xerror", "-i", file.path, "-af", filter, "-ar", "16000", "-y", other.path])
  }

  private static func run(_ program: PeerProgram, _ arguments: [String]) async throws -> String {
    let result = try await PeerProcess.run(program, arguments)
    guard result.status == 0, result.diagnostics.isEmpty else {
      throw PeerFailure("\(program.rawValue) ends with \(result.status): \(result.diagnostics)")
    }
    return result.output
  }
}
