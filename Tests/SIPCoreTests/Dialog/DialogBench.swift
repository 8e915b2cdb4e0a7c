import CallModel
import SIPCore

/// A dialog session between a recording context and a peer of the test's own hand, on virtual time.
final class DialogBench {
  let context: RecordingContext
  let session: DialogSession
  private var nextServerTransaction: UInt64 = 0
  /// Whether a deadline stood still.
  private(set) var isStuck = false
  /// Requests of the peer so far.
  var served: Int { Int(nextServerTransaction) }

  /// - Parameters:
  ///   - isCaller: Our INVITE had the number 1 and an offer.
  ///   - allow: What the peer's 200 or INVITE says in Allow.
  init(
    isCaller: Bool = true, offersFirst: Bool = true, timer: UInt32? = nil, digest: DigestClient? = nil,
    allowsTransfer: Bool = false, draw: UInt64 = 5
  ) {
    context = RecordingContext(draw: draw)
    let dialog = Dialog(
      id: DialogID(callID: "c1", localTag: "us", remoteTag: "them"),
      local: NameAddress(TestPeer.uri("we"), parameters: [SIPParameter("tag", "us")]),
      remote: NameAddress(TestPeer.uri("peer"), parameters: [SIPParameter("tag", "them")]),
      remoteTarget: TestPeer.uri("early"), routeSet: [], contact: NameAddress(TestPeer.uri("we", "us.example")),
      localSequence: 1, remoteSequence: nil, path: TestPeer.path, isEarly: true)
    var offers = OfferAnswerState()
    _ = offers.send(.invite, description: offersFirst)
    session = DialogSession(
      dialog: dialog, call: TestPeer.call, isCaller: isCaller, context: context,
      settings: DialogSettings(
        digest: digest, sessionTimer: SessionTimerPolicy(interval: timer), allowsTransfer: allowsTransfer,
        offers: offers, localDescription: offersFirst ? TestPeer.description("offer") : nil))
  }

  /// A call of ours that was answered.
  static func confirmed(
    timer: UInt32? = nil, digest: DigestClient? = nil, allowsTransfer: Bool = false, isCaller: Bool = true,
    fields: [(String, String)] = []
  ) -> DialogBench {
    let bench = DialogBench(isCaller: isCaller, timer: timer, digest: digest, allowsTransfer: allowsTransfer)
    bench.session.confirm(with: TestPeer.response(200, .invite, 1, fields, body: "answer"), ackBody: nil)
    _ = bench.context.drainLines()
    return bench
  }

  func drainLines() -> [String] { context.drainLines() }

  /// A request of the peer in a transaction of its own, counted from 1.
  @discardableResult
  func request(
    _ method: SIPMethod, _ number: UInt32, _ fields: [(String, String)] = [], body: String? = nil,
    type: String = "application/sdp", contact: String? = "peer"
  ) -> TransactionID {
    nextServerTransaction += 1
    let transaction = TransactionID(nextServerTransaction)
    session.receive(
      TestPeer.request(method, number, fields, body: body, type: type, contact: contact), transaction,
      from: TestPeer.path)
    return transaction
  }

  /// The peer's response to our last request of this method.
  func response(
    _ status: Int, _ method: SIPMethod, _ number: UInt32, _ fields: [(String, String)] = [], body: String? = nil,
    contact: String? = "peer"
  ) {
    session.receive(
      TestPeer.response(status, method, number, fields, body: body, contact: contact),
      of: context.transaction(method), from: TestPeer.path)
  }

  func acknowledge(_ number: UInt32, body: String? = nil) {
    session.receive(acknowledgement: TestPeer.request(.ack, number, body: body), from: TestPeer.path)
  }

  func fail(_ method: SIPMethod, _ failure: TransactionFailure) {
    session.failed(context.transaction(method), failure)
  }

  /// Lets time pass from deadline to deadline, and says so where something was due.
  func pass(_ milliseconds: Int64) {
    let end = context.now.advanced(byMilliseconds: milliseconds)
    var rounds = 0
    while let deadline = session.nextDeadline, deadline <= end, rounds < 1000 {
      rounds += 1
      context.now = max(context.now, deadline)
      session.advance()
    }
    if rounds == 1000 { isStuck = true }
    context.now = end
  }
}
