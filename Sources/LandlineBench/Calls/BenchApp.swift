import AppProtocol
import CallModel
import Foundation
import NIOCore

/// One app: a WebSocket with a registered session. Belongs to its event loop.
final class BenchApp {
  /// What the gateway says once the session stands.
  var told: ((ServerMessage) -> Void)?
  /// The connection is gone; nothing is told any more.
  var lost: ((String) -> Void)?

  private let socket: AppSocket
  private let ready: EventLoopPromise<Void>
  private var lastNumber: UInt64 = 0
  private var isRegistered = false
  private var isReadyTold = false
  private var isLost = false

  private init(_ socket: AppSocket, ready: EventLoopPromise<Void>) {
    self.socket = socket
    self.ready = ready
  }

  /// Connects as user `bench-NUMBER` and registers.
  /// - Parameter answering: Whether calls for the user ring here, and are answered at once.
  static func connect(
    port: UInt16, number: Int, answering: Bool = false, on loop: any EventLoop
  ) -> EventLoopFuture<NIOLoopBound<BenchApp>> {
    guard let registration = registration(number, answering: answering) else {
      return loop.makeFailedFuture(BenchProblem("the libcrypto of this machine has no SHA-1"))
    }
    return AppSocket.connect(port: port, on: loop).flatMap { socket in
      let app = BenchApp(socket.value, ready: loop.makePromise())
      let bound = NIOLoopBound(app, eventLoop: loop)
      // The socket is the app's own: both go together, once it is closed.
      socket.value.received = { app.received($0) }
      socket.value.closed = { _, why in app.end(why) }
      if answering { app.answerCalls() }
      app.register(registration)
      return app.ready.futureResult.map { bound }
    }
  }

  /// Scheme A: Base64 of SHA-1 over user, key, sequence and secret.
  static func registration(_ number: Int, answering: Bool = false) -> Registration? {
    let user = user(number)
    let sequence = UInt64(max(0, Date().timeIntervalSince1970 * 1_000_000))
    guard
      let signature = RegistrationSignature.compute(
        user: user, application: BenchGateway.applicationKey, sequence: sequence,
        secret: BenchGateway.applicationSecret)
    else { return nil }
    return Registration(
      application: BenchGateway.applicationKey, user: user, device: "bench",
      proof: .signature(signature, sequence: sequence), capabilities: [.calling],
      profile: answering
        ? DeviceProfile(features: [.incoming], isListening: true, busyRule: .waiting) : DeviceProfile())
  }

  static func user(_ number: Int) -> String { "bench-\(number)" }

  /// Offers sound while it rings and answers, as an app does where somebody waits for the call.
  private func answerCalls() {
    var answered = 0
    told = { [weak self] message in
      guard let self, case .event(.incoming(let call, _), _) = message else { return }
      answered += 1
      _ = send(.alert(call, offer: AppOffer(call: answered).text))
      _ = send(.accept(call, offer: nil, headers: []))
    }
  }

  private func register(_ registration: Registration) {
    write(.register(nextNumber(), registration, client: "landline-bench"))
  }

  /// Sends a request of the session.
  /// - Returns: The number of its reply; `nil` when the connection is gone.
  func send(_ request: AppRequest) -> RequestNumber? {
    guard !isLost else { return nil }
    let number = nextNumber()
    write(.request(number, request))
    return number
  }

  func close() { socket.drop() }

  private func nextNumber() -> RequestNumber {
    lastNumber += 1
    return RequestNumber(lastNumber)
  }

  private func write(_ message: ClientMessage) { socket.send(AppMessageCoder.encode(message)) }

  private func received(_ text: [UInt8]) {
    do {
      guard let message = try AppMessageCoder.decodeServer(text) else { return }
      if isRegistered {
        told?(message)
      } else if case .registered = message {
        isRegistered = true
        isReadyTold = true
        ready.succeed(())
      } else if case .error(_, let failure) = message {
        end("the registration was refused: \(failure)")
      }
    } catch {
      end("a message of the gateway cannot be read: \(error)")
    }
  }

  private func end(_ why: String) {
    isLost = true
    socket.received = nil
    if !isReadyTold {
      isReadyTold = true
      ready.fail(BenchProblem(why))
    }
    lost?(why)
    lost = nil
  }
}
