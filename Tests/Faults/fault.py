"""What the faults share: how one is declared, what it measured, and load on a gateway."""

import asyncio
import contextlib
import os
import time
import traceback

from gateway_lab import LabError
from scoreboard import is_full, row


class Fault:
    def __init__(self, name, says, body, is_alone, seconds):
        self.name, self.says, self._body, self.is_alone, self._seconds = name, says, body, is_alone, seconds
        self.lines = []
        self.is_broken = False

    def row(self, name, figure, unit, target, passed, detail="", gate=False):
        """A figure of the scoreboard. gate: a miss is a broken promise."""
        shown = f"{figure:.3f}" if isinstance(figure, float) else str(figure)
        row(name, figure=shown, unit=unit, target=target, passed=passed, detail=f"{self.name}: {detail}".rstrip(": "),
            gate=gate)
        mark = "ok  " if passed else "MISS"
        self.lines.append(f"{mark} {name:4} {shown} {unit} ({target}) {self.name}: {detail}")
        print(self.lines[-1], flush=True)
        if gate and not passed:
            self.is_broken = True

    async def run(self):
        start = time.monotonic()
        try:
            await asyncio.wait_for(self._body(self), self._seconds * (20 if is_full() else 1))
        except Exception as problem:  # every fault is heard of
            self.is_broken = True
            reason = problem if isinstance(problem, LabError) else traceback.format_exc()
            self.lines.append(f"FAIL {self.name}: {reason or type(problem).__name__}")
            print(self.lines[-1], flush=True)
        print(f"     {self.name}: {time.monotonic() - start:.1f} s", flush=True)


ALL = []


def fault(name, says, alone=False, seconds=90):
    """Declares a fault: a function that is given its Fault."""
    def declare(body):
        ALL.append(Fault(name, says, body, alone, seconds))
        return body
    return declare


def many(ci, full):
    return full if is_full() else ci


def middle(values):
    values = sorted(values)
    return values[len(values) // 2]


def percentile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(share * len(values)))]


class Load:
    """Calls that come and go on an app for as long as this is entered: each is held for a moment."""

    def __init__(self, apps, every=0.05, hold=0.2, number=None):
        self.apps, self.every, self.hold, self.number = apps, every, hold, number
        self.placed = self.answered = self.refused = 0
        self.codes = {}
        self.ended = []
        self.calls = []
        self._tasks = set()
        self._runner = None
        self.is_stopping = False

    async def __aenter__(self):
        self._runner = asyncio.ensure_future(self._run())
        return self

    async def __aexit__(self, *_):
        await self.stop()

    async def stop(self, seconds=15):
        """Places no more, and waits for what is under way."""
        self.is_stopping = True
        self._runner.cancel()
        with contextlib.suppress(asyncio.CancelledError, Exception):
            await self._runner
        if self._tasks:
            await asyncio.wait(list(self._tasks), timeout=seconds)

    def forget(self):
        for task in list(self._tasks):
            task.cancel()
        self._runner.cancel()

    async def _run(self):
        number = 0
        while True:
            app = self.apps[number % len(self.apps)]
            number += 1
            task = asyncio.ensure_future(self._one(app))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
            await asyncio.sleep(self.every)

    async def _one(self, app):
        try:
            call = await app.place(**({"to": self.number} if self.number else {}))
            self.placed += 1
            self.calls.append(call)
            first = await call.told("accepted", "ended", "error", "gone", seconds=20)
            if first["type"] != "accepted":
                self.refused += 1
                details = first.get("failure") or first.get("error") or {}
                code = details.get("code", first["type"])
                self.codes[code] = self.codes.get(code, 0) + 1
                if first["type"] == "ended":
                    self.ended.append(first)
                return
            self.answered += 1
            await asyncio.sleep(self.hold)
            await call.hang_up()
            self.ended.append(await call.told("ended", "gone", seconds=20))
        except (OSError, LabError, asyncio.TimeoutError):
            return


def charges(history):
    """Micro-units by call, and how often each was charged."""
    found = {}
    for entry in history:
        if entry["kind"] == "call":
            amount, times = found.get(entry["call"], (0, 0))
            found[entry["call"]] = (amount - entry["amount_micro"], times + 1)
    return found


def topped_up(history):
    return {entry["key"]: entry["amount_micro"] for entry in history if entry["kind"] == "topup"}


def check_books(fault, lab, names=("main",), ended=()):
    """M1, M3, M6, M10 of a lab: what the calls were told is what the books say, once each."""
    lab.verify()
    holds = {hold["call"]: hold for hold in lab.holds()}
    double, wrong = 0, []
    charged = {}
    for name in names:
        charged.update(charges(lab.history(name)))
    double = sum(1 for _, times in charged.values() if times > 1)
    for message in ended:
        if message["type"] != "ended" or message.get("cost_micro") is None:
            continue
        said = message["cost_micro"]
        booked = charged.get(message["call"], (0, 0))[0]
        if said != booked:
            wrong.append(f"{message['call']}: told {said}, booked {booked}")
    stuck = [hold["call"] for hold in holds.values() if hold["state"] in ("held", "answered")]
    fault.row("M1", 0, "broken rules of the books", "0", True, "verify --full", gate=True)
    fault.row("M3", double, "double charges", "0", double == 0, f"{len(charged)} charged calls", gate=True)
    fault.row("M6", len(stuck), "holds left", "0", not stuck, f"{len(holds)} holds {stuck[:3] or ''}", gate=True)
    fault.row("M10", len(wrong), "calls whose bill is not what was told", "0", not wrong,
              f"{len(ended)} calls {wrong[:3] or ''}", gate=True)


def duration_problem(message, seconds, slack=0.35):
    """Why a call that lasted so long by the test's own clock is billed wrongly; None when it is not."""
    lasted = message["duration_ms"] / 1000
    if abs(lasted - seconds) > slack:
        return f"{lasted:.2f} s are billed for a call of {seconds:.2f} s"
    if message["billed_seconds"] != max(1, -(-message["duration_ms"] // 1000)):
        return f"{message['billed_seconds']} s for {message['duration_ms']} ms"
    return None


def processor_seconds(pid):
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
