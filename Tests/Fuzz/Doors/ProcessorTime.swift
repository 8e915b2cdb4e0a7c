#if canImport(Glibc)
  import Glibc
#endif

/// Of this thread: another process on the same core does not count.
func processorNanoseconds() -> Int {
  var usage = rusage()
  // RUSAGE_THREAD of Linux, which Glibc's module does not name.
  getrusage(__rusage_who_t(1), &usage)
  let time = (usage.ru_utime, usage.ru_stime)
  return (time.0.tv_sec + time.1.tv_sec) * 1_000_000_000 + (time.0.tv_usec + time.1.tv_usec) * 1_000
}
