#include "landline_sqlite.h"

#include <pthread.h>
#include <string.h>

// Bytes that one write gathers: more than the frames of an ordinary commit.
enum { ROOM = 128 * 1024 };

// A log, and behind it in memory the file of the system's own implementation.
struct log_file {
  sqlite3_file base;
  unsigned char *bytes;
  int count;
  sqlite3_int64 start;
};

static sqlite3_vfs *system_files;
static sqlite3_vfs gathering_files;

static sqlite3_file *real(struct log_file *log) { return (sqlite3_file *)(log + 1); }

static struct log_file *log_of(sqlite3_file *file) { return (struct log_file *)file; }

// Writes what waits. After an error nothing waits any more: the transaction is rolled back, and its frames with it.
static int flush(struct log_file *log) {
  if (log->count == 0) return SQLITE_OK;
  int count = log->count;
  log->count = 0;
  return real(log)->pMethods->xWrite(real(log), log->bytes, count, log->start);
}

static int log_close(sqlite3_file *file) {
  struct log_file *log = log_of(file);
  // What still waits belongs to no commit, and others may write here by now.
  sqlite3_free(log->bytes);
  log->bytes = 0;
  log->count = 0;
  return real(log)->pMethods->xClose(real(log));
}

static int log_read(sqlite3_file *file, void *bytes, int count, sqlite3_int64 offset) {
  struct log_file *log = log_of(file);
  int written = flush(log);
  return written != SQLITE_OK ? written : real(log)->pMethods->xRead(real(log), bytes, count, offset);
}

static int log_write(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 offset) {
  struct log_file *log = log_of(file);
  if (log->count > 0 && (offset != log->start + log->count || count > ROOM - log->count)) {
    int written = flush(log);
    if (written != SQLITE_OK) return written;
  }
  if (!log->bytes) log->bytes = sqlite3_malloc(ROOM);
  if (!log->bytes || count > ROOM) return real(log)->pMethods->xWrite(real(log), bytes, count, offset);
  if (log->count == 0) log->start = offset;
  memcpy(log->bytes + log->count, bytes, (size_t)count);
  log->count += count;
  return SQLITE_OK;
}

static int log_truncate(sqlite3_file *file, sqlite3_int64 size) {
  struct log_file *log = log_of(file);
  int written = flush(log);
  return written != SQLITE_OK ? written : real(log)->pMethods->xTruncate(real(log), size);
}

static int log_sync(sqlite3_file *file, int flags) {
  struct log_file *log = log_of(file);
  int written = flush(log);
  return written != SQLITE_OK ? written : real(log)->pMethods->xSync(real(log), flags);
}

static int log_size(sqlite3_file *file, sqlite3_int64 *size) {
  struct log_file *log = log_of(file);
  int written = flush(log);
  return written != SQLITE_OK ? written : real(log)->pMethods->xFileSize(real(log), size);
}

static int log_lock(sqlite3_file *file, int level) {
  return real(log_of(file))->pMethods->xLock(real(log_of(file)), level);
}

static int log_unlock(sqlite3_file *file, int level) {
  return real(log_of(file))->pMethods->xUnlock(real(log_of(file)), level);
}

static int log_is_reserved(sqlite3_file *file, int *answer) {
  return real(log_of(file))->pMethods->xCheckReservedLock(real(log_of(file)), answer);
}

static int log_control(sqlite3_file *file, int operation, void *argument) {
  return real(log_of(file))->pMethods->xFileControl(real(log_of(file)), operation, argument);
}

static int log_sector(sqlite3_file *file) {
  return real(log_of(file))->pMethods->xSectorSize(real(log_of(file)));
}

static int log_characteristics(sqlite3_file *file) {
  return real(log_of(file))->pMethods->xDeviceCharacteristics(real(log_of(file)));
}

static const sqlite3_io_methods log_methods = {
    .iVersion = 1,
    .xClose = log_close,
    .xRead = log_read,
    .xWrite = log_write,
    .xTruncate = log_truncate,
    .xSync = log_sync,
    .xFileSize = log_size,
    .xLock = log_lock,
    .xUnlock = log_unlock,
    .xCheckReservedLock = log_is_reserved,
    .xFileControl = log_control,
    .xSectorSize = log_sector,
    .xDeviceCharacteristics = log_characteristics,
};

static int open_file(sqlite3_vfs *files, const char *path, sqlite3_file *file, int flags, int *opened_flags) {
  (void)files;
  if (!(flags & SQLITE_OPEN_WAL)) return system_files->xOpen(system_files, path, file, flags, opened_flags);
  struct log_file *log = log_of(file);
  *log = (struct log_file){0};
  real(log)->pMethods = 0;
  int code = system_files->xOpen(system_files, path, real(log), flags, opened_flags);
  // A file without methods is not closed by SQLite; the system's own may want to be after an error as well.
  if (code == SQLITE_OK) {
    log->base.pMethods = &log_methods;
  } else if (real(log)->pMethods) {
    real(log)->pMethods->xClose(real(log));
  }
  return code;
}

static void register_files(void) {
  sqlite3_vfs *found = sqlite3_vfs_find(0);
  if (!found) return;
  gathering_files = *found;
  gathering_files.zName = "landline-gathering";
  gathering_files.pNext = 0;
  gathering_files.szOsFile = found->szOsFile + (int)sizeof(struct log_file);
  gathering_files.xOpen = open_file;
  if (sqlite3_vfs_register(&gathering_files, 0) == SQLITE_OK) system_files = found;
}

// A transaction that was undone may leave frames that its cache had no room for. The next one may find that others wrote
// in their place: they must not be written any more.
static void undone(void *connection) {
  sqlite3_file *file = 0;
  int code = sqlite3_file_control(connection, "main", SQLITE_FCNTL_JOURNAL_POINTER, &file);
  if (code == SQLITE_OK && file && file->pMethods == &log_methods) log_of(file)->count = 0;
}

int landline_sqlite3_open_gathering(const char *path, sqlite3 **connection, int flags) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, register_files);
  int code = sqlite3_open_v2(path, connection, flags, system_files ? gathering_files.zName : 0);
  if (code == SQLITE_OK && system_files) sqlite3_rollback_hook(*connection, undone, *connection);
  return code;
}
