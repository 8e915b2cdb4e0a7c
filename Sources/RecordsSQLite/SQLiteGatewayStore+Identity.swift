public import AppProtocol
public import CallModel
import LandlineSQLite

extension SQLiteGatewayStore: IdentityStore {
  /// Devices of one user whose credentials are kept; the oldest make room.
  public static let maximumDevicesPerUser = 32
  /// Old rows that a new nonce, or a new key, takes along: a table that is written to cannot grow of what has ended.
  static let rowsTakenAlong: Int64 = 4

  /// Compares and keeps in one step, so that two processes cannot both use one sequence.
  public func useSequence(
    _ sequence: UInt64, application: String, user: UserID
  ) async throws -> SequenceVerdict {
    try SQLiteGatewayStore.check(application, kind: "application key")
    // Twenty digits hold every sequence, and texts of one length compare as their numbers do.
    let digits = String(sequence)
    let padded = String(repeating: "0", count: 20 - digits.utf8.count) + digits
    return try await change { connection in
      // Sequences begin above 0.
      try connection.statement(
        """
        INSERT INTO identity_sequence(application, user, sequence) SELECT $1, $2, $3 WHERE $3 > $4
        ON CONFLICT(application, user) DO UPDATE SET sequence = excluded.sequence
          WHERE excluded.sequence > identity_sequence.sequence
        """
      ).bind(1, application).bind(2, user.text).bind(3, padded).bind(4, String(repeating: "0", count: 20)).run()
      if connection.changes == 1 { return .used }
      let last = try connection.statement(
        "SELECT sequence FROM identity_sequence WHERE application = $1 AND user = $2"
      ).bind(1, application).bind(2, user.text)
      defer { last.reset() }
      return .notAbove(last: try last.step() ? UInt64(last.text(0)) ?? .max : 0)
    }
  }

  /// Nonces whose time is over are deleted a few at a time along the way.
  /// - Returns: `false` when the nonce was taken before and its time is not over.
  public func useNonce(_ nonce: String, application: String, until: Instant, now: Instant) async throws -> Bool {
    try SQLiteGatewayStore.check(application, kind: "application key")
    try SQLiteGatewayStore.check(nonce, kind: "nonce")
    return try await change { connection in
      try connection.statement(
        """
        DELETE FROM identity_nonce WHERE (application, nonce) IN
          (SELECT application, nonce FROM identity_nonce WHERE until <= $1 LIMIT $2)
        """
      ).bind(1, now.milliseconds).bind(2, SQLiteGatewayStore.rowsTakenAlong).run()
      try connection.statement(
        """
        INSERT INTO identity_nonce(application, nonce, until) VALUES($1, $2, $3)
        ON CONFLICT(application, nonce) DO UPDATE SET until = excluded.until WHERE identity_nonce.until <= $4
        """
      ).bind(1, application).bind(2, nonce).bind(3, until.milliseconds).bind(4, now.milliseconds).run()
      return connection.changes == 1
    }
  }

  /// Replaces the device's former credential; beyond ``maximumDevicesPerUser`` the user's oldest are deleted.
  /// - Throws: ``InvalidValue`` when another device has the id, or a text is too long; ``LedgerUnavailable``.
  public func keep(_ credential: StoredCredential) async throws {
    try SQLiteGatewayStore.check(credential.id, kind: "credential")
    try SQLiteGatewayStore.check(credential.application, kind: "application key")
    try SQLiteGatewayStore.check(credential.device, kind: "device")
    try await change { connection in
      try SQLiteGatewayStore.end(connection, credential.application, credential.user, credential.device)
      try connection.statement(
        """
        INSERT INTO identity_credential(id, digest, application, user, device, expires_at)
        VALUES($1, $2, $3, $4, $5, $6) ON CONFLICT(id) DO NOTHING
        """
      ).bind(1, credential.id).bind(2, credential.digest).bind(3, credential.application)
        .bind(4, credential.user.text).bind(5, credential.device).bind(6, credential.expiresAt?.milliseconds).run()
      guard connection.changes == 1 else {
        throw InvalidValue(
          kind: "credential", rule: "credential.id", offset: nil, problem: "another device has a credential of this id",
          accepted: "an id that was never used")
      }
      try connection.statement(
        """
        DELETE FROM identity_credential WHERE number IN
          (SELECT number FROM identity_credential WHERE application = $1 AND user = $2
           ORDER BY number DESC LIMIT -1 OFFSET $3)
        """
      ).bind(1, credential.application).bind(2, credential.user.text)
        .bind(3, Int64(SQLiteGatewayStore.maximumDevicesPerUser)).run()
    }
  }

  /// Ended credentials are found as well, until their device registers anew; an id that is too long is never found.
  public func credential(_ id: String) async throws -> StoredCredential? {
    guard id.utf8.count <= SQLiteGatewayStore.maximumTextBytes else { return nil }
    return try await read { connection in
      let statement = try connection.statement(
        "SELECT digest, application, user, device, expires_at FROM identity_credential WHERE id = $1"
      ).bind(1, id)
      defer { statement.reset() }
      guard try statement.step() else { return nil }
      let rules = try UserID.Rules(maximumLength: UserID.Rules.largestMaximumLength)
      return StoredCredential(
        id: id, digest: statement.blob(0), application: statement.text(1),
        user: try UserID(statement.text(2), rules: rules), device: statement.text(3),
        expiresAt: statement.optionalInt64(4).map { Instant(milliseconds: $0) })
    }
  }

  /// Credentials that have ended count as well, until others of the user take their place.
  public func knows(_ user: UserID, application: String) async throws -> Bool {
    guard application.utf8.count <= SQLiteGatewayStore.maximumTextBytes else { return false }
    return try await read { connection in
      let statement = try connection.statement(
        """
        SELECT EXISTS (SELECT 1 FROM identity_credential WHERE application = $1 AND user = $2)
          OR EXISTS (SELECT 1 FROM identity_sequence WHERE application = $1 AND user = $2)
        """
      ).bind(1, application).bind(2, user.text)
      defer { statement.reset() }
      return try statement.step() && statement.int64(0) != 0
    }
  }

  /// Deletes every credential of the device; none there is no error.
  public func forget(application: String, user: UserID, device: String) async throws {
    try await change { try SQLiteGatewayStore.end($0, application, user, device) }
  }

  private static func end(
    _ connection: SQLiteConnection, _ application: String, _ user: UserID, _ device: String
  ) throws {
    try connection.statement(
      "DELETE FROM identity_credential WHERE application = $1 AND user = $2 AND device = $3"
    ).bind(1, application).bind(2, user.text).bind(3, device).run()
  }
}
