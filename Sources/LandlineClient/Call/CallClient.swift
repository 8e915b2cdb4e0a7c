import CallModel

/// Places calls, and tells of calls for the user.
///
/// A call for the user comes while the client listens: first to
/// ``CallClientDelegate/callClient(_:willReceiveIncomingCall:)``, then, with the app in front, as ``incoming`` and to
/// ``CallClientDelegate/callClient(_:didReceiveIncomingCall:)``.
///
/// Every method that places a call gives a ``Call`` at once, in state `initiating`, or throws for a mistake in its arguments
/// (``ArgumentError``) or its time (``UsageError``); everything later is an event of the call.
public struct CallClient: Sendable {
  private let client: Client

  init(_ client: Client) { self.client = client }

  // MARK: To be called

  /// Calls for the user ring on this device from now on, see ``Client/startListeningOnActiveConnection()``.
  public func startListening() { client.startListeningOnActiveConnection() }

  /// Calls for the user do not ring on this device any more, see ``Client/stopListeningOnActiveConnection()``.
  public func stopListening() { client.stopListeningOnActiveConnection() }

  /// Whether calls for the user are wanted.
  public var isListening: Bool { client.isListeningOnActiveConnection }

  /// Held weakly.
  public var delegate: (any CallClientDelegate)? {
    get { client.callDelegate }
    nonmutating set { client.callDelegate = newValue }
  }

  /// A stream of the calls for the user from now on, and of those that nobody took. Take it before ``Client/start()`` to
  /// miss nothing.
  public var events: AsyncStream<CallClientEvent> { client.callEvents }

  /// The calls for the user alone, from now on. Take it before ``Client/start()`` to miss nothing.
  public var incoming: AsyncCompactMapSequence<AsyncStream<CallClientEvent>, Call> {
    events.compactMap { if case .incoming(let call) = $0 { call } else { nil } }
  }

  // MARK: To call

  /// Calls a telephone.
  /// - Parameters:
  ///   - phoneNumber: `+` and digits (E.164), or an emergency number.
  ///   - headers: Names that start with `x-`; 1024 bytes of names and values together.
  ///   - callerNumber: The number to show, E.164; `nil` for the application's own.
  ///   - isAnonymous: The number is withheld from the callee.
  public func callPhoneNumber(
    _ phoneNumber: String, headers: [String: String] = [:], callerNumber: String? = nil, isAnonymous: Bool = false
  ) throws -> Call {
    let destination: Destination
    if let emergency = try? EmergencyNumber(phoneNumber) {
      destination = .emergency(emergency)
    } else {
      destination = .phone(
        try ArgumentError.checked("phoneNumber") { () throws(InvalidValue) in try E164Number(phoneNumber) })
    }
    let caller = try callerNumber.map { number in
      try ArgumentError.checked("callerNumber") { () throws(InvalidValue) in try E164Number(number) }
    }
    return try place(destination, headers, callerNumber: caller, isAnonymous: isAnonymous)
  }

  /// Calls a SIP address: `user@domain`, `sip:user@domain`.
  public func callSIP(_ address: String, headers: [String: String] = [:]) throws -> Call {
    try place(
      .sip(try ArgumentError.checked("address") { () throws(InvalidValue) in try SIPAddress(address) }), headers)
  }

  /// Calls another user of the application: its devices that listen ring, and the first that answers is called.
  ///
  /// A call that meets one from that very user at the same moment fails with ``CallFailureCode/crossed``, and
  /// ``Call/crossingCall`` is the one to answer.
  public func callUser(_ user: String, headers: [String: String] = [:]) throws -> Call {
    try place(.user(try self.user(user)), headers)
  }

  /// Calls another user of the application and offers video.
  public func callUserVideo(_ user: String, headers: [String: String] = [:]) throws -> Call {
    try place(.user(try self.user(user)), headers, wantsVideo: true)
  }

  /// Joins a conference room: an id of at most 64 printable characters.
  public func callConference(_ id: String, headers: [String: String] = [:]) throws -> Call {
    try place(
      .conference(try ArgumentError.checked("id") { () throws(InvalidValue) in try ConferenceID(id) }), headers)
  }

  private func user(_ text: String) throws(ArgumentError) -> UserID {
    let rules = client.options.userRules
    return try ArgumentError.checked("user") { () throws(InvalidValue) in try UserID(text, rules: rules) }
  }

  private func place(
    _ destination: Destination, _ headers: [String: String], callerNumber: E164Number? = nil,
    isAnonymous: Bool = false, wantsVideo: Bool = false
  ) throws -> Call {
    // A dictionary has no order of its own; the wire has one.
    let checked = try ArgumentError.checked("headers") { () throws(InvalidValue) in
      try CustomHeaders(
        headers.sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value) }, names: destination.kind.headerNames)
    }
    return try client.place(
      destination, headers: checked, callerNumber: callerNumber, isAnonymous: isAnonymous, wantsVideo: wantsVideo)
  }
}
