#include "landline_ledger_floor.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
  call_bytes = 24,
  key_bytes = 48,
  hash_bytes = 32,
  hold_amount = 14500,
  call_cost = 14500,
  granted_seconds = 60,
  opening_balance = 1000000000,
  day = 20000,
};

static const int64_t first_instant = 1728000000000;

/// One customer account as the loop knows it.
struct customer {
  int64_t version;
  int64_t posted;
  int64_t spent;
};

/// The texts of one call, made before the clock starts.
struct call {
  int64_t account;
  int64_t hold;
  char name[call_bytes];
  char authorise_key[key_bytes];
  char answer_key[key_bytes];
  char end_key[key_bytes];
};

struct floor {
  const struct landline_ledger_floor_settings *settings;
  struct landline_ledger_floor_result *result;
  sqlite3 *database;
  struct customer *customers;
  struct call *calls;
  int64_t calls_made;
  int64_t seq;
  int64_t at;
  int64_t revenue_version;
  int64_t revenue_posted;
  unsigned char hash[hash_bytes];
  sqlite3_stmt *begin, *commit;
  sqlite3_stmt *insert_hold, *insert_grant, *insert_operation, *hold_account, *save_counter, *save_head;
  sqlite3_stmt *answer_hold, *settle_hold, *insert_transfer, *insert_entry, *settle_account, *settle_revenue;
};

