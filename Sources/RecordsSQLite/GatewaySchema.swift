package import LandlineSQLite

/// The tables of the gateway's own store, and the steps from one version of them to the next.
package enum GatewaySchema {
  /// `LnGw` in ASCII marks a file as a gateway's store.
  package static let schema = SQLiteSchema(
    applicationID: 0x4C6E_4777, kind: "a gateway's store",
    versions: [
      """
      CREATE TABLE call_record(
        id TEXT PRIMARY KEY,
        environment TEXT NOT NULL,
        account TEXT NOT NULL,
        destination TEXT NOT NULL,
        cause TEXT NOT NULL,
        started_at INTEGER NOT NULL,
        ended_at INTEGER NOT NULL,
        document TEXT NOT NULL
      ) STRICT, WITHOUT ROWID;
      CREATE INDEX call_record_start ON call_record(started_at, id);
      CREATE INDEX call_record_environment ON call_record(environment, started_at, id);
      CREATE INDEX call_record_account ON call_record(account, started_at, id);
      CREATE INDEX call_record_destination ON call_record(destination);
      CREATE INDEX call_record_end ON call_record(ended_at);
      CREATE TABLE call_statistics(
        call TEXT PRIMARY KEY,
        at INTEGER NOT NULL,
        document TEXT NOT NULL
      ) STRICT, WITHOUT ROWID;
      CREATE INDEX call_statistics_at ON call_statistics(at);
      CREATE TABLE identity_sequence(
        application TEXT NOT NULL,
        user TEXT NOT NULL,
        sequence TEXT NOT NULL CHECK (length(sequence) = 20),
        PRIMARY KEY (application, user)
      ) STRICT, WITHOUT ROWID;
      CREATE TABLE identity_nonce(
        application TEXT NOT NULL,
        nonce TEXT NOT NULL,
        until INTEGER NOT NULL,
        PRIMARY KEY (application, nonce)
      ) STRICT, WITHOUT ROWID;
      CREATE INDEX identity_nonce_until ON identity_nonce(until);
      CREATE TABLE identity_credential(
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        digest BLOB NOT NULL,
        application TEXT NOT NULL,
        user TEXT NOT NULL,
        device TEXT NOT NULL,
        expires_at INTEGER,
        UNIQUE (application, user, device)
      ) STRICT;
      CREATE INDEX identity_credential_end ON identity_credential(expires_at) WHERE expires_at IS NOT NULL;
      CREATE TABLE idempotency(
        scope TEXT NOT NULL,
        key TEXT NOT NULL,
        digest BLOB NOT NULL,
        at INTEGER NOT NULL,
        status INTEGER,
        body BLOB,
        PRIMARY KEY (scope, key)
      ) STRICT, WITHOUT ROWID;
      CREATE INDEX idempotency_at ON idempotency(at);
      """,
      """
      CREATE TABLE call_trace(
        call TEXT PRIMARY KEY,
        at INTEGER NOT NULL,
        document BLOB NOT NULL
      ) STRICT, WITHOUT ROWID;
      CREATE INDEX call_trace_at ON call_trace(at);
      """,
      """
      CREATE TABLE inbound_number(
        environment TEXT NOT NULL,
        number INTEGER NOT NULL,
        account TEXT NOT NULL,
        document TEXT NOT NULL,
        PRIMARY KEY (environment, number)
      ) STRICT, WITHOUT ROWID;
      """,
      """
      CREATE TABLE desk_phone(
        environment TEXT NOT NULL,
        name TEXT NOT NULL,
        document TEXT NOT NULL,
        PRIMARY KEY (environment, name)
      ) STRICT, WITHOUT ROWID;
      """,
      """
      CREATE TABLE recording(
        environment TEXT NOT NULL,
        id TEXT NOT NULL,
        account TEXT NOT NULL,
        call TEXT,
        started_at INTEGER NOT NULL,
        state TEXT NOT NULL,
        document TEXT NOT NULL,
        PRIMARY KEY (environment, id)
      ) STRICT, WITHOUT ROWID;
      CREATE INDEX recording_start ON recording(environment, started_at, id);
      CREATE INDEX recording_account ON recording(environment, account, started_at, id);
      CREATE INDEX recording_call ON recording(environment, call, started_at, id) WHERE call IS NOT NULL;
      CREATE INDEX recording_state ON recording(environment, state, started_at, id);
      """,
    ])
}
