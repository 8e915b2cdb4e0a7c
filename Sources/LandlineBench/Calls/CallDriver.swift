import AppProtocol
import CallModel
import Foundation
import NIOCore

/// Places calls through a gateway at a fixed rate and follows each to its end. Belongs to its event loop.
final class CallDriver {
  /// What a load is.
  struct Load: Sendable {
    enum Goal: Sendable {
      /// The app hangs up as soon as the other side answered, and with ``Load/shakesHands`` as soon as keys are there.
      case over
      /// Calls stay answered until they are asked to end.
      case up
      /// Calls stay ringing until they are asked to end.
      case ringing
    }

    var calls: Int
    /// Calls a second, by the clock and not by completion.
    var rate: Int
    var goal = Goal.over
    /// Whom the calls go to in turn; empty: each to a telephone number of its own.
    var users: [String] = []
    /// Whether the app does ICE and DTLS for each call.
    var shakesHands = false
    /// Calls that are not where they should be by then count as failed.
    var patienceSeconds = 30.0
    /// Between the answer and the end of a call that is to be over.
    var heldMilliseconds: Int64 = 0
    /// For whoever watches from another thread.
    var progress: CallLoadProgress?

    /// Seconds after which it is given up.
    var duration: Double { Double(calls) / Double(rate) + patienceSeconds }
  }

  /// Calls are due in steps of this.
  private static let step = TimeAmount.milliseconds(2)

  /// The number that the call in this place of a load goes to: a mobile phone in Sweden.
  static func number(_ index: Int) -> String {
    let digits = String(index % 10_000_000)
    return "+4670" + String(repeating: "0", count: 7 - digits.utf8.count) + digits
  }

  private struct Call {
    var app: Int
    var id: CallID?
    var marks = CallMarks()
    var isAccepted = false
    var isSecured = false
    var isHungUp = false
    /// Reached its goal, or failed: nothing more is waited for.
    var isDone = false
    var hasEnded = false
    var failure: String?
    var media: HandshakeLeg?
  }

  private let loop: any EventLoop
  private let apps: [BenchApp]
  private let media: HandshakeSide?
  private var load: Load
  private var calls: [Call] = []
  private var byID: [CallID: Int] = [:]
  /// Calls that wait for `placed`, by app and request.
  private var asked: [[UInt64: Int]]
  private var waiting = 0
  private var ending: EventLoopPromise<CallLoadResult>?

  /// - Parameter media: for loads that shake hands.
  init(_ load: Load, apps: [BenchApp], media: HandshakeSide? = nil, on loop: any EventLoop) {
    self.load = load
    self.apps = apps
    self.media = media
    self.loop = loop
    asked = Array(repeating: [:], count: apps.count)
    for (index, app) in apps.enumerated() {
      app.told = { [weak self] in self?.told(index, $0) }
      app.lost = { [weak self] in self?.lost(index, $0) }
    }
  }

  /// Places all calls. Done when each has reached the load's goal or failed.
  func run() -> EventLoopFuture<CallLoadResult> {
    let promise = loop.makePromise(of: CallLoadResult.self)
    ending = promise
    waiting = load.calls
    calls.reserveCapacity(load.calls)
    place(as: Pace(start: .now(), rate: load.rate, calls: load.calls))
    let limit = loop.assumeIsolated().scheduleTask(in: .milliseconds(Int64(load.duration * 1000))) { [weak self] in
      self?.giveUp()
    }
    return promise.futureResult.always { _ in limit.cancel() }
  }

  /// Places what is due, now and at every step until all are placed.
  private func place(as pace: Pace) {
    for _ in pace.due(at: .now()) { place() }
    guard !pace.isDone, ending != nil else { return }
    loop.assumeIsolated().scheduleTask(in: Self.step) { [weak self] in self?.place(as: pace) }
  }

  /// Hangs up what is still there. Done when every call has ended.
  func hangUpAll() -> EventLoopFuture<CallLoadResult> {
    let promise = loop.makePromise(of: CallLoadResult.self)
    load.goal = .over
    ending = promise
    for index in calls.indices where calls[index].isDone && !calls[index].hasEnded && calls[index].failure == nil {
      calls[index].isDone = false
      waiting += 1
    }
    for index in calls.indices where !calls[index].isDone { hangUp(index) }
    finishIfDone()
    let limit = loop.assumeIsolated().scheduleTask(
      in: .milliseconds(Int64(load.patienceSeconds * 1000))
    ) { [weak self] in self?.giveUp() }
    return promise.futureResult.always { _ in limit.cancel() }
  }

  // MARK: One call

  private func place() {
    let index = calls.count
    let app = index % apps.count
    calls.append(Call(app: app))
    guard let media else { return ask(index, AppOffer(call: index).text) }
    media.open { [weak self] event in
      self?.told(index, event)
    } ready: { [weak self] leg in
      guard let self else { return leg.close() }
      calls[index].media = leg
      ask(index, leg.offer)
    }
  }

