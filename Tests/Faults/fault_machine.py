"""What a machine runs out of: descriptors, processor time."""

import asyncio
import contextlib
import os
import sys
import time

from fault import Load, check_books, fault, middle, processor_seconds
from gateway_lab import Account, Lab, Trunk, require, until


@fault("descriptors", "no file descriptor is left", seconds=90)
async def descriptors(self):
    lab = Lab("descriptors", accounts=[Account("main", 100)], trunks=[Trunk("first")], calls={"media-set-up": "120s"})
    lab.descriptors = (160, 160)
    async with lab:
        carrier = await lab.carrier("first")
        app = await lab.app("main")
        up = [await app.call() for _ in range(5)]
        for call in up:
            await call.accepted()
        sockets = []
        for _ in range(400):
            with contextlib.suppress(OSError, asyncio.TimeoutError):
                sockets.append(await asyncio.wait_for(asyncio.open_connection("127.0.0.1", lab.http_port), 1))
        await asyncio.sleep(0.5)
        used = lab.descriptors_open()
        before, start = processor_seconds(lab.pid), time.monotonic()
        calls = [await app.place() for _ in range(5)]
        answers = [await call.told("accepted", "error", "ended", seconds=10) for call in calls]
        await asyncio.sleep(max(0, start + 2 - time.monotonic()))
        spent = (processor_seconds(lab.pid) - before) / (time.monotonic() - start)
        dropped = [call for call in up if call.first("ended", "gone")]
        require(lab.is_running, f"the gateway runs: {lab.log_tail()}")
        for _, writer in sockets:
            writer.close()
        freed = time.monotonic()

        async def lets_in():
            try:
                status, _, _ = await lab.http_request("GET", "/readyz", seconds=2)
            except (OSError, asyncio.TimeoutError, Exception):
                return None
            return status == 200

        await until("a gateway that lets in again", lets_in, 20)
        back = time.monotonic() - freed
        again = await lab.app("main", user="bob")
        call = await again.call()
        await call.accepted()
        await call.hang_up()
        ends = [await call.ended()]
        placed = [each for each, message in zip(calls, answers) if message["type"] == "accepted"]
        for each in up + placed:
            await each.hang_up()
        ends += [await each.ended() for each in up + placed]
        await lab.idle(30)
        kinds = sorted({message["type"] for message in answers})
        self.row("D11", len(dropped), "running calls dropped without descriptors", "0", not dropped,
                 f"{used} of 160 open, {len(sockets)} connections asked for; new calls {kinds}; let in again after "
                 f"{back:.1f} s", gate=True)
        self.row("D11", 100 * spent, "% of a processor while no descriptor is left", "<= 30", spent <= 0.3)
        require(not carrier.up, "no leg is left")
        check_books(self, lab, ended=[end for end in ends if end["type"] == "ended"])


@fault("starvation", "other programs take every processor", alone=True)
async def starvation(self):
    async with Lab("starvation", accounts=[Account("main", 100)], trunks=[Trunk("first")],
                   calls={"media-set-up": "120s"}) as lab:
        carrier = await lab.carrier("first")
        apps = [await lab.app("main", user=f"user{number}") for number in range(3)]
        hogs = [await lab.started(sys.executable, "-c", "while True: pass") for _ in range(4 * (os.cpu_count() or 2))]
        try:
            async with Load(apps, every=0.1, hold=0.3) as load:
                await asyncio.sleep(6)
                await load.stop()
        finally:
            for hog in hogs:
                hog.kill()
                await hog.wait()
        delays = [call.first("accepted")["at"] - call.asked_at for call in load.calls if call.first("accepted")]
        await lab.idle(30)
        refused = {code: count for code, count in load.codes.items() if code != "sip.congestion"}
        self.row("D11", sum(refused.values()), "calls that failed while every processor was taken", "0", not refused,
                 f"{load.answered} answered, half of them within {1000 * middle(delays):.0f} ms; {load.codes or ''}")
        require(lab.is_running and not carrier.up, "it runs, and no leg is left")
        check_books(self, lab, ended=[end for end in load.ended if end["type"] == "ended"])
