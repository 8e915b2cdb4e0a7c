/// A socket of the shell, by the number the shell gave it.
public struct MediaPort: RawRepresentable, Hashable, Sendable {
  /// Has a meaning for the shell alone; not the UDP port.
  public let rawValue: Int32
  /// Any number is accepted.
  public init(rawValue: Int32) { self.rawValue = rawValue }
}

/// Datagrams to be sent, in order, in buffers that are used again. The shell empties it after each batch of input.
///
/// A packet is written into ``next`` and sent with ``commit(on:to:)``; nothing is allocated on the way.
public final class PacketOutbox {
  /// Datagrams it holds at most; further ones are dropped and counted.
  public static let capacity = 512

  /// Datagrams that wait to be sent, at most ``capacity``.
  @usableFromInline let buffers: ContiguousArray<PacketBuffer>
  @usableFromInline var ports: ContiguousArray<MediaPort>
  @usableFromInline var addresses: ContiguousArray<MediaAddress>
  @usableFromInline let overflow = PacketBuffer()
  public private(set) var count = 0
  /// Datagrams that found no room, since the start.
  public private(set) var dropped: UInt64 = 0

  /// Makes all buffers, ``capacity`` times ``PacketBuffer/capacity`` bytes: done once, not for each batch.
  public init() {
    buffers = ContiguousArray((0..<PacketOutbox.capacity).map { _ in PacketBuffer() })
    ports = ContiguousArray(repeating: MediaPort(rawValue: 0), count: PacketOutbox.capacity)
    addresses = ContiguousArray(
      repeating: MediaAddress(high: 0, low: 0, port: 0), count: PacketOutbox.capacity)
  }

  /// The buffer to write the next datagram into; its content is old.
  public var next: PacketBuffer { count < PacketOutbox.capacity ? buffers[count] : overflow }

  /// Sends what stands in ``next``.
  public func commit(on port: MediaPort, to address: MediaAddress) {
    guard count < PacketOutbox.capacity else {
      dropped += 1
      return
    }
    ports[count] = port
    addresses[count] = address
    count += 1
  }

  /// The datagram at a place from 0 to ``count`` − 1, in the order of sending.
  public func buffer(at index: Int) -> PacketBuffer { buffers[index] }
  /// The socket that the datagram at this place leaves by.
  public func port(at index: Int) -> MediaPort { ports[index] }
  /// Where the datagram at this place goes.
  public func address(at index: Int) -> MediaAddress { addresses[index] }

  /// Forgets all datagrams, after they were sent.
  public func removeAll() { count = 0 }
}
