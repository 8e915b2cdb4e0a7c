import LandlineClient

/// The code that the documentation shows, as it is compiled and run.
enum ClientSnippets {
  struct ServerAnswer {
    var signature: String
    var sequence: UInt64
  }

  static func firstCall(key: String, secret: String, url: String) async throws -> Call {
    // snippet: first-call
    let client = try Client(
      applicationKey: key, credentials: .secret(secret), environmentHost: url, userID: "alice", device: "phone",
      capabilities: [.calling])
    try await client.started()
    let call = try client.calls.callPhoneNumber("+46000000000")
    for await event in call.events {
      print("+\(event.milliseconds) ms", event.kind)
    }
    print(call.details.endCause, call.details.cost?.description ?? "without a price")
    await client.stop()
    // end snippet
    return call
  }

  static func vouched(
    key: String, url: String, path: String,
    askOurServer: @escaping @Sendable (CredentialRequest) async throws -> ServerAnswer
  ) throws -> Client {
    // snippet: vouched
    var options = ClientOptions()
    options.storage = FileCredentialStorage(path: path)
    let client = try Client(
      applicationKey: key,
      credentials: .callback { request in
        let answer = try await askOurServer(request)
        return .signature(answer.signature, sequence: answer.sequence)
      },
      environmentHost: url, userID: "alice", device: "phone", capabilities: [.calling],
      options: options)
    // end snippet
    return client
  }

  static func sound(client: Client, path: String, greeting: String) throws -> Call {
    // snippet: sound
    let call = try client.calls.callPhoneNumber("+46701234567", headers: ["x-order": "4711"])
    call.audio.source = ToneSource(frequency: 440)
    call.audio.sink = try RecordingSink(path: path)
    try call.audio.startSendingSoundFile(path: greeting, mode: .mixed)
    // end snippet
    return call
  }

  static func called(client: Client) async throws {
    // snippet: called
    let calls = client.calls
    let incoming = calls.incoming
    calls.startListening()
    for await call in incoming {
      print(call.remote, call.remoteName, call.headers)
      client.audio.startPlayingTone(.ringtone)
      if call.headers["urgent"] != nil {
        try call.answer(headers: ["id": "17"])
      } else {
        try call.decline(reason: .busy)
      }
      client.audio.stopPlayingSoundFile()
      let details = await call.ended()
      print(details.endCause, details.isMissed, details.endedByDevice ?? "no device")
    }
    // end snippet
  }

  static func failure(call: Call) async {
    // snippet: failure
    let details = await call.ended()
    if let failure = details.failure {
      switch failure.errorDomain {
      case .network: print("try again:", failure)
      case .sip: print("refused with", failure.sipStatus ?? 0, failure.phrase ?? "")
      case .capability, .other: print(failure.code.details.remedies.joined(separator: "; "))
      }
    }
    // end snippet
  }
}
