import AppProtocol
import CallEngine
import CallModel
import CallStory
import LandlineHTTP
import LandlineNode
import LedgerCore
import NodeCore
import Synchronization

/// A gateway of the test's own making.
final class FakeOperations: GatewayOperations {
  struct State: Sendable {
    var live: [CallSnapshot] = []
    var orders: [OriginateOrder] = []
    var outcome: Result<CallID, CallFailure> = .success(CallID(unchecked: "call-1"))
    var status = NodeStatus(
      version: "1", node: "gw-1", startedAt: Instant(milliseconds: 0), isReady: true, isDraining: false, liveCalls: 0,
      sessions: 0, problems: [])
    var trunks: [TrunkReport] = []
    var hungUp: [CallID] = []
    var rooms: [RoomReport] = []
    var roomOrders: [RoomOrder] = []
    var callOrders: [CallOrder] = []
    var refusal: CallFailure?
    var said: [SpokenWords] = []
    var saying: SayingOutcome = .said(milliseconds: 1_500)
    var causes: [Int] = []
    var quotes: [E164Number: NumberQuote] = [:]
    var present: [UserID: UserPresence] = [:]
    var numbers: [NumberReport] = []
    var deskPhones: [DeskPhoneReport] = []
    var deskPhoneOrders: [DeskPhoneOrder] = []
    /// Who changed numbers.
    var changes: [String] = []
    var change: RowChange?
    var inboundOrders: [InboundCallOrder] = []
    /// What a call of the far end comes to; `nil` where it cannot call.
    var inboundSteps: [InboundCallStep]? = []
    var watchers: [AsyncStream<CallSnapshot>.Continuation] = []
  }

  private let state = Mutex(State())
  private let stores: [String: EnvironmentStores]

  func with<Answer: Sendable>(_ body: (inout State) -> Answer) -> Answer {
    state.withLock { state in body(&state) }
  }

  init(stores: [String: EnvironmentStores] = [:]) { self.stores = stores }

