package import CallModel
package import SIPCore

/// One fetch of a certificate, among all of a node's life.
package struct CertificateFetchID: Hashable, Sendable {
  package let number: UInt64
  package init(_ number: UInt64) { self.number = number }
}

/// How a fetch of a certificate ended.
package enum CertificateFetchResult: Hashable, Sendable {
  /// At most ``CertificateShelf/maximumCertificateBytes``.
  /// - Parameter seconds: How long it may be used, as the server says; `nil` where it says nothing.
  case fetched([UInt8], seconds: Int64?)
  /// The words say why, for people.
  case failed(String)
  case late
}

/// Certificates of signed callers by their address, and the calls that wait for them. Whoever signs calls signs many with one
/// certificate, so nearly every call finds its own here.
///
/// An address is fetched once however many calls want it; what failed is not tried again for a minute. A fetch has a second
/// in all: whoever waits hears then that it is late.
package struct CertificateShelf {
  /// Most bytes of what is fetched from one address.
  package static let maximumCertificateBytes = 65_536
  /// Most addresses that are remembered, with what is there or why nothing is.
  package static let maximumEntries = 1_024
  /// Most bytes that are remembered.
  package static let maximumBytes = 8_388_608
  /// Most fetches at a time; calls that want more are not verified.
  package static let maximumFetches = 64
  /// How long a fetch may take.
  package static let fetchMilliseconds: Int64 = 1_000
  /// How long a certificate is kept where its server says nothing, and at most.
  package static let keptMilliseconds: Int64 = 86_400_000
  /// How long it is remembered that an address could not be fetched.
  package static let failureMilliseconds: Int64 = 60_000

  private struct Entry {
    let certificate: IdentityExamination.Certificate
    let until: MonotonicInstant

    var byteCount: Int { if case .fetched(let bytes) = certificate { bytes.count } else { 0 } }
  }

  private struct Fetch {
    let address: WebAddress
    var waiters: [CallHandle]
  }

  private struct Waiter {
    var missing: Set<WebAddress>
    var found: [WebAddress: IdentityExamination.Certificate]
  }

  private var entries: [WebAddress: Entry] = [:]
  private var byteCount = 0
  private var fetches: [CertificateFetchID: Fetch] = [:]
  private var fetching: [WebAddress: CertificateFetchID] = [:]
  private var waiters: [CallHandle: Waiter] = [:]
  private var lastID: UInt64 = 0

  package init() {}

  /// What a call wants to know.
  package struct Search {
    /// All that it asked for; `nil` while something is missing.
    package var found: [WebAddress: IdentityExamination.Certificate]?
    /// To be begun now.
    package var fetches: [(id: CertificateFetchID, address: WebAddress)] = []
  }

  package mutating func find(_ addresses: [WebAddress], for handle: CallHandle, at now: MonotonicInstant) -> Search {
    var search = Search()
    var waiter = Waiter(missing: [], found: [:])
    for address in addresses {
      if let entry = entries[address], entry.until > now {
        waiter.found[address] = entry.certificate
      } else if let id = fetching[address] {
        fetches[id]?.waiters.append(handle)
        waiter.missing.insert(address)
      } else if fetches.count < CertificateShelf.maximumFetches {
        lastID += 1
        let id = CertificateFetchID(lastID)
        fetches[id] = Fetch(address: address, waiters: [handle])
        fetching[address] = id
        waiter.missing.insert(address)
        search.fetches.append((id, address))
      } else {
        waiter.found[address] = .late
      }
    }
    if waiter.missing.isEmpty { search.found = waiter.found } else { waiters[handle] = waiter }
    return search
  }

  /// A fetch has ended: the calls that have all they want now. One that ended before says nothing.
  package mutating func end(
    _ id: CertificateFetchID, _ result: CertificateFetchResult, at now: MonotonicInstant
  ) -> [(handle: CallHandle, found: [WebAddress: IdentityExamination.Certificate])] {
    guard let fetch = fetches.removeValue(forKey: id) else { return [] }
    fetching[fetch.address] = nil
    let certificate: IdentityExamination.Certificate
    var kept = CertificateShelf.failureMilliseconds
    switch result {
    case .fetched(let bytes, let seconds):
      guard bytes.count <= CertificateShelf.maximumCertificateBytes else {
        certificate = .unreachable("it has more than \(CertificateShelf.maximumCertificateBytes) bytes")
        break
      }
      certificate = .fetched(bytes)
      kept = min(seconds ?? .max, CertificateShelf.keptMilliseconds / 1000) * 1000
    case .failed(let problem): certificate = .unreachable(problem)
    case .late: certificate = .late
    }
    keep(Entry(certificate: certificate, until: now.advanced(byMilliseconds: max(0, kept))), at: fetch.address, now)
    return fetch.waiters.compactMap { handle in
      guard var waiter = waiters[handle] else { return nil }
      waiter.missing.remove(fetch.address)
      waiter.found[fetch.address] = certificate
      waiters[handle] = waiter.missing.isEmpty ? nil : waiter
      return waiter.missing.isEmpty ? (handle, waiter.found) : nil
    }
  }

  private mutating func keep(_ entry: Entry, at address: WebAddress, _ now: MonotonicInstant) {
    remove(address)
    guard entry.until > now else { return }
    entries[address] = entry
    byteCount += entry.byteCount
    guard entries.count > CertificateShelf.maximumEntries || byteCount > CertificateShelf.maximumBytes else { return }
    for (address, entry) in entries where entry.until <= now { remove(address) }
    while entries.count > CertificateShelf.maximumEntries || byteCount > CertificateShelf.maximumBytes {
      // Of those that end at the same time the same one each time.
      guard let first = entries.min(by: { ($0.value.until, $0.key.text) < ($1.value.until, $1.key.text) }) else {
        return
      }
      remove(first.key)
    }
  }

  private mutating func remove(_ address: WebAddress) {
    byteCount -= entries.removeValue(forKey: address)?.byteCount ?? 0
  }

  // MARK: What is asked

  package var entryCount: Int { entries.count }
  package var keptBytes: Int { byteCount }
  package var fetchCount: Int { fetches.count }
  package var waiterCount: Int { waiters.count }
}
