#if canImport(Glibc)
  import Glibc
#endif

/// Of this thread: another process on the same core does not count.
func processorNanoseconds() -> Int {
  var time = timespec()
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
  return time.tv_sec * 1_000_000_000 + time.tv_nsec
}