  func liveCalls(environment: String?) async -> [CallSnapshot] {
    state.withLock { $0.live.filter { environment == nil || $0.environment == environment } }
  }
  func liveCall(_ id: CallID) async -> CallSnapshot? { state.withLock { $0.live.first { $0.id == id } } }
  func trace(of call: CallID) async -> CallTrace? { nil }
  func callChanges() async -> AsyncStream<CallSnapshot> {
    let (stream, continuation) = AsyncStream.makeStream(of: CallSnapshot.self)
    state.withLock { $0.watchers.append(continuation) }
    return stream
  }
  func change(_ call: CallSnapshot) { state.withLock { for watcher in $0.watchers { watcher.yield(call) } } }
  func order(_ order: CallOrder, _ id: CallID, by actor: String) async -> CallFailure? {
    state.withLock { state in
      guard state.refusal == nil else { return state.refusal }
      state.callOrders.append(order)
      return nil
    }
  }
  func hangUp(_ id: CallID, by actor: String, cause: Int) async -> Bool {
    state.withLock { state in
      state.causes.append(cause)
      guard state.live.contains(where: { $0.id == id }) else { return false }
      state.live.removeAll { $0.id == id }
      state.hungUp.append(id)
      return true
    }
  }
  func originate(_ order: OriginateOrder) async -> Result<CallID, CallFailure> {
    state.withLock { state in
      state.orders.append(order)
      return state.outcome
    }
  }
  func conferences(environment: String) async -> [RoomReport] {
    state.withLock { $0.rooms.filter { $0.key.environment == environment } }
  }
  func conference(_ room: RoomKey, _ order: RoomOrder, by actor: String) async -> RoomOutcome {
    state.withLock { state in
      guard let index = state.rooms.firstIndex(where: { $0.key == room }) else { return .unknown }
      let before = state.rooms[index]
      if let refusal = before.refusal(of: order) { return .refused(refusal) }
      state.roomOrders.append(order)
      switch order {
      case .lock(let isLocked): state.rooms[index].isLocked = isLocked
      case .tones(let isOn): state.rooms[index].hasTones = isOn
      case .keys(let keys): state.rooms[index].keys = keys
      case .record(.begin(let options), _):
        state.rooms[index].recording = RunningRecording(
          id: RecordingID(unchecked: "recording-1"), options, startedAt: Instant(milliseconds: 1_000))
      case .record(.pause(let isOn), _): state.rooms[index].recording?.isPaused = isOn
      case .record(.end, _): state.rooms[index].recording = nil
      case .say, .stopSaying: break
      case .end: state.rooms.remove(at: index)
      case .kick(let number): state.rooms[index].participants.removeAll { $0.number == number }
      case .silence(let number, let isOn):
        for place in before.participants.indices where before.participants[place].number == number {
          state.rooms[index].participants[place].isSilenced = isOn
        }
      case .deafen(let number, let isOn):
        for place in before.participants.indices where before.participants[place].number == number {
          state.rooms[index].participants[place].isDeaf = isOn
        }
      }
      return .done
    }
  }
  func say(_ words: SpokenWords, in place: SayingPlace, by actor: String) async -> SayingOutcome {
    state.withLock { state in
      state.said.append(words)
      return state.saying
    }
  }
  func trunks() async -> [TrunkReport] { state.withLock { $0.trunks } }
  func status() async -> NodeStatus { state.withLock { $0.status } }
  func environment(_ name: String) -> EnvironmentStores? { stores[name] }
  func quote(_ number: E164Number, account: AccountName, environment: String) async throws -> NumberQuote {
    state.withLock { $0.quotes[number] } ?? .refused(.noRate)
  }
  func defaultCountries(of account: AccountName, environment: String) async -> [Int]? { nil }
  func emergencyCodes(environment: String, callerNumber: E164Number?) async -> Set<String> {
    EmergencyNumber.codes(ofCaller: callerNumber)
  }
  func presence(of user: UserID, application: String) async -> UserPresence {
    state.withLock { $0.present[user] } ?? .unknown
  }
  func numbers(environment: String) async -> [NumberReport] {
    environment == "production" ? state.withLock { $0.numbers } : []
  }
  func setNumber(_ number: InboundNumber, environment: String, by actor: String) async throws -> RowChange {
    try number.check()
    return state.withLock { state in
      if let change = state.change { return change }
      state.changes.append("\(environment) set \(number.number) by \(actor)")
      let wasThere = state.numbers.contains { $0.row.number == number.number }
      state.numbers.removeAll { $0.row.number == number.number }
      state.numbers.append(NumberReport(row: number, isConfigured: false, liveCalls: 0))
      state.numbers.sort { $0.row.number.value < $1.row.number.value }
      return wasThere ? .replaced : .made
    }
  }
  func removeNumber(_ number: E164Number, environment: String, by actor: String) async throws -> RowChange {
    state.withLock { state in
      if let change = state.change { return change }
      guard state.numbers.contains(where: { $0.row.number == number }) else { return .unknown }
      state.changes.append("\(environment) removed \(number) by \(actor)")
      state.numbers.removeAll { $0.row.number == number }
      return .removed
    }
  }
  func deskPhones(environment: String) async -> [DeskPhoneReport] {
    environment == "production" ? state.withLock { $0.deskPhones } : []
  }
  func setDeskPhone(_ order: DeskPhoneOrder, environment: String, by actor: String) async throws -> RowChange {
    try state.withLock { state in
      if let change = state.change { return change }
      let former = state.deskPhones.first { $0.row.name == order.name }
      guard order.password != nil || former != nil else {
        throw InvalidValue(kind: "desk phone", rule: "phone.password", offset: nil, problem: "", accepted: "")
      }
      state.changes.append("\(environment) set \(order.name) by \(actor)")
      state.deskPhoneOrders.append(order)
      state.deskPhones.removeAll { $0.row.name == order.name }
      let keys = former?.row.keys ?? PhoneKeys(sha256: Redacted("s"), md5: Redacted("m"))
      state.deskPhones.append(
        DeskPhoneReport(
          row: DeskPhone(
            name: order.name, application: order.application, user: order.user, country: order.country, keys: keys),
          isConfigured: false))
      return former == nil ? .made : .replaced
    }
  }
  func removeDeskPhone(_ name: String, environment: String, by actor: String) async throws -> RowChange {
    state.withLock { state in
      if let change = state.change { return change }
      guard state.deskPhones.contains(where: { $0.row.name == name }) else { return .unknown }
      state.changes.append("\(environment) removed \(name) by \(actor)")
      state.deskPhones.removeAll { $0.row.name == name }
      return .removed
    }
  }
  func place(_ order: InboundCallOrder) -> AsyncStream<InboundCallStep>? {
    state.withLock { state in
      state.inboundOrders.append(order)
      return state.inboundSteps.map { steps in
        AsyncStream { continuation in
          for step in steps { continuation.yield(step) }
          continuation.finish()
        }
      }
    }
  }
  var environmentNames: [String] { stores.keys.sorted() }
}

