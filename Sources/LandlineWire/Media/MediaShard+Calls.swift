import CLandlineSockets
import CallModel
import MediaCore
import SecureTransport

extension MediaShard {
  func performCommands(at now: Int64) {
    mailbox.drain(into: &commands)
    for command in commands {
      if finish == nil { perform(command, at: now) } else { refuse(command) }
    }
    commands.removeAll(keepingCapacity: true)
  }

  private func perform(_ command: LoopCommand<Bridge>, at now: Int64) {
    switch command {
    case .reserveTrunkPorts(let identifier, let leg, let interface, let control, let reply):
      reply(reserve(for: identifier, leg, interface: interface, control: control, at: now))
    case .releaseTrunkPorts(let identifier, let ports): giveBack(ports, of: identifier, at: now)
    case .open(let identifier, let make, let reply): reply(open(identifier, make, at: now))
    case .route(let identifier, let leg, let fragment): route(fragment, to: identifier, leg)
    case .apply(let identifier, .close), .close(let identifier): close(identifier, at: now)
    case .apply(let identifier, let command):
      guard let slot = slots[identifier], let bridge = bridges[Int(slot)] else { return late() }
      let time = MonotonicInstant(microseconds: now)
      bridge.handle(command, at: time, outbox: outbox, events: &told)
      settle(bridge, slot, at: time)
    case .work(let identifier, let work):
      guard let slot = slots[identifier], let bridge = bridges[Int(slot)] else { return late() }
      let time = MonotonicInstant(microseconds: now)
      work(bridge, time)
      settle(bridge, slot, at: time)
    case .inspect(let reply): reply(statistics, holdings)
    case .shutDown(let reply): finish = reply
    }
  }

  /// The call ended while the command was on its way: no mistake of anybody.
  private func late() { counters.lateCommands += 1 }

  /// What came after the command to shut down.
  func refuse(_ command: LoopCommand<Bridge>) {
    switch command {
    case .reserveTrunkPorts(_, _, _, _, let reply): reply(.failure(.stopped))
    case .open(_, _, let reply): reply(.failure(.stopped))
    case .inspect(let reply): reply(statistics, holdings)
    case .shutDown(let reply): reply(holdings)
    case .releaseTrunkPorts, .route, .apply, .work, .close: break
    }
  }

  // MARK: Calls

  /// The slot of a call that is not being closed; a new one where there is none.
  private func slotForMore(_ identifier: Identifier) -> Result<Int32, MediaLoopFailure> {
    if let slot = slots[identifier] {
      return calls[Int(slot)]?.isClosing == false ? .success(slot) : .failure(.duplicate)
    }
    guard let slot = freeSlots.popLast() else { return .failure(.bridges) }
    slots[identifier] = slot
    calls[Int(slot)] = ShardCall(identifier: identifier)
    return .success(slot)
  }

  private func open(
    _ identifier: Identifier, _ make: @Sendable (MediaWorkspace, MonotonicInstant) throws -> Bridge, at now: Int64
  ) -> Result<Void, MediaLoopFailure> {
    let isNew = slots[identifier] == nil
    let slot: Int32
    switch slotForMore(identifier) {
    case .failure(let failure): return .failure(failure)
    case .success(let found): slot = found
    }
    guard bridges[Int(slot)] == nil else { return .failure(.duplicate) }
    let time = MonotonicInstant(microseconds: now)
    guard let bridge = try? make(workspace, time) else {
      // The rest of the call, if there is any, is the caller's to close.
      if isNew { forget(slot) }
      return .failure(.bridge)
    }
    bridges[Int(slot)] = bridge
    bridgeCount += 1
    counters.bridgesOpened += 1
    settle(bridge, slot, at: time)
    return .success(())
  }

  private func close(_ identifier: Identifier, at now: Int64) {
    guard let slot = slots[identifier] else { return late() }
    guard calls[Int(slot)]?.isClosing == false else { return }
    calls[Int(slot)]?.isClosing = true
    guard let bridge = bridges[Int(slot)] else { return release(slot, at: now) }
    let time = MonotonicInstant(microseconds: now)
    bridge.handle(.close, at: time, outbox: outbox, events: &told)
    settle(bridge, slot, at: time)
    if slots[identifier] != nil {
      closing.append((identifier, now + configuration.closeTimeoutMilliseconds * 1000))
    }
  }

