"""More calls than the gateway can carry."""

import asyncio
import collections
import contextlib
import json
import os
import pathlib
import statistics
import sys

from fault import check_books, fault, many
from gateway_lab import Account, Lab, Trunk, require

# Processor time that the gateway may have, so that what asks it for calls is always faster: of one processor.
SHARE = 0.3
# Of the scheduler: short, or its pauses look like queues.
PERIOD = 5_000
CALLERS = 2
SESSIONS = 150
# Calls on their way to their answer while capacity is measured: with few the gateway may wait for its callers.
WAITING = (16, 32, 64)
FACTORS = (2, 5, 10)


class Limit:
    """A group of the kernel that holds the gateway to a share of a processor; nothing where there is none to be had."""

    def __init__(self, pid):
        self.folder = None
        for root, files in (("/sys/fs/cgroup/cpu", (("cpu.cfs_period_us", str(PERIOD)),
                                                    ("cpu.cfs_quota_us", str(int(PERIOD * SHARE))))),
                            ("/sys/fs/cgroup", (("cpu.max", f"{int(PERIOD * SHARE)} {PERIOD}"),))):
            folder = pathlib.Path(root) / f"landline-{pid}"
            with contextlib.suppress(OSError):
                folder.mkdir()
                try:
                    for name, value in files:
                        (folder / name).write_text(value)
                    (folder / "cgroup.procs").write_text(str(pid))
                    self.folder = folder
                    return
                except OSError:
                    folder.rmdir()

    def close(self):
        if self.folder:
            with contextlib.suppress(OSError):
                self.folder.rmdir()


class Callers:
    def __init__(self, lab):
        self.lab = lab
        self.processes = []

    async def start(self):
        for number in range(CALLERS):
            account = self.lab.account(f"payer{number}")
            process = await self.lab.started(
                sys.executable, str(pathlib.Path(__file__).parent / "caller.py"), str(self.lab.http_port), account.key,
                str(SESSIONS), stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, limit=1 << 22)
            line = await process.stdout.readline()
            require(line, "the caller is ready")
            self.processes.append(process)

    async def run(self, kind, count, seconds):
        """See caller.py. What became of the calls, all callers together."""
        for process in self.processes:
            process.stdin.write(f"{kind} {count / CALLERS} {seconds}\n".encode())
        parts = [json.loads(await process.stdout.readline()) for process in self.processes]

        def together(key):
            return sum(part[key] for part in parts)

        total = {key: sum(part["total"][key] for part in parts) for key in parts[0]["total"]}
        tenths = [{key: sum(part["tenths"][index][key] for part in parts) for key in total}
                  for index in range(len(parts[0]["tenths"]))]
        codes = {}
        for part in parts:
            for code, count in part["codes"].items():
                codes[code] = codes.get(code, 0) + count
        took = max(part["took"] for part in parts)
        require(together("lost") == 0, f"no app lost its connection: {together('lost')} did")
        return {
            **total, "tenths": tenths, "codes": codes, "rate": total["asked"] / took,
            **{key: together(key) for key in ("goodput", "untold", "charged_failures", "skipped", "live")},
            **{key: max(part[key] or 0 for part in parts) for key in ("p95", "refusal_p95")},
        }


@fault("overload", "two, five and ten times the calls that the gateway can carry", alone=True, seconds=300)
async def overload(self):
    # A pair of ports rests for 30 s after its call: a lab's own range has room for twenty calls a second.
    lab = Lab("overload", trunks=[Trunk("first")], calls={"media-set-up": "120s", "dead-media": "1h"}, log_level="warning", wide=True,
              accounts=[Account(f"payer{number}", 1_000_000) for number in range(CALLERS)])
    async with lab:
        await lab.sipp(str(pathlib.Path(__file__).parent / "callee.xml"), port=lab.trunks[0].port)
        callers = Callers(lab)
        await callers.start()
        limit = Limit(lab.pid)
        try:
            await measure(self, lab, callers, bool(limit.folder))
            await lab.idle(30, books=False)
        finally:
            await lab.stop(40)
            limit.close()
        # The processor is the gateway's again: the books may be read.
        lab.verify()
        stuck = lab.open_holds()
        self.row("M6", len(stuck), "holds left", "0", not stuck, gate=True)


async def measure(self, lab, callers, is_limited):
    """A machine that others use as well is now fast and now slow: what comes through in an overload is held against what
    comes through just before and just after it, and the median of some rounds counts."""
    seconds, rounds = many(3, 10), many(3, 5)
    await callers.run("hold", WAITING[0], 1)
    came = {waiting: [(await callers.run("hold", waiting, seconds))["goodput"] for _ in range(2)] for waiting in WAITING}
    waiting = max(came, key=lambda each: sum(came[each]))

    async def capacity():
        got = await callers.run("hold", waiting, seconds)
        require(got["goodput"] > 0, f"calls come through at all: {got['codes']}")
        return got["goodput"]

    before = await capacity()
    found = {factor: [] for factor in FACTORS}
    unlike = {factor: collections.Counter() for factor in FACTORS}
    for number in range(rounds):
        for factor in FACTORS:
            got, shed = await overloaded(self, lab, callers, factor, before * factor, seconds, number)
            after = await capacity()
            near = (before + after) / 2
            before = after
            words = (f"capacity {near:.0f} calls/s" + (f" of {100 * SHARE:.0f} % of a processor" if is_limited else "")
                     + f", asked {got['rate']:.0f}/s, good {got['goodput']:.0f}/s, refused {got['refused']} (by the gate "
                     f"{shed:.0f}) within {1000 * got['refusal_p95']:.0f} ms (p95), answered within "
                     f"{1000 * got['p95']:.0f} ms (p95)")
            print(f"     overload at {factor}x, round {number + 1}: {words}", flush=True)
            found[factor].append((got["goodput"] / near, words))
            unlike[factor].update({code: count for code, count in got["codes"].items() if code != "sip.congestion"})
    # What came through at twice the capacity shows where that was measured too low.
    most = max(1.0, statistics.median(share for share, _ in found[FACTORS[0]]))
    for factor in FACTORS:
        in_order = sorted(found[factor])
        share, words = in_order[len(in_order) // 2]
        least, greatest = in_order[0][0], in_order[-1][0]
        self.row("C4", 100 * share / most, f"% of capacity at {factor}x", ">= 90",
                 share / most >= 0.9 and not unlike[factor],
                 f"median of {rounds} rounds, {100 * least / most:.0f} to {100 * greatest / most:.0f} %; {words}; others "
                 f"{dict(unlike[factor]) or 'none'}")


async def overloaded(self, lab, callers, factor, rate, seconds, number):
    """Asks for more than the gateway can carry, and in the first round looks how it comes back.
    Returns what became of the calls, and how many the gate refused."""
    before = await lab.metric("landline_overload_refusals_total")
    got = await callers.run("rate", rate, seconds)
    shed = await lab.metric("landline_overload_refusals_total") - before
    self.row("C4", got["charged_failures"] + got["untold"], "refusals charged or without Retry-After", "0",
             got["charged_failures"] + got["untold"] == 0, f"{factor}x", gate=True)
    if number == 0:
        # Back to half of the capacity: how long until all that is asked for comes through.
        calm = await callers.run("rate", rate / factor / 2, 3)
        back = 0.0
        for index, tenth in enumerate(calm["tenths"]):
            if tenth["refused"] or tenth["failed"] or tenth["good"] < tenth["asked"]:
                back = (index + 1) / 10
        self.row("C5", back, "s until every call is taken again", "<= 2", back <= 2.0, f"after {factor}x")
    return got, shed
