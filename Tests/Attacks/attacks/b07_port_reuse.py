"""Senders that go on after their call, at ports that are used again."""

from gateway_lab import Lab, Trunk
from ground import *

# Pairs of ports, of which each call needs one.
PAIRS = 4


async def attack(ground):
    """Class G, cross-talk over ports that are used again.
    Evidence: RTP Bleed over recycled ports (CVE-2017-14099), rows on late RTP of Asterisk and rtpengine.
    Must hold: a trunk that goes on sending sound to the port of a call that is over, or begins again when another call has
    that port, is heard in none of those that come after; a port that somebody still sends to is given to nobody."""
    rounds = ground.size(1, 12)
    lab = Lab("b07", trunks=[Trunk("first")])
    first = lab.ports.media[0] + lab.ports.media[0] % 2
    lab.media_ports = first, first + 2 * PAIRS - 1
    async with lab:
        carrier = await hostile_carrier(lab, "first")
        # No 180: our own ringing tone would be a loud sound as well.
        carrier.plan = lambda invite: Plan(ring=None)
        app = await lab.app()
        foreign, calls, reused, sent, loudest = [], 0, 0, 0, 0
        # Where the sound of calls that are over still goes, and from where.
        targets, late = set(), []
        begin = time.monotonic()

        async def speak():
            nonlocal sent
            while True:
                for port in targets:
                    for sender in late:
                        sender.sendto(rtp(sent, sent * 160), ("127.0.0.1", port))
                        sent += 1
                await asyncio.sleep(0.01)

        def given():
            return carrier.calls[-1].offered_media()[1]

        speaking = asyncio.ensure_future(speak())
        for _ in range(rounds):
            ports = []
            for _ in range(PAIRS - 1):
                voice = await Voice.start(app)
                await voice.speaks()
                ports.append(given())
                await voice.end()
                calls += 1
            late.append(another_socket(carrier))
            # One port is sent to all the time. The others get no sound until they are free again.
            targets.add(ports[0])
            await until("ports that are free again", lambda: not set(ports[1:]) & set(media_ports(lab)), 90, every=0.2)
            if ports[0] not in media_ports(lab):
                foreign.append("a port that somebody sends to is free")
            # From now on all of them are sent to, before there is a call and after.
            targets.update(ports)
            voices = []
            for _ in range(PAIRS - 1):
                voices.append(await Voice.start(app))
                calls += 1
                reused += given() in ports
                if given() == ports[0]:
                    foreign.append("a port that somebody sends to was given away")
            for voice in voices:
                await voice.speaks()
                loudest = max(loudest, voice.loudest())
                if voice.loudest() > 2000:
                    foreign.append(f"a sample of {voice.loudest()} in a call on a port that was used before")
                await voice.end()
            targets.clear()
            another_socket(carrier).close()
            for sender in late:
                sender.close()
            late.clear()
            await until("ports that are free again", lambda: not ground.is_full or not any(
                first <= port < first + 2 * PAIRS for port in media_ports(lab)), 90, every=0.2)
        speaking.cancel()
        ground.none("B7", foreign, "foreign packets heard",
                    f"{calls} calls on {PAIRS} pairs of ports in {time.monotonic() - begin:.0f} s, {reused} on ports given a "
                    f"second time, {sent} late packets; loudest sample at an app: {loudest}")
        require(reused >= rounds, f"ports are used again: {reused}")
        await lab.idle()


def another_socket(carrier):
    """The carrier's next calls have another socket for their sound.
    Returns the one that it had."""
    loop = asyncio.get_running_loop()
    old, new = carrier._rtp, socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    new.setblocking(False)
    new.bind(("127.0.0.1", 0))
    loop.remove_reader(old.fileno())
    loop.add_reader(new.fileno(), carrier._hear)
    carrier._rtp = new
    return old
