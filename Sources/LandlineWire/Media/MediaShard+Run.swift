import CLandlineSockets
import CallModel
import MediaCore
import SecureTransport

extension MediaShard {
  private static func microseconds() -> Int64 { landline_monotonic_nanoseconds() / 1000 }

  /// Turns until it is shut down. The thread that calls it is the shard's own.
  package func run() {
    pace = LoopPace(
      maximumTick: configuration.maximumTickMicroseconds, at: Self.microseconds(),
      processor: landline_thread_nanoseconds() / 1000)
    while finish == nil {
      let ready = landline_poll_wait(poll, pollEvents, mailbox.willSleep() ? waitNanoseconds() : 0)
      mailbox.didWake()
      let start = Self.microseconds()
      counters.wakeUps += 1
      // An error here can only be a mistake of ours; it shall not take a whole processor.
      if ready < 0 { landline_sleep_until((start + 1000) * 1000) }
      if mailbox.isWaiting { performCommands(at: start) }
      var isMore = ready == Self.pollSize
      // Commands alone gather no packets: the next one need not wait for the beat.
      let isCommandOnly = ready == 1 && landline_poll_tag(pollEvents, 0) == TrunkSockets.mailboxTag
      for index in 0..<max(ready, 0) {
        let tag = landline_poll_tag(pollEvents, index)
        if tag < UInt64(apps.count) {
          if readApp(Int(tag)) { isMore = true }
        } else if tag != TrunkSockets.mailboxTag {
          readTrunk(Int32(truncatingIfNeeded: tag))
        }
      }
      let now = Self.microseconds()
      advance(to: now)
      flush()
      deliverEvents()
      if pace.isDue(at: now) {
        pace.measure(at: now, processor: landline_thread_nanoseconds() / 1000)
        gauge.update(isFull: pace.isFull, at: now)
      }
      // What this turn left over does not wait for the beat.
      if pace.tick > 0, !isMore, !isCommandOnly, finish == nil { landline_sleep_until(beatEnd(from: start) * 1000) }
    }
    shutDown()
  }

  /// Until when packets are gathered. Those for conferences wait for their frame anyway: where all bridges have a leg in one, as
  /// long as can be, which saves a third of what they cost.
  private func beatEnd(from start: Int64) -> Int64 {
    let end = start + pace.tick
    guard let frame = workspace.hall.nextDeadline, workspace.hall.conferenceSeats >= bridgeCount else { return end }
    return max(end, min(start + pace.maximumTick, frame.microseconds))
  }

  /// Until the next thing that is due; negative: nothing is.
  private func waitNanoseconds() -> Int64 {
    var next = deadlines.next
    for index in pools.indices { next = min(next, pools[index].nextDeadline) }
    if let first = closing.first { next = min(next, first.due) }
    if let due = workspace.hall.nextDeadline { next = min(next, due.microseconds) }
    guard next < .max else { return -1 }
    // An hour at most, which no deadline of a call exceeds, keeps the sum in bounds.
    return min(max(next - Self.microseconds(), 0), 3_600_000_000) * 1000
  }

  // MARK: Input

  /// - Returns: Whether there may be more.
  private func readApp(_ index: Int) -> Bool {
    let app = apps[index]
    let limit = Int32(truncatingIfNeeded: Self.batchSize)
    for _ in 0..<Self.batchesInTurn {
      let count = receive(app.descriptor, limit: limit)
      guard count > 0 else { return false }
      let now = MonotonicInstant(microseconds: Self.microseconds())
      for place in 0..<Int(count) {
        let datagram = input.datagrams[place]
        let buffer = input.buffers[place]
        guard accept(datagram, buffer) else { continue }
        let address = MediaAddress(high: datagram.high, low: datagram.low, port: datagram.port)
        let leg = leg(of: buffer, from: address)
        guard leg != .none else { continue }
        hand(buffer, to: leg, on: app.port.port, from: address, at: now)
      }
      if count < limit { return false }
    }
    return true
  }

  private func readTrunk(_ number: Int32) {
    // Nothing: it was given back after the kernel told of its input.
    let place = trunks.place(of: number)
    guard place >= 0 else { return }
    let count = receive(trunks[place].descriptor, limit: Self.trunkBatchSize)
    guard count > 0 else { return }
    let now = MonotonicInstant(microseconds: Self.microseconds())
    for index in 0..<Int(count) {
      let datagram = input.datagrams[index]
      let buffer = input.buffers[index]
      guard accept(datagram, buffer) else { continue }
      // Commands, or the packet before, may have ended its call.
      let place = trunks.place(of: number)
      guard place >= 0 else { return }
      hand(
        buffer, to: trunks[place].leg, on: MediaPort(rawValue: number),
        from: MediaAddress(high: datagram.high, low: datagram.low, port: datagram.port), at: now)
    }
  }

  @inline(__always)
  private func receive(_ descriptor: Int32, limit: Int32) -> Int32 {
    let count = landline_receive(descriptor, input.batch, limit)
    counters.receiveCalls += 1
    if count < 0 { counters.receiveErrors += 1 }
    // What was asked before these datagrams were sent holds for them: who tells of a user fragment, and then sends an
    // offer that names it, is found by the answer.
    if mailbox.isWaiting { performCommands(at: Self.microseconds()) }
    return count
  }

  @inline(__always)
  private func accept(_ datagram: landline_datagram, _ buffer: PacketBuffer) -> Bool {
    counters.receivedDatagrams += 1
    counters.receivedBytes += UInt64(datagram.count)
    if datagram.is_truncated || datagram.count > UInt32(PacketBuffer.maximumDatagram) {
      counters.oversized += 1
      return false
    }
    if datagram.count == 0 {
      counters.empty += 1
      return false
    }
    buffer.count = Int(datagram.count)
    return true
  }

