import AppProtocol
import CallModel
import Foundation
import LandlineClient
import NIOCore
import NIOPosix
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(1)), .serialized) struct LifeTests {
  @Test func aStartWithoutGatewayFailsAndCanBeTriedAgain() async throws {
    let gateway = try await TestGateway.start()
    let client = try makeClient(gateway)
    try await gateway.shutdown()
    for _ in 0..<2 {
      await #expect {
        try await client.started()
      } throws: { error in
        let failure = error as? CallFailure
        return failure?.code == .networkUnreachable && failure?.errorDomain == .network
      }
      #expect(!client.isStarted)
    }
    await client.stop()
  }

  @Test func aSilentGatewayIsNotWaitedForForever() async throws {
    // Listens, and never says a word.
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let silent = try await ServerBootstrap(group: group).bind(host: "127.0.0.1", port: 0).get()
    var options = ClientOptions()
    options.connectMilliseconds = 200
    let client = try Client(
      applicationKey: "key", credentials: .secret("s"), environmentHost: "127.0.0.1:\(silent.localAddress?.port ?? 0)",
      userID: "alice", device: "test", capabilities: [.calling], options: options)
    await #expect { try await client.started() } throws: { ($0 as? CallFailure)?.code == .networkTimeout }
    await client.stop()
    try await silent.close()
    try await group.shutdownGracefully()
  }

  @Test func whatIsNoGatewayIsRecognised() async throws {
    let gateway = try await TestGateway.start()
    let client = try Client(
      applicationKey: "key", credentials: .secret("s"), environmentHost: gateway.url + "/elsewhere", userID: "alice",
      device: "test", capabilities: [.calling])
    await #expect { try await client.started() } throws: { ($0 as? CallFailure)?.domain == .network }
    await client.stop()
    try await gateway.shutdown()
  }

  @Test func aRefusedProofFailsTheStart() async throws {
    let gateway = try await TestGateway.start(verdict: { _ in .refused })
    let client = try makeClient(gateway)
    await #expect { try await client.started() } throws: { ($0 as? CallFailure).map { $0.domain != .network } ?? false }
    await client.stop()
    try await gateway.shutdown()
  }

  @Test func theSecondStartUsesTheDevicesOwnCredential() async throws {
    try await withClient { gateway, client in
      await client.stop()
      try await client.started()
      let proofs = try await gateway.ask { $0.registrations.map(\.proof) }
      #expect(proofs.count == 2)
      if case .signature = proofs[0] {} else { Issue.record("the first proof is no signature") }
      #expect(proofs[1] == .credential(id: "device-1", secret: "kept-secret"))
    }
  }

  @Test func aKeptCredentialThatIsRefusedIsReplaced() async throws {
    let storage = MemoryCredentialStorage()
    let owner = CredentialOwner(
      application: "196087a1-e815-4bc4-8984-60d8d8a43f1d", user: "alice", device: "test")
    await storage.save(KeptCredentials(id: "old", secret: Redacted("stale"), sequence: 5), for: owner)
    let gateway = try await TestGateway.start(verdict: { registration in
      if case .credential = registration.proof { return .refused }
      return TestGateway.acceptAll(registration)
    })
    let client = try makeClient(gateway) { $0.storage = storage }
    try await client.started()
    let proofs = try await gateway.ask { $0.registrations.map(\.proof) }
    #expect(proofs.first == .credential(id: "old", secret: "stale"))
    if case .signature(_, let sequence)? = proofs.last { #expect(sequence > 5) } else { Issue.record("no signature") }
    await client.stop()
    try await gateway.shutdown()
  }

  @Test func theAppsServerIsAskedOncePerDevice() async throws {
    let asked = Mutex(0)
    let gateway = try await TestGateway.start()
    let client = try Client(
      applicationKey: "key",
      credentials: .callback { request in
        asked.withLock { $0 += 1 }
        #expect(request == CredentialRequest(user: "alice", device: "test", leastSequence: 1))
        return .token("token-of-\(request.user)")
      }, environmentHost: gateway.url, userID: "alice", device: "test",
      capabilities: [.calling])
    try await client.started()
    await client.stop()
    try await client.started()
    await client.stop()
    #expect(asked.withLock { $0 } == 1)
    #expect(try await gateway.ask { $0.registrations.first?.proof } == .token("token-of-alice"))
    try await gateway.shutdown()
  }

  @Test func anAppServerThatCannotHelpFailsTheStart() async throws {
    struct Closed: Error {}
    let gateway = try await TestGateway.start()
    let client = try Client(
      applicationKey: "key", credentials: .callback { _ in throw Closed() }, environmentHost: gateway.url,
      userID: "alice", device: "test", capabilities: [.calling])
    await #expect { try await client.started() } throws: { ($0 as? CallFailure)?.errorDomain == .network }
    await client.stop()
    try await gateway.shutdown()
  }

  @Test func aCallOutlivesALostConnection() async throws {
    try await withClient { gateway, client in
      let call = try client.calls.callPhoneNumber("+46000000202")
      #expect(await call.reaches("established"))
      let events = client.events
      try await gateway.cutConnections()
      #expect(try await events.first { if case .connectionResumed = $0 { true } else { nil } } == true)
      #expect(call.state == .established)
      try call.sendDTMF("5")
      #expect(try await call.events.first { if case .digit("5", _) = $0.kind { true } else { nil } } == true)
      #expect(try await gateway.ask { $0.registrations.count } == 1)
      #expect(try await gateway.ask { $0.sessionCount } == 1)
    }
  }

  @Test func anotherNetworkMovesTheSoundOfACall() async throws {
    try await withClient { gateway, client in
      let call = try client.calls.callPhoneNumber("+46000000202")
      let (heard, continuation) = AsyncStream.makeStream(of: Void.self)
      call.audio.source = ToneSource(frequency: 440)
      #expect(await call.reaches("mediaSecured"))
      client.networkChanged()
      #expect(await gateway.request { if case .offer(_, let offer) = $0 { offer } else { nil } } != nil)
      #expect(try await call.events.first { if case .connection(isUp: true) = $0.kind { true } else { nil } } == true)
      // Sound that comes after the change took the new way: the old sockets are closed.
      call.audio.sink = CallbackSink { if ($0.max() ?? 0) > 4_000 { continuation.yield() } }
      for await _ in heard { break }
      #expect(try await gateway.ask { $0.restarts } == 1)
      #expect(call.state == .established)
    }
  }

  @Test func aLostSessionEndsItsCalls() async throws {
    let gateway = try await TestGateway.start(resumeMilliseconds: 1_000)
    let client = try makeClient(gateway)
    try await client.started()
    let call = try client.calls.callPhoneNumber("+46000000202")
    #expect(await call.reaches("established"))
    try await gateway.shutdown()
    let details = await call.ended()
    #expect(details.failure?.code == .networkLost)
    #expect(details.endCause == .error)
    await client.stop()
  }

  @Test func aGracefulStopHangsUp() async throws {
    let gateway = try await TestGateway.start()
    let client = try makeClient(gateway)
    try await client.started()
    let call = try client.calls.callPhoneNumber("+46000000202")
    #expect(await call.reaches("established"))
    await client.stopGracefully()
    #expect(call.details.endCause == .hungUp)
    #expect(call.details.cost != nil)
    #expect(await gateway.request { if case .hangUp(let id) = $0 { id } else { nil } } == call.id)
    try await gateway.shutdown()
  }

  @Test(.timeLimit(.minutes(1))) func aStopLeavesNothing() async throws {
    /// The identifiers of the event loops' threads: by identifier, as those of an earlier client may still be ending.
    func loopThreads() -> Set<String> {
      let tasks = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
      return Set(
        tasks.filter { task in
          let name = try? String(contentsOfFile: "/proc/self/task/\(task)/comm", encoding: .utf8)
          return name?.hasPrefix("NIO-ELT") == true
        })
    }
    let gateway = try await TestGateway.start()
    weak var gone: Client?
    let before = loopThreads()
    let started: Set<String>
    do {
      let client = try makeClient(gateway)
      try await client.started()
      let call = try client.calls.callPhoneNumber("+46000000202")
      #expect(await call.reaches("established"))
      started = loopThreads().subtracting(before)
      #expect(!started.isEmpty)
      await client.stop()
      #expect(call.state == .ended)
      gone = client
    }
    #expect(gone == nil)
    // The kernel lists a thread for a moment after it was joined.
    while !loopThreads().isDisjoint(with: started) { await Task.yield() }
    // The gateway's own ends close when it sees ours gone.
    while try await gateway.ask({ $0.connectionCount }) > 0 { await Task.yield() }
    #expect(try await gateway.ask { $0.endedSessions } == 1)
    try await gateway.shutdown()
  }

  @Test func aClientThatNobodyHoldsEnds() async throws {
    let gateway = try await TestGateway.start()
    do {
      let client = try makeClient(gateway)
      try await client.started()
    }
    while try await gateway.ask({ $0.connectionCount }) > 0 { await Task.yield() }
    try await gateway.shutdown()
  }

  @Test func manyStopsAtOnceAreOne() async throws {
    let gateway = try await TestGateway.start()
    let client = try makeClient(gateway)
    try await client.started()
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<8 { group.addTask { await client.stop() } }
    }
    #expect(!client.isStarted)
    try await gateway.shutdown()
  }

  /// Before the WebSocket is open, while it opens, while the proof is judged, and with a call under way.
  @Test(.timeLimit(.minutes(5))) func aStopAtAnyMomentEndsInTime() async throws {
    let count = ProcessInfo.processInfo.environment["LANDLINE_FULL"] == nil ? 60 : 500
    let gateway = try await TestGateway.start()
    var random = SystemRandomNumberGenerator()
    var slowest = Duration.zero
    for number in 0..<count {
      let client = try makeClient(gateway, user: "u\(number)")
      try client.start()
      // The moment is what is tried here, so this waits for a time: most starts take some milliseconds.
      try await Task.sleep(
        for: .microseconds(Int64.random(in: 0...(number % 2 == 0 ? 5_000 : 120_000), using: &random)))
      let call = try? client.calls.callPhoneNumber("+46000000202")
      let begin = ContinuousClock.now
      await client.stop()
      slowest = max(slowest, ContinuousClock.now - begin)
      #expect(!client.isStarted)
      #expect(call.map { $0.state == .ended } ?? true)
    }
    #expect(slowest < .seconds(1))
    while try await gateway.ask({ $0.connectionCount }) > 0 { await Task.yield() }
    try await gateway.shutdown()
  }

  @Test func aSignatureThatWasPassedIsMadeAgain() async throws {
    let gateway = try await TestGateway.start(verdict: { registration in
      guard case .signature(_, let sequence) = registration.proof, sequence < 1_000 else {
        return TestGateway.acceptAll(registration)
      }
      return .sequenceTooLow(least: 1_000)
    })
    let storage = MemoryCredentialStorage()
    let client = try makeClient(gateway) { $0.storage = storage }
    try await client.started()
    let proofs = try await gateway.ask { $0.registrations.map(\.proof) }
    let sequences = proofs.map { if case .signature(_, let sequence) = $0 { sequence } else { UInt64(0) } }
    #expect(sequences == [1, 1_000], "the counter begins at 1, and no clock is in it")
    await client.stop()
    let owner = CredentialOwner(application: client.applicationKey, user: "alice", device: "test")
    #expect(await storage.load(owner)?.sequence == 1_000)
    try await gateway.shutdown()
  }

  @Test func theAppsServerIsToldTheLeastSequence() async throws {
    let gateway = try await TestGateway.start(verdict: { registration in
      guard case .signature(_, let sequence) = registration.proof, sequence < 42 else {
        return TestGateway.acceptAll(registration)
      }
      return .sequenceTooLow(least: 42)
    })
    let asked = Mutex<[UInt64]>([])
    let client = try Client(
      applicationKey: "key",
      credentials: .callback { request in
        asked.withLock { $0.append(request.leastSequence) }
        return .signature("signed by the server", sequence: request.leastSequence)
      }, environmentHost: gateway.url, userID: "alice", device: "test", capabilities: [.calling])
    try await client.started()
    #expect(asked.withLock { $0 } == [1, 42])
    await client.stop()
    try await gateway.shutdown()
  }

  @Test func aGatewayThatCannotKeepARegistrationFailsTheStartAtOnce() async throws {
    let gateway = try await TestGateway.start(verdict: { _ in .unavailable })
    let client = try makeClient(gateway)
    let begin = ContinuousClock.now
    await #expect { try await client.started() } throws: { ($0 as? CallFailure)?.code == .unavailable }
    #expect(ContinuousClock.now - begin < .seconds(2))
    await client.stop()
    try await gateway.shutdown()
  }

  @Test func aSecondStartIsAMistake() async throws {
    try await withClient { _, client in
      #expect(throws: UsageError.alreadyStarted) { try client.start() }
    }
  }

  @Test func aGroupOfTheAppIsLeftRunning() async throws {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let gateway = try await TestGateway.start()
    let client = try makeClient(gateway) { $0.group = group }
    try await client.started()
    await client.stop()
    try await gateway.shutdown()
    #expect(try await group.next().submit { 7 }.get() == 7)
    try await group.shutdownGracefully()
  }
}
