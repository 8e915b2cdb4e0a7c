import CallModel
import CallStory
import Foundation

/// What happened in one call: from the gateway where one runs, else from its files.
extension Console {
  /// The story of a call.
  func explainCall(_ call: CallID, _ options: StoryOptions) async throws -> Answer {
    var story = try await story(of: call, options)
    if options.isMasked { story = story.masked }
    switch settings.format {
    case .json, .ndjson:
      try TextStream.standardOutput.write(VisibleText.json(String(decoding: story.json(), as: UTF8.self)) + "\n")
      return .streamed(notes: [])
    case .table, .csv:
      let text = story.text(width: environment.columns, isMasked: false)
      let lines = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
      return Answer(blocks: lines.map { .line(String($0)) }, members: [], records: Console.rows(story))
    }
  }

  /// The ladder alone, for spreadsheets.
  private static func rows(_ story: CallStory) -> Listing {
    Listing(
      [
        Column("microseconds", .number), Column("from"), Column("to"), Column("kind"), Column("label"),
        Column("is_repeated"), Column("is_failure"),
      ],
      rows: story.ladder.map { row in
        [
          .integer(row.microseconds), .text(row.from), .text(row.to), .text(row.kind.rawValue), .text(row.label),
          .flag(row.isRepeated), .flag(row.isFailure),
        ]
      })
  }

  private func story(of call: CallID, _ options: StoryOptions) async throws -> CallStory {
    let answer = try await ask("/v1/calls/\(call)/story", options)
    if let answer {
      guard let story = CallStory(json: answer) else {
        throw ConsoleError(
          .failed, code: "control.answer", "the gateway's answer cannot be read", at: controlPath(options.control),
          fix: "use the landline of the same version as the gateway, or read its files with --database LEDGER")
      }
      return story
    }
    return CallStory.tell(try await storedSources(of: call))
  }

  /// The SIP messages of a call, as a file of packets.
  package func callsCapture(_ id: String, to file: String?, _ options: StoryOptions) async throws -> Answer {
    let call = try await callID(id, control: options.control, environment: options.environment)
    let isStandardOutput = file == "-"
    if isStandardOutput, environment.standardOutputIsTerminal {
      throw ConsoleError.usage(
        "terminal", "packets are not for a terminal", at: "-o -",
        fix: "landline calls pcap \(call) -o - | tshark -r -, or -o FILE")
    }
    let path = file ?? "\(call).pcapng"
    // Before anything is asked: nobody waits to hear that a file is in the way.
    if !isStandardOutput, access(path, F_OK) == 0 {
      throw ConsoleError(
        .conflict, code: "exists", "the file is there already", at: path, fix: "-o ANOTHER, or remove it")
    }
    let bytes = try await capture(of: call, options)
    if isStandardOutput {
      try TextStream.standardOutput.write(bytes)
      return .streamed(notes: [])
    }
    try Console.write(bytes, to: path)
    return Answer(
      row: Listing(
        [Column("call"), Column("file"), Column("bytes", .number)],
        rows: [[.text(call.text), .text(path), .integer(Int64(bytes.count))]]))
  }

  private func capture(of call: CallID, _ options: StoryOptions) async throws -> [UInt8] {
    if let answer = try await ask("/v1/calls/\(call)/capture", options) { return answer }
    guard let trace = try await storedSources(of: call).trace else {
      throw ConsoleError(
        .notFound, code: "noTrace", "no messages of this call are kept", at: call.text,
        fix:
          "landline explain \(call) shows what its record has; retention.traces in the configuration keeps them longer")
    }
    return trace.capture()
  }

  /// For this user only: numbers stand in it.
  private static func write(_ bytes: [UInt8], to path: String) throws {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      let reason = String(cString: strerror(errno))
      throw ConsoleError(
        errno == EACCES || errno == EPERM ? .notPermitted : .failed, code: "output",
        "the file cannot be written: \(reason)", at: path, fix: "-o FILE in a folder of yours")
    }
    defer { close(descriptor) }
    do {
      try TextStream(descriptor: descriptor).write(bytes)
    } catch {
      unlink(path)
      throw error
    }
  }

  /// Asks the gateway that runs. A ledger that is named in the command is read itself.
  /// - Returns: `nil` where no gateway answers or it knows nothing of the call: the files may.
  private func ask(_ target: String, _ options: StoryOptions) async throws -> [UInt8]? {
    let path = controlPath(options.control)
    guard options.control != nil || settings.places.database == nil && exists(path) else { return nil }
    let response: ControlClient.Response
    do {
      response = try await ControlClient(path: path).get(target + query(["environment": options.environment]))
    } catch let error as ConsoleError where error.status == .notReachable && options.control == nil {
      // What a gateway that died has left behind.
      return nil
    }
    if (200..<300).contains(response.status) { return response.body }
    if response.status == 404, options.control == nil, try exists(databasePath()), try exists(gatewayStorePath()) {
      return nil
    }
    throw failure(response, options.control)
  }
}