  /// The leg that an app's datagram is for.
  @inline(__always)
  private func leg(of packet: PacketBuffer, from address: MediaAddress) -> LegNumber {
    let known = addresses.leg(of: address)
    // STUN (RFC 7983 section 7) names the call that it is for: an app may use one port for a second call.
    if packet[0] < 4 {
      return legOfCheck(packet, known)
    }
    if known == .none { counters.unknownSources += 1 }
    return known
  }

  private func legOfCheck(_ packet: PacketBuffer, _ known: LegNumber) -> LegNumber {
    if let fragment = Bridge.userFragment(in: packet), let leg = userFragments[fragment] { return leg }
    if known == .none { counters.unknownUserFragments += 1 }
    return known
  }

  @inline(__always)
  private func hand(
    _ packet: PacketBuffer, to leg: LegNumber, on port: MediaPort, from address: MediaAddress, at now: MonotonicInstant
  ) {
    let slot = leg.slot
    guard let bridge = bridges[Int(slot)] else {
      counters.early += 1
      return
    }
    bridge.receive(packet, of: leg.id, on: port, from: address, at: now, outbox: outbox, events: &told)
    settle(bridge, slot, at: now)
  }

  // MARK: Time

  private func advance(to microseconds: Int64) {
    let now = MonotonicInstant(microseconds: microseconds)
    // Each bridge once at most in a turn: one that is due again at once waits for the next.
    var rest = deadlines.count
    while rest > 0 {
      rest -= 1
      let slot = deadlines.due(at: microseconds)
      guard slot >= 0 else { break }
      guard let bridge = bridges[Int(slot)], let due = bridge.nextDeadline else {
        deadlines.set(slot, .max)
        continue
      }
      if due > now {
        // It was put off since; only now does that count.
        deadlines.set(slot, due.microseconds)
        continue
      }
      deadlines.set(slot, .max)
      bridge.advance(to: now, outbox: outbox, events: &told)
      settle(bridge, slot, at: now)
    }
    advanceRooms(to: now)
    for index in pools.indices where pools[index].nextDeadline <= microseconds { pools[index].expire(at: microseconds) }
    while let first = closing.first, first.due <= microseconds {
      closing.removeFirst()
      guard let slot = slots[first.identifier], calls[Int(slot)]?.isClosing == true else { continue }
      counters.bridgesForced += 1
      release(slot, at: microseconds)
    }
  }

  /// The rooms that legs of bridges are in have a clock of their own; what they tell has the name of a bridge.
  private func advanceRooms(to now: MonotonicInstant) {
    guard let due = workspace.hall.nextDeadline, due <= now else { return }
    workspace.hall.advance(to: now, outbox: outbox, flush: flush, events: &toldByRooms)
    for (bridge, event) in toldByRooms {
      // Whoever is being closed is in no room any more.
      if slots[bridge] != nil { events.append(MediaLoopEvent(bridge: bridge, event: event)) }
    }
    toldByRooms.removeAll(keepingCapacity: true)
    if outbox.count >= Self.flushSize { flush() }
  }

  /// After a bridge was at work: what it tells, when it is due, and what it sends.
  @inline(__always)
  func settle(_ bridge: Bridge, _ slot: Int32, at now: MonotonicInstant) {
    // A later deadline than the one that stands costs nothing until that one comes.
    if let due = bridge.nextDeadline, due.microseconds < deadlines.deadline(of: slot) {
      deadlines.set(slot, due.microseconds)
    }
    if !told.isEmpty { handleEvents(of: slot, at: now) }
    if outbox.count >= Self.flushSize { flush() }
  }

  // MARK: Output

  func flush() {
    let count = outbox.count
    guard count > 0 else { return }
    let isFaultPlanted = configuration.plantedLossPerThousand > 0
    for index in 0..<count {
      if isFaultPlanted, isLostOnPurpose(outbox.buffer(at: index)) { continue }
      let number = outbox.port(at: index).rawValue
      if number >= 0, Int(number) < apps.count {
        let app = apps[Int(number)]
        output.add(index, of: outbox, app: Int(number), on: app.descriptor, isIPv4: app.isIPv4)
        continue
      }
      let place = trunks.place(of: number)
      if place >= 0 {
        let entry = trunks[place]
        output.send(index, of: outbox, on: entry.descriptor, isIPv4: entry.isIPv4)
      } else {
        counters.sendsOnReleasedPort += 1
      }
    }
    for index in apps.indices { output.flush(app: index, on: apps[index].descriptor, isIPv4: apps[index].isIPv4) }
    outbox.removeAll()
  }

  /// Whether a packet is one that the planted fault takes. Sound is hit, not what sets a call up (RFC 7983 section 7; RTCP
  /// has packet types from 192 on, RFC 5761 section 4).
  private func isLostOnPurpose(_ packet: PacketBuffer) -> Bool {
    guard packet.count > 1, (128...191).contains(packet[0]), !(192...223).contains(packet[1]) else { return false }
    plantedLossState = plantedLossState &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return (plantedLossState >> 33) % 1_000 < UInt64(clamping: configuration.plantedLossPerThousand)
  }

  private func deliverEvents() {
    guard !events.isEmpty else { return }
    deliver(events)
    // The receiver may hold the old array; a new one is made when there is something to tell.
    events = []
  }
}