static double seconds_of(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static int failed(struct floor *floor, const char *what) {
  const char *why = floor->database ? sqlite3_errmsg(floor->database) : "out of memory";
  snprintf(floor->result->problem, sizeof floor->result->problem, "%s: %s", what, why);
  return -1;
}

// MARK: Statements

static int prepare(struct floor *floor, sqlite3_stmt **statement, const char *sql) {
  if (sqlite3_prepare_v3(floor->database, sql, -1, SQLITE_PREPARE_PERSISTENT, statement, NULL) != SQLITE_OK)
    return failed(floor, sql);
  return 0;
}

static int run(struct floor *floor, sqlite3_stmt *statement) {
  int code = sqlite3_step(statement);
  sqlite3_reset(statement);
  return code == SQLITE_DONE ? 0 : failed(floor, sqlite3_sql(statement));
}

static void bind_text(sqlite3_stmt *statement, int index, const char *text) {
  sqlite3_bind_text(statement, index, text, (int)strlen(text), SQLITE_STATIC);
}

static int prepare_all(struct floor *floor) {
  if (prepare(floor, &floor->begin, "BEGIN IMMEDIATE") || prepare(floor, &floor->commit, "COMMIT")) return -1;
  if (prepare(
          floor, &floor->insert_hold,
          "INSERT INTO hold(seq, account, call_id, state, amount, granted_seconds, extensions, maximum_seconds, node,"
          " epoch, destination, is_emergency, snapshot, day, authorised_at)"
          " VALUES(?1, ?2, ?3, 'authorised', ?4, ?5, 0, 14400, 'bench', 1, '+46701234567', 0, ?6, ?7, ?8)"))
    return -1;
  if (prepare(
          floor, &floor->insert_grant,
          "INSERT INTO hold_grant(hold, number, at, granted_seconds, amount) VALUES(?1, 0, ?2, ?3, ?4)"))
    return -1;
  if (prepare(
          floor, &floor->insert_operation,
          "INSERT INTO op(account, key, seq, request_hash, outcome, at) VALUES(?1, ?2, ?3, ?4, ?5, ?6)"))
    return -1;
  if (prepare(
          floor, &floor->hold_account,
          "UPDATE account SET held = held + ?2, open_holds = open_holds + 1, revision = revision + 1, call_second = ?3,"
          " calls_in_second = 1 WHERE id = ?1"))
    return -1;
  if (prepare(
          floor, &floor->save_counter,
          "INSERT INTO counter(account, day, spent, held) VALUES(?1, ?2, ?3, ?4)"
          " ON CONFLICT(account, day) DO UPDATE SET spent = excluded.spent, held = excluded.held"))
    return -1;
  if (prepare(floor, &floor->save_head, "UPDATE ledger_head SET seq = ?1, at = ?2, hash = ?3 WHERE id = 1")) return -1;
  if (prepare(
          floor, &floor->answer_hold,
          "UPDATE hold SET state = 'answered', answered_at = ?2 WHERE seq = ?1 AND resolved_at IS NULL"))
    return -1;
  if (prepare(
          floor, &floor->settle_hold,
          "UPDATE hold SET state = 'settled', resolved_at = ?2, duration_ms = 60000, cost = ?3, transfer = ?4,"
          " reason = 'hungUp' WHERE seq = ?1 AND resolved_at IS NULL"))
    return -1;
  if (prepare(
          floor, &floor->insert_transfer,
          "INSERT INTO transfer(seq, kind, debit, credit, debit_version, credit_version, amount, currency, call_id, key,"
          " actor, at, event_at, detail, hash) VALUES(?1, 'call', ?2, ?3, ?4, ?5, ?6, 'EUR', ?7, ?8, 'node:bench', ?9,"
          " ?9, '+46701234567 60.000s billed 60s', ?10)"))
    return -1;
  if (prepare(
          floor, &floor->insert_entry,
          "INSERT INTO entry(account, version, transfer, amount, balance_after) VALUES(?1, ?2, ?3, ?4, ?5)"))
    return -1;
  if (prepare(
          floor, &floor->settle_account,
          "UPDATE account SET posted = ?2, held = held - ?3, version = ?4, open_holds = open_holds - 1,"
          " revision = revision + 1 WHERE id = ?1"))
    return -1;
  return prepare(
      floor, &floor->settle_revenue,
      "UPDATE account SET posted = ?2, version = ?3, revision = revision + 1 WHERE id = ?1");
}

static void finalize_all(struct floor *floor) {
  sqlite3_stmt *statement;
  while ((statement = sqlite3_next_stmt(floor->database, NULL))) sqlite3_finalize(statement);
}

// MARK: The database

static int64_t revenue_account(const struct floor *floor) { return floor->settings->accounts + 1; }

static int open_database(struct floor *floor) {
  int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
  if (sqlite3_open_v2(floor->settings->path, &floor->database, flags, NULL) != SQLITE_OK) return failed(floor, "open");
  const char *pragmas = "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA temp_store = MEMORY;"
                        " PRAGMA cache_size = -65536";
  if (sqlite3_exec(floor->database, pragmas, NULL, NULL, NULL) != SQLITE_OK) return failed(floor, "pragmas");
  if (sqlite3_exec(floor->database, "BEGIN", NULL, NULL, NULL) != SQLITE_OK) return failed(floor, "begin");
  if (sqlite3_exec(floor->database, floor->settings->schema, NULL, NULL, NULL) != SQLITE_OK)
    return failed(floor, "schema");
  if (sqlite3_exec(
          floor->database, "INSERT INTO ledger_head(id, seq, at, hash, next_account) VALUES(1, 0, 0, zeroblob(32), 1)",
          NULL, NULL, NULL) != SQLITE_OK)
    return failed(floor, "head");
  sqlite3_stmt *insert;
  if (prepare(
          floor, &insert,
          "INSERT INTO account(id, name, kind, currency, posted, held, floor, version, revision, status, plan, zone,"
          " open_holds, call_second, calls_in_second, created_at)"
          " VALUES(?1, ?2, ?3, 'EUR', ?4, 0, ?5, 0, 0, 'open', 'bench', 'UTC', 0, 0, 0, 0)"))
    return -1;
  for (int64_t id = 1; id <= revenue_account(floor); id++) {
    int is_revenue = id == revenue_account(floor);
    char name[call_bytes];
    snprintf(name, sizeof name, "customer-%06d", (int)id);
    sqlite3_bind_int64(insert, 1, id);
    bind_text(insert, 2, is_revenue ? "revenues:calls" : name);
    bind_text(insert, 3, is_revenue ? "revenue" : "prepaid");
    sqlite3_bind_int64(insert, 4, is_revenue ? 0 : opening_balance);
    sqlite3_bind_int64(insert, 5, is_revenue ? -(int64_t)4000000000000000000 : 0);
    if (run(floor, insert)) return -1;
    if (!is_revenue) floor->customers[id].posted = opening_balance;
  }
  if (sqlite3_exec(floor->database, "COMMIT", NULL, NULL, NULL) != SQLITE_OK) return failed(floor, "commit");
  return prepare_all(floor);
}

// MARK: Calls

/// Chooses the accounts of the next group and writes its texts. Consecutive calls meet different accounts.
static void make_calls(struct floor *floor) {
  for (int index = 0; index < floor->settings->group; index++) {
    struct call *call = &floor->calls[index];
    int64_t number = floor->calls_made++;
    call->account = 1 + number * 7919 % floor->settings->accounts;
    snprintf(call->name, sizeof call->name, "call-%012lld", (long long)number);
    snprintf(call->authorise_key, sizeof call->authorise_key, "c/%s/authorise", call->name);
    snprintf(call->answer_key, sizeof call->answer_key, "c/%s/answer", call->name);
    snprintf(call->end_key, sizeof call->end_key, "c/%s/end", call->name);
  }
}

static int insert_operation(
    struct floor *floor, const struct call *call, const char *key, const char *outcome, int64_t seq) {
  sqlite3_stmt *statement = floor->insert_operation;
  sqlite3_bind_int64(statement, 1, call->account);
  bind_text(statement, 2, key);
  sqlite3_bind_int64(statement, 3, seq);
  // The size of a real request hash: a small integer would be stored in fewer bytes.
  sqlite3_bind_int64(statement, 4, INT64_MAX - seq);
  bind_text(statement, 5, outcome);
  sqlite3_bind_int64(statement, 6, floor->at);
  return run(floor, statement);
}

static int insert_entry(
    struct floor *floor, int64_t account, int64_t version, int64_t transfer, int64_t amount, int64_t balance) {
  sqlite3_stmt *statement = floor->insert_entry;
  sqlite3_bind_int64(statement, 1, account);
  sqlite3_bind_int64(statement, 2, version);
  sqlite3_bind_int64(statement, 3, transfer);
  sqlite3_bind_int64(statement, 4, amount);
  sqlite3_bind_int64(statement, 5, balance);
  return run(floor, statement);
}

static int save_counter(struct floor *floor, const struct call *call, int64_t held) {
  sqlite3_bind_int64(floor->save_counter, 1, call->account);
  sqlite3_bind_int64(floor->save_counter, 2, day);
  sqlite3_bind_int64(floor->save_counter, 3, floor->customers[call->account].spent);
  sqlite3_bind_int64(floor->save_counter, 4, held);
  return run(floor, floor->save_counter);
}

static int finish(struct floor *floor) {
  sqlite3_bind_int64(floor->save_head, 1, floor->seq);
  sqlite3_bind_int64(floor->save_head, 2, floor->at);
  sqlite3_bind_blob(floor->save_head, 3, floor->hash, hash_bytes, SQLITE_STATIC);
  if (run(floor, floor->save_head)) return -1;
  return run(floor, floor->commit);
}

static int authorise(struct floor *floor, struct call *call) {
  call->hold = ++floor->seq;
  sqlite3_stmt *hold = floor->insert_hold;
  sqlite3_bind_int64(hold, 1, call->hold);
  sqlite3_bind_int64(hold, 2, call->account);
  bind_text(hold, 3, call->name);
  sqlite3_bind_int64(hold, 4, hold_amount);
  sqlite3_bind_int64(hold, 5, granted_seconds);
  bind_text(hold, 6, floor->settings->snapshot);
  sqlite3_bind_int64(hold, 7, day);
  sqlite3_bind_int64(hold, 8, floor->at);
  if (run(floor, hold)) return -1;
  sqlite3_bind_int64(floor->insert_grant, 1, call->hold);
  sqlite3_bind_int64(floor->insert_grant, 2, floor->at);
  sqlite3_bind_int64(floor->insert_grant, 3, granted_seconds);
  sqlite3_bind_int64(floor->insert_grant, 4, hold_amount);
  if (run(floor, floor->insert_grant)) return -1;
  if (insert_operation(floor, call, call->authorise_key, "granted 60 14500 more", call->hold)) return -1;
  sqlite3_bind_int64(floor->hold_account, 1, call->account);
  sqlite3_bind_int64(floor->hold_account, 2, hold_amount);
  sqlite3_bind_int64(floor->hold_account, 3, floor->at / 1000);
  if (run(floor, floor->hold_account)) return -1;
  return save_counter(floor, call, hold_amount);
}

static int answer(struct floor *floor, struct call *call) {
  sqlite3_bind_int64(floor->answer_hold, 1, call->hold);
  sqlite3_bind_int64(floor->answer_hold, 2, floor->at);
  if (run(floor, floor->answer_hold)) return -1;
  return insert_operation(floor, call, call->answer_key, "answered", ++floor->seq);
}

static int settle(struct floor *floor, struct call *call) {
  struct customer *customer = &floor->customers[call->account];
  int64_t transfer = ++floor->seq;
  customer->version += 1;
  customer->posted -= call_cost;
  customer->spent += call_cost;
  floor->revenue_version += 1;
  floor->revenue_posted += call_cost;
  sqlite3_stmt *insert = floor->insert_transfer;
  sqlite3_bind_int64(insert, 1, transfer);
  sqlite3_bind_int64(insert, 2, call->account);
  sqlite3_bind_int64(insert, 3, revenue_account(floor));
  sqlite3_bind_int64(insert, 4, customer->version);
  sqlite3_bind_int64(insert, 5, floor->revenue_version);
  sqlite3_bind_int64(insert, 6, call_cost);
  bind_text(insert, 7, call->name);
  bind_text(insert, 8, call->end_key);
  sqlite3_bind_int64(insert, 9, floor->at);
  sqlite3_bind_blob(insert, 10, floor->hash, hash_bytes, SQLITE_STATIC);
  if (run(floor, insert)) return -1;
  if (insert_entry(floor, call->account, customer->version, transfer, -call_cost, customer->posted)) return -1;
  if (insert_entry(
          floor, revenue_account(floor), floor->revenue_version, transfer, call_cost, floor->revenue_posted))
    return -1;
  sqlite3_bind_int64(floor->settle_hold, 1, call->hold);
  sqlite3_bind_int64(floor->settle_hold, 2, floor->at);
  sqlite3_bind_int64(floor->settle_hold, 3, call_cost);
  sqlite3_bind_int64(floor->settle_hold, 4, transfer);
  if (run(floor, floor->settle_hold)) return -1;
  if (insert_operation(floor, call, call->end_key, "settled 60000 60 14500 1000000", ++floor->seq)) return -1;
  sqlite3_bind_int64(floor->settle_account, 1, call->account);
  sqlite3_bind_int64(floor->settle_account, 2, customer->posted);
  sqlite3_bind_int64(floor->settle_account, 3, hold_amount);
  sqlite3_bind_int64(floor->settle_account, 4, customer->version);
  if (run(floor, floor->settle_account)) return -1;
  return save_counter(floor, call, 0);
}

static int settle_revenue(struct floor *floor) {
  sqlite3_bind_int64(floor->settle_revenue, 1, revenue_account(floor));
  sqlite3_bind_int64(floor->settle_revenue, 2, floor->revenue_posted);
  sqlite3_bind_int64(floor->settle_revenue, 3, floor->revenue_version);
  return run(floor, floor->settle_revenue);
}

static int run_group(struct floor *floor, int (*step)(struct floor *, struct call *)) {
  floor->at += 1;
  if (run(floor, floor->begin)) return -1;
  for (int index = 0; index < floor->settings->group; index++)
    if (step(floor, &floor->calls[index])) return -1;
  if (step == settle && settle_revenue(floor)) return -1;
  return finish(floor);
}

/// The same as ``run_group`` with the clocks running.
static int count_group(struct floor *floor, int (*step)(struct floor *, struct call *)) {
  double wall = seconds_of(CLOCK_MONOTONIC);
  double cpu = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
  if (run_group(floor, step)) return -1;
  floor->result->cpu_seconds += seconds_of(CLOCK_PROCESS_CPUTIME_ID) - cpu;
  floor->result->seconds += seconds_of(CLOCK_MONOTONIC) - wall;
  floor->result->commits += 1;
  return 0;
}

static int run_floor(struct floor *floor) {
  if (open_database(floor)) return -1;
  while (floor->result->seconds < floor->settings->seconds) {
    make_calls(floor);
    if (count_group(floor, authorise) || run_group(floor, answer) || count_group(floor, settle)) return -1;
    floor->result->pairs += floor->settings->group;
  }
  return 0;
}

int landline_ledger_floor_run(
    const struct landline_ledger_floor_settings *settings, struct landline_ledger_floor_result *result) {
  memset(result, 0, sizeof *result);
  struct floor floor = {.settings = settings, .result = result, .at = first_instant};
  if (settings->group < 1 || settings->group > LANDLINE_LEDGER_FLOOR_MAXIMUM_GROUP ||
      settings->accounts < settings->group || settings->accounts > LANDLINE_LEDGER_FLOOR_MAXIMUM_ACCOUNTS) {
    snprintf(
        result->problem, sizeof result->problem, "a group has 1 to %d calls and at most as many as there are accounts",
        LANDLINE_LEDGER_FLOOR_MAXIMUM_GROUP);
    return -1;
  }
  for (int index = 0; index < hash_bytes; index++) floor.hash[index] = (unsigned char)(index * 37 + 11);
  floor.customers = calloc((size_t)settings->accounts + 1, sizeof *floor.customers);
  floor.calls = calloc((size_t)settings->group, sizeof *floor.calls);
  int code = floor.customers && floor.calls ? run_floor(&floor) : failed(&floor, "start");
  if (floor.database) {
    finalize_all(&floor);
    sqlite3_close(floor.database);
  }
  free(floor.calls);
  free(floor.customers);
  return code;
}
