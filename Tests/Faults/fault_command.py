"""`landline call` itself: interrupted at any moment, and started on several devices of one user at once."""

import asyncio
import json
import os
import random
import signal
import time

from fault import check_books, fault, many, percentile
from gateway_lab import CLIENT, SECRET, Account, App, Lab, Trunk, binary, require, signature

NUMBER = "+46000000000"


def variables(lab, account):
    return {**os.environ, "LANDLINE_URL": f"ws://127.0.0.1:{lab.http_port}", "LANDLINE_APPLICATION_KEY": account.key,
            "LANDLINE_APPLICATION_SECRET": SECRET, "HOME": str(lab.folder), "LC_ALL": "C.UTF-8"}


async def started(lab, account, *arguments):
    # Whoever runs this in the background hands on that interrupts are ignored, which holds until the program's first line.
    # Python's own way to change that may lock a child up for ever where this process has threads.
    return await asyncio.create_subprocess_exec(
        "env", "--default-signal=INT", binary(), "call", NUMBER, *arguments, env=variables(lab, account), cwd=lab.folder,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE)


@fault("interrupted command", "Ctrl-C on `landline call` at any moment of its start", alone=True, seconds=120)
async def interrupted(self):
    draw = random.Random(2026)
    wrong, times = [], []
    async with Lab("interrupt", accounts=[Account("main", 100)], trunks=[Trunk("first")]) as lab:
        account = lab.account("main")
        for number in range(many(60, 500)):
            process = await started(lab, account)
            wait = draw.uniform(0, 0.12)
            await asyncio.sleep(wait)
            asked = time.monotonic()
            if process.returncode is None:
                process.send_signal(signal.SIGINT)
            try:
                said = await asyncio.wait_for(process.communicate(), 10)
            except asyncio.TimeoutError:
                process.kill()
                said = await process.communicate()
            times.append(time.monotonic() - asked)
            # Before its first line a program ends by the signal itself, which a shell calls 130 too.
            if process.returncode not in (130, -signal.SIGINT):
                wrong.append(f"{wait * 1000:.0f} ms: {process.returncode} {said[1][-200:]}")
        # What was asked for is over at the gateway as well.
        await lab.idle(40)
        require(lab.is_running, f"the gateway runs: {lab.log_tail()}")
        check_books(self, lab)
    self.row("D17", len(wrong), "that do not end with 130", "0", not wrong, f"{len(times)} interrupts {wrong[:3] or ''}",
             gate=True)
    slowest = max(times) * 1000
    self.row("D17", slowest, "ms until the process has ended", "<= 300", slowest <= 300,
             f"median {percentile(times, 0.5) * 1000:.0f} ms")


@fault("devices at once", "devices of one user that sign for themselves", seconds=90)
async def devices(self):
    async with Lab("devices", accounts=[Account("main", 100)], trunks=[Trunk("first")]) as lab:
        account = lab.account("main")
        # A device whose clock is five minutes ahead, and which signs microseconds.
        ahead = App(lab, account, "cli", "ahead")
        lab._apps.append(ahead)
        await ahead.connect()
        sequence = int((time.time() + 300) * 1_000_000)
        proof = {"kind": "signature", "signature": signature("cli", account.key, sequence, SECRET), "sequence": str(sequence)}
        answer = await ahead.ask("register", application=account.key, user="cli", device="ahead", client=CLIENT,
                                 capabilities=["calling"], proof=proof)
        require(answer["type"] == "registered", f"the device that is ahead is in: {answer}")
        # A right signature that was passed hears the least that would do; the same one gets in no second time.
        again = App(lab, account, "cli", "again")
        lab._apps.append(again)
        await again.connect()
        answer = await again.ask("register", application=account.key, user="cli", device="again", client=CLIENT,
                                 capabilities=["calling"], proof=proof)
        error = answer.get("error", {})
        require((error.get("code"), error.get("next_sequence")) == ("gw.sequence", str(sequence + 1)), f"told the least: {answer}")
        wrong = {**proof, "signature": signature("cli", account.key, sequence, SECRET[:-4] + "Ag==")}
        answer = await again.ask("register", application=account.key, user="cli", device="again", client=CLIENT,
                                 capabilities=["calling"], proof=wrong)
        require(answer["error"]["code"] == "gw.registration" and "next_sequence" not in answer["error"],
                f"a wrong signature is told nothing: {answer}")
        calls = await asyncio.gather(*(started(lab, account, "--json") for _ in range(8)))
        ends = await asyncio.gather(*(asyncio.wait_for(call.communicate(), 60) for call in calls))
        failed = [f"{call.returncode} {said[1][-200:]}" for call, said in zip(calls, ends) if call.returncode]
        ids = {json.loads(said[0])["call"] for call, said in zip(calls, ends) if not call.returncode}
        self.row("D17", len(failed), "devices shut out", "0", not failed and len(ids) == 8,
                 f"8 at once, one more far ahead {failed[:2] or ''}", gate=True)
        await lab.idle(40)
        check_books(self, lab)
