"""Foreign ClientHellos while calls come up and while they are up."""

import struct

from gateway_lab import Lab, Trunk
from ground import *


async def attack(ground):
    """Class F, the DTLS ClientHello race.
    Evidence: CVE-2023-49786 (Asterisk), CVE-2023-51443 (FreeSWITCH), CVE-2023-51275 (rtpengine).
    Must hold: foreign ClientHellos with a null cipher over the whole range of ports, and STUN without a key, lose no call;
    nobody but the app gets a byte of DTLS."""
    calls = ground.size(6, 100)
    async with Lab("b05", trunks=[Trunk("first")]) as lab:
        await hostile_carrier(lab, "first")
        app = await lab.app()
        standing = await Voice.start(app)
        attackers = [Datagrams(STRANGER), Datagrams("127.0.0.1"), Datagrams("127.0.0.3")]
        low, high = lab.ports.media
        ports = media_ports(lab) + [lab.app_media_port] * 3 + list(range(low, min(high, low + 40)))
        stopped = False
        sent = 0

        def packet(number):
            if number % 4 == 3:
                return b"\x00\x01\x00\x00\x21\x12\xa4\x42" + struct.pack("!QI", number, number)
            if number % 4 == 2:
                # Of a later epoch, an alert, and a change of the cipher.
                return bytes([(20, 21, 22)[number % 3]]) + b"\xfe\xfd\0\x01" + bytes(6) + b"\0\x02\x02\x28"
            return hello(ground.random, number)

        async def flood():
            nonlocal sent
            while not stopped:
                sent += await spray(attackers, ports, packet, 2000, ground.size(6000, 20000))

        flooding = asyncio.ensure_future(flood())
        lost = []
        voices = []
        for number in range(calls):
            try:
                voices.append(await Voice.start(app))
            except LabError as problem:
                lost.append(f"call {number}: {problem}")
            if len(voices) == 4:
                done = voices.pop(0)
                await done.speaks()
                await done.end()
        for voice in [standing] + voices:
            await voice.speaks()
        stopped = True
        await flooding
        answers = sum(len(each.received) for each in attackers)
        ground.none("B5", lost, "calls lost", f"{calls} set up and 1 standing, {sent} hostile packets over {len(set(ports))} ports")
        ground.promise("B5", answers, "answers to attackers", "0", answers == 0)
        for voice in [standing] + voices:
            await voice.end()
        await lab.idle()


def hello(random, number):
    body = b"\xfe\xfd" + random.randbytes(32) + b"\0\0" + b"\0\x02\0\0" + b"\x01\0"
    if number & 1:
        # A fragment of something huge, for which nobody may set memory aside.
        head = b"\x01\xff\xff\xff" + b"\0\0" + b"\0\0\0" + len(body).to_bytes(3, "big")
    else:
        head = b"\x01" + len(body).to_bytes(3, "big") + b"\0\0" + b"\0\0\0" + len(body).to_bytes(3, "big")
    record = head + body
    return b"\x16\xfe\xff\0\0" + number.to_bytes(6, "big") + len(record).to_bytes(2, "big") + record
