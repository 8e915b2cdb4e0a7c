import FuzzBound
import SIPCore

/// The door that every datagram takes: the first byte chooses the transport, the rest is the message.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzSIP(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  guard count > 0 else { return 0 }
  let bytes = Array(UnsafeBufferPointer(start: start, count: count))
  let transport: SIPTransport = bytes[0] & 1 == 0 ? .udp : .tcp
  withinTimeBound { _ = SIPGate.admit(Array(bytes.dropFirst()), transport: transport) }
  return 0
}
