"""What the books lie on: full, failing, locked."""

import asyncio
import contextlib
import os
import pathlib
import sqlite3
import subprocess
import tempfile
import time

from fault import check_books, duration_problem, fault, many
from gateway_lab import Account, App, Lab, LabError, Trunk, failure, require, until

CALLS = {"media-set-up": "120s"}


async def refusals(app, count, seconds=12):
    """New calls while the store is away: (how many went through, codes, slowest answer)."""
    start = time.monotonic()
    calls = [await app.place() for _ in range(count)]
    through, codes, slowest = [], {}, 0.0
    for call in calls:
        message = await call.told("accepted", "error", "ended", seconds=seconds)
        slowest = max(slowest, message["at"] - start)
        if message["type"] == "accepted":
            through.append(call)
        else:
            codes[failure(message)] = codes.get(failure(message), 0) + 1
    return through, codes, slowest


async def outage(self, lab, row, break_it, mend_it, seconds, says):
    """Calls that are up when the store goes, that end while it is away, and that go on; new ones meanwhile."""
    carrier = await lab.carrier("first")
    app = await lab.app("main")
    steady = [await app.call() for _ in range(5)]
    leaving = [await app.call() for _ in range(5)]
    for call in steady + leaving:
        await call.accepted()
    await asyncio.sleep(0.3)
    await break_it()
    broken_at = time.monotonic()
    await asyncio.sleep(0.2)
    through, codes, slowest = await refusals(app, 3)
    lengths = {}
    for call in leaving:
        lengths[call.id] = time.monotonic()
        await call.hang_up()
    ends = [await call.ended(15) for call in leaving]
    await asyncio.sleep(max(0, broken_at + seconds - time.monotonic()))
    dropped = [call for call in steady if call.first("ended", "gone")]
    require(lab.is_running, f"the gateway runs: {lab.log_tail()}")
    await mend_it()
    mended_at = time.monotonic()

    async def works():
        call = await app.place()
        message = await call.told("accepted", "error", "ended", seconds=8)
        if message["type"] != "accepted":
            await asyncio.sleep(0.2)
            return None
        await call.hang_up()
        return await call.ended()

    good = await until("a call after the outage", works, 20)
    back = time.monotonic() - mended_at
    for call in steady + through:
        await call.hang_up()
    ends += [await call.ended() for call in steady + through]
    await lab.idle(40)
    history = {entry["call"]: entry for entry in lab.history() if entry["kind"] == "call"}
    problems = []
    for call in leaving + steady:
        entry = history.get(call.id)
        if entry is None:
            problems.append(f"{call.id} was never charged")
            continue
        accepted = call.first("accepted")["at"]
        finished = lengths.get(call.id) or call.first("ended")["at"]
        problem = duration_problem(entry, finished - accepted, 0.8)
        if problem:
            problems.append(problem)
    unpaid = [leg for leg in carrier.calls if leg.answered_at and not leg.bye_at]
    self.row(row, len(dropped), "running calls dropped", "0", not dropped, f"{says}, {seconds} s", gate=True)
    self.row(row, len(problems), "wrong bills", "0", not problems,
             f"{len(leaving)} calls ended while it was away {problems[:3] or ''}", gate=True)
    self.row("M12", len(through), "calls connected without a durable hold", "0", not through,
             f"{says}: new calls hear {codes} within {slowest:.1f} s; calls again {back:.1f} s after", gate=True)
    require(not unpaid, "no leg is left")
    check_books(self, lab, ended=[end for end in [*ends, good] if end.get("cost_micro")])
    return slowest, codes


@fault("locked store", "another process holds the ledger's write lock", seconds=100)
async def locked(self):
    seconds = many(8, 30)
    async with Lab("locked", accounts=[Account("main", 100)], trunks=[Trunk("first")], calls=CALLS) as lab:
        connection = sqlite3.connect(lab.ledger(), isolation_level=None, timeout=20)

        async def lock():
            connection.execute("BEGIN IMMEDIATE")

        async def unlock():
            connection.execute("ROLLBACK")
            connection.close()

        slowest, codes = await outage(self, lab, "D8", lock, unlock, seconds, "the write lock is taken")
        self.row("D9", slowest, "s until a new call hears that billing is away", "<= 2.5", slowest <= 2.5, f"{codes}")


