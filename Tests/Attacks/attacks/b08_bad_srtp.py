"""Packets that do not authenticate."""

from gateway_lab import Lab, Trunk
from ground import *


async def attack(ground):
    """Class D, bad SRTP, and junk on live ports of media (rows B8 and A9).
    Evidence: CVE-2021-41105 (FreeSWITCH ends the call after 100), CVE-2019-3568, AST-2017-008, SIPSorcery ccb0b5a84.
    Must hold: a flood of SRTP and SRTCP that does not authenticate, from the app's own address, and of random junk from
    anywhere, ends no call and stops no sound; memory stays flat."""
    async with Lab("b08", trunks=[Trunk("first")]) as lab:
        carrier = await hostile_carrier(lab, "first")
        app = await lab.app()
        voices = [await Voice.start(app) for _ in range(2)]
        for voice in voices:
            await voice.speaks()
        transport = voices[0].peer._transceiver.sender.transport
        source = transport.transport._connection
        pair = source._nominated[1]
        local = pair.protocol.transport
        remote = pair.remote_addr
        sender = voices[0].peer._transceiver.sender._ssrc
        before = lab.resident_bytes()
        counts = [voice.frames for voice in voices]
        begin = time.monotonic()
        count = ground.size(100_000, 1_000_000)
        for number in range(count):
            # RTP of the app's own stream, of others, and RTCP: each with a tag that is wrong.
            if number % 8 == 7:
                data = b"\x80\xc9\x00\x01" + sender.to_bytes(4, "big") + ground.random.randbytes(14)
            else:
                data = rtp(number, number * 160, sender if number & 1 else number, 8, ground.random.randbytes(40))
            local.sendto(data, remote)
            if number % 64 == 63:
                await asyncio.sleep(0.0015)
        seconds = time.monotonic() - begin
        for voice in voices:
            await voice.speaks()
        received = [(voice.frames - mark) / (seconds * 50) for voice, mark in zip(voices, counts)]
        ended = [voice.call.first("ended") for voice in voices if voice.call.first("ended")]
        ground.promise("B8", len(ended), "calls ended", "0", not ended,
                       f"{count} packets at {count / seconds:.0f}/s; sound that came meanwhile: {min(received):.0%}")

        # A9: junk of all kinds on all ports, from the app's and the trunk's own addresses and from others.
        junkers = [Datagrams(STRANGER), Datagrams("127.0.0.1")]
        ports = media_ports(lab)

        def junk(number):
            first = (0x00, 0x14, 0x16, 0x40, 0x80, 0x81, 0xBF, 0xFF)[number & 7]
            return bytes([first]) + ground.random.randbytes(ground.random.choice((0, 1, 3, 7, 11, 19, 60, 200, 1400)))

        total = ground.size(30_000, 1_000_000)
        counts, begin = [voice.frames for voice in voices], time.monotonic()
        sent = await spray(junkers, ports, junk, total, ground.size(10_000, 20_000))
        for number in range(2000):
            local.sendto(junk(number), remote)
            carrier._rtp.sendto(junk(number), ("127.0.0.1", ports[number % len(ports)]))
            if number % 64 == 63:
                await asyncio.sleep(0.001)
        for voice in voices:
            await voice.speaks()
        harmed = [voice.call.kinds for voice in voices if voice.call.first("ended")]
        answers = sum(len(each.received) for each in junkers)
        ground.promise("A9", len(harmed), "calls harmed", "0", not harmed,
                       f"{sent} packets of junk at {sent / (time.monotonic() - begin):.0f}/s onto {len(ports)} ports")
        ground.promise("A9", answers, "answers to junk", "0", answers == 0)
        grown = (lab.resident_bytes() - before) / 1e6
        ground.promise("B8", f"{grown:.1f}", "MB that memory grew", "<= 16", grown <= 16)
        for voice in voices:
            await voice.end()
        await lab.idle()
