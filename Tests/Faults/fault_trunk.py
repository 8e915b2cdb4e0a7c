"""Carriers that are gone, refuse, come and go, or lie; apps that cannot be reached."""

import asyncio
import time

from fault import Load, charges, check_books, fault, many, middle
from gateway_lab import NUMBER, Account, Lab, Trunk, failure, require, until
from sip_carrier import Plan

MAIN = [Account("main", 1000)]


def two(name, transport="udp", first=(), second=()):
    return Lab(name, accounts=MAIN, calls={"media-set-up": "120s"}, trunks=[
        Trunk("first", transport=transport, priority=10, lines=first), Trunk("second", priority=20, lines=second)])


async def timed(app, second):
    """A call and how long it took from the request until the second carrier heard of it; the call is ended."""
    before = len(second.calls)
    call = await app.call()
    await call.accepted()
    require(len(second.calls) == before + 1, "one leg at the second carrier")
    delay = second.calls[before].invited_at - call.asked_at
    await call.hang_up()
    return delay, await call.ended()


@fault("black hole", "a trunk takes every packet and says nothing", alone=True)
async def black_hole(self):
    async with two("hole") as lab:
        first, second = await lab.carrier("first"), await lab.carrier("second")
        first.is_dead = True
        app = await lab.app("main")
        delay, end = await timed(app, second)
        later, ended = [], [end]
        for _ in range(many(9, 50)):
            delay_again, end = await timed(app, second)
            later.append(delay_again)
            ended.append(end)
        self.row("D5", delay, "s until the next trunk, first call", "<= 2.0", delay <= 2.0)
        self.row("D5", 1000 * middle(later), "ms until the next trunk, later calls (median)", "<= 50",
                 middle(later) <= 0.05, f"{len(later)} calls, at most {1000 * max(later):.0f} ms")
        await lab.idle()
        check_books(self, lab, ended=ended)


@fault("refusing trunk", "a trunk says 503 or 408, breaks the connection, or nothing listens there", alone=True)
async def refusing(self):
    slowest, ended = 0.0, []
    for name, transport, plan, settings in [
        ("503", "udp", Plan(ring=None, answer=0, status=503), {}),
        ("408", "udp", Plan(ring=None, answer=0, status=408), {}),
        ("reset", "tcp", None, {"resets": True}),
        ("closed", "tcp", None, None),
    ]:
        async with two("refusing", transport) as lab:
            if settings is not None:
                first = await lab.carrier("first", plan=lambda invite: plan, transport=transport, **settings)
            second = await lab.carrier("second")
            app = await lab.app("main")
            times, ends = [], []
            for _ in range(many(5, 20)):
                delay, end = await timed(app, second)
                times.append(delay)
                ends.append(end)
            ended += ends
            slowest = max(slowest, middle(times))
            rung = sum(1 for call in second.calls if call.rung_at)
            self.row("D6", 1000 * middle(times), "ms until the next trunk (median)", "<= 250", middle(times) <= 0.25,
                     f"{name}: {len(times)} calls, at most {1000 * max(times):.0f} ms")
            double = [count for _, count in charges(lab.history()).values() if count > 1]
            self.row("D6", rung - len(times) + len(double), "double rings and charges", "0",
                     rung == len(times) and not double, name, gate=True)
            await lab.idle()
            check_books(self, lab, ended=ends)


@fault("rings then fails", "a trunk rings and then says 503: nobody rings twice")
async def rings_then_fails(self):
    async with two("rings") as lab:
        await lab.carrier("first", plan=lambda invite: Plan(ring=0, answer=0.2, status=486))
        second = await lab.carrier("second")
        app = await lab.app("main")
        calls = [await app.call() for _ in range(5)]
        ends = [await call.ended() for call in calls]
        self.row("D6", len(second.calls), "second rings after a busy", "0", not second.calls,
                 f"{[failure(end) for end in ends][:1]}", gate=True)
        require(all(end["cost_micro"] == 0 for end in ends), f"nothing is charged: {ends}")
        await lab.idle()


@fault("flapping trunk", "a trunk comes and goes every second, then comes back for good", seconds=120)
async def flapping(self):
    async with two("flapping", first=["ping: 1s"], second=["ping: 1s"]) as lab:
        first, second = await lab.carrier("first"), await lab.carrier("second")
        apps = [await lab.app("main", user=f"user{number}") for number in range(2)]
        async with Load(apps, every=0.15, hold=0.1) as load:
            for number in range(many(8, 40)):
                first.is_dead = number % 2 == 0
                await asyncio.sleep(1.0)
            first.is_dead = True
            await asyncio.sleep(3)
            first.is_dead = False
            back = time.monotonic()
            seen = len(first.calls)
            await until("calls at the trunk that is back",
                        lambda: [call for call in first.calls[seen:] if call.answered_at], 40)
            took = time.monotonic() - back
            await load.stop(40)
        self.row("D7", took, "s until a trunk that is back has calls", "<= 15", took <= 15,
                 f"OPTIONS each second; {len(first.calls)} calls at the first, {len(second.calls)} at the second")
        self.row("D7", load.refused, "calls that failed while a trunk flapped", "0", load.refused == 0,
                 f"{load.answered} answered {load.codes or ''}", gate=False)
        await lab.idle(40)
        stray = [call for call in first.calls + second.calls if call.is_up]
        require(not stray, f"no leg is left: {[(call.carrier.name, call.invites, call.acks) for call in stray]}")
        check_books(self, lab, ended=load.ended)


@fault("split", "the app is gone and the carrier is not; the carrier is gone and the app is not", seconds=100)
async def split(self):
    lab = Lab("split", accounts=MAIN, trunks=[Trunk("first")],
              calls={"media-set-up": "120s", "dead-media": "5s"})
    async with lab:
        carrier = await lab.carrier("first", sound=True)
        app = await lab.app("main")
        calls = [await app.call() for _ in range(6)]
        for call in calls:
            await call.accepted()
        app.drop()
        start = time.monotonic()
        voice = await lab.peer("landline_app.py")
        await voice.registered(lab, user="bob")
        await voice.do("call", to=NUMBER)
        await voice.event("got-established")
        await asyncio.sleep(1)
        # No sound and no SIP any more.
        carrier.is_dead = True
        carrier._rtp.close()
        carrier._rtp = None
        silent = time.monotonic()
        await voice.event("got-ended", seconds=30)
        dead = time.monotonic() - silent
        carrier.is_dead = False

        async def none():
            return await lab.live_calls() == 0

        await until("the end of the calls of an app that is gone", none, 45)
        took = time.monotonic() - start
        self.row("D15", took, "s until the calls of an app that is gone are over", "<= 35", took <= 35,
                 f"{len(calls)} calls; one whose carrier fell silent was over after {dead:.1f} s (dead-media 5 s)")
        await until("every leg's BYE", lambda: not [call for call in carrier.up if call.acknowledged_at], 5)
        await lab.idle(40)
        check_books(self, lab)
