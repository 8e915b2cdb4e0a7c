import CallEngine
import CallModel
import SIPCore

// MARK: - Certificates of signed callers

extension NodeCore {
  /// What a call that a trunk sent us needs to judge who signed its caller.
  func findCertificates(_ handle: CallHandle, _ addresses: [WebAddress]) {
    let search = certificates.find(addresses, for: handle, at: time.now)
    for (id, address) in search.fetches {
      timers.set(.certificate(id), time.now.advanced(byMilliseconds: CertificateShelf.fetchMilliseconds))
      effects.append(.fetch(id, address, settings.certificateFetches))
    }
    if let found = search.found { later(.engine(.certificatesFound(handle, found))) }
  }

  /// A fetch has ended, or its time is over.
  func fetched(_ id: CertificateFetchID, _ result: CertificateFetchResult) {
    timers.set(.certificate(id), nil)
    for (handle, found) in certificates.end(id, result, at: time.now) {
      later(.engine(.certificatesFound(handle, found)))
    }
  }
}
