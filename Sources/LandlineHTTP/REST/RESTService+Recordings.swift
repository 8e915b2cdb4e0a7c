import CallEngine
import CallModel
import LandlineNode
import LedgerCore
import Logging
import NodeCore
import Synchronization

extension RESTService {
  /// Bytes of sound that are decrypted at a time, and handed out at most for one range.
  private static let soundPiece = 1 << 18
  private static let rangeBytes = 1 << 20

  static let formats = RecordingFormat.allCases.map(\.rawValue).joined(separator: " or ")
  private static let beginMembers: [RESTRoute.Member] = [
    .init(name: "format", kind: .text, description: "\(formats); opus, which is smaller, by default."),
    .init(
      name: "announce", kind: .flag, description: "Whether a voice says to all that they are recorded; not by default."),
    .init(
      name: "tone", kind: .flag,
      description: "Whether a short tone is heard every 15 seconds as long as it is recorded; not by default."),
  ]
  private static let beginTracks = RESTRoute.Member(
    name: "tracks", kind: .flag,
    description: "Whether each participant is recorded apart as well, as a recording of its call; not by default.")
  private static let pauseMembers: [RESTRoute.Member] = [
    .init(
      name: "paused", kind: .flag, isRequired: true,
      description: "Whether silence takes the place of what is said, as for the number of a card.")
  ]
  private static let callProblems: [ProblemCode] = [.callUnknown, ProblemCode(CallFailureCode.recording.details)]
  private static let roomProblems: [ProblemCode] = [
    .parameterInvalid, .conferenceUnknown, ProblemCode(CallFailureCode.recording.details),
  ]

  var recordingRoutes: [RESTRoute] {
    let (ofCall, ofRoom) = ("/v1/live-calls/{id}/recording", "/v1/conferences/{id}/recording")
    return [
      RESTRoute(
        method: "POST", path: ofCall, id: "recordCall",
        summary: "Record a call that is up: the caller on the left, the called side on the right",
        repeating: .keyRequired, body: RESTService.beginMembers, success: .json(201, "LiveCall"),
        problems: RESTService.callProblems
      ) { call in
        let order = try await beginning(call)
        try await self.order(.record(order), call)
        return .json(201, RESTTrees.call(try await liveCall(call)))
      },
      RESTRoute(
        method: "PATCH", path: ofCall, id: "pauseCallRecording", summary: "Pause the recording of a call, or go on",
        body: RESTService.pauseMembers, success: .json(200, "LiveCall"), problems: RESTService.callProblems
      ) { call in
        try await self.order(.record(.pause(try call.flag("paused") ?? false)), call)
        return .json(200, RESTTrees.call(try await liveCall(call)))
      },
      RESTRoute(
        method: "DELETE", path: ofCall, id: "endCallRecording", summary: "End the recording of a call, which goes on",
        success: .nothing(204), problems: RESTService.callProblems
      ) { call in
        try await self.order(.record(.end), call)
        return .nothing
      },
      RESTRoute(
        method: "POST", path: ofRoom, id: "recordConference",
        summary: "Record what is heard in a conference, until it ends", repeating: .keyRequired,
        query: RESTService.conferenceQuery, body: RESTService.beginMembers + [RESTService.beginTracks],
        success: .json(201, "Conference"),
        problems: RESTService.roomProblems
      ) { call in
        let order = try await beginning(call)
        try await self.order(.record(order, for: try roomKey(call).application.account), call)
        return .json(201, conferenceTree(try await conference(call)))
      },
      RESTRoute(
        method: "PATCH", path: ofRoom, id: "pauseConferenceRecording",
        summary: "Pause the recording of a conference, or go on", query: RESTService.conferenceQuery,
        body: RESTService.pauseMembers, success: .json(200, "Conference"), problems: RESTService.roomProblems
      ) { call in
        let order = RecordingOrder.pause(try call.flag("paused") ?? false)
        try await self.order(.record(order, for: try roomKey(call).application.account), call)
        return .json(200, conferenceTree(try await conference(call)))
      },
      RESTRoute(
        method: "DELETE", path: ofRoom, id: "endConferenceRecording",
        summary: "End the recording of a conference, which goes on", query: RESTService.conferenceQuery,
        success: .nothing(204), problems: RESTService.roomProblems
      ) { call in
        try await self.order(.record(.end, for: try roomKey(call).application.account), call)
        return .nothing
      },
      RESTRoute(
        method: "GET", path: "/v1/recordings", id: "listRecordings", summary: "Recordings, newest first",
        query: RESTService.pageParameters + [
          .init(name: "call", description: "Only of this call.", schema: RESTService.textSchema),
          .init(name: "account", description: "Only of this account.", schema: RESTService.textSchema),
        ], success: .json(200, "RecordingPage"),
        problems: [.parameterInvalid, .accountUnknown, .storeUnavailable], handle: listRecordings),
      RESTRoute(
        method: "GET", path: "/v1/recordings/{id}", id: "getRecording", summary: "One recording, without its sound",
        success: .json(200, "Recording"), problems: [.recordingUnknown, .storeUnavailable]
      ) { call in .json(200, RESTTrees.recording(try await recording(call).row)) },
      RESTRoute(
        method: "GET", path: "/v1/recordings/{id}/sound", id: "getRecordingSound",
        summary: "The sound of a recording that is over, as a file; a range of it where one is asked for",
        success: .sound(RecordingFormat.allCases.map(\.mediaType)),
        problems: [.recordingUnknown, .recordingRunning, .recordingUnreadable, .storeUnavailable],
        handle: recordingSound
      ),
      RESTRoute(
        method: "DELETE", path: "/v1/recordings/{id}", id: "deleteRecording",
        summary: "Delete a recording that is over, with its sound", success: .nothing(204),
        problems: [.recordingUnknown, .recordingRunning, .storeUnavailable]
      ) { call in
        let (row, library) = try await finished(call)
        guard try await RESTService.ask({ try await library.remove(row.id) }) else {
          throw Problem(.recordingUnknown, "no recording has that id")
        }
        logger.notice(
          "a recording was deleted",
          metadata: ["recording": "\(row.id)", "by": "\(call.principal?.actor ?? "")"])
        return .nothing
      },
    ]
  }

