/// Doors with a planted fault each, three bytes deep: a rig that does not find them finds nothing.
enum CanaryDoors {
  static let all = [
    FuzzDoor("canary-trap", "an index behind the end", dictionary: "none") { (input) throws(BrokenPromise) in
      guard input.starts(with: "TRA".utf8) else { return }
      try promise(input[input.count] == 0, "read behind the end")
    },
    FuzzDoor("canary-overread", "a read behind a buffer", dictionary: "none") { (input) throws(BrokenPromise) in
      guard input.starts(with: "OVE".utf8) else { return }
      let buffer = UnsafeMutablePointer<UInt8>.allocate(capacity: 3)
      buffer.update(from: input, count: 3)
      let behind = buffer[input.count]
      buffer.deallocate()
      // A value that decides something is read, whatever the optimiser thinks.
      try promise(behind != 0xA7, "what lies behind")
    },
    FuzzDoor("canary-leak", "memory that nobody frees", dictionary: "none") { (input) throws(BrokenPromise) in
      guard input.starts(with: "LEA".utf8) else { return }
      let lost = UnsafeMutablePointer<UInt8>.allocate(capacity: 4099)
      lost.initialize(repeating: input[0], count: 4099)
      try promise(lost[4098] == input[0], "never")
    },
    FuzzDoor("canary-promise", "a text that does not come back as it went", dictionary: "none") {
      (input) throws(BrokenPromise) in
      var back = input
      if input.starts(with: "PRO".utf8) { back.removeLast() }
      try promise(back == input, "the planted fault")
    },
    FuzzDoor("canary-slow", "work that grows with the square of the input", dictionary: "none") {
      (input) throws(BrokenPromise) in
      guard input.starts(with: "SLO".utf8) else { return }
      let end = processorNanoseconds() + 2 * FuzzDoor.standardMilliseconds * 1_000_000
      while processorNanoseconds() < end {}
    },
    FuzzDoor("canary-growth", "memory by a length that a stranger says", dictionary: "none") {
      (input) throws(BrokenPromise) in
      guard input.starts(with: "GRO".utf8) else { return }
      let taken = [UInt8](repeating: 1, count: 1 << 30)
      try promise(taken.last == input.first.map { $0 / $0 }, "never")
    },
  ]
}
