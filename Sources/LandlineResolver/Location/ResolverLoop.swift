import CallModel
import Glibc
import SIPCore

/// The resolver's thread: machines, the cache and the channel. Nothing of it is shared.
final class ResolverLoop {
  private struct Location {
    var machine: LocationMachine
    let observer: (@Sendable (DNSQuestion, DNSAnswer) -> Void)?
    let answer: @Sendable (LocationResult) -> Void
    let subject: String
  }

  /// How long the thread sleeps when nothing is due.
  private static let idleMilliseconds: Int64 = 60_000

  private let configuration: ResolverConfiguration
  private let inbox: ResolverInbox
  private let channel: CaresChannel
  private var cache: DNSCache
  private var locations: [UInt64: Location] = [:]
  private var nextLocation: UInt64 = 0
  /// Oldest first: all locations have the same time.
  private var deadlines: ArraySlice<(location: UInt64, at: MonotonicInstant)> = []
  /// Who waits for which question; a question is under way once, whoever asks. Nobody: all of them went on with a stale
  /// answer.
  private var waiting: [DNSQuestion: [UInt64]] = [:]
  /// Questions with a stale answer, and when it is used. Oldest first.
  private var patience: ArraySlice<(question: DNSQuestion, at: MonotonicInstant)> = []
  private var questionsUnderWay = 0
  /// Questions that wait for others to end.
  private var queue: ArraySlice<DNSQuestion> = []
  private var effects: [LocationEffect] = []
  private var counts = Resolver.Counts()

  init(_ configuration: ResolverConfiguration, inbox: ResolverInbox) throws(ResolverError) {
    self.configuration = configuration
    self.inbox = inbox
    channel = try CaresChannel(configuration)
    cache = DNSCache(configuration)
  }

  /// Runs until the inbox is closed; then whatever waits is told so.
  func run() {
    while let requests = inbox.isClosed ? nil : inbox.drain() {
      for request in requests { begin(request) }
      var sockets = [pollfd(fd: inbox.wake, events: Int16(POLLIN), revents: 0)] + channel.sockets
      _ = poll(&sockets, nfds_t(sockets.count), Int32(clamping: timeout()))
      channel.process(sockets.dropFirst())
      readArrivals()
      goOnWithStale()
      giveUpOverdue()
    }
    for request in inbox.drain() ?? [] {
      request.answer(.failed(LocationFailure(.shutDown, ResolverLoop.subject(request.uri))))
    }
    for key in locations.keys.sorted() { end(key, .shutDown) }
    channel.close()
  }

