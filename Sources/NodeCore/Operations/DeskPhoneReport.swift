public import CallModel

/// A desk phone as it is now.
public struct DeskPhoneReport: Hashable, Sendable {
  /// Where a desk phone can be reached.
  public struct Registration: Hashable, Sendable {
    /// Where it came from: `udp:192.0.2.7:5060`.
    public var address: String
    /// What it registered: `sip:lobby@10.0.0.7:5060`.
    public var contact: String
    /// Until it ends unless it is refreshed.
    public var expiresInSeconds: Int64
    /// What the telephone calls itself; empty for nothing.
    public var userAgent: String

    public init(address: String, contact: String, expiresInSeconds: Int64, userAgent: String) {
      self.address = address
      self.contact = contact
      self.expiresInSeconds = expiresInSeconds
      self.userAgent = userAgent
    }
  }

  public var row: DeskPhone
  /// Whether it stands in the configuration, so that it can only be changed there.
  public var isConfigured: Bool
  /// The one that was refreshed last stands last; none after a restart, until the telephone registers again.
  public var registrations: [Registration]

  public init(row: DeskPhone, isConfigured: Bool, registrations: [Registration] = []) {
    self.row = row
    self.isConfigured = isConfigured
    self.registrations = registrations
  }
}

/// A desk phone that is to be made, or to take the place of one.
public struct DeskPhoneOrder: Hashable, Sendable {
  public var name: String
  /// Key of the application that the user belongs to.
  public var application: String
  public var user: UserID
  /// Country calling code; `nil` for none.
  public var country: Int?
  /// `nil` where the one that there is stays.
  public var password: Redacted<String>?

  public init(
    name: String, application: String, user: UserID, country: Int? = nil, password: Redacted<String>? = nil
  ) {
    self.name = name
    self.application = application
    self.user = user
    self.country = country
    self.password = password
  }
}
