import CLandlineSockets
import CallModel
import SecureTransport

/// Buffers that one system call fills.
final class InputBatch {
  let buffers: ContiguousArray<PacketBuffer>
  let datagrams: UnsafeMutablePointer<landline_datagram>
  let batch: OpaquePointer

  init(capacity: Int) throws(InvalidValue) {
    buffers = ContiguousArray((0..<capacity).map { _ in PacketBuffer() })
    datagrams = .allocate(capacity: capacity)
    datagrams.initialize(repeating: landline_datagram(), count: capacity)
    for (index, buffer) in buffers.enumerated() { datagrams[index] = landline_datagram(room: buffer) }
    guard let batch = landline_batch_make(datagrams, Int32(clamping: capacity)) else {
      datagrams.deallocate()
      throw .media("media.memory", "there is no memory for packets", accepted: "more memory")
    }
    self.batch = batch
  }

  deinit {
    landline_batch_free(batch)
    datagrams.deallocate()
  }
}

/// Datagrams of an outbox on their way to the kernel: those of an app port together, in one system call.
final class OutputBatch {
  private final class Port {
    let datagrams: UnsafeMutablePointer<landline_datagram>
    let batch: OpaquePointer
    var count = 0

    init() throws(InvalidValue) {
      datagrams = .allocate(capacity: OutputBatch.capacity)
      datagrams.initialize(repeating: landline_datagram(), count: OutputBatch.capacity)
      guard let batch = landline_batch_make(datagrams, Int32(clamping: OutputBatch.capacity)) else {
        datagrams.deallocate()
        throw .media("media.memory", "there is no memory for packets", accepted: "more memory")
      }
      self.batch = batch
    }

    deinit {
      landline_batch_free(batch)
      datagrams.deallocate()
    }
  }

  /// Datagrams sent with one system call.
  static let capacity = 64

  private let rooms: UnsafeMutablePointer<landline_datagram>
  private let ports: ContiguousArray<Port>
  var counters = landline_send_counters()

  /// For one outbox and the app ports from 0 on.
  init(_ outbox: PacketOutbox, sockets: Int) throws(InvalidValue) {
    var made: ContiguousArray<Port> = []
    for _ in 0..<sockets { made.append(try Port()) }
    ports = made
    rooms = .allocate(capacity: PacketOutbox.capacity)
    rooms.initialize(repeating: landline_datagram(), count: PacketOutbox.capacity)
    for index in 0..<PacketOutbox.capacity { rooms[index] = landline_datagram(room: outbox.buffer(at: index)) }
  }

  deinit { rooms.deallocate() }

  /// The datagram of the outbox's place, for a socket.
  @inline(__always)
  private func datagram(_ index: Int, of outbox: PacketOutbox) -> landline_datagram {
    let address = outbox.address(at: index)
    var datagram = rooms[index]
    datagram.count = UInt32(truncatingIfNeeded: outbox.buffer(at: index).count)
    datagram.high = address.high
    datagram.low = address.low
    datagram.port = address.port
    return datagram
  }

  @inline(__always)
  func send(_ index: Int, of outbox: PacketOutbox, on descriptor: Int32, isIPv4: Bool) {
    var datagram = datagram(index, of: outbox)
    landline_send_one(descriptor, isIPv4, &datagram, &counters)
  }

  /// Sent with the others when there are enough, or with ``flush(app:on:isIPv4:)``.
  @inline(__always)
  func add(_ index: Int, of outbox: PacketOutbox, app: Int, on descriptor: Int32, isIPv4: Bool) {
    let port = ports[app]
    port.datagrams[port.count] = datagram(index, of: outbox)
    port.count += 1
    if port.count == OutputBatch.capacity { flush(app: app, on: descriptor, isIPv4: isIPv4) }
  }

  func flush(app: Int, on descriptor: Int32, isIPv4: Bool) {
    let port = ports[app]
    guard port.count > 0 else { return }
    if port.count == 1 {
      landline_send_one(descriptor, isIPv4, port.datagrams, &counters)
    } else {
      landline_send(descriptor, isIPv4, port.batch, Int32(truncatingIfNeeded: port.count), &counters)
    }
    port.count = 0
  }
}

extension landline_datagram {
  /// A buffer's room stays where it is while the buffer lives, so its address may be kept beside it.
  fileprivate init(room buffer: PacketBuffer) {
    self.init()
    buffer.withUnsafeMutableRoom { room in
      data = room.baseAddress
      capacity = UInt32(clamping: room.count)
    }
  }
}
