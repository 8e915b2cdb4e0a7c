import CallModel
package import LandlineSQLite
import LedgerCore

/// The tables, and the steps from one version of them to the next.
///
/// Types and constraints are those that PostgreSQL has too: 64-bit integers, texts, bytes, CHECK, partial indexes.
/// CHECKs repeat rules of the core as a second fence; they are not the only home of any.
package enum LedgerSchema {
  /// `Lndl` in ASCII marks a file as a ledger of ours.
  package static let schema = SQLiteSchema(
    applicationID: 0x4C6E_646C, kind: "a ledger",
    versions: [
      """
      CREATE TABLE ledger_head(
        id INTEGER PRIMARY KEY CHECK (id = 1),
        seq INTEGER NOT NULL CHECK (seq >= 0),
        at INTEGER NOT NULL,
        hash BLOB NOT NULL CHECK (length(hash) = 32),
        next_account INTEGER NOT NULL
      ) STRICT;
      CREATE TABLE account(
        id INTEGER PRIMARY KEY,
        name TEXT NOT NULL,
        kind TEXT NOT NULL,
        currency TEXT NOT NULL CHECK (length(currency) = 3),
        posted INTEGER NOT NULL CHECK (posted > -4611686018427387904 AND posted < 4611686018427387904),
        held INTEGER NOT NULL CHECK (held >= 0),
        floor INTEGER NOT NULL,
        version INTEGER NOT NULL CHECK (version >= 0),
        revision INTEGER NOT NULL,
        status TEXT NOT NULL CHECK (status IN ('open', 'closing', 'closed', 'locked')),
        plan TEXT NOT NULL,
        cap_concurrent INTEGER,
        cap_second INTEGER,
        cap_call INTEGER,
        cap_day INTEGER,
        cap_rate INTEGER,
        cap_countries TEXT,
        zone TEXT NOT NULL,
        open_holds INTEGER NOT NULL CHECK (open_holds >= 0),
        call_second INTEGER NOT NULL,
        calls_in_second INTEGER NOT NULL,
        created_at INTEGER NOT NULL,
        CHECK (status <> 'open' OR kind NOT IN ('prepaid', 'postpaid') OR posted - held >= floor)
      ) STRICT;
      CREATE UNIQUE INDEX account_name ON account(name, currency);
      CREATE UNIQUE INDEX account_customer ON account(name) WHERE kind IN ('prepaid', 'postpaid');
      CREATE TABLE hold(
        seq INTEGER PRIMARY KEY,
        account INTEGER NOT NULL,
        call_id TEXT NOT NULL,
        state TEXT NOT NULL CHECK (state IN ('authorised', 'answered', 'settled', 'voided')),
        amount INTEGER NOT NULL CHECK (amount >= 0),
        granted_seconds INTEGER NOT NULL CHECK (granted_seconds > 0),
        extensions INTEGER NOT NULL,
        maximum_seconds INTEGER NOT NULL,
        node TEXT NOT NULL,
        epoch INTEGER NOT NULL,
        destination TEXT NOT NULL,
        is_emergency INTEGER NOT NULL,
        snapshot TEXT NOT NULL,
        linked_call TEXT,
        day INTEGER NOT NULL,
        authorised_at INTEGER NOT NULL,
        answered_at INTEGER,
        resolved_at INTEGER,
        duration_ms INTEGER,
        cost INTEGER CHECK (cost >= 0 AND cost <= amount),
        transfer INTEGER,
        reason TEXT,
        CHECK ((state IN ('authorised', 'answered')) = (resolved_at IS NULL))
      ) STRICT;
      CREATE UNIQUE INDEX hold_call ON hold(account, call_id);
      CREATE INDEX hold_open ON hold(node, epoch, account, amount) WHERE resolved_at IS NULL;
      CREATE TABLE hold_grant(
        hold INTEGER NOT NULL,
        number INTEGER NOT NULL,
        at INTEGER NOT NULL,
        granted_seconds INTEGER NOT NULL,
        amount INTEGER NOT NULL,
        PRIMARY KEY (hold, number)
      ) STRICT, WITHOUT ROWID;
      CREATE TABLE transfer(
        seq INTEGER PRIMARY KEY,
        kind TEXT NOT NULL,
        debit INTEGER NOT NULL,
        credit INTEGER NOT NULL,
        debit_version INTEGER NOT NULL,
        credit_version INTEGER NOT NULL,
        amount INTEGER NOT NULL CHECK (amount > 0),
        currency TEXT NOT NULL,
        call_id TEXT,
        reverses INTEGER,
        key TEXT NOT NULL,
        actor TEXT NOT NULL,
        at INTEGER NOT NULL,
        event_at INTEGER NOT NULL,
        detail TEXT NOT NULL,
        hash BLOB NOT NULL CHECK (length(hash) = 32),
        CHECK (debit <> credit)
      ) STRICT;
      CREATE INDEX transfer_at ON transfer(at);
      CREATE INDEX transfer_reverses ON transfer(reverses) WHERE reverses IS NOT NULL;
      CREATE TABLE entry(
        account INTEGER NOT NULL,
        version INTEGER NOT NULL CHECK (version > 0),
        transfer INTEGER NOT NULL,
        amount INTEGER NOT NULL CHECK (amount <> 0),
        balance_after INTEGER NOT NULL,
        PRIMARY KEY (account, version)
      ) STRICT, WITHOUT ROWID;
      CREATE TABLE account_event(
        seq INTEGER PRIMARY KEY,
        account INTEGER NOT NULL,
        kind TEXT NOT NULL,
        settings TEXT NOT NULL,
        actor TEXT NOT NULL,
        at INTEGER NOT NULL,
        hash BLOB NOT NULL CHECK (length(hash) = 32)
      ) STRICT;
      CREATE INDEX account_event_account ON account_event(account, seq);
      CREATE TABLE op(
        account INTEGER NOT NULL,
        key TEXT NOT NULL,
        seq INTEGER NOT NULL,
        request_hash INTEGER NOT NULL,
        outcome TEXT NOT NULL,
        at INTEGER NOT NULL,
        PRIMARY KEY (account, key)
      ) STRICT, WITHOUT ROWID;
      CREATE TABLE counter(
        account INTEGER NOT NULL,
        day INTEGER NOT NULL,
        spent INTEGER NOT NULL CHECK (spent >= 0),
        held INTEGER NOT NULL CHECK (held >= 0),
        PRIMARY KEY (account, day)
      ) STRICT, WITHOUT ROWID;
      CREATE TABLE node(
        id TEXT NOT NULL,
        epoch INTEGER NOT NULL,
        lease_until INTEGER NOT NULL,
        last_beat INTEGER NOT NULL,
        PRIMARY KEY (id, epoch)
      ) STRICT, WITHOUT ROWID;
      CREATE TABLE deck(
        id INTEGER PRIMARY KEY,
        name TEXT NOT NULL,
        version TEXT NOT NULL,
        currency TEXT NOT NULL,
        zone TEXT NOT NULL,
        time_classes TEXT NOT NULL,
        prices INTEGER NOT NULL,
        imported_at INTEGER NOT NULL,
        is_complete INTEGER NOT NULL,
        active_from INTEGER
      ) STRICT;
      CREATE UNIQUE INDEX deck_label ON deck(name, version) WHERE is_complete = 1;
      CREATE TABLE deck_destination(
        deck INTEGER NOT NULL,
        id INTEGER NOT NULL,
        name TEXT NOT NULL,
        PRIMARY KEY (deck, id)
      ) STRICT, WITHOUT ROWID;
      CREATE TABLE deck_terms(
        deck INTEGER NOT NULL,
        id INTEGER NOT NULL,
        rate INTEGER NOT NULL,
        fee INTEGER NOT NULL,
        initial INTEGER NOT NULL,
        increment INTEGER NOT NULL,
        grace INTEGER NOT NULL,
        minimum_charge INTEGER NOT NULL,
        free_seconds INTEGER NOT NULL,
        effective_from INTEGER NOT NULL,
        effective_until INTEGER NOT NULL,
        from_second INTEGER NOT NULL,
        maximum_seconds INTEGER NOT NULL,
        maximum_cost INTEGER,
        time_class INTEGER NOT NULL,
        flags INTEGER NOT NULL,
        PRIMARY KEY (deck, id)
      ) STRICT, WITHOUT ROWID;
      CREATE TABLE rate(
        deck INTEGER NOT NULL,
        prefix TEXT NOT NULL,
        position INTEGER NOT NULL,
        destination INTEGER NOT NULL,
        terms INTEGER NOT NULL,
        PRIMARY KEY (deck, prefix, position)
      ) STRICT, WITHOUT ROWID;
      CREATE TABLE plan(
        name TEXT PRIMARY KEY,
        currency TEXT NOT NULL,
        created_at INTEGER NOT NULL
      ) STRICT, WITHOUT ROWID;
      CREATE TABLE plan_deck(
        plan TEXT NOT NULL,
        position INTEGER NOT NULL,
        deck_name TEXT NOT NULL,
        multiplier INTEGER NOT NULL CHECK (multiplier >= 0),
        PRIMARY KEY (plan, position)
      ) STRICT, WITHOUT ROWID;
      CREATE TABLE deny_range(
        prefix TEXT PRIMARY KEY,
        reason TEXT NOT NULL,
        note TEXT NOT NULL,
        added_at INTEGER NOT NULL
      ) STRICT, WITHOUT ROWID;
      """,
      // Talk time of a dead node's calls by its monotonic clock; rows of before have none.
      """
      ALTER TABLE hold ADD COLUMN answered_uptime INTEGER;
      ALTER TABLE node ADD COLUMN uptime INTEGER;
      """,
      // Why an account was locked; events of before have no reason.
      """
      ALTER TABLE account_event ADD COLUMN reason TEXT;
      """,
    ])

  /// Brings a file to the newest version; an empty one gets the head of an empty ledger.
  static func migrate(_ connection: SQLiteConnection, path: String) throws {
    try schema.migrate(connection, path: path) { connection in
      let head = LedgerHead.empty
      let insert = try connection.statement(
        "INSERT INTO ledger_head(id, seq, at, hash, next_account) VALUES(1, $1, $2, $3, $4)")
      try insert.bind(1, head.seq).bind(2, head.at.milliseconds).bind(3, head.hash).bind(4, head.nextAccount).run()
    }
  }
}