  // MARK: - Handlers

  private var listRecordings: RESTRoute.Handler {
    { call in
      let (principal, stores) = try call.environment()
      guard let library = stores.recordings else { return .json(200, RESTService.page([], nil)) }
      let limit = try call.limit()
      var query = RecordingQuery(environment: principal.environment, limit: limit)
      query.account = call.ownAccount
      if let text = call.query["account"] {
        guard let account = AccountName(text), call.mayUse(account) else { throw Problem(.unknownAccount) }
        query.account = account
      }
      if let text = call.query["call"] {
        guard let id = CallID(text) else {
          throw RESTCall.invalidParameter("call", "no call has that id", fix: "the id of a call")
        }
        query.call = id
      }
      if let text = call.query["cursor"] {
        guard let id = RecordingID(text) else {
          throw RESTCall.invalidParameter("cursor", "not of a page", fix: "the member next of the page before")
        }
        query.after = id
      }
      let asked = query
      let rows = try await RESTService.ask { try await library.store.recordings(asked) }
      let next = rows.count == limit ? rows.last?.id.text : nil
      return .json(200, RESTService.page(rows, next), headers: RESTService.link(call, next))
    }
  }

  private var recordingSound: RESTRoute.Handler {
    { call in
      let (row, library) = try await finished(call)
      do {
        let sound = try library.sound(of: row)
        let range = call.request.header("range").flatMap { ByteRange($0, of: sound.byteCount) }
        // A player asks for many ranges, one after the other: one line of the log is for all of them.
        if range?.first ?? 0 == 0 {
          logger.notice(
            "a recording is handed out",
            metadata: ["recording": "\(row.id)", "to": "\(call.principal?.actor ?? "")"])
        }
        var answer = RESTAnswer(
          status: 200,
          headers: [
            ("Accept-Ranges", "bytes"), ("Cache-Control", "private, no-store"),
            ("Content-Disposition", "inline; filename=\"\(row.id.text).\(row.format.fileExtension)\""),
          ], mediaType: row.format.mediaType, body: [])
        guard let range else {
          answer.lineBytes = Int(sound.byteCount)
          answer.lines = pieces(of: sound, row.id)
          return answer
        }
        guard case .bytes(let first, let last) = range else {
          answer.status = 416
          answer.mediaType = nil
          answer.headers.append(("Content-Range", "bytes */\(sound.byteCount)"))
          return answer
        }
        let end = min(last, first + Int64(RESTService.rangeBytes) - 1)
        answer.body = try sound.read(from: first, count: Int(end - first + 1))
        answer.status = 206
        answer.headers.append(("Content-Range", "bytes \(first)-\(end)/\(sound.byteCount)"))
        return answer
      } catch {
        throw unreadable(row.id, error)
      }
    }
  }

  /// All of a file, decrypted as it is sent.
  private func pieces(of sound: any RecordingSound, _ id: RecordingID) -> AsyncStream<[UInt8]> {
    let place = Mutex<Int64>(0)
    return AsyncStream {
      let offset = place.withLock { $0 }
      guard offset < sound.byteCount else { return nil }
      do {
        let piece = try sound.read(from: offset, count: RESTService.soundPiece)
        place.withLock { $0 += Int64(piece.count) }
        return piece.isEmpty ? nil : piece
      } catch {
        _ = unreadable(id, error)
        return nil
      }
    }
  }