/// Bearer `operator` rules, `app` is the application of the account `acme` and `owner` its owner, `stray` belongs to an
/// unknown environment. Pages can sign in with `operator`, `owner` and `stray`.
struct FakeAuthenticator: RESTAuthenticator {
  static let owner = RESTPrincipal(
    environment: "production", actor: "owner:ann", role: .owner(account: AccountName(unchecked: "acme")))

  func principal(ofKey digest: [UInt8]) async -> RESTPrincipal? {
    for key in ["operator", "owner", "stray"] where RESTService.digest(Array(key.utf8)) == digest {
      var request = RESTRequest(method: "GET", path: "/")
      request.headers = [("authorization", "Bearer \(key)")]
      return await authenticate(request)
    }
    return nil
  }

  func authenticate(_ request: RESTRequest) async -> RESTPrincipal? {
    switch request.header("authorization") {
    case "Bearer operator": RESTPrincipal(environment: "production", actor: "rest:alice", role: .operator)
    case "Bearer second": RESTPrincipal(environment: "production", actor: "rest:bob", role: .operator)
    case "Bearer app":
      RESTPrincipal(
        environment: "production", actor: "app:one", role: .application(account: AccountName(unchecked: "acme")))
    case "Bearer owner": FakeAuthenticator.owner
    case "Bearer stray": RESTPrincipal(environment: "nowhere", actor: "rest:eve", role: .operator)
    default: nil
    }
  }
}

final class FakeRecords: CallRecordStore {
  private let records = Mutex<[CallRecord]>([])

  init(_ records: [CallRecord] = []) { self.records.withLock { $0 = records } }

  func submit(_ record: CallRecord, _ completion: @escaping @Sendable ((any Error)?) -> Void) {
    records.withLock { $0.append(record) }
    completion(nil)
  }
  func submit(
    _ statistics: [String: Double], to call: CallID, _ completion: @escaping @Sendable ((any Error)?) -> Void
  ) { completion(nil) }
  func record(_ call: CallID) async throws -> CallRecord? { records.withLock { $0.first { $0.call.id == call } } }
  func records(_ query: CallRecordQuery) async throws -> CallRecordPage {
    let found = records.withLock { $0.filter { query.account == nil || $0.call.account == query.account } }
    return CallRecordPage(records: Array(found.prefix(query.limit)), next: found.count > query.limit ? "next" : nil)
  }
  func prune(before instant: Instant) async throws -> Int { 0 }
  func dropStatistics(before instant: Instant) async throws -> Int { 0 }
}

/// Keys in memory; `gate` holds every request in the middle until it is opened.
final class FakeIdempotency: IdempotencyStore {
  private struct Entry {
    var digest: [UInt8]
    var answer: (status: Int, body: [UInt8])?
  }

  private let entries = Mutex<[String: Entry]>([:])

  func begin(_ key: String, scope: String, digest: [UInt8], now: Instant) async throws -> IdempotencyState {
    entries.withLock { entries in
      guard let entry = entries["\(scope) \(key)"] else {
        entries["\(scope) \(key)"] = Entry(digest: digest)
        return .fresh
      }
      guard entry.digest == digest else { return .conflict }
      return entry.answer.map { .finished(status: $0.status, body: $0.body) } ?? .running
    }
  }
  func finish(_ key: String, scope: String, status: Int, body: [UInt8]) async throws {
    entries.withLock { $0["\(scope) \(key)"]?.answer = (status, body) }
  }
  func abandon(_ key: String, scope: String) async throws { entries.withLock { $0["\(scope) \(key)"] = nil } }
}
