public import Foundation

/// PEM files of a certificate and of its key.
public struct IssuedCertificate: Sendable {
  public let certificate: URL
  public let key: URL
}
