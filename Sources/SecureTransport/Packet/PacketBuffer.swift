/// Room for one datagram, made once and used again: packets are read, changed and sent in place.
///
/// Reads and writes outside ``capacity`` are mistakes of ours and trap; parsers compare with ``count`` first.
public final class PacketBuffer {
  /// Bytes of room: a datagram of 1500 bytes, and what SRTP adds.
  public static let capacity = 2048
  /// Most bytes of a datagram that is looked at. Longer ones are dropped.
  public static let maximumDatagram = 1500

  @usableFromInline let base: UnsafeMutableRawPointer
  // Unchecked: read and written as a whole only, and the check costs more than the rest of a header's reading.
  @exclusivity(unchecked) @usableFromInline var used = 0

  /// All zeros, none of it in use.
  public init() {
    base = UnsafeMutableRawPointer.allocate(byteCount: PacketBuffer.capacity, alignment: 16)
    base.initializeMemory(as: UInt8.self, repeating: 0, count: PacketBuffer.capacity)
  }

  /// A packet of these bytes, at most ``capacity``; more traps.
  public convenience init(_ bytes: some Collection<UInt8>) {
    self.init()
    replace(with: bytes)
  }

  deinit { base.deallocate() }

  /// Bytes in use, from the start.
  @inlinable public var count: Int {
    get { used }
    set {
      // Readers measure a packet before they look into it; this is the last wall before foreign memory.
      precondition(newValue >= 0 && newValue <= PacketBuffer.capacity, "a packet outgrew its buffer")
      used = newValue
    }
  }

  /// Reaches the whole room, in use or not; an offset outside of it traps.
  @inlinable public subscript(offset: Int) -> UInt8 {
    get {
      check(offset, 1)
      return base.load(fromByteOffset: offset, as: UInt8.self)
    }
    set {
      check(offset, 1)
      base.storeBytes(of: newValue, toByteOffset: offset, as: UInt8.self)
    }
  }

  /// Network order.
  @inlinable public func integer<Value: FixedWidthInteger & BitwiseCopyable>(at offset: Int, as type: Value.Type)
    -> Value
  {
    check(offset, MemoryLayout<Value>.size)
    return Value(bigEndian: base.loadUnaligned(fromByteOffset: offset, as: Value.self))
  }

  /// Network order.
  @inlinable public func store<Value: FixedWidthInteger & BitwiseCopyable>(_ value: Value, at offset: Int) {
    check(offset, MemoryLayout<Value>.size)
    base.storeBytes(of: value.bigEndian, toByteOffset: offset, as: Value.self)
  }

  /// Goes behind the bytes in use; traps where there is no room.
  @inlinable public func append(_ byte: UInt8) {
    self[used] = byte
    used += 1
  }

  /// Network order, behind the bytes in use; traps where there is no room.
  @inlinable public func append<Value: FixedWidthInteger & BitwiseCopyable>(integer value: Value) {
    store(value, at: used)
    used += MemoryLayout<Value>.size
  }

  /// Takes all bytes; more than ``capacity`` is a mistake of ours.
  public func replace(with bytes: some Collection<UInt8>) {
    count = bytes.count
    UnsafeMutableRawBufferPointer(start: base, count: PacketBuffer.capacity).copyBytes(from: bytes)
  }

  /// Copies `length` bytes of `other` from `offset` to `position` here. ``count`` is left alone.
  @inlinable public func copy(_ other: PacketBuffer, from offset: Int, count length: Int, to position: Int) {
    check(position, length)
    other.check(offset, length)
    base.advanced(by: position).copyMemory(from: other.base.advanced(by: offset), byteCount: length)
  }

  /// The bytes in use.
  public var bytes: [UInt8] { Array(UnsafeRawBufferPointer(start: base, count: used)) }

  /// The whole room, for a C function that is told how much it may use.
  @inlinable public func withUnsafeMutableRoom<Result, Failure: Error>(
    _ body: (UnsafeMutableRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try body(UnsafeMutableRawBufferPointer(start: base, count: PacketBuffer.capacity))
  }

  @inlinable @inline(__always) func check(_ offset: Int, _ length: Int) {
    // The last wall before foreign memory: readers measure a packet before they look into it.
    precondition(
      offset >= 0 && length >= 0 && offset <= PacketBuffer.capacity - length, "an offset outside a packet's buffer")
  }
}
