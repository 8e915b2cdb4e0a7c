package import CallModel

/// Where telephones can be reached: the bindings of RFC 3261 section 10.3. A value without clock; who asks has proved who it
/// is.
///
/// ```
///   REGISTER ──Contact, expires──▶ bound ──refresh──▶ bound
///                                    │ expires 0, *, its time is over, another of the owner takes its place
///                                    ▼
///                                  unbound
/// ```
package struct Registrar: Sendable {
  /// What becomes of a REGISTER.
  package struct Outcome: Sendable {
    /// Without a tag in To.
    package var response: OutgoingResponse
    /// Telephones whose bindings are others now, or live longer.
    package var changed: Set<String> = []
  }

  /// Where bytes come from: the connection of a stream is known by its far port.
  private struct Way: Hashable {
    let listener: ListenerID
    let remote: TransportAddress

    init(_ path: SIPPath) {
      listener = path.listener
      remote = path.remote
    }
  }

  private let limits: RegistrarLimits
  /// By telephone, the one that was refreshed last stands last.
  private var bindings: [String: [PhoneBinding]] = [:]
  /// Telephones of each owner that have bindings.
  private var owners: [String: Set<String>] = [:]
  private var ownerOf: [String: String] = [:]
  private var ways: [Way: Set<String>] = [:]
  private var lastNumber: UInt64 = 0

  package init(_ limits: RegistrarLimits = .standard) { self.limits = limits }

  /// Of all telephones.
  package var count: Int { bindings.values.reduce(0) { $0 + $1.count } }

  /// Of one telephone, the one that was refreshed last stands last.
  package func bindings(of phone: String) -> [PhoneBinding] { bindings[phone] ?? [] }

  /// The binding whose REGISTER came this way.
  package func binding(of phone: String, over path: SIPPath) -> PhoneBinding? {
    bindings[phone]?.last { Way($0.path) == Way(path) }
  }

  /// Telephones that registered over this way.
  package func phones(over path: SIPPath) -> Set<String> { ways[Way(path)] ?? [] }

  /// When the first binding of a telephone ends; `nil` without any.
  package func nextDeadline(of phone: String) -> MonotonicInstant? { bindings[phone]?.map(\.expiresAt).min() }

  /// Takes away what has ended.
  /// - Returns: Whether there was any.
  package mutating func expire(_ phone: String, at now: MonotonicInstant) -> Bool {
    let before = bindings[phone]?.count ?? 0
    set(phone, (bindings[phone] ?? []).filter { $0.expiresAt > now })
    return (bindings[phone]?.count ?? 0) != before
  }

  /// A telephone is none of ours any more, or has another password.
  package mutating func remove(_ phone: String) { set(phone, []) }

  private mutating func set(_ phone: String, _ rows: [PhoneBinding]) {
    for row in bindings[phone] ?? [] {
      ways[Way(row.path)]?.remove(phone)
      if ways[Way(row.path)]?.isEmpty ?? false { ways[Way(row.path)] = nil }
    }
    for row in rows { ways[Way(row.path), default: []].insert(phone) }
    guard rows.isEmpty else {
      bindings[phone] = rows
      return
    }
    bindings[phone] = nil
    guard let owner = ownerOf.removeValue(forKey: phone) else { return }
    owners[owner]?.remove(phone)
    if owners[owner]?.isEmpty ?? false { owners[owner] = nil }
  }

  // MARK: - REGISTER

  /// Carries a REGISTER out in full or not at all.
  package mutating func register(
    _ request: SIPMessage, by phone: String, of owner: String, from path: SIPPath, at now: MonotonicInstant
  ) -> Outcome {
    // Whose bindings are meant stands in To (RFC 3261 section 10.3 step 3): nobody speaks for another telephone.
    guard request.to.uri.user.flatMap(SIPURI.unescaped) == phone else {
      return Outcome(response: OutgoingResponse(403, phrase: "Not Your Address"))
    }
    _ = expire(phone, at: now)
    do throws(Refusal) {
      let changes = try changes(request)
      return try apply(changes, request, phone, owner, path, now)
    } catch {
      return Outcome(response: error.response)
    }
  }

  private struct Refusal: Error {
    var response: OutgoingResponse
    init(_ status: Int, _ phrase: String? = nil, _ fields: [OutgoingField] = []) {
      response = OutgoingResponse(status, phrase: phrase, fields: fields)
    }
  }

  private enum Changes {
    case none
    case removeAll
    /// A lifetime of 0 removes.
    case contacts([(uri: SIPURI, seconds: UInt32)])
  }

  private func changes(_ request: SIPMessage) throws(Refusal) -> Changes {
    let asked = request.value("Expires").flatMap(Registrar.seconds)
    if request.hasWildcardContact {
      guard request.contacts.isEmpty, asked == 0 else { throw Refusal(400, "Contact * Wants Expires 0 Alone") }
      return .removeAll
    }
    guard !request.contacts.isEmpty else { return .none }
    guard request.contacts.count <= limits.contactsPerRequest else { throw Refusal(400, "Too Many Contacts") }
    var contacts: [(uri: SIPURI, seconds: UInt32)] = []
    for contact in request.contacts {
      var uri = contact.uri
      uri.headers = []
      guard uri.scheme == .sip || uri.scheme == .sips, uri.host != nil, let written = try? uri.encoded(),
        written.utf8.count <= limits.contactBytes
      else { throw Refusal(400, "Bad Contact") }
      let own = contact.parameters["expires"]?.value.flatMap(Registrar.seconds)
      var seconds = min(own ?? asked ?? limits.maximumSeconds, limits.maximumSeconds)
      if seconds > 0, seconds < limits.minimumSeconds {
        throw Refusal(423, nil, DialogFields.field("Min-Expires", "\(limits.minimumSeconds)"))
      }
      // Twice in one request: the later word counts.
      if let same = contacts.firstIndex(where: { $0.uri.isEquivalent(to: uri) }) {
        swap(&contacts[same].seconds, &seconds)
      } else {
        contacts.append((uri, seconds))
      }
    }
    return .contacts(contacts)
  }

  private mutating func apply(
    _ changes: Changes, _ request: SIPMessage, _ phone: String, _ owner: String, _ path: SIPPath,
    _ now: MonotonicInstant
  ) throws(Refusal) -> Outcome {
    var rows = bindings[phone] ?? []
    var changed: Set<String> = []
    switch changes {
    case .none: break
    case .removeAll:
      for row in rows { try check(row, request) }
      changed.insert(phone)
      rows = []
    case .contacts(let contacts):
      changed.insert(phone)
      for (uri, seconds) in contacts {
        let former = rows.firstIndex { $0.contact.isEquivalent(to: uri) }
        if let former { try check(rows[former], request) }
        let number = former.map { rows.remove(at: $0).number }
        guard seconds > 0 else { continue }
        if number == nil { lastNumber += 1 }
        rows.append(
          PhoneBinding(
            phone: phone, number: number ?? lastNumber, contact: uri, path: path, callID: request.callID,
            sequence: request.cseq.number,
            userAgent: Registrar.shortened(request.value("User-Agent") ?? "", limits.userAgentBytes),
            refreshedAt: now, expiresAt: now.advanced(byMilliseconds: Int64(seconds) * 1000)))
      }
    }
    set(phone, rows)
    if !rows.isEmpty {
      owners[owner, default: []].insert(phone)
      ownerOf[phone] = owner
      changed.formUnion(makeRoom(owner))
    }
    return Outcome(response: listing(phone, now), changed: changed)
  }

  /// A request of the same Call-ID that comes after one with a higher number changes nothing (RFC 3261 section 10.3 step 7).
  private func check(_ row: PhoneBinding, _ request: SIPMessage) throws(Refusal) {
    if row.callID == request.callID, row.sequence >= request.cseq.number { throw Refusal(500, "CSeq Out Of Order") }
  }

  /// The bindings of an owner that were refreshed longest ago give way.
  private mutating func makeRoom(_ owner: String) -> Set<String> {
    var changed: Set<String> = []
    var all = (owners[owner] ?? []).flatMap { bindings[$0] ?? [] }
    all.sort { ($0.refreshedAt, $0.number) < ($1.refreshedAt, $1.number) }
    for row in all.prefix(max(0, all.count - max(1, limits.bindingsPerOwner))) {
      set(row.phone, (bindings[row.phone] ?? []).filter { $0.number != row.number })
      changed.insert(row.phone)
    }
    return changed
  }

  /// 200 with every binding and its time (RFC 3261 section 10.3 step 8).
  private func listing(_ phone: String, _ now: MonotonicInstant) -> OutgoingResponse {
    let contacts = (bindings[phone] ?? []).map { row in
      NameAddress(row.contact, parameters: [SIPParameter("expires", "\(row.seconds(at: now))")])
    }
    return OutgoingResponse(200, contact: contacts.first, otherContacts: Array(contacts.dropFirst()))
  }

  // MARK: - Texts

  /// Whole seconds; `nil` for what is no number, which counts as not written (RFC 3261 section 20.19).
  private static func seconds(_ text: String) -> UInt32? {
    guard (1...20).contains(text.utf8.count), text.utf8.allSatisfy(MessageCharacter.isDigit) else { return nil }
    return UInt32(text) ?? .max
  }

  private static func shortened(_ text: String, _ bytes: Int) -> String {
    var short = text
    while short.utf8.count > bytes { short.removeLast() }
    return short
  }
}
