"""The process itself: killed, asked to end, asked to read its configuration again."""

import asyncio
import json
import random
import signal
import time

from fault import Load, charges, check_books, fault, many, percentile, topped_up
from gateway_lab import Account, Lab, LabError, Trunk, require, until
from sip_carrier import Plan

RINGING = "+46700000999"


def carrier_plan(invite):
    return Plan(answer=None) if invite.user == RINGING else Plan(ring=0, answer=0.01)


async def pay(lab, acknowledged, number):
    """Top-ups one after the other; those that were acknowledged are noted."""
    while True:
        number += 1
        key = f"pay-{lab.starts}-{number}"
        try:
            status, _, body = await lab.http_request(
                "POST", "/v1/accounts/main/topups", {"amount": "0.01", "method": "card"}, {"Idempotency-Key": key}, seconds=5)
        except (OSError, asyncio.TimeoutError, LabError):
            return
        require(status == 201, f"a top-up is taken, not answered with {status}")
        # The books' own name of the posting; the request's key is hashed into it.
        acknowledged.append(json.loads(body)["key"])


@fault("kill", "kill -9 with calls up, ringing and being placed, and postings under way", alone=True, seconds=150)
async def kill(self):
    kills = many(5, 100)
    first_calls, ready_times, resolved_times, late, orphans, acknowledged, ended = [], [], [], [], [], [], []
    legs = 0
    lab = Lab("kill", trunks=[Trunk("first")], accounts=[Account("main", 5000)], calls={"media-set-up": "120s"})
    async with lab:
        carrier = await lab.carrier("first", plan=carrier_plan)
        for number in range(kills):
            app = await lab.app("main", user="alice")
            busy = [await lab.app("main", user=f"user{each}") for each in range(3)]
            up = [await app.call() for _ in range(8)]
            for call in up:
                await call.accepted()
            ringing = [await app.call(RINGING) for _ in range(4)]
            for call in ringing:
                await call.told("ringing")
            load = Load(busy, every=0.03, hold=0.1)
            payers = [asyncio.ensure_future(pay(lab, acknowledged, 1000 * each)) for each in range(3)]
            async with load:
                await asyncio.sleep(0.5 + random.random() * 0.5)
                left = set(hold["call"] for hold in lab.open_holds())
                standing = [call for call in carrier.up if call.acknowledged_at]
                killed_at = time.monotonic()
                await lab.kill()
                load.forget()
            await asyncio.gather(*payers)
            ended += [message for message in load.ended if message["type"] == "ended"]
            for each in [app, *busy]:
                each.drop()
            await lab.start()
            ready_times.append(time.monotonic() - killed_at)
            again = await lab.app("main", user="alice")
            call = await again.call()
            await call.accepted()
            first_calls.append(time.monotonic() - killed_at)
            restarted = lab.started_at

            def resolved():
                return not [hold for hold in lab.open_holds() if hold["call"] in left]

            try:
                await until("every hold of the life before settled or released", resolved, 6, every=0.2)
                resolved_times.append(time.monotonic() - restarted)
            except LabError:
                late.append(len([hold for hold in lab.open_holds() if hold["call"] in left]))
            await until("", lambda: all(leg.bye_at for leg in standing) or time.monotonic() > restarted + 5, 8)
            legs += len(standing)
            orphans += [leg.id for leg in standing if not leg.bye_at]
            await call.hang_up()
            ended.append(await call.ended())
            again.drop()
        await lab.idle(seconds=35)
        history = lab.history()
        lost = [key for key in acknowledged if key not in topped_up(history)]
        booked = charges(history)
        unbooked = [message["call"] for message in ended
                    if message.get("cost_micro") and message["call"] not in booked]
        self.row("D1", percentile(first_calls, 0.99), "s", "<= 1.0", percentile(first_calls, 0.99) <= 1.0,
                 f"{kills} kills, from the kill to the next answered call; ready after {max(ready_times):.2f} s at most")
        self.row("D1", len(lost) + len(unbooked), "acknowledged postings lost", "0", not lost and not unbooked,
                 f"{len(acknowledged)} top-ups and {len(ended)} charges were acknowledged", gate=True)
        self.row("D2", len(late), "kills after which a hold stayed for 5 s", "0",
                 not late and max(resolved_times) <= 5, f"at most {max(resolved_times, default=0):.2f} s", gate=True)
        self.row("D2", len(orphans), "trunk legs without BYE 5 s after the restart", "0", not orphans,
                 f"{legs} legs were up")
        check_books(self, lab, ended=ended)


