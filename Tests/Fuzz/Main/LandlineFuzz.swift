import FuzzDoors
import Glibc

// The door that this process opens; the fuzzing runtime calls from one thread, and sets it up before the first input.
nonisolated(unsafe) private var door: FuzzDoor?

/// Chooses the door by `LANDLINE_FUZZ_DOOR`; `list` tells all of them, a row each: name, dictionary, most bytes.
@_cdecl("LLVMFuzzerInitialize")
public func chooseDoor(
  _ count: UnsafeMutablePointer<CInt>, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?>
) -> CInt {
  let name = getenv("LANDLINE_FUZZ_DOOR").map { String(cString: $0) } ?? ""
  if name == "list" || name == "canaries" {
    for door in name == "list" ? FuzzDoors.all : FuzzDoors.canaries {
      print("\(door.name)\t\(door.dictionary)\t\(door.maximumBytes)\t\(door.feeds)")
    }
    exit(0)
  }
  door = FuzzDoors.named(name)
  guard door != nil else {
    print("LANDLINE_FUZZ_DOOR=\(name) is none of the doors; LANDLINE_FUZZ_DOOR=list tells them")
    exit(2)
  }
  return 0
}

@_cdecl("LLVMFuzzerTestOneInput")
public func runOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  do throws(BrokenPromise) {
    try door?.runWithinBound(Array(UnsafeBufferPointer(start: start, count: count)))
  } catch {
    // The runtime keeps the input of a process that ends so.
    print("ERROR: broken promise: \(error)")
    fflush(nil)
    abort()
  }
  return 0
}