@fault("slow store", "each commit takes a second", seconds=100)
async def slow(self):
    async with Lab("slow", accounts=[Account("main", 100)], trunks=[Trunk("first")], calls=CALLS) as lab:
        carrier = await lab.carrier("first")
        app = await lab.app("main")
        up = [await app.call() for _ in range(5)]
        for call in up:
            await call.accepted()
        tracer = await strace(lab, "inject=fdatasync,fsync:delay_exit=1000000")
        through, codes, slowest = await refusals(app, 6, 20)
        dropped = [call for call in up if call.first("ended", "gone")]
        for call in up + through:
            await call.hang_up()
        ends = [await call.ended(30) for call in up + through]
        await tracer()
        await lab.idle(40)
        self.row("D9", len(dropped), "running calls dropped", "0", not dropped,
                 f"{len(through)} of 6 new calls went through, {codes}, the slowest answer {slowest:.1f} s", gate=True)
        require(not carrier.up, "no leg is left")
        check_books(self, lab, ended=[end for end in ends if end.get("cost_micro")])


async def strace(lab, rule):
    """Injects into the gateway's system calls; returns how to stop."""
    process = await asyncio.create_subprocess_exec(
        "strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=fdatasync,fsync", "-e", rule, "-p", str(lab.pid),
        stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE)
    await asyncio.sleep(0.5)
    require(process.returncode is None, "strace may look at the gateway")

    async def stop():
        if process.returncode is None:
            process.terminate()
            await process.wait()

    return stop


@fault("failing fsync", "every fsync and fdatasync fails with EIO", seconds=100)
async def failing(self):
    async with Lab("fsync", accounts=[Account("main", 100)], trunks=[Trunk("first")], calls=CALLS) as lab:
        stop = []

        async def begin():
            stop.append(await strace(lab, "inject=fdatasync,fsync:error=EIO"))

        async def end():
            await stop[0]()

        await outage(self, lab, "D10", begin, end, 3, "EIO")


@fault("full disk", "the state folder's disk is full", seconds=100)
async def full(self):
    folder = tempfile.mkdtemp(prefix="landline-full-")
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=12m,mode=700", "tmpfs", folder], capture_output=True).returncode:
        os.rmdir(folder)
        self.lines.append("     full disk: skipped, a small file system cannot be mounted here")
        return print(self.lines[-1])
    ballast = pathlib.Path(folder) / "ballast"
    try:
        lab = Lab("full", accounts=[Account("main", 100)], trunks=[Trunk("first")], calls=CALLS)
        lab.state = pathlib.Path(folder) / "state"
        async with lab:
            async def fill():
                with open(ballast, "wb", buffering=0) as file, contextlib.suppress(OSError):
                    while True:
                        file.write(b"x" * 65536)
                with open(ballast, "ab", buffering=0) as file, contextlib.suppress(OSError):
                    while True:
                        file.write(b"x" * 512)

            async def free():
                ballast.unlink()

            await outage(self, lab, "D10", fill, free, 3, "no byte is free")
            # Who registers meanwhile hears so at once; afterwards the same signature does.
            await fill()
            late = App(lab, lab.account("main"), "late", "late")
            lab._apps.append(late)
            await late.connect()
            began = time.monotonic()
            answer = await late.ask_to_register()
            slowest = time.monotonic() - began
            code = failure(answer) if answer["type"] == "error" else answer["type"]
            await asyncio.wait_for(late.closed.wait(), 5)
            await free()
            self.row("D10", slowest, "s until a registration hears that nothing can be kept", "<= 2",
                     slowest <= 2 and (code, late.close_code) == ("gw.unavailable", 1013),
                     f"{code}, close code {late.close_code}", gate=True)

            async def registers():
                with contextlib.suppress(LabError, OSError):
                    return await lab.app("main", user="late")

            await until("a registration after the outage", registers, 20)
    finally:
        subprocess.run(["umount", folder], check=False)
        with contextlib.suppress(OSError):
            os.rmdir(folder)
