"""Packets that carry others (RFC 2198), malformed, from an app that has the right keys."""

from gateway_lab import Lab, Trunk
from ground import *

RED = 63
# A block's sound: one frame of silence in Opus.
SOUND = b"\xf8\xff\xfe"


def redundant(copies, own=SOUND, kind=96):
    """The payload: `copies` are (payload type, ticks, length that is told, bytes)."""
    heads = b"".join((0x80000000 | each << 24 | ticks << 10 | told).to_bytes(4, "big") for each, ticks, told, _ in copies)
    return heads + bytes([kind]) + b"".join(data for *_, data in copies) + own


def malformed(number, random):
    """One of all that is no such payload, or of copies that nobody wants."""
    kinds = [
        b"", b"\xe0", b"\x80" * 3, bytes([0x80 | 96]) + b"\xff\xff\xff",
        redundant([(96, 960, 1023, SOUND)]),
        redundant([(96, 960, 3, SOUND)] * 9), redundant([(96, 960, 3, SOUND)] * 120),
        redundant([(RED, 960, 8, redundant([(96, 960, 3, SOUND)]))]),
        redundant([(96, 960, 3, SOUND)], kind=RED), redundant([], kind=13),
        redundant([(96, 0, 3, SOUND), (96, 16383, 3, SOUND), (96, 1, 3, SOUND)]),
        redundant([(96, ticks, 3, SOUND) for ticks in range(960, 960 * 9, 960)]),
        redundant([(96, 960, 0, b"")], own=b""), redundant([(101, 960, 4, bytes(4))]),
        redundant([(96, 960, 200, random.randbytes(200))], own=random.randbytes(200)),
        random.randbytes(random.randrange(1, 400)),
    ]
    return kinds[number % len(kinds)]


async def attack(ground):
    """Class D, payloads of sound.
    Evidence: PJSIP fd9074547 (redundant audio without its format), CVE-2019-3568; a parser of nested lengths is where readers of
    RTP have run past the end.
    Must hold: an app with keys that sends such packets, well and badly formed, ends no call, neither its own nor another's; its
    own sound is heard behind them, and memory stays flat."""
    async with Lab("b24", trunks=[Trunk("first")]) as lab:
        carrier = await hostile_carrier(lab, "first")
        app = await lab.app()
        honest = await Voice.start(app)
        options = argparse.Namespace(setup="", codec="opus", profile="", no_events=True, echo=False, play="")
        peer = webrtc_audio.Peer(options)
        offer = await peer.offer()
        offer = re.sub(r"(m=audio [^\r\n]*)", rf"\1 {RED}", offer, count=1).replace(
            "a=rtpmap:96 ", f"a=rtpmap:{RED} red/48000/2\r\na=fmtp:{RED} 96/96\r\na=rtpmap:96 ", 1)
        call = await app.place(NUMBER, offer=offer)
        placed = await call.next()
        require(placed["type"] == "placed" and f"{RED} red/48000/2" in placed["answer"],
                f"the answer has the redundancy that was offered: {placed}")
        await peer.remote("answer", placed["answer"])
        voice = Voice(call, peer, placed)
        await voice.is_up()
        await honest.speaks()
        transport = peer._transceiver.sender.transport
        before = lab.resident_bytes()

        # The app's own packets go on meanwhile, so these have a source of their own, which begins anew again and again.
        count = ground.size(6_000, 200_000)
        for number in range(count):
            head = bytes([0x80, RED]) + (number & 0xFFFF).to_bytes(2, "big") + (number * 960 & 0xFFFFFFFF).to_bytes(4, "big")
            await transport._send_rtp(head + b"\x5a\x5a\x5a\x5a" + malformed(number, ground.random))
            if number % 8 == 7:
                # As fast as sound comes meanwhile, and only while it does.
                before_these = voice.frames
                await until("sound beside the malformed packets", lambda: voice.frames > before_these)
        heard = len(carrier.heard)
        await voice.speaks()
        await honest.speaks()
        await until("sound at the trunk", lambda: len(carrier.heard) >= heard + 50, 10)
        ended = [each.call.first("ended") for each in (voice, honest) if each.call.first("ended")]
        ground.promise("B24", len(ended), "calls ended", "0", not ended, f"{count} packets of 16 kinds, eight to a packet of sound")
        grown = (lab.resident_bytes() - before) / 1e6
        ground.promise("B24", f"{grown:.1f}", "MB that memory grew", "<= 16", grown <= 16)
        await voice.end()
        await honest.end()
        await lab.idle()
