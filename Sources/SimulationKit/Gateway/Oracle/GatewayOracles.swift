import AppProtocol
import CallEngine
import CallModel
import Foundation
import LedgerCore
import SIPCore

/// What is known of every call from outside, and the rules that it must keep.
final class GatewayOracles {
  /// One call, as its effects and the ledger's answers tell it.
  struct Life {
    var life = 0
    var account = ""
    var prepared = 0
    var closed = 0
    var placed = 0
    var told: [SessionID: Told] = [:]
    var records = 0
    var authorised = 0
    var spooledAnswers = 0
    var ends = 0
    var granted = false
    var resolved = 0
    /// Whom the call is for.
    var destination = ""
    /// `nil` for calls to numbers.
    var user: UserCall?
    var state = CallState.initiating
    /// When the bill began: the first answer that went to the ledger.
    var answeredAt: MonotonicInstant?
    var mutedAt: MonotonicInstant?
    var closedAt: MonotonicInstant?
    var lastSound: [LegID: MonotonicInstant] = [:]
    var sipCallIDs: Set<String> = []
    /// The node was killed while the call was up, or so soon after it that something may still have been under way.
    var isOrphaned = false
    /// How long the node stood still during the call.
    var stalledMilliseconds: Int64 = 0
  }

  /// One side of a trunk's dialog, by Call-ID and the trunk's tag.
  struct Dialog {
    var life: Int
    var answeredAt: MonotonicInstant
    var byesSent: Set<String> = []
    var hasByeCome = false
    /// The other end knows nothing of it any more, or never did: 481 (RFC 5057 section 5.1).
    var isUnknown = false
    /// The node was killed before it had to be over, or its INVITE had been given up when the answer came: it is left to
    /// the carrier, who gets no ACK.
    var isOrphaned = false

    var isOver: Bool { hasByeCome || isUnknown || !byesSent.isEmpty }
  }

  var calls: [CallID: Life] = [:]
  private(set) var dialogs: [String: Dialog] = [:]
  private var dialogNames: [String: [String]] = [:]
  /// SIP's Call-IDs whose INVITE was answered with success.
  private var answeredSIP: Set<String> = []
  private var owedByes: [(name: String, call: CallID, due: MonotonicInstant)] = []
  /// 64 × T1, and a second for what is on its way.
  private static let byeMilliseconds: Int64 = 33_000
  /// The life that sent the INVITE, by SIP's Call-ID: a later one knows nothing of the answer.
  private var diallers: [String: Int] = [:]

  /// A transaction that calls somebody: over when nothing was heard for 64 × T1 (RFC 3261 section 17.1.1.2).
  private struct Invite {
    let branch: String
    let sentAt: MonotonicInstant
    var isHeard = false
  }
  /// The first of each call, by Call-ID, and the later ones of another branch before there was an answer.
  private var invites: [String: Invite] = [:]
  private static let inviteMilliseconds: Int64 = 32_000

  private func heardInTime(_ callID: String, at now: MonotonicInstant) -> Bool {
    guard let invite = invites[callID] else { return false }
    if now.milliseconds(since: invite.sentAt) < Self.inviteMilliseconds { invites[callID]?.isHeard = true }
    return invites[callID]?.isHeard ?? false
  }
  private(set) var checks: [String: Int] = [:]
  /// The newest life sign of each life that the ledger took.
  private(set) var lastBeats: [Int: MonotonicInstant] = [:]
  /// From the close of a call until its record is kept and all is told: the ledger may be away meanwhile.
  private static let aftermathMilliseconds: Int64 = 300_000
  var topUps: [Int: MicroUnits] = [:]
  /// The mixer's room of each call that is in one, and the conference that had a room, of this life of the node.
  var places: [CallID: UInt64] = [:]
  var conferences: [UInt64: RoomKey] = [:]
  private var secrets: [(bytes: [UInt8], isTold: Bool)] = []
  private(set) var records: [CallID: CallRecord] = [:]

  func checked(_ rule: String) { checks[rule, default: 0] += 1 }
  func change(_ call: CallID, _ body: (inout Life) -> Void) { body(&calls[call, default: Life()]) }
  /// - Parameter isTold: Whether an app is told it, once: then it is looked for in texts for people alone.
  func plant(_ secret: String, isTold: Bool = false) {
    secrets.append((Array(secret.utf8), isTold))
  }
  func beat(_ life: Int, at now: MonotonicInstant) { lastBeats[life] = now }

  /// Whatever was under way is lost; what was over before is judged as ever.
  func killed(_ life: Int, in scene: GatewayScene) {
    checkOwedByes(in: scene)
    places = [:]
    conferences = [:]
    for (call, known) in calls where known.life == life {
      if let closedAt = known.closedAt, scene.now.milliseconds(since: closedAt) > Self.aftermathMilliseconds {
        continue
      }
      calls[call]?.isOrphaned = true
    }
    for (name, dialog) in dialogs where dialog.life == life && !dialog.isOver { dialogs[name]?.isOrphaned = true }
  }

