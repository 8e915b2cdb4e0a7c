/// A door with a planted fault that lies three bytes deep: a rig that does not find it finds nothing.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzCanary(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  let bytes = Array(UnsafeBufferPointer(start: start, count: count))
  if bytes.count > 3, bytes[0] == UInt8(ascii: "S"), bytes[1] == UInt8(ascii: "I"), bytes[2] == UInt8(ascii: "P") {
    // The planted fault: an index behind the end.
    return CInt(bytes[bytes.count])
  }
  return 0
}
