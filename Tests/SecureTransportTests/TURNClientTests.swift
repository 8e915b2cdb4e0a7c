import CallModel
import SecureTransport
import Testing

/// The client of a TURN server, against one that keeps the rules and one that does not.
@Suite("TURN: the client") struct TURNClientTests {
  @Test("An allocation, a channel, data both ways") func whole() throws {
    let scene = TURNScene()
    let first = try scene.start()
    #expect(first.message.method == TURNScene.allocate && first.message.integrityOffset == nil)
    #expect(first.number(0x0019) == 17 << 24, "UDP between server and peers")
    #expect(first.bytes(0x0017) == nil, "IPv4 is what is given without asking")
    scene.give(scene.refusal(first, 401, nonce: "n1", realm: TURNScene.realm))
    let signed = try #require(try scene.requests().first)
    #expect(signed.message.hasIntegrity(scene.key))
    #expect(signed.text(.userName) == TURNScene.user && signed.text(.realm) == TURNScene.realm)
    #expect(signed.text(.nonce) == "n1" && signed.message.transaction != first.message.transaction)
    scene.give(scene.allocation(signed))
    let bind = try #require(try scene.requests().first)
    #expect(bind.message.method == TURNScene.bind && bind.message.hasIntegrity(scene.key))
    #expect(bind.number(0x000C) == 0x4000 << 16)
    #expect(bind.message.value(0x0012).flatMap(bind.message.address) == TURNScene.gateway)
    #expect(!scene.client.send(PacketBuffer([1, 2, 3]), to: TURNScene.gateway), "no channel yet")
    #expect(scene.events.isEmpty)
    scene.give(scene.answer(bind, signedBy: scene.key))
    #expect(scene.events == [.ready(relayed: TURNScene.relayed)])

    #expect(scene.client.send(PacketBuffer([1, 2, 3]), to: TURNScene.gateway))
    #expect(!scene.client.send(PacketBuffer([1]), to: TURNScene.other), "nobody asked for that peer")
    let output = scene.client.drainOutput()
    #expect(output == [0x40, 0, 0, 3, 1, 2, 3, 0], "padded to four bytes, which the length does not count")
    // In any pieces.
    for byte in [0x40, 0, 0, 5, 9, 8, 7, 6, 5, 0, 0, 0, 0x40, 0, 0, 1, 4, 0, 0, 0] as [UInt8] { scene.give([byte]) }
    #expect(scene.delivered.map(\.bytes) == [[9, 8, 7, 6, 5], [4]])
    #expect(scene.delivered.allSatisfy { $0.from == TURNScene.gateway })

    scene.client.close()
    let last = try #require(try scene.requests().first)
    #expect(last.message.method == TURNScene.refresh && last.number(0x000D) == 0)
    #expect(last.message.hasIntegrity(scene.key))
    #expect(scene.client.nextDeadline == nil && !scene.client.send(PacketBuffer([1]), to: TURNScene.gateway))
  }

  @Test("Allocation and channels are refreshed in time, for as long as a call lasts") func refreshes() throws {
    let scene = TURNScene()
    try scene.ready()
    var counts: [UInt16: Int] = [:]
    for _ in 0..<3_600 {
      scene.wait(1_000)
      for request in try scene.requests() {
        #expect(request.message.hasIntegrity(scene.key))
        counts[request.message.method, default: 0] += 1
        scene.give(
          scene.answer(request, signedBy: scene.key) { writer in
            if request.message.method == TURNScene.refresh { writer.append(UInt16(0x000D), integer: UInt32(600)) }
          })
      }
    }
    #expect(scene.events == [.ready(relayed: TURNScene.relayed)])
    // Every 300 of 600 s, and every 240 of the 300 s of a permission.
    #expect(counts == [TURNScene.refresh: 12, TURNScene.bind: 15])
  }

