/// How something is fetched whose address others chose.
public struct WebFetchPolicy: Hashable, Sendable {
  /// Which addresses may be reached.
  public var gate: AddressGate
  /// Who may sign the certificates of web servers, each a text in PEM; `nil` for those whom the system trusts.
  public var authorities: [[UInt8]]?

  /// By default public addresses alone are reached, and the system's authorities are trusted.
  public init(gate: AddressGate = AddressGate(), authorities: [[UInt8]]? = nil) {
    self.gate = gate
    self.authorities = authorities
  }
}