  /// Takes a call away with all that it holds, and says so. What its bridge still had to send is sent.
  func release(_ slot: Int32, at now: Int64) {
    guard let call = calls[Int(slot)] else { return }
    flush()
    for ports in call.ports { quarantine(ports, at: now) }
    forget(slot)
    events.append(MediaLoopEvent(bridge: call.identifier, event: .closed))
  }

  /// Takes a call's names and its slot away.
  private func forget(_ slot: Int32) {
    guard let call = calls[Int(slot)] else { return }
    for fragment in call.userFragments where userFragments[fragment]?.slot == slot { userFragments[fragment] = nil }
    for proved in call.addresses { withdraw(proved.address, from: proved.leg) }
    deadlines.set(slot, .max)
    if bridges[Int(slot)] != nil { bridgeCount -= 1 }
    bridges[Int(slot)] = nil
    calls[Int(slot)] = nil
    slots[call.identifier] = nil
    freeSlots.append(slot)
  }

  // MARK: Routes

  private func route(_ fragment: String, to identifier: Identifier, _ leg: LegID) {
    guard let slot = slots[identifier], calls[Int(slot)]?.isClosing == false else { return late() }
    guard userFragments[fragment] == nil, let count = calls[Int(slot)]?.userFragments.count,
      count < configuration.userFragmentsPerBridge
    else {
      if userFragments[fragment] != LegNumber(slot, leg) { counters.refusedRoutes += 1 }
      return
    }
    userFragments[fragment] = LegNumber(slot, leg)
    calls[Int(slot)]?.userFragments.append(fragment)
  }

  func handleEvents(of slot: Int32, at now: MonotonicInstant) {
    guard let identifier = calls[Int(slot)]?.identifier else { return told.removeAll(keepingCapacity: true) }
    var isClosed = false
    for event in told {
      switch event {
      case .transport(let leg, .addressProved(let address)):
        enter(ProvedAddress(address: address, leg: LegNumber(slot, leg)), for: slot)
      case .transport(let leg, .addressDropped(let address)):
        let leg = LegNumber(slot, leg)
        if let index = calls[Int(slot)]?.addresses.firstIndex(of: ProvedAddress(address: address, leg: leg)) {
          calls[Int(slot)]?.addresses.remove(at: index)
          withdraw(address, from: leg)
        }
      case .closed:
        isClosed = true
        continue
      default: break
      }
      events.append(MediaLoopEvent(bridge: identifier, event: event))
    }
    told.removeAll(keepingCapacity: true)
    if isClosed { release(slot, at: now.microseconds) }
  }

  /// The first leg that proves an address keeps it: nobody with a call of his own and a forged source address can draw
  /// another's media away. The next one gets it when the first is done with it.
  private func enter(_ proved: ProvedAddress, for slot: Int32) {
    guard let call = calls[Int(slot)], !call.addresses.contains(proved) else { return }
    guard call.addresses.count < configuration.addressesPerBridge else {
      counters.refusedRoutes += 1
      return
    }
    calls[Int(slot)]?.addresses.append(proved)
    if addresses.leg(of: proved.address) == .none {
      addresses.insert(proved.address, leg: proved.leg)
    } else {
      counters.contestedAddresses += 1
      if claims[proved.address] == nil { claims[proved.address] = proved.leg }
    }
  }

  private func withdraw(_ address: MediaAddress, from leg: LegNumber) {
    if claims[address] == leg { claims[address] = nil }
    guard addresses.leg(of: address) == leg else { return }
    if let next = claims.removeValue(forKey: address) {
      addresses.insert(address, leg: next)
    } else {
      addresses.remove(address)
    }
  }

  // MARK: Ports

  private func reserve(
    for identifier: Identifier, _ leg: LegID, interface: Int, control: Bool, at now: Int64
  ) -> Result<TrunkPorts, MediaLoopFailure> {
    guard pools.indices.contains(interface) else { return .failure(.interface) }
    let isNew = slots[identifier] == nil
    return slotForMore(identifier).flatMap { slot in
      let result = reserve(slot, leg, interface, control)
      if isNew, case .failure = result { forget(slot) }
      return result
    }
  }

