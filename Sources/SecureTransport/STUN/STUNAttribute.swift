/// Attribute types (RFC 8489 section 18.3, RFC 8445 section 16.1).
package enum STUNAttribute: UInt16 {
  case mappedAddress = 0x0001
  case userName = 0x0006
  case messageIntegrity = 0x0008
  case errorCode = 0x0009
  case unknownAttributes = 0x000A
  case realm = 0x0014
  case nonce = 0x0015
  case messageIntegritySHA256 = 0x001C
  case passwordAlgorithm = 0x001D
  case userHash = 0x001E
  case xorMappedAddress = 0x0020
  case priority = 0x0024
  case useCandidate = 0x0025
  case software = 0x8022
  case fingerprint = 0x8028
  case iceControlled = 0x8029
  case iceControlling = 0x802A

  /// One below this must be understood, or the request is refused with 420.
  package static let firstOptional: UInt16 = 0x8000
}

/// The 96 bits that pair a response with its request.
package struct STUNTransaction: Hashable, Sendable {
  package let high: UInt32
  package let low: UInt64

  package init(high: UInt32, low: UInt64) {
    self.high = high
    self.low = low
  }
}
