import CallModel

/// Places calls. Every method gives a ``Call`` at once, in state `initiating`, or throws for a mistake in its arguments
/// (``ArgumentError``) or its time (``UsageError``); everything later is an event of the call.
public struct CallClient: Sendable {
  private let client: Client

  init(_ client: Client) { self.client = client }

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

  /// Calls another user of the application.
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
