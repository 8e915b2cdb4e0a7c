"""Money, live over SIP: who is charged what when the other side does as it likes."""

import asyncio
import time

from fault import charges, check_books, duration_problem, fault, many
from gateway_lab import NUMBER, Account, Lab, LabError, Trunk, billed, cost, failure, require, until
from sip_carrier import Plan

# Every final response of RFC 3261 and its extensions but those that ask for another try.
FAILURES = (300, 301, 302, 305, 380, 400, 401, 402, 403, 404, 405, 406, 407, 408, 410, 413, 414, 415, 416, 420, 421, 422,
            423, 424, 425, 428, 429, 430, 433, 436, 437, 438, 440, 469, 470, 480, 481, 482, 483, 484, 485, 486, 487, 488,
            489, 491, 493, 494, 499, 500, 501, 502, 503, 504, 505, 513, 555, 580, 599, 600, 603, 604, 606, 607, 608, 699)
EARLY, NEVER, CANCELLED = "+46700000183", "+46700000180", "+46700000181"


@fault("unanswered", "every 3xx to 6xx, early media, no answer, a caller who gives up: nobody pays", seconds=120)
async def unanswered(self):
    def plan(invite):
        if invite.user == EARLY:
            return Plan(ring=None, early=0, answer=1.0, status=486)
        if invite.user in (NEVER, CANCELLED):
            return Plan(ring=0, answer=None)
        return Plan(ring=0, answer=0.02, status=int(invite.user[-3:]))

    lab = Lab("unanswered", accounts=[Account("main", 100)], trunks=[
        Trunk("first", lines=["ring-timeout: 5s"])], calls={"media-set-up": "120s"})
    async with lab:
        carrier = await lab.carrier("first", plan=plan)
        before = lab.balance()
        apps = [await lab.app("main", user=f"user{number}") for number in range(6)]

        async def one(app, number, gives_up=False):
            call = await app.place(number)
            if gives_up:
                await call.told("ringing")
                await call.hang_up()
            end = await call.ended(20)
            return number, end

        long = [asyncio.ensure_future(one(apps[0], NEVER)), asyncio.ensure_future(one(apps[0], EARLY)),
                asyncio.ensure_future(one(apps[0], CANCELLED, True))]
        ends = []
        # A trunk that fails too often rests; the next call must not find it so.
        for start in range(0, len(FAILURES), 5):
            part = FAILURES[start : start + 5]
            ends += await asyncio.gather(
                *(one(apps[1 + index], f"+46700000{code}") for index, code in enumerate(part)))
        ends += await asyncio.gather(*long)
        await lab.idle()
        wrong = [(number, end["type"], end.get("cost_micro")) for number, end in ends
                 if end["type"] == "ended" and end["cost_micro"] != 0]
        reached = len({call.number for call in carrier.calls})
        after = lab.balance()
        self.row("M7", len(wrong), "charged calls of those never answered", "0", not wrong and after == before,
                 f"{len(ends)} kinds of call, {reached} reached the carrier; balance {before[0]} and {after[0]}", gate=True)
        require(not carrier.up, "no leg is left")
        check_books(self, lab, ended=[end for _, end in ends if end["type"] == "ended"])