  private func reserve(
    _ slot: Int32, _ leg: LegID, _ interface: Int, _ control: Bool
  ) -> Result<TrunkPorts, MediaLoopFailure> {
    guard let count = calls[Int(slot)]?.ports.count, count < configuration.portsPerBridge else {
      return .failure(.bridgePorts)
    }
    switch pools[interface].reserve(control: control, using: &random) {
    case .failure(let failure):
      if failure == .portsExhausted { counters.portsExhausted += 1 }
      return .failure(failure)
    case .success(let pair):
      guard let ports = connect(pair, interface, LegNumber(slot, leg)) else {
        pools[interface].cancel(pair)
        return .failure(.descriptors)
      }
      calls[Int(slot)]?.ports.append(ports)
      return .success(ports)
    }
  }

  /// Numbers a pair's sockets and waits on them; `nil` when the system cannot.
  private func connect(_ pair: PortPool.Pair, _ interface: Int, _ leg: LegNumber) -> TrunkPorts? {
    guard let port = listen(pair.descriptor, leg, interface) else { return nil }
    var control: MediaPort?
    if pair.control >= 0 {
      guard let second = listen(pair.control, leg, interface) else {
        _ = trunks.remove(port)
        return nil
      }
      control = second
    }
    return TrunkPorts(
      port: port, control: control, pair: pair, interface: interface, host: pools[interface].host,
      bound: pools[interface].reachable)
  }

  private func listen(_ descriptor: Int32, _ leg: LegNumber, _ interface: Int) -> MediaPort? {
    guard let port = trunks.insert(descriptor: descriptor, isIPv4: pools[interface].isIPv4, leg: leg) else {
      return nil
    }
    guard landline_poll_add(poll, descriptor, UInt64(port.rawValue)) == 0 else {
      _ = trunks.remove(port)
      return nil
    }
    return port
  }

  private func giveBack(_ ports: TrunkPorts, of identifier: Identifier, at now: Int64) {
    guard let slot = slots[identifier], let index = calls[Int(slot)]?.ports.firstIndex(of: ports) else { return late() }
    flush()
    calls[Int(slot)]?.ports.remove(at: index)
    quarantine(ports, at: now)
  }

  private func quarantine(_ ports: TrunkPorts, at now: Int64) {
    for port in [ports.port, ports.control].compactMap({ $0 }) {
      let descriptor = trunks.remove(port)
      if descriptor >= 0 { _ = landline_poll_remove(poll, descriptor) }
    }
    pools[ports.interface].release(ports.pair, at: now)
  }

  // MARK: The end, and what is there

  /// Ends every call, says so, and closes everything. Nothing is left after it but the answer.
  func shutDown() {
    let now = landline_monotonic_nanoseconds() / 1000
    for identifier in calls.compactMap({ $0?.identifier }) {
      close(identifier, at: now)
      if let slot = slots[identifier] { release(slot, at: now) }
    }
    closing = []
    flush()
    for index in pools.indices { pools[index].shutDown() }
    if !events.isEmpty { deliver(events) }
    events = []
    for command in mailbox.close() { refuse(command) }
    closeDescriptors()
    finish?(holdings)
  }

  var statistics: MediaLoopStatistics {
    var all = counters
    let sent = output.counters
    all.sendCalls = sent.calls
    all.sentDatagrams = sent.datagrams
    all.sentBytes = sent.bytes
    all.sendsWithoutRoom = sent.no_room
    all.sendsUnreachable = sent.unreachable
    all.sendsFailed = sent.failed
    all.outboxOverflows = outbox.dropped
    all.staleDatagrams = pools.reduce(0) { $0 + $1.staleDatagrams }
    all.refusedCommands = mailbox.refused
    all.processorMicroseconds = landline_thread_nanoseconds() / 1000
    all.load = pace.load
    all.roomFramesLeftOut = workspace.hall.leftOut
    all.tickMicroseconds = pace.tick
    return all
  }

  var holdings: MediaLoopHoldings {
    var all = MediaLoopHoldings()
    all.calls = slots.count
    all.bridges = bridgeCount
    all.deadlines = deadlines.count
    all.addresses = addresses.count
    all.userFragments = userFragments.count
    all.trunkPairs = pools.reduce(0) { $0 + $1.inUse }
    all.quarantinedPairs = pools.reduce(0) { $0 + $1.quarantinedCount }
    all.freePairs = pools.reduce(0) { $0 + $1.freeCount }
    all.quarantinedDescriptors = pools.reduce(0) { $0 + $1.quarantinedDescriptors }
    all.descriptors = trunks.count + all.quarantinedDescriptors + (isClosed ? 0 : apps.count + 2)
    return all
  }
}
