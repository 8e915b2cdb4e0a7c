"""Floods on every door while paying calls run."""

import contextlib

from gateway_lab import Lab, Trunk
from ground import *

ALONE = True


async def attack(ground):
    """Class J, floods and exhaustion.
    Evidence: CVE-2021-41145 (FreeSWITCH memory), AST-2016-005 (idle TCP connections), drachtio-server #98.
    Must hold: with junk, OPTIONS, REGISTER and INVITE over UDP, TCP and HTTP, and junk on the ports of media, all at once:
    paying calls are answered, heard and billed to the second, and memory stays flat."""
    async with Lab("c06", trunks=[Trunk("first")]) as lab:
        carrier = await hostile_carrier(lab, "first")
        app = await lab.app()
        posted, _ = lab.balance()
        voices = [await Voice.start(app) for _ in range(ground.size(2, 20))]
        for voice in voices:
            await voice.speaks()
        sources = [Datagrams(f"127.0.1.{number}") for number in range(1, 9)]
        media = media_ports(lab)
        templates = [sip(method, 5060, gateway=lab.sip_port, host="127.0.1.1") for method in METHODS]
        templates += [b"", b"\r\n\r\n", b"\0" * 100, b"INVITE", ground.random.randbytes(1300)]
        stop = False
        counts = {"SIP over UDP": 0, "media": 0, "SIP over TCP": 0, "HTTP": 0}

        def message(number):
            text = templates[number % len(templates)]
            return text.replace(b"branch=z9hG4bK", b"branch=z9hG4bK%d" % number, 1)

        async def datagrams():
            while not stop:
                counts["SIP over UDP"] += await spray(sources, [lab.sip_port], message, 2000, ground.size(6000, 15000))

        async def sound():
            while not stop:
                counts["media"] += await spray(sources, media, lambda number: rtp(number, number, number), 1000,
                                               ground.size(2000, 5000))

        async def streams():
            while not stop:
                with contextlib.suppress(OSError):
                    stream = await Stream.open(lab.sip_port, host=f"127.0.2.{ground.random.randrange(1, 250)}")
                    for number in range(20):
                        stream.writer.write(message(ground.random.getrandbits(30)).replace(b"/UDP", b"/TCP"))
                        counts["SIP over TCP"] += 1
                    await asyncio.sleep(0.02)
                    stream.close()

        async def requests():
            while not stop:
                with contextlib.suppress(OSError, LabError, asyncio.TimeoutError, asyncio.IncompleteReadError):
                    counts["HTTP"] += 1
                    await lab.http_request("GET", "/v1/connect" if counts["HTTP"] & 1 else "/v1/calls", bearer=False,
                                           headers={"X": "a" * ground.random.randrange(4000)}, seconds=5)

        floods = [asyncio.ensure_future(flood()) for flood in (datagrams, sound, streams, requests)]
        await asyncio.sleep(1.5)
        first = lab.resident_bytes()
        begin = time.monotonic()
        late, ends = [], []
        while time.monotonic() - begin < ground.size(8, 600):
            asked = time.monotonic()
            call = await app.call()
            await call.accepted()
            late.append(time.monotonic() - asked)
            await asyncio.sleep(0.4)
            await call.hang_up()
            ends.append(await call.ended())
        last = lab.resident_bytes()
        stop = True
        await asyncio.gather(*floods)
        for voice in voices:
            await voice.speaks()
            ends.append(await voice.end())
        await lab.idle(20)
        lost = [end for end in ends if end["cause"] != "hungUp"]
        charged = sum(int(end["cost_micro"]) for end in ends)
        wrong = [end for end in ends if int(end["cost_micro"]) != 50_000 + 10_000 * int(end["billed_seconds"])]
        now, held = lab.balance()
        seconds = time.monotonic() - begin
        rates = ", ".join(f"{name} {count / seconds:.0f}/s" for name, count in counts.items())
        ground.promise("C6", len(lost), "paying calls harmed", "0", not lost,
                       f"{len(ends)} calls, {rates}; answered after {max(late) * 1000:.0f} ms at most")
        ground.promise("C6", posted - now - charged, "micro-units of credit unaccounted for", "0",
                       posted - now == charged and held == 0 and not wrong, f"{charged} charged")
        ground.promise("C6", f"{(last - first) / 1e6:.1f}", "MB that memory grew", f"<= {ground.size(24, 64)}",
                       last - first <= ground.size(24, 64) * 1_000_000, f"from {first / 1e6:.0f} MB")
        for source in sources:
            source.close()
        require(carrier.calls, "the trunk was called")