  private func unreadable(_ id: RecordingID, _ error: any Error) -> Problem {
    logger.error("a recording cannot be read", metadata: ["recording": "\(id)", "problem": "\(error)"])
    return Problem(.recordingUnreadable, "its file is damaged, or its key is missing")
  }

  // MARK: - Which one

  /// What is asked for, where there is room for a recording.
  private func beginning(_ call: RESTCall) async throws -> RecordingOrder {
    let (_, stores) = try call.environment()
    let text = try call.text("format") ?? RecordingFormat.opus.rawValue
    guard let format = RecordingFormat(rawValue: text) else {
      throw RESTBody.invalid("format", "no format of recordings", fix: RESTService.formats)
    }
    guard let library = stores.recordings else {
      throw Problem(CallFailure(.recording, phrase: "nothing is recorded here", leg: .app))
    }
    if let shortage = library.shortage { throw Problem(CallFailure(.recording, phrase: shortage, leg: .app)) }
    return .begin(
      RecordingOptions(
        format, isAnnounced: try call.flag("announce") ?? false, hasTone: try call.flag("tone") ?? false,
        hasTracks: try call.flag("tracks") ?? false))
  }

  /// The one of the path, where whoever asks may hear it.
  private func recording(_ call: RESTCall) async throws -> (row: Recording, library: any RecordingLibrary) {
    let (principal, stores) = try call.environment()
    guard let library = stores.recordings, let id = RecordingID(call.path["id"] ?? ""),
      let row = try await RESTService.ask({
        try await library.store.recording(id, environment: principal.environment)
      }), call.mayUse(row.account)
    else { throw Problem(.recordingUnknown, "no recording has that id") }
    return (row, library)
  }

  private func finished(_ call: RESTCall) async throws -> (row: Recording, library: any RecordingLibrary) {
    let found = try await recording(call)
    guard found.row.state != .running else { throw Problem(.recordingRunning, "its sound is being written") }
    return found
  }

  private static func ask<Value>(_ store: () async throws -> Value) async throws -> Value {
    do { return try await store() } catch {
      throw Problem(.storeUnavailable, "the store of recordings is away")
    }
  }

  private static func page(_ rows: [Recording], _ next: String?) -> JSONValue {
    .members([
      ("recordings", .array(rows.map { RESTTrees.recording($0) })), ("next", .string(optional: next)),
    ])
  }
}

/// One range of a file's bytes, as a client asks for it (RFC 9110 section 14.1.2).
package enum ByteRange: Hashable, Sendable {
  case bytes(first: Int64, last: Int64)
  /// It lies behind the end.
  case beyond

  var first: Int64? { if case .bytes(let first, _) = self { first } else { nil } }

  /// - Returns: `nil` for what is no single range of bytes, which is to be ignored (section 14.2).
  package init?(_ text: String, of count: Int64) {
    guard text.hasPrefix("bytes="), text.utf8.count <= 64 else { return nil }
    let parts = text.dropFirst("bytes=".count).split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, parts.allSatisfy({ $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }) else { return nil }
    switch (Int64(parts[0]), Int64(parts[1])) {
    case (nil, nil): return nil
    case (nil, let suffix?):
      guard parts[0].isEmpty else { return nil }
      self = suffix > 0 && count > 0 ? .bytes(first: max(0, count - suffix), last: count - 1) : .beyond
    case (let first?, let last):
      guard last != nil || parts[1].isEmpty else { return nil }
      if let last, last < first { return nil }
      self = first < count ? .bytes(first: first, last: min(last ?? count - 1, count - 1)) : .beyond
    }
  }
}

extension RESTTrees {
  fileprivate static func recording(_ recording: Recording) -> JSONValue {
    var subject: (call: String?, conference: String?, application: String?)
    switch recording.subject {
    case .call(let id): subject.call = id.text
    case .conference(let application, let conference): subject = (nil, conference.text, application)
    }
    return .members([
      ("id", .string(recording.id.text)), ("call", .string(optional: subject.call)),
      ("conference", .string(optional: subject.conference)),
      ("application_key", .string(optional: subject.application)),
      ("account", .string(recording.account.text)), ("format", .string(recording.format.rawValue)),
      ("channels", .integer(Int64(recording.channels))), ("started_at", instant(recording.startedAt)),
      ("state", .string(recording.state.rawValue)), ("duration_ms", .integer(recording.milliseconds)),
      ("bytes", .integer(recording.bytes)),
    ])
  }
}
