"""A flood out of a trunk's own host."""

import contextlib

from gateway_lab import Lab, Trunk
from ground import *

ALONE = True


async def attack(ground):
    """Class J, exhaustion by a peer that is known.
    Evidence: CVE-2021-41145 (memory of FreeSWITCH after a SIP flood); 130,000 requests in 36 s that left 384 MB in place of
    101.
    Must hold: requests that begin something, as fast as they are taken, from the address of a trunk: a paying call is
    answered and ended meanwhile, memory has a bound, and a minute later it is what it was before, give or take a fifth."""
    async with Lab("c10", trunks=[Trunk("first")]) as lab:
        carrier = await hostile_carrier(lab, "first")
        app = await lab.app()

        async def paid():
            call = await app.call()
            await call.accepted()
            await call.hang_up()
            return (await call.ended())["cause"]

        require(await paid() == "hungUp", "a call goes through before the flood")
        before = lab.resident_bytes()
        # The trunk's host, each from another port.
        sources = [Datagrams("127.0.0.1") for _ in range(4)]

        def message(number):
            source = sources[number % len(sources)]
            method = ("OPTIONS", "MESSAGE", "REGISTER", "SUBSCRIBE")[number // len(sources) % 4]
            return sip(method, source.port, gateway=lab.sip_port, host="127.0.0.1")

        total, rate = ground.size(40_000, 130_000), 4000
        flood = asyncio.ensure_future(spray(sources, [lab.sip_port], message, total, rate))
        begin, most, ends = time.monotonic(), before, []
        while not flood.done():
            ends.append(await paid())
            most = max(most, lab.resident_bytes())
            # Five calls a second, until the flood is over.
            await asyncio.wait([flood], timeout=0.2)
        seconds = time.monotonic() - begin
        most = max(most, lab.resident_bytes())
        harmed = [end for end in ends if end != "hungUp"]
        ground.promise("C10", len(harmed), "paying calls harmed", "0", ends and not harmed, f"{len(ends)} calls")
        answered = {}
        for source in sources:
            for _, data, _ in source.received:
                status = data[8:11].decode("latin-1")
                answered[status] = answered.get(status, 0) + 1
        ground.promise("C10", f"{(most - before) / 1e6:.0f}", "MB that memory grew in the flood", "<= 100",
                       most - before <= 100e6,
                       f"from {before / 1e6:.0f} MB; {total} requests in {seconds:.0f} s, answered {answered}")
        ended = time.monotonic()
        with contextlib.suppress(LabError):
            await until("the memory is given back", lambda: lab.resident_bytes() <= 1.2 * before, 60, every=1)
        after = lab.resident_bytes()
        ground.promise("C10", f"{100 * (after - before) / before:.0f}", "% more memory within a minute", "<= 20",
                       after <= 1.2 * before,
                       f"{before / 1e6:.0f} MB before, {most / 1e6:.0f} at most, {after / 1e6:.0f} "
                       f"{time.monotonic() - ended:.0f} s after the flood")
        require(await paid() == "hungUp", "a call goes through after the flood")
        for source in sources:
            source.close()
        await lab.idle(20)
        require(carrier.calls, "the trunk was called")
