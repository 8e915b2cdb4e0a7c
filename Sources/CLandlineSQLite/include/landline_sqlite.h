// Door to the system's SQLite (sqlite3.h). One importer: LandlineSQLite.
#ifndef LANDLINE_SQLITE_H
#define LANDLINE_SQLITE_H

#include <sqlite3.h>

// SQLITE_STATIC is a macro cast that Swift cannot import: the bytes outlive the statement's next step.
static inline int landline_sqlite3_bind_text_static(
    sqlite3_stmt *statement, int index, const char *bytes, int length) {
  return sqlite3_bind_text(statement, index, bytes, length, SQLITE_STATIC);
}

// SQLITE_TRANSIENT is a macro cast that Swift cannot import: SQLite copies the bytes before it returns.
static inline int landline_sqlite3_bind_text_copied(
    sqlite3_stmt *statement, int index, const char *bytes, int length) {
  return sqlite3_bind_text(statement, index, bytes, length, SQLITE_TRANSIENT);
}

static inline int landline_sqlite3_bind_blob_copied(
    sqlite3_stmt *statement, int index, const void *bytes, int length) {
  return sqlite3_bind_blob(statement, index, bytes, length, SQLITE_TRANSIENT);
}

// sqlite3_config takes variable arguments, which Swift cannot pass. Without the count of memory in use, which nobody reads,
// an allocation takes no lock. To be called before the first connection is opened.
static inline int landline_sqlite3_disable_memory_statistics(void) {
  return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

/// As sqlite3_open_v2, with one write for the frames of a log that follow each other: SQLite itself writes the head of each
/// frame, then its page. What is written waits in memory until it is synchronised or read, so the connection must commit
/// with `PRAGMA synchronous = FULL`: others then find nothing in the log's index that is not in the log. Its rollback hook
/// is taken.
int landline_sqlite3_open_gathering(const char *path, sqlite3 **connection, int flags);

#endif
