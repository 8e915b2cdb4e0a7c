import AppProtocol
import CallEngine
import CallModel
import LandlineOutbound
import LandlineWire
import Logging
import NIOCore
import NodeCore

// MARK: - Everything that a node's core wants done

extension NodeLoop {
  func perform(_ effect: NodeEffect, at time: NodeTime) {
    switch effect {
    case .started: completeStart { $0.succeed(()) }
    case .startFailed(_, let problem): completeStart { $0.fail(problem) }

    case .sendText(let connection, let text):
      meter.appMessage(isIncoming: false)
      put(text, for: connection)
    case .ping(let connection):
      sendTexts()
      connections[connection]?.ping()
    case .close(let connection, let code, let reason):
      sendTexts()
      connections.removeValue(forKey: connection)?.close(code: code, reason: reason)
    case .verify(let verification, let registration, let host):
      let bound = bound
      Task { [verifier, weak hub = self.hub] in
        let verdict = await verifier.verify(registration, clock: time.clock)
        if verdict == .refused { hub?.countRefusedProof(of: host) }
        bound.eventLoop.execute { bound.value.handle(.door(.verified(verification, verdict))) }
      }

    case .lookUpUser(let person):
      let bound = bound
      Task { [verifier] in
        let isKnown = await verifier.knows(person.user, application: person.application)
        bound.eventLoop.execute { bound.value.handle(.userLookedUp(person, isKnown: isKnown)) }
      }

    case .send(let bytes, let path, let transaction): transports.send(bytes, on: path, for: transaction)
    case .locate(let location, let uri):
      let bound = bound
      locator.locate(uri, over: wire.advertisedAddresses) { paths in
        bound.eventLoop.execute { bound.value.handle(.located(location, paths)) }
      }
    case .fetch(let id, let address, let policy):
      let bound = bound
      web.fetch(
        address, policy, maximumBytes: CertificateShelf.maximumCertificateBytes,
        milliseconds: CertificateShelf.fetchMilliseconds
      ) { answer in
        let result: CertificateFetchResult =
          switch answer {
          case .success(let answer): .fetched(answer.body, seconds: answer.freshSeconds)
          case .failure(.late): .late
          case .failure(.failed(let problem)): .failed(problem)
          }
        bound.eventLoop.execute { bound.value.handle(.fetched(id, result)) }
      }
    case .ignoreStranger(let path): transports.ignoreStranger(on: path)

    case .prepare(let call, let needs):
      let bound = bound
      media.prepare(call, needs) { result in
        bound.eventLoop.execute { bound.value.handle(.prepared(call, result)) }
      }
    case .media(let call, .record(let recording)):
      media.record(recording, of: call) { [weak self] state in
        self?.handle(.media(call, .recordingEnded(recording.id, state)))
      }
    case .media(let call, let order): media.perform(order, for: call)
    case .recordRoom(let room, let order):
      media.record(room, order) { [weak self] state in
        guard case .begin(let recording, _) = order else { return }
        self?.handle(.roomRecordingEnded(room, recording.id, state))
      }

    case .bill(let environment, let errand):
      let bound = bound
      errands[environment]?.carryOut(errand) { answer in
        bound.eventLoop.execute { bound.value.handle(.billed(environment: environment, answer)) }
      }
    case .keep(let environment, let errand):
      let bound = bound
      errands[environment]?.carryOut(errand) { answer in
        bound.eventLoop.execute { bound.value.handle(.kept(environment: environment, answer)) }
      }
    case .readPayer(let environment, let account): readPayer(account, environment)

    case .originated(let id, let result): originations.removeValue(forKey: id)?(result)
    case .ordered(let id, let refusal): orders.removeValue(forKey: id)?(refusal)
    case .changed(let snapshot):
      // The engine tells each call once as it begins.
      if snapshot.state == .initiating { meter.started(snapshot) }
      for watcher in watchers.values { watcher.yield(snapshot) }
    case .record(let record):
      meter.ended(record)
      if let store = environments[record.call.environment]?.stores.records { hub?.keep(.record(record, store)) }
    case .statistics(let call, let environment, let figures):
      if let store = environments[environment]?.stores.records { hub?.keep(.statistics(figures, call, store)) }
    case .keepTrace(let call, let isLast):
      storeTrace(call)
      if isLast { traces?.forget(call) }
    case .trace(let entry): traces?.add(entry, of: wire.addresses, at: time.unixMicroseconds)
    case .journal(let entry): journal?.write(entry)
    case .velocity(let rule, let environment): meter.reached(rule, environment: environment)
    case .billed(let call, let step, let result, let microseconds):
      meter.ledger(step, microseconds: microseconds, result)
      traces?.ledger(call, step, result, microseconds: microseconds, at: time.unixMicroseconds)
    case .log(let entry): log(entry)
    }
  }

  private var bound: NIOLoopBound<NodeLoop> { NIOLoopBound(self, eventLoop: eventLoop) }

  private func completeStart(_ tell: (EventLoopPromise<Void>) -> Void) {
    guard let started else { return }
    self.started = nil
    tell(started)
  }

  private func readPayer(_ account: AccountName, _ environment: String) {
    guard let payers = environments[environment]?.payers else { return }
    let bound = bound
    Task {
      let result: Result<Payer?, PayerUnavailable>
      do { result = .success(try await payers.payer(account)) } catch {
        result = .failure(PayerUnavailable("\(error)"))
      }
      bound.eventLoop.execute {
        bound.value.handle(.payer(environment: environment, account, result))
      }
    }
  }

  /// At the end: all that is not kept yet.
  func storeTraces() { for call in traces?.calls ?? [] { storeTrace(call) } }

  private func storeTrace(_ call: CallID) {
    guard configuration.keepsTraces, let (environment, trace) = traces?.toKeep(call),
      let store = environments[environment]?.stores.traces
    else { return }
    hub?.keep(.trace(trace, call, store))
  }

  private func log(_ entry: NodeLogEntry) {
    let level: Logger.Level =
      switch entry.level {
      case .debug: .debug
      case .info: .info
      case .notice: .notice
      case .warning: .warning
      case .error: .error
      case .critical: .critical
      }
    let metadata = Logger.Metadata(
      entry.facts.map { ($0.name, .string($0.value)) }, uniquingKeysWith: { first, _ in first })
    log.log(level: level, "\(entry.message)", metadata: metadata)
  }
}