  func stalled(_ life: Int, milliseconds: Int64) {
    for (call, known) in calls where known.life == life && known.closedAt == nil {
      calls[call]?.stalledMilliseconds += milliseconds
    }
  }

  func toppedUp(_ account: Int, _ micros: MicroUnits) { topUps[account, default: 0] += micros }

  // MARK: Calls

  func began(_ snapshot: CallSnapshot, life: Int) {
    change(snapshot.id) {
      $0.life = life
      $0.account = snapshot.account.text
      $0.destination = snapshot.destination
      if snapshot.kind == .user { $0.user = UserCall() }
    }
  }

  /// An INVITE with this Call-ID is about to be sent.
  func dials(_ sipCallID: String, _ call: CallID, life: Int, in scene: GatewayScene) {
    diallers[sipCallID] = life
    change(call) { $0.sipCallIDs.insert(sipCallID) }
    // Fail closed: nobody is dialled without credit that is held.
    checked("fail closed")
    let hold = scene.ledger.hold(account: calls[call]?.account ?? "", call: call)
    // The lease may have ended in between: then the hold is over, and the node about to hear of it.
    if hold == nil { scene.fail("fail closed", "call \(call) is dialled and has no hold") }
  }

  func changed(_ snapshot: CallSnapshot, in scene: GatewayScene) {
    checked("states")
    guard let former = calls[snapshot.id]?.state else { return }
    if former > snapshot.state { scene.fail("states", "call \(snapshot.id): \(snapshot.state) after \(former)") }
    if former == .ended { scene.fail("states", "call \(snapshot.id) is seen after its end") }
    change(snapshot.id) { $0.state = snapshot.state }
  }

  // MARK: Money

  /// The node asks the ledger for an operation.
  /// - Parameter uptime: when the operation was made.
  func asked(_ operation: CallOperation, uptime: Int64?, in scene: GatewayScene) {
    change(operation.call) { life in
      switch operation.phase {
      case .authorise: life.authorised += 1
      case .settle, .void: life.ends += 1
      case .answer:
        if life.answeredAt == nil { life.answeredAt = uptime.map { MonotonicInstant(milliseconds: $0) } ?? scene.now }
      case .extend, .recover: break
      }
    }
    checked("steps")
    guard let life = calls[operation.call] else { return }
    if life.authorised != 1 { scene.fail("steps", "call \(operation.call) is authorised \(life.authorised) times") }
    if life.ends > 1 { scene.fail("steps", "call \(operation.call) ends \(life.ends) times at the ledger") }
  }

  /// An answer or an end goes to disk.
  func spooled(_ operation: CallOperation, uptime: Int64?, in scene: GatewayScene) {
    checked("spool")
    guard case .answer = operation.phase else { return }
    change(operation.call) { life in
      if life.answeredAt == nil { life.answeredAt = uptime.map { MonotonicInstant(milliseconds: $0) } ?? scene.now }
      life.spooledAnswers += 1
    }
    if let life = calls[operation.call], life.spooledAnswers > 1 {
      scene.fail("spool", "the answer of call \(operation.call) is spooled \(life.spooledAnswers) times")
    }
  }

  /// What the ledger did; each hold ends exactly once.
  func answered(_ call: CallOperation, _ receipt: LedgerReceipt, in scene: GatewayScene) {
    // The ledger may go away again before the call hears that its answer is there, which then asks once more.
    if case .answer = call.phase { change(call.call) { $0.spooledAnswers = 0 } }
    guard !receipt.isReplay else { return }
    switch receipt.outcome {
    case .granted: change(call.call) { $0.granted = true }
    case .settled, .voided:
      checked("holds")
      change(call.call) { $0.resolved += 1 }
      if calls[call.call]?.resolved != 1 { scene.fail("holds", "the hold of call \(call.call) ends twice") }
    case .refused(.conflict): scene.fail("holds", "call \(call.call): another answer under the same key")
    case .refused, .changed, .posted, .answered: break
    }
  }

  // MARK: Media

  func closed(_ call: CallID, in scene: GatewayScene) {
    places[call] = nil
    change(call) {
      $0.closed += 1
      $0.closedAt = scene.now
    }
    guard let life = calls[call] else { return }
    if life.closed > 1 { scene.fail("media", "the media of call \(call) are closed twice") }
    guard let answeredAt = life.answeredAt,
      let hold = scene.ledger.hold(account: life.account, call: call)
    else { return }
    // Sound never outlasts what is paid for; a node that stands still carries none.
    checked("overrun")
    let carried = min(scene.now, life.mutedAt ?? scene.now).milliseconds(since: answeredAt)
    if carried > hold.grantedSeconds * 1000 + life.stalledMilliseconds {
      scene.fail("overrun", "call \(call) had sound for \(carried) ms on a grant of \(hold.grantedSeconds) s")
    }
  }

  // MARK: SIP on the wire

  private static func name(_ callID: String, _ tag: String) -> String { callID + " " + tag }