  private func ask(_ index: Int, _ offer: String) {
    calls[index].marks.asked = ProcessClock.monotonicSeconds()
    let app = calls[index].app
    let call =
      load.users.isEmpty
      ? PlaceCall(kind: .phone, target: Self.number(index), offer: offer)
      : PlaceCall(kind: .user, target: load.users[index % load.users.count], offer: offer)
    guard let request = apps[app].send(.call(call)) else {
      return fail(index, "no connection")
    }
    asked[app][request.value] = index
  }

  private func told(_ app: Int, _ message: ServerMessage) {
    switch message {
    case .event(let event, _): told(app, event)
    case .error(let number, let failure):
      guard let number, let index = asked[app].removeValue(forKey: number.value) else { return }
      fail(index, "not understood: \(Self.text(failure))")
    case .registered, .resumed, .pong, .draining, .relays, .closing: break
    }
  }

  private func told(_ app: Int, _ event: AppEvent) {
    switch event {
    case .placed(let number, let id, let answer):
      guard let index = asked[app].removeValue(forKey: number.value) else { return }
      calls[index].marks.placed = ProcessClock.monotonicSeconds()
      calls[index].id = id
      byID[id] = index
      if let leg = calls[index].media, let problem = leg.accept(answer: answer) { fail(index, problem) }
    case .refused(let number, let failure):
      guard let index = asked[app].removeValue(forKey: number.value) else { return }
      fail(index, "refused: \(Self.text(failure))")
    case .ringing(let id, _):
      guard let index = byID[id], load.goal == .ringing else { return }
      reached(index)
    case .accepted(let id, _):
      guard let index = byID[id], !calls[index].isAccepted else { return }
      calls[index].marks.accepted = ProcessClock.monotonicSeconds()
      calls[index].isAccepted = true
      goOn(index)
    case .ended(let id, let summary):
      guard let index = byID.removeValue(forKey: id) else { return }
      ended(index, summary)
    default: break
    }
  }

  private func told(_ index: Int, _ event: HandshakeLeg.Event) {
    switch event {
    case .secured:
      calls[index].isSecured = true
      goOn(index)
    case .failed(let why): fail(index, why)
    }
  }

  private func goOn(_ index: Int) {
    guard calls[index].isAccepted, calls[index].isSecured || !load.shakesHands else { return }
    switch load.goal {
    case .over where load.heldMilliseconds > 0:
      loop.assumeIsolated().scheduleTask(in: .milliseconds(load.heldMilliseconds)) { [weak self] in self?.hangUp(index)
      }
    case .over: hangUp(index)
    case .up, .ringing: reached(index)
    }
  }

  private static func text(_ failure: CallFailure) -> String {
    let code = failure.refusal?.rawValue ?? failure.code.rawValue
    return failure.phrase.map { "\(code) (\($0))" } ?? code
  }

  private func hangUp(_ index: Int) {
    guard let id = calls[index].id, !calls[index].isHungUp else { return }
    calls[index].isHungUp = true
    _ = apps[calls[index].app].send(.hangUp(id))
  }

  private func ended(_ index: Int, _ summary: CallSummary) {
    calls[index].marks.ended = ProcessClock.monotonicSeconds()
    calls[index].hasEnded = true
    load.progress?.ended(costMicro: summary.costMicro ?? 0)
    calls[index].media?.close()
    calls[index].media = nil
    if !calls[index].isHungUp {
      fail(index, "ended by itself: \(summary.failure.map(Self.text) ?? summary.cause.rawValue)")
    } else if summary.costMicro == nil {
      fail(index, "not settled")
    } else {
      reached(index)
    }
  }

  private func reached(_ index: Int) {
    guard !calls[index].isDone else { return }
    calls[index].isDone = true
    waiting -= 1
    finishIfDone()
  }

  private func fail(_ index: Int, _ why: String) {
    if calls[index].failure == nil { calls[index].failure = why }
    // What is still up at the gateway must not stay.
    if !calls[index].hasEnded { hangUp(index) }
    calls[index].media?.close()
    calls[index].media = nil
    reached(index)
  }

  private func lost(_ app: Int, _ why: String) {
    for index in calls.indices where calls[index].app == app && !calls[index].isDone { fail(index, why) }
  }

  private func giveUp() {
    for index in calls.indices where !calls[index].isDone {
      let call = calls[index]
      fail(
        index,
        call.id == nil
          ? "not placed in time"
          : !call.isAccepted ? "not answered in time" : call.isHungUp ? "not ended in time" : "no keys in time")
    }
    // Calls that were not even due any more.
    waiting = 0
    finishIfDone()
  }

  private func finishIfDone() {
    guard waiting == 0, let promise = ending else { return }
    ending = nil
    var result = CallLoadResult()
    result.calls = load.calls
    result.good = calls.count { $0.failure == nil && $0.isDone }
    for failure in calls.compactMap(\.failure) { result.failures[failure, default: 0] += 1 }
    result.marks = calls.map(\.marks)
    promise.succeed(result)
  }
}
