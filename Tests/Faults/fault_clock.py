"""The clock that people read jumps; calls are measured by another one."""

import asyncio
import glob
import os
import time

from fault import check_books, duration_problem, fault
from gateway_lab import Account, Lab, Trunk, require, until

# What libfaketime adds to the wall clock; the monotonic clocks stay as they are.
JUMPS = (("+1 h", 3600), ("-1 h", -3600), ("+30 d", 30 * 86400), ("2038-01-20", None))


@fault("clock jumps", "the wall clock jumps by an hour, back, by thirty days, beyond 2038", seconds=120)
async def jumps(self):
    library = next(iter(glob.glob("/usr/lib/*/faketime/libfaketime.so.1")), None)
    if library is None:
        self.lines.append("     clock jumps: skipped, faketime is not installed")
        return print(self.lines[-1])
    wrong, ends, notes = [], [], []
    lab = Lab("clock", accounts=[Account("main", 1000)], trunks=[Trunk("first")], calls={"media-set-up": "120s"})
    offsets = lab.folder / "offset"
    offsets.write_text("+0\n")
    lab.variables = {"LD_PRELOAD": library, "FAKETIME_TIMESTAMP_FILE": str(offsets), "FAKETIME_NO_CACHE": "1",
                     "FAKETIME_DONT_FAKE_MONOTONIC": "1"}
    async with lab:
        carrier = await lab.carrier("first")
        app = await lab.app("main")
        for name, seconds in JUMPS:
            if seconds is None:
                seconds = int(2147483648 + 86400 - time.time())
            calls = [await app.call() for _ in range(4)]
            for call in calls:
                await call.accepted()
            await asyncio.sleep(0.7)
            offsets.write_text(f"{seconds:+d}\n")
            await asyncio.sleep(1.8)
            dropped = [call.first("ended", "gone") for call in calls if call.first("ended", "gone")]
            # A call that begins after the jump.
            later = await app.place()
            first = await later.told("accepted", "error", "ended")
            if first["type"] == "accepted":
                await asyncio.sleep(0.6)
                calls.append(later)
            else:
                notes.append(f"{name}: a new call is refused: {first.get('error') or first.get('failure')}")
            for call in calls:
                if call.first("ended", "gone"):
                    continue
                accepted, asked = call.first("accepted")["at"], time.monotonic()
                await call.hang_up()
                end = await call.ended()
                ends.append(end)
                problem = duration_problem(end, asked - accepted)
                if problem:
                    wrong.append(f"{name}: {problem}")
            if dropped:
                notes.append(f"{name}: {len(dropped)} calls were dropped")
            # And back, with a call up again.
            call = await app.place()
            message = await call.told("accepted", "error", "ended")
            accepted = message["at"]
            await asyncio.sleep(0.5)
            offsets.write_text("+0\n")
            await asyncio.sleep(1.5)
            if message["type"] == "accepted" and not call.first("ended", "gone"):
                asked = time.monotonic()
                await call.hang_up()
                end = await call.ended()
                ends.append(end)
                problem = duration_problem(end, asked - accepted)
                if problem:
                    wrong.append(f"{name} and back: {problem}")
            else:
                notes.append(f"{name} and back: {(call.first('ended', 'error', 'gone') or {})}")

            async def ready():
                return (await lab.http_request("GET", "/readyz"))[0] == 200

            await until("a gateway that is ready", ready, 10)
        require(not carrier.up, "no leg is left")
        await lab.idle(20)
        self.row("D13", len(wrong), "calls billed by the wrong clock", "0", not wrong, f"{len(ends)} calls {wrong[:3] or ''}",
                 gate=True)
        self.row("D13", len(notes), "calls dropped or refused by a jump", "0", not notes, "; ".join(notes)[:600])
        check_books(self, lab, ended=ends)
