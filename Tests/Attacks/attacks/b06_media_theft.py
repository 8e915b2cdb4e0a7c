"""Whether anybody else gets the sound of a call, or is heard in it."""

import landline_app  # noqa: F401
from gateway_lab import Lab, Trunk
from ground import *

FOREIGN = "198.51.100.7"


async def attack(ground):
    """Class G, RTP Bleed and RTP Inject.
    Evidence: CVE-2017-14099, CVE-2017-14114, CVE-2025-53399 (rtpengine learns addresses, relays SRTP unchecked).
    Must hold: a foreign host that sprays RTP and RTCP onto all ports of media during live calls gets 0 packets and is heard
    in 0; neither is a foreign port of the trunk's own host, or the app's."""
    calls = ground.size(3, 20)
    add_address(f"{FOREIGN}/32")
    async with Lab("b06", trunks=[Trunk("first")]) as lab:
        carrier = await hostile_carrier(lab, "first")
        app = await lab.app()
        voices = [await Voice.start(app) for _ in range(calls)]
        for voice in voices:
            await voice.speaks()
        ports = media_ports(lab)
        before = [voice.frames for voice in voices]
        heard_before = len(carrier.heard)
        attackers = [Datagrams(FOREIGN) for _ in range(2)] + [Datagrams(STRANGER), Datagrams("127.0.0.1")]
        attackers += [Datagrams(FOREIGN, carrier.sound_port)]
        count = ground.size(30_000, 1_000_000)

        def packet(number):
            if number % 16 == 15:
                return b"\x81\xc9\x00\x07" + (number * 7919 & 0xFFFFFFFF).to_bytes(4, "big") + bytes(24)
            kind = 0 if number & 1 else 8
            return rtp(number, number * 160, 0x41545441 + number % 5, kind,
                       (b"\x80" if kind == 0 else b"\xaa") * 160)

        # The sequence and source of a real stream, too: what the trunk sends now.
        sent = await spray(attackers, ports, packet, count, ground.size(8000, 20000))
        for voice in voices:
            await voice.speaks()
        leaked = sum(len(attacker.received) for attacker in attackers)
        foreign = sum(1 for _, data, source in carrier.heard[heard_before:] if source[0] != "127.0.0.1")
        loudest = max(voice.loudest(mark) for voice, mark in zip(voices, before))
        loud_packets = sum(1 for _, data, _ in carrier.heard[heard_before:] if any(
            data[12 + at] in (0x80, 0x00, 0xAA, 0x2A) for at in range(0, max(0, len(data) - 12), 20)))
        ground.promise("B6", leaked, "packets leaked to attackers", "0", leaked == 0,
                       f"{calls} calls, {sent} packets onto {len(ports)} ports from {len(attackers)} places")
        ground.promise("B6", sum(voice.loudest(mark) > 2000 for voice, mark in zip(voices, before)) + loud_packets + foreign,
                       "calls or packets in which an attacker is heard", "0",
                       loudest <= 2000 and loud_packets == 0 and foreign == 0, f"loudest sample at an app: {loudest}")
        for voice in voices:
            require(not voice.call.first("ended"), "every call goes on")
            await voice.end()
        await lab.idle()
