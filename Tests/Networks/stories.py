"""What happens in the middle of a call: the network is gone, becomes thin, the call is held, a source changes."""

import asyncio
import contextlib
import time

import numpy
from gateway_lab import LabError, until
from rtp_probe import decode_pcmu

# Packets of 20 ms that pass before anything happens.
BEFORE = 150
OUTAGE_SECONDS = 3
MOST_SILENT_SECONDS = 15
# What a link's router lets wait, and the headers of IPv4 and UDP.
THIN = "queue 20 headers 28"
THIN_SECONDS = 12
# From then on the gateway has had reports of the link.
ADAPTING_SECONDS = 3
# A rate is back at this part of what it was, and is waited for so long.
SAME_RATE = 0.9
MOST_RETURNING_SECONDS = 45
# Both ways are heard for so long behind each turn, from a second on.
HEARING_SECONDS = 2
# Root mean square of 16-bit samples: a voice, and no noise.
VOICE = 300


async def for_seconds(line, seconds):
    await line.came(round(50 * seconds), seconds + 30)


async def gone(line, nominates=False, resumes=False):
    line.facts["says"] = "checks " + ("with" if nominates else "without") + " USE-CANDIDATE" + (
        ", and another WebSocket" if resumes else "")
    await line.peer.do("nominate", value=nominates)
    await line.came(BEFORE)
    line.relay.change("loss 100")
    if resumes:
        await line.peer.do("drop")
        await line.peer.event("dropped")
    # The outage itself is what is tried.
    await asyncio.sleep(OUTAGE_SECONDS)
    line.relay.change("rebind")
    line.relay.change("loss 0")
    back = time.monotonic()
    if resumes:
        await line.peer.do("connect", port=line.lab.http_port)
        await line.peer.do("resume")
        await line.peer.event("got-resumed")
    first = {}

    async def both():
        _, down = await line.app_packets()
        for way, packets, decode in (("app to trunk", line.sound.packets, decode_pcmu), ("trunk to app", down, None)):
            came = next((each[0] for each in packets if each[0] > back and is_voice(each, decode)), None)
            if came:
                first[way] = came - back
        return len(first) == 2

    # A way that stays silent counts as so long.
    with contextlib.suppress(LabError):
        await until("sound both ways", both, MOST_SILENT_SECONDS, every=0.1)
    line.facts["back"] = {way: first.get(way, MOST_SILENT_SECONDS) for way in ("app to trunk", "trunk to app")}


def is_voice(packet, decode):
    """Whether a packet sounds: one of Opus by its size, for silence takes a few bytes."""
    if decode is None:
        return len(packet[5]) > 20
    return loudness(decode(numpy.frombuffer(packet[5], numpy.uint8))) > VOICE


def loudness(samples):
    return float(numpy.sqrt((samples**2).mean())) if len(samples) else 0.0


def thin(rate):
    async def story(line):
        line.sound.repeats = True
        await line.came(BEFORE)
        before = time.monotonic()
        line.relay.change(f"back rate {rate} {THIN}")
        await for_seconds(line, THIN_SECONDS)
        after = time.monotonic()
        line.relay.change("back rate 0")

        def bit_rate(packets, begin, end):
            """kb/s of IP."""
            return sum(len(each[5]) + 50 for each in packets if begin <= each[0] < end) * 8 / 1000 / (end - begin)

        usual, came, now = 0.0, 0.0, after

        async def is_back():
            nonlocal usual, came, now
            _, packets = await line.app_packets()
            now = time.monotonic()
            usual, came = bit_rate(packets, before - 2, before), bit_rate(packets, now - 2, now)
            return came >= SAME_RATE * usual or now - after > MOST_RETURNING_SECONDS

        await until("the end of the wait for the rate", is_back, MOST_RETURNING_SECONDS + 10, every=0.5)
        _, packets = await line.app_packets()
        line.facts |= {"before": usual, "after": came, "back": now - after, **thinness(packets, before, after)}
        line.facts["sent"] = bit_rate(packets, before + ADAPTING_SECONDS, after)
    return story


def thinness(packets, before, after):
    """Loss and queue of a stream of Opus while its link is thin."""
    first = packets[0][3]

    def sent(packet):
        """By the stream's own clock."""
        # Sound of 40 ms can leave only 20 ms later than one of 20 ms.
        length = {0: 0.01, 2: 0.04, 3: 0.06}.get(packet[5][0] >> 3 & 3, 0.02) if packet[5][0] >> 3 < 12 else 0.02
        return ((packet[3] - first + 2**31) % 2**32 - 2**31) / 48000 + length

    usual = min(packet[0] - sent(packet) for packet in packets if packet[0] < before)
    # What left the gateway in that time.
    during = [packet for packet in packets if before + ADAPTING_SECONDS <= sent(packet) + usual < after]
    span = (during[-1][2] - during[0][2]) % 65536 + 1
    queues = sorted(packet[0] - sent(packet) - usual for packet in during)
    return {"lost": 100 * (1 - len({packet[2] for packet in during}) / span), "queue": 1000 * queues[len(queues) // 2]}


async def turns(line):
    line.sound.repeats = True
    line.facts["turns"] = {}

    async def hears(name, goes_down=True):
        """Whether sound goes both ways from a second later on."""
        begin = time.monotonic() + 1
        await for_seconds(line, 1 + HEARING_SECONDS)
        end = begin + HEARING_SECONDS
        up = [each for each in line.sound.packets if begin <= each[0] < end]
        down = [each for each in (await line.app_packets())[1] if begin <= each[0] < end]
        sounds = loudness(decode_pcmu(numpy.frombuffer(b"".join(each[5] for each in up), numpy.uint8))) > VOICE
        # Half: what is one-way is none at all, and a late machine is not judged.
        enough = 0.5 * 50 * HEARING_SECONDS
        line.facts["turns"][name] = (
            sounds and len(up) >= enough and len(down) >= enough and any(is_voice(each, None) for each in down))

    async def turned(command):
        after = len(line.peer.events)
        await line.peer.do(command)
        await line.peer.event("got-answer", 10, after)

    await hears("the start")
    await turned("hold")
    await for_seconds(line, 1)
    await turned("unhold")
    await hears("hold and resume")
    line.sound.change_source()
    await hears("another source of the trunk")
    await line.peer.do("source")
    await hears("another source of the app")
    await hears("the roll-over of both sequence numbers")


STORIES = {
    "gone": (gone, {}),
    "gone-nominated": (lambda line: gone(line, nominates=True), {}),
    "gone-resumed": (lambda line: gone(line, resumes=True), {}),
    "thin-25": (thin(25), {}), "thin-50": (thin(50), {}), "thin-100": (thin(100), {}),
    "turns": (turns, {"wraps": True}),
}
