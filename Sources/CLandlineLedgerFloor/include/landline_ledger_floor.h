// The least that an embedded ledger in SQLite can cost: a bare loop over the C API that writes the rows of prepaid calls
// and does nothing else. No rule is checked, no row is read back, no hash is computed; texts are made before the clock
// starts. What a ledger with rules takes beyond this is its own doing.
#ifndef LANDLINE_LEDGER_FLOOR_H
#define LANDLINE_LEDGER_FLOOR_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Largest group that one commit may hold.
#define LANDLINE_LEDGER_FLOOR_MAXIMUM_GROUP 4096
/// Largest number of customer accounts.
#define LANDLINE_LEDGER_FLOOR_MAXIMUM_ACCOUNTS 1000000
/// Bytes of a result's problem text, the ending zero included.
#define LANDLINE_LEDGER_FLOOR_PROBLEM_BYTES 256

/// What to run.
struct landline_ledger_floor_settings {
  /// Where the database file is made; nothing may be there.
  const char *path;
  /// The statements that make the ledger's tables and indexes.
  const char *schema;
  /// The stored text of the rate that every call is priced with.
  const char *snapshot;
  /// Calls in one commit, at least 1.
  int32_t group;
  /// Customer accounts, at least as many as a group has calls.
  int32_t accounts;
  /// Seconds to measure.
  double seconds;
};

/// What was measured. Answers between authorisation and settlement are written too, outside of the counted time.
struct landline_ledger_floor_result {
  /// Calls authorised and settled.
  int64_t pairs;
  /// Commits in the counted time.
  int64_t commits;
  /// Wall-clock seconds of authorisations and settlements.
  double seconds;
  /// CPU seconds (user and system, whole process) of the same.
  double cpu_seconds;
  /// Why the run failed; empty after success.
  char problem[LANDLINE_LEDGER_FLOOR_PROBLEM_BYTES];
};

/// Makes a database and writes calls to it in groups: one commit authorises a group, one answers it, one settles it.
/// Write-ahead log, PRAGMA synchronous = FULL, SQLite's own checkpoints.
///
/// @return 0, or -1 with `result->problem` set.
int landline_ledger_floor_run(
    const struct landline_ledger_floor_settings *settings, struct landline_ledger_floor_result *result);

#ifdef __cplusplus
}
#endif

#endif