  @Test("A nonce that has become stale is replaced, a few times over") func staleNonce() throws {
    let scene = TURNScene()
    try scene.ready()
    scene.wait(240_000)
    let bind = try #require(try scene.requests().first)
    scene.give(scene.refusal(bind, 438, nonce: "n2"))
    let again = try #require(try scene.requests().first)
    #expect(again.text(.nonce) == "n2" && again.text(.realm) == TURNScene.realm)
    #expect(again.message.hasIntegrity(scene.key))
    scene.give(scene.answer(again, signedBy: scene.key))
    scene.wait(60_000)
    #expect(try scene.requests().first?.text(.nonce) == "n2")

    let mean = TURNScene()
    var request = try mean.start()
    for round in 0...3 {
      #expect(mean.events.isEmpty, "round \(round)")
      mean.give(mean.refusal(request, round == 0 ? 401 : 438, nonce: "n\(round)", realm: TURNScene.realm))
      if round < 3 { request = try #require(try mean.requests().first) }
    }
    #expect(mean.events == [.failed(.credentials)] && mean.client.nextDeadline == nil)
  }

  @Test("Who refuses the credentials, or anything else, is asked no more") func refused() throws {
    for (code, failure): (Int, TURNFailure) in [
      (401, .credentials), (441, .credentials), (300, .refused(300)), (403, .refused(403)), (437, .refused(437)),
      (486, .refused(486)), (508, .refused(508)),
    ] {
      let scene = TURNScene()
      let signed = try scene.challenged()
      scene.give(scene.refusal(signed, code, nonce: "n2", realm: TURNScene.realm))
      #expect(scene.events == [.failed(failure)])
      #expect(scene.client.drainOutput().isEmpty && scene.client.nextDeadline == nil)
    }
  }

  @Test("A peer that the server does not reach is left out; without any it is over") func peers() throws {
    let scene = TURNScene(peers: [TURNScene.other, TURNScene.gateway, TURNScene.gateway])
    scene.give(scene.allocation(try scene.challenged()))
    let binds = try scene.requests()
    #expect(binds.map { $0.number(0x000C) } == [0x4000 << 16, 0x4001 << 16])
    scene.give(scene.refusal(binds[0], 403))
    #expect(scene.events.isEmpty)
    scene.give(scene.answer(binds[1], signedBy: scene.key))
    #expect(scene.events == [.ready(relayed: TURNScene.relayed)])
    #expect(!scene.client.send(PacketBuffer([1]), to: TURNScene.other))
    #expect(scene.client.send(PacketBuffer([1]), to: TURNScene.gateway))

    let none = TURNScene()
    none.give(none.allocation(try none.challenged()))
    none.give(none.refusal(try #require(try none.requests().first), 403))
    #expect(none.events == [.failed(.refused(403))])
  }

  @Test("IPv6 is asked for where the peer has no other address") func family() throws {
    let peer = MediaAddress(high: 0x2001_0DB8_0000_0000, low: 1, port: 10_000)
    let relayed = MediaAddress(high: 0x2001_0DB8_0000_0000, low: 2, port: 50_000)
    let scene = TURNScene(peers: [peer, TURNScene.gateway])
    let signed = try scene.challenged()
    #expect(signed.number(0x0017) == 2 << 24)
    scene.give(scene.allocation(signed, address: relayed))
    let binds = try scene.requests()
    #expect(binds.count == 1, "a peer of the other family has no way")
    scene.give(scene.answer(try #require(binds.first), signedBy: scene.key))
    #expect(scene.events == [.ready(relayed: relayed)])
    #expect(scene.client.send(PacketBuffer([1]), to: peer))
  }
}

/// What a hostile or broken server says: no part of it traps, hangs, grows or is believed.
@Suite("TURN: hostile servers") struct TURNHostileTests {
  @Test("Success that is not signed, or by another key, is none: the server runs out of time") func unsigned() throws {
    for key in [nil, STUNIntegrity("another")] as [STUNIntegrity?] {
      let scene = TURNScene()
      let signed = try scene.challenged()
      scene.give(
        scene.answer(signed, signedBy: key) { writer in
          writer.append(0x0016, xored: TURNScene.relayed)
          writer.append(UInt16(0x000D), integer: UInt32(600))
        })
      #expect(try scene.requests().isEmpty && scene.events.isEmpty)
      scene.wait(4_999)
      #expect(scene.events.isEmpty)
      scene.wait(1)
      #expect(scene.events == [.failed(.timeout)])
    }
    // Before it is asked for credentials it knows nothing to sign with.
    let early = TURNScene()
    let first = try early.start()
    early.give(early.allocation(first))
    #expect(try early.requests().isEmpty && early.events.isEmpty)
  }

  @Test("Answers that say what cannot be end it") func odd() throws {
    let bad: [(String, (TURNScene, TURNScene.Request) -> [UInt8])] = [
      ("no address", { scene, request in scene.answer(request, signedBy: scene.key) }),
      (
        "no lifetime",
        { scene, request in
          scene.answer(request, signedBy: scene.key) { $0.append(0x0016, xored: TURNScene.relayed) }
        }
      ),
      ("a lifetime of nothing", { scene, request in scene.allocation(request, lifetime: 0) }),
      ("a lifetime too short", { scene, request in scene.allocation(request, lifetime: 29) }),
      (
        "another family",
        { scene, request in scene.allocation(request, address: MediaAddress(high: 1, low: 1, port: 1)) }
      ),
      (
        "port 0",
        { scene, request in scene.allocation(request, address: MediaAddress(ipv4: 0xC633_6402, port: 0)) }
      ),
      ("an error without a code", { scene, request in scene.answer(request, .failure) }),
    ]
    for (name, answer) in bad {
      let scene = TURNScene()
      let signed = try scene.challenged()
      scene.give(answer(scene, signed))
      #expect(scene.events == [.failed(.malformed)], "\(name)")
    }
    for (nonce, realm) in [
      (nil, "r"), ("n", nil), ("", "r"), (String(repeating: "n", count: 513), "r"),
      ("n", String(repeating: "r", count: 257)),
    ] as [(String?, String?)] {
      let scene = TURNScene()
      scene.give(scene.refusal(try scene.start(), 401, nonce: nonce, realm: realm))
      #expect(scene.events == [.failed(.malformed)])
    }
  }

  @Test("The longest nonce, realm and user that are taken still fit into a request") func longest() throws {
    let scene = TURNScene(user: String(repeating: "u", count: 513))
    scene.give(
      scene.refusal(
        try scene.start(), 401, nonce: String(repeating: "n", count: 512), realm: String(repeating: "r", count: 256)))
    let signed = try #require(try scene.requests().first)
    #expect(signed.text(.nonce)?.count == 512 && signed.packet.count <= PacketBuffer.maximumDatagram)
    let long = TURNScene(user: String(repeating: "u", count: 514))
    long.client.start(at: long.now, events: &long.events)
    #expect(long.events == [.failed(.credentials)])
  }

  @Test("Bytes that begin neither a message nor data end it at once", arguments: [0x80, 0xC0, 0xFF] as [UInt8])
  func stream(_ first: UInt8) throws {
    let scene = TURNScene()
    _ = try scene.start()
    scene.give([first, 0, 0, 0])
    #expect(scene.events == [.failed(.malformed)])
    scene.give([0x40, 0, 0, 1, 1, 0, 0, 0])
    #expect(scene.events.count == 1 && scene.delivered.isEmpty)
  }

  @Test("What is longer than any datagram of ours is passed over, and what follows is read") func long() throws {
    let scene = TURNScene()
    try scene.ready()
    func data(_ count: Int, channel: UInt16 = 0x4000) -> [UInt8] {
      [UInt8(channel >> 8), UInt8(channel & 0xFF), UInt8(count >> 8), UInt8(count & 0xFF)]
        + [UInt8](repeating: 7, count: (count + 3) & ~3)
    }
    scene.give(data(1_501) + data(65_535) + data(0) + data(3, channel: 0x4001) + data(3, channel: 0x7FFF))
    #expect(scene.delivered.isEmpty, "too long, empty, of no peer")
    // A whole message that is longer than any.
    scene.give([0x01, 0x13, 0xFF, 0xFC] + [UInt8](repeating: 0, count: 65_532 + 16))
    scene.give(data(1_500))
    #expect(scene.delivered.map(\.bytes.count) == [1_500])
    #expect(scene.events == [.ready(relayed: TURNScene.relayed)])
  }

  @Test("Answers that nobody waits for, and messages of no meaning, change nothing") func stray() throws {
    let scene = TURNScene()
    let first = try scene.start()
    let packet = PacketBuffer()
    for method in [TURNScene.allocate, 0x001, 0x006, 0x007, 0xFFF] as [UInt16] {
      for kind in [STUNMessage.Kind.request, .indication, .success, .failure] {
        _ = STUNWriter(packet, kind, method: method, transaction: STUNTransaction(high: 1, low: 2))
        scene.give(packet.bytes)
      }
    }
    scene.give([0x01, 0x03, 0, 0] + [UInt8](repeating: 0xEE, count: 16))
    #expect(scene.events.isEmpty)
    #expect(try scene.requests().isEmpty)
    // An answer counts once.
    let refusal = scene.refusal(first, 401, nonce: "n1", realm: TURNScene.realm)
    scene.give(refusal + refusal + refusal)
    #expect(try scene.requests().count == 1)
  }

  @Test("Nothing is said or taken after the end") func end() throws {
    let scene = TURNScene()
    try scene.ready()
    scene.client.disconnected(events: &scene.events)
    #expect(scene.events.last == .failed(.closed))
    scene.give([0x40, 0, 0, 1, 1, 0, 0, 0])
    scene.client.disconnected(events: &scene.events)
    scene.client.close()
    scene.client.start(at: scene.now, events: &scene.events)
    scene.wait(3_600_000)
    #expect(scene.delivered.isEmpty && scene.events.count == 2 && scene.client.drainOutput().isEmpty)
  }

  @Test("Chance bytes at any time, in any pieces") func chance() throws {
    var chance = DTLSChance(seed: 3)
    for _ in 0..<2_000 {
      let scene = TURNScene()
      if chance.next() & 1 == 0 { try scene.ready() } else { _ = try scene.start() }
      for _ in 0..<8 {
        var bytes = (0..<Int(chance.next() % 64)).map { _ in UInt8(truncatingIfNeeded: chance.next()) }
        if let first = bytes.first { bytes[0] = first & 0x7F }
        scene.give(bytes)
        scene.wait(Int64(chance.next() % 2_000))
        #expect(scene.client.drainOutput().count < 4_096)
      }
      scene.client.close()
      #expect(scene.client.nextDeadline == nil)
    }
  }
}