@fault("one call's credit", "N calls at the same moment on credit for one", seconds=120)
async def race(self):
    total = many(192, 1008)
    price = cost(60)
    async with Lab("race", accounts=[Account("main", 0)], trunks=[Trunk("first")], calls={"media-set-up": "120s"}) as lab:
        carrier = await lab.carrier("first")
        # One call's first grant and not a micro-unit more.
        lab.command("topup", "main", "0.65", "--key", "one")
        require(lab.balance()[0] == price, "credit for one call")
        apps = [await lab.app("main", user=f"user{number}") for number in range(total // 16)]
        calls = await asyncio.gather(*(app.place() for app in apps for _ in range(16)))
        first = [await call.next(20) for call in calls]
        placed = [call for call, message in zip(calls, first) if message["type"] == "placed"]
        codes = {failure(message) for message in first if message["type"] != "placed"}
        posted, held = lab.balance()
        overspend = max(0, held - posted)
        await asyncio.sleep(1)
        for call in placed:
            await call.hang_up()
        ends = [await call.ended() for call in placed]
        await lab.idle()
        left, _ = lab.balance()
        self.row("M4", overspend + max(0, -left), "micro-units overspent", "0",
                 overspend == 0 and left >= 0 and len(carrier.calls) == len(placed),
                 f"{total} calls at once, {len(placed)} placed, the others {codes}; balance {left}", gate=True)
        require(len(placed) >= 1, "one call is placed")
        check_books(self, lab, ended=ends)


@fault("credit ends", "the credit runs out in the call", seconds=60)
async def credit(self):
    async with Lab("credit", accounts=[Account("main", 0)], trunks=[Trunk("first")], calls={"media-set-up": "120s"}) as lab:
        carrier = await lab.carrier("first")
        seconds = 3
        lab.command("topup", "main", f"0.{cost(seconds) // 10_000:02d}", "--key", "some")
        app = await lab.app("main")
        call = await app.call()
        await call.accepted()
        end = await call.ended(15)
        leg = carrier.calls[0]
        await until("BYE", lambda: leg.bye_at, 3)
        overrun = leg.bye_at - leg.answered_at - seconds
        posted, held = lab.balance()
        self.row("M5", overrun, "s beyond what was paid until BYE", "<= 0.5", overrun <= 0.5 and posted == 0 and held == 0,
                 f"{seconds} s of credit, {end['duration_ms']} ms billed as {end['billed_seconds']} s, cause {end['cause']}, "
                 f"{failure(end)}; balance {posted}", gate=overrun > 1 or posted != 0)
        await lab.idle()
        check_books(self, lab, ended=[end])


@fault("lying carrier", "BYE late, BYE never, busy that was none, replayed and doubled messages", seconds=90)
async def lies(self):
    silent, late, fake, doubled, mute = (f"+4670000000{number}" for number in range(1, 6))

    def plan(invite):
        return {
            silent: Plan(answer=0.02, ignores_bye=True),
            late: Plan(answer=0.02, bye_after=8),
            fake: Plan(ring=0, answer=0.1, status=486),
            doubled: Plan(ring=0, answer=0.1, copies=3, bye_after=1.5),
            mute: Plan(answer=0.02, bye_after=8),
        }[invite.user]

    lab = Lab("lies", accounts=[Account("main", 100)], trunks=[Trunk("first")],
              calls={"media-set-up": "120s", "dead-media": "2s"})
    async with lab:
        carrier = await lab.carrier("first", sound=True, plan=plan)
        voices = {number: await lab.peer("landline_app.py") for number in (silent, late)}
        for number, voice in voices.items():
            await voice.registered(lab, user=f"voice-{number[1:]}")
            await voice.do("call", to=number)
        for voice in voices.values():
            await voice.event("got-established")
        await asyncio.sleep(1.5)
        # The carrier falls silent. One caller does as well, and BYE is lost in both directions (M8); the other hears
        # nothing until a BYE that comes long after (M9).
        carrier._rtp.close()
        carrier._rtp = None
        quiet = time.monotonic()
        voices[silent].process.kill()
        # Two calls without any sound: one is over before anybody misses it, the other is not.
        app = await lab.app("main")
        calls = {number: await app.call(number) for number in (fake, doubled, mute)}
        ends = {number: await call.ended(15) for number, call in calls.items()}
        ends[late] = {"type": "ended", **await voices[late].event("got-ended")}
        # Each last response is sent again as it was, after the call.
        replays = 0
        for leg in list(carrier.calls):
            if leg._last:
                for _ in range(3):
                    leg.reply(leg._last)
                    replays += 1

        async def none():
            return await lab.live_calls() == 0

        await until("the end of every call", none, 20)
        # The late BYE comes after all that, and is the last thing to come.
        legs = {leg.number: leg for leg in carrier.calls}
        await until("the late BYE", lambda: legs[late].bye_confirmed_at or legs[late].bye_at, 10)
        await lab.idle(40)
        booked = charges(lab.history())
        records = {entry["destination"]: entry for entry in lab.history() if entry["kind"] == "call"}
        beyond = records[silent]["duration_ms"] / 1000 - (quiet - legs[silent].answered_at)
        self.row("M8", beyond, "s billed beyond the last sound", "<= 2 (dead-media)", beyond <= 2.6,
                 f"{records[silent]['duration_ms']} ms billed, reason {records[silent]['reason']}", gate=True)
        problems = []
        # Nobody was called: it costs nothing.
        if ends[fake]["cost_micro"] != 0 or fake in records and records[fake]["amount_micro"] != 0:
            problems.append(f"a busy call costs {ends[fake]['cost_micro']}")
        # The one with the late BYE is billed to its last sound, the others to their BYE, whether they had sound or not.
        # When a sound ended is known to half a second.
        for number, over, slack in (
            (late, quiet, 0.85), (doubled, legs[doubled].bye_sent_at or legs[doubled].bye_at, 0.35),
            (mute, legs[mute].bye_sent_at or legs[mute].bye_at, 0.35),
        ):
            problem = duration_problem(ends[number], over - legs[number].acknowledged_at, slack)
            if problem:
                problems.append(f"{number}: {problem}")
            if ends[number]["cost_micro"] != cost(billed(ends[number]["duration_ms"])):
                problems.append(f"{number}: {ends[number]['cost_micro']} for {ends[number]['duration_ms']} ms")
        if any(count > 1 for _, count in booked.values()):
            problems.append("a call is charged twice")
        self.row("M9", len(problems), "wrong bills", "0", not problems,
                 f"late BYE, a call without sound, busy, {replays} replayed responses, each message three times "
                 f"{problems or ''}", gate=True)
        check_books(self, lab, ended=list(ends.values()))


@fault("denied ranges", "a new account calls ranges that are denied: no trunk hears of it", seconds=60)
async def denied(self):
    async with Lab("denied", accounts=[Account("main", 10)], trunks=[Trunk("first")]) as lab:
        carrier = await lab.carrier("first")
        lab.command("deny", "add", "46900", "--reason", "premium")
        lab.command("deny", "add", "4671", "--reason", "revenue-share")
        await lab.stop()
        await lab.start()
        app = await lab.app("main")
        answers = []
        for number in ("+46900123456", "+46710000001", "+882161234567", "+4915112345678"):
            call = await app.place(number)
            answers.append((number, (await call.told("error", "placed", "ended"))))
        passed = [number for number, message in answers if message["type"] != "error"]
        self.row("X1", len(passed) + len(carrier.calls), "calls to denied or unpriced ranges that were placed", "0",
                 not passed and not carrier.calls, f"{[failure(message) for _, message in answers]}", gate=True)
        require(lab.balance() == (10_000_000, 0), "nothing is charged or held")
        good = await app.call()
        await good.accepted()
        await good.hang_up()
        end = await good.ended()
        await lab.idle()
        check_books(self, lab, ended=[end])


@fault("burst to one prefix", "a stolen account calls number after number in one prefix, as fast as it can", seconds=60)
async def burst(self):
    cap, day = 3, 3_000_000
    lab = Lab("burst", trunks=[Trunk("first")], calls={"media-set-up": "120s"}, accounts=[
        Account("main", 1000, caps=["--concurrent", str(cap), "--per-day", "3"])])
    async with lab:
        most = 0

        def plan(invite):
            nonlocal most
            most = max(most, len([call for call in carrier.calls if call.bye_at is None]) + 1)
            return Plan(ring=0, answer=0.01)

        carrier = await lab.carrier("first", plan=plan)
        before, _ = lab.balance()
        apps = [await lab.app("main", user=f"user{number}") for number in range(8)]
        codes, ends = {}, []

        async def thief(index):
            """One call after the other, each to the next number of a range that pays who owns it."""
            for step in range(many(25, 250)):
                call = await apps[index].place(f"+4670{1000 * index + step:07}")
                first = await call.told("accepted", "ended", "error")
                if first["type"] == "accepted":
                    await asyncio.sleep(0.3)
                    await call.hang_up()
                    ends.append(await call.ended())
                else:
                    codes[failure(first)] = codes.get(failure(first), 0) + 1

        await asyncio.gather(*(thief(index) for index in range(len(apps))))
        lost = before - lab.balance()[0]
        self.row("X2", most, "calls at the trunk at a time", f"<= {cap} (the account's cap)", most <= cap,
                 f"{len(carrier.calls)} calls to numbers in order, refused {codes}", gate=True)
        self.row("X2", lost, "micro-units lost", f"<= {day} (the account's day)", 0 < lost <= day,
                 f"of {before}; {len(ends)} calls were charged", gate=True)
        # The owner hears of it, and locks the account: what is up ends.
        lab.command("account", "set-cap", "main", "--per-day", "none")
        up = [await apps[0].call() for _ in range(cap)]
        for call in up:
            await call.accepted()
        locked = time.monotonic()
        lab.command("account", "lock", "main")
        ends += [await call.ended() for call in up]
        took = max(call.first("ended")["at"] for call in up) - locked
        late = await apps[1].place()
        self.row("X2", took, "s until the calls of a locked account are over", "<= 1", took <= 1,
                 f"{len(up)} calls; a new one hears {failure(await late.told('error', 'placed', 'ended'))}", gate=took > 5)
        await lab.idle()
        check_books(self, lab, ended=ends)