  private static var now: MonotonicInstant {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return MonotonicInstant(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
  }

  private static func subject(_ uri: SIPURI) -> String { uri.host.map(\.description) ?? uri.scheme.rawValue }

  private func timeout() -> Int64 {
    var limit = ResolverLoop.idleMilliseconds
    if let first = deadlines.first { limit = min(limit, max(0, first.at.milliseconds(since: ResolverLoop.now))) }
    if let first = patience.first { limit = min(limit, max(0, first.at.milliseconds(since: ResolverLoop.now))) }
    return channel.timeout(limit: limit)
  }

  // MARK: Locations

  private func begin(_ request: ResolverInbox.Request) {
    let key = nextLocation
    nextLocation += 1
    let machine = LocationMachine(request.uri, policy: request.policy, identifiers: .system)
    locations[key] = Location(
      machine: machine, observer: request.observer, answer: request.answer, subject: ResolverLoop.subject(request.uri))
    deadlines.append((key, ResolverLoop.now.advanced(byMilliseconds: configuration.locationMilliseconds)))
    counts.locations += 1
    step(key) { $0.start(into: &$1) }
  }

  /// Moves a machine and performs what it wants, answers from the cache included.
  private func step(_ key: UInt64, _ move: (inout LocationMachine, inout [LocationEffect]) -> Void) {
    guard var location = locations[key] else { return }
    var effects: [LocationEffect] = []
    move(&location.machine, &effects)
    let now = ResolverLoop.now
    var next = 0
    while next < effects.count {
      let effect = effects[next]
      next += 1
      switch effect {
      case .finished(let result):
        locations[key] = nil
        finish(location, result)
        return
      case .ask(let question):
        if let answer = known(question, at: now) ?? unanswered(question, at: now) {
          location.observer?(question, answer)
          location.machine.handle(answer, to: question, into: &effects)
        } else {
          ask(question, for: key)
        }
      }
    }
    locations[key] = location
  }

  private func known(_ question: DNSQuestion, at now: MonotonicInstant) -> DNSAnswer? {
    if let answer = cache.answer(to: question, at: now) {
      counts.cacheHits += 1
      return answer
    }
    guard configuration.usesHostsFile else { return nil }
    let addresses = channel.hostsFileAddresses(question)
    guard !addresses.isEmpty else { return nil }
    return cache.remember(.addresses(addresses), to: question, seconds: nil, at: now)
  }

  /// The stale answer to a question that its servers have not answered in time.
  private func unanswered(_ question: DNSQuestion, at now: MonotonicInstant) -> DNSAnswer? {
    waiting[question]?.isEmpty == true ? cache.staleAnswer(to: question, at: now) : nil
  }

  private func finish(_ location: Location, _ result: LocationResult) {
    inbox.finished(counts, locations: 1)
    location.answer(result)
  }

  private func end(_ key: UInt64, _ kind: LocationFailure.Kind) {
    guard let location = locations.removeValue(forKey: key) else { return }
    finish(location, .failed(LocationFailure(kind, location.subject)))
  }

  private func giveUpOverdue() {
    let now = ResolverLoop.now
    while let first = deadlines.first, first.at <= now || locations[first.location] == nil {
      deadlines.removeFirst()
      end(first.location, .nameServersUnreachable)
    }
    if deadlines.isEmpty { deadlines = [] }
  }

  // MARK: Questions

  private func ask(_ question: DNSQuestion, for key: UInt64) {
    if let others = waiting[question] {
      waiting[question] = others + [key]
      return
    }
    waiting[question] = [key]
    let now = ResolverLoop.now
    if cache.staleAnswer(to: question, at: now) != nil {
      patience.append((question, now.advanced(byMilliseconds: configuration.staleAfterMilliseconds)))
    }
    if questionsUnderWay < configuration.questions { send(question) } else { queue.append(question) }
  }

  /// Answers those who have waited long enough for servers that say nothing (RFC 8767 section 5).
  private func goOnWithStale() {
    let now = ResolverLoop.now
    while let first = patience.first, first.at <= now {
      patience.removeFirst()
      guard let keys = waiting[first.question], let answer = cache.staleAnswer(to: first.question, at: now) else {
        continue
      }
      waiting[first.question] = []
      for key in keys {
        locations[key]?.observer?(first.question, answer)
        step(key) { $0.handle(answer, to: first.question, into: &$1) }
      }
    }
    if patience.isEmpty { patience = [] }
  }

  private func send(_ question: DNSQuestion) {
    questionsUnderWay += 1
    counts.questions += 1
    channel.ask(question)
  }

  private func readArrivals() {
    while true {
      let arrivals = channel.drainArrivals()
      guard !arrivals.isEmpty else { return }
      for arrival in arrivals {
        questionsUnderWay -= 1
        let answer = cache.remember(
          arrival.reading.answer, to: arrival.question, seconds: arrival.reading.seconds, at: ResolverLoop.now)
        for key in waiting.removeValue(forKey: arrival.question) ?? [] {
          locations[key]?.observer?(arrival.question, answer)
          step(key) { $0.handle(answer, to: arrival.question, into: &$1) }
        }
      }
      while questionsUnderWay < max(1, configuration.questions), let question = queue.popFirst() {
        // Whoever wanted it may have given up meanwhile.
        if waiting[question, default: []].contains(where: { locations[$0] != nil }) {
          send(question)
        } else {
          waiting[question] = nil
        }
      }
      if queue.isEmpty { queue = [] }
    }
  }
}
