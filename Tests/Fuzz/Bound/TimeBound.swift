import Glibc

/// Runs one input and ends the process, so that the input is kept, when it took more processor time than a message may.
public func withinTimeBound(_ body: () -> Void) {
  let before = processorNanoseconds()
  body()
  let spent = processorNanoseconds() - before
  if spent > 100_000_000 {
    print("ERROR: one input took \(spent / 1_000_000) ms of processor time, more than 100")
    fflush(nil)
    abort()
  }
}

/// Of this thread: another process on the same core does not count.
private func processorNanoseconds() -> Int {
  var time = timespec()
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
  return time.tv_sec * 1_000_000_000 + time.tv_nsec
}