  func gatewayHeard(_ bytes: [UInt8], in scene: GatewayScene, life: Int) {
    guard let scan = WireScan(bytes, methods: ["BYE "]) else { return }
    if scan.status > 0, scan.status < 200 {
      _ = heardInTime(scan.callID, at: scene.now)
    } else if scan.status == 481 {
      dialogs[GatewayOracles.name(scan.callID, scan.toTag)]?.isUnknown = true
    } else if scan.status > 0 {
      let name = GatewayOracles.name(scan.callID, scan.toTag)
      answeredSIP.insert(scan.callID)
      if dialogs[name] == nil {
        let dialler = diallers[scan.callID] ?? life
        let isInTime = heardInTime(scan.callID, at: scene.now)
        dialogs[name] = Dialog(life: dialler, answeredAt: scene.now, isOrphaned: dialler != life || !isInTime)
        dialogNames[scan.callID, default: []].append(name)
      }
    } else {
      dialogs[GatewayOracles.name(scan.callID, scan.fromTag)]?.hasByeCome = true
    }
  }

  func gatewaySent(_ bytes: [UInt8], in scene: GatewayScene) {
    checkOwedByes(in: scene)
    secrets(bytes, .sip, in: scene)
    guard bytes.first == 0x42 || bytes.first == 0x49, let scan = WireScan(bytes, methods: ["BYE ", "INVITE "]) else {
      return
    }
    if scan.method == "INVITE" {
      if invites[scan.callID]?.branch != scan.branch, !answeredSIP.contains(scan.callID) {
        invites[scan.callID] = Invite(branch: scan.branch, sentAt: scene.now)
      }
      return
    }
    checked("BYE")
    let name = GatewayOracles.name(scan.callID, scan.toTag)
    dialogs[name]?.byesSent.insert(scan.branch)
    if let dialog = dialogs[name], dialog.byesSent.count > 1 {
      scene.fail("BYE", "the leg \(name) gets \(dialog.byesSent.count) BYEs")
    }
  }

  // MARK: Secrets

  /// Where bytes that leave the gateway are bound for.
  enum Place: String {
    case log, record, frame
    case sip = "SIP"

    /// Read by people, who must not even see what an app is told once.
    var isText: Bool { self == .log || self == .record }
  }

  func secrets(_ bytes: [UInt8], _ place: Place, in scene: GatewayScene) {
    checked("secrets")
    for secret in secrets where place.isText || !secret.isTold {
      if GatewayOracles.contains(bytes, secret.bytes) {
        scene.fail("secrets", "a secret stands in a \(place.rawValue)")
      }
    }
  }

  func appFrame(_ bytes: [UInt8], in scene: GatewayScene) { secrets(bytes, .frame, in: scene) }

  private static func contains(_ bytes: [UInt8], _ secret: [UInt8]) -> Bool {
    guard let first = secret.first, bytes.count >= secret.count else { return false }
    return bytes.withUnsafeBytes { bytes in
      secret.withUnsafeBytes { secret in
        guard var place = bytes.baseAddress, let wanted = secret.baseAddress else { return false }
        let end = place + bytes.count
        while end - place >= secret.count,
          let found = memchr(place, Int32(first), end - place - secret.count + 1)
        {
          if memcmp(found, wanted, secret.count) == 0 { return true }
          place = UnsafeRawPointer(found) + 1
        }
        return false
      }
    }
  }

  // MARK: Records

  /// One in so many records is searched to its last field; the others where texts of others can get in.
  private static let thoroughRecords = 16

  private func text(of record: CallRecord) -> String {
    guard records.count % Self.thoroughRecords != 0 else { return "\(record)" }
    var text = record.call.destination + "\n" + (record.callerNumber ?? "") + "\n" + (record.sipCallID ?? "")
    for line in record.story { text += "\n" + line.text }
    for flag in record.flags { text += "\n" + flag.rawValue }
    return text
  }

  func recorded(_ record: CallRecord, life: Int, in scene: GatewayScene) {
    checked("records")
    change(record.call.id) { $0.records += 1 }
    if calls[record.call.id]?.records != 1 { scene.fail("records", "call \(record.call.id) has two records") }
    records[record.call.id] = record
    checkReach(record, in: scene)
    secrets(Array(text(of: record).utf8), .record, in: scene)
    guard record.summary.cause == .hungUp, let life = calls[record.call.id] else { return }
    for name in life.sipCallIDs.sorted().flatMap({ dialogNames[$0] ?? [] }) {
      owedByes.append((name, record.call.id, scene.now.advanced(byMilliseconds: Self.byeMilliseconds)))
    }
  }

  /// Who hangs up says so on every leg: at once, or when the ACK to a 2xx of ours has come or is given up (RFC 3261
  /// section 15).
  private func checkOwedByes(in scene: GatewayScene) {
    while let owed = owedByes.first, owed.due <= scene.now {
      owedByes.removeFirst()
      guard let dialog = dialogs[owed.name], !dialog.isOver, !dialog.isOrphaned else { continue }
      scene.fail("BYE", "call \(owed.call) was hung up, and its leg \(owed.name) was not")
    }
  }

  func wasAnsweredOnTheWire(_ life: Life) -> Bool { life.sipCallIDs.contains { answeredSIP.contains($0) } }
}