@fault("drain", "SIGTERM with calls up and being placed: those that are up come to their own end")
async def drain(self):
    async with Lab("drain", accounts=[Account("main", 1000)], trunks=[Trunk("first")], calls={"media-set-up": "120s"}) as lab:
        text = (lab.folder / "landline.yaml").read_text().replace("drain:\n  timeout: 2s", "drain:\n  timeout: 15s")
        (lab.folder / "landline.yaml").write_text(text)
        await lab.stop()
        await lab.start()
        carrier = await lab.carrier("first", plan=carrier_plan)
        app = await lab.app("main")
        busy = await lab.app("main", user="bob")
        up = [await app.call() for _ in range(10)]
        for call in up:
            await call.accepted()
        async with Load([busy], every=0.05, hold=0.3) as load:
            await asyncio.sleep(0.5)
            lab.signal(signal.SIGTERM)
            asked_at = time.monotonic()
            await asyncio.sleep(1.0)
            before = [call for call in up if call.first("ended", "gone")]
            late = await app.place()
            refusal = await late.told("error", "ended", "placed", "gone")
            try:
                status, _, _ = await lab.http_request("GET", "/readyz", seconds=3)
            except OSError:
                status = 0
            for call in up:
                await call.hang_up()
            ends = [await call.ended() for call in up]
            await load.stop()
        code = await asyncio.wait_for(lab.process.wait(), 20)
        took = time.monotonic() - asked_at
        own = [end for end in ends if end["cause"] == "hungUp"]
        ended = ends + [message for message in load.ended if message["type"] == "ended"]
        self.row("D3", 100 * len(own) // len(up), "% of the calls came to their own end", "100",
                 len(own) == len(up) and not before, f"readyz {status}; new calls: {(refusal.get('error') or {}).get('code')}"
                 f"; {sum(load.codes.values())} refused in all; the process ended with {code} after {took:.1f} s", gate=True)
        require(refusal["type"] == "error", f"a new call is refused: {refusal}")
        require(code == 0, f"the process ends with 0, not {code}: {lab.log_tail()}")
        require(not carrier.up, "every leg of the trunk has its BYE")
        check_books(self, lab, ended=ended)


@fault("reload", "SIGHUP again and again with calls up and being placed")
async def reload(self):
    async with Lab("reload", accounts=[Account("main", 1000)], trunks=[Trunk("first")], calls={"media-set-up": "120s"}) as lab:
        carrier = await lab.carrier("first", plan=carrier_plan)
        app = await lab.app("main")
        busy = await lab.app("main", user="bob")
        up = [await app.call() for _ in range(12)]
        for call in up:
            await call.accepted()
        async with Load([busy], every=0.04, hold=0.2) as load:
            for number in range(many(12, 60)):
                lab.signal(signal.SIGHUP)
                # A file with a mistake changes nothing, nor does one that an editor has just emptied.
                if number == 5:
                    lab.write_configuration("node: [")
                if number == 7:
                    lab.write_configuration("")
                if number == 9:
                    lab.write_configuration()
                await asyncio.sleep(0.15)
            await load.stop()
        dropped = [call for call in up if call.first("ended", "gone")]
        for call in up:
            await call.hang_up()
        ended = [await call.ended() for call in up] + [each for each in load.ended if each["type"] == "ended"]
        require(not carrier.up, "every leg has its BYE")
        await lab.idle()
        self.row("D3", len(dropped) + load.refused, "calls dropped or refused by a reload", "0",
                 not dropped and not load.refused, f"{len(up)} held, {load.answered} placed meanwhile {load.codes or ''}",
                 gate=True)
        check_books(self, lab, ended=ended)
