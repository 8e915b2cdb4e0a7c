"""A session whose token somebody else has as well."""

import contextlib

from gateway_lab import App, Lab, Trunk, failure
from ground import *


async def attack(ground):
    """Class X, a stolen token used from a second place.
    Evidence: toll fraud with sessions taken from logs and backups; threat model, velocity by user and device.
    Must hold: who resumes a stolen session has that session and no second one: its owner is told and can take it back, its
    calls stay within the limit of one session, and a token that was used is worth nothing."""
    limit, rounds = 4, ground.size(10, 200)
    async with Lab("x03", trunks=[Trunk("first")], calls={"per-session": str(limit), "media-set-up": "120s"}) as lab:
        carrier = await hostile_carrier(lab, "first")
        owner = await lab.app("main", user="owner")
        most, accepted, told, codes = 0, [], 0, {}
        spent = []

        def at_once():
            return len([call for call in carrier.calls if call.bye_at is None and call.bye_sent_at is None])

        async def asks(app, count):
            """As many calls as there are to be had; those that came up."""
            nonlocal most
            calls = [await app.place() for _ in range(count)]
            up = []
            for call in calls:
                first = await call.told("accepted", "ended", "error", "gone")
                if first["type"] == "accepted":
                    up.append(call)
                else:
                    codes[failure(first) or first["type"]] = codes.get(failure(first) or first["type"], 0) + 1
            most = max(most, at_once())
            return up

        def stolen_from(app):
            copy = App(lab, app.account, app.user, "elsewhere")
            lab._apps.append(copy)
            copy.session, copy.token, copy.last_event, copy._number = app.session, app.token, app.last_event, app._number
            return copy

        for _ in range(rounds):
            up = await asks(owner, limit - 1)
            thief = stolen_from(owner)
            await thief.connect()
            await thief.resume()
            spent.append((thief.session, owner.token))
            await asyncio.wait_for(owner.closed.wait(), 5)
            told += owner.close_code is not None
            # The owner's calls count against the thief's.
            stolen = await asks(thief, limit + 2)
            if len(up) + len(stolen) > limit:
                accepted.append(f"{len(up)} calls and {len(stolen)} more")
            # Both were used since: the one that was stolen and the one before it.
            for session, token in spent[-2:-1]:
                again = stolen_from(thief)
                again.session, again.token = session, token
                await again.connect()
                with contextlib.suppress(LabError, asyncio.TimeoutError):
                    await again.resume(3)
                    accepted.append("a token that was used before")
                again.drop()
            for call in stolen:
                await call.hang_up()
                await call.ended()
            # The owner's registration is one of its own; what is left of the stolen session ends with its calls.
            for call in carrier.calls:
                if call.is_up:
                    call.hang_up()
            await until("the end of the calls", lambda: not carrier.up)
            thief.drop()
            owner = await lab.app("main", user="owner")
        ground.promise("X3", max(0, most - limit), "calls over the user's limit", "0", most <= limit and not accepted,
                       f"{rounds} sessions stolen, at most {most} calls of {limit} at a time; refused {codes}"
                       + (f"; {accepted[:3]}" if accepted else ""))
        ground.promise("X3", rounds - told, "owners who were not told", "0", told == rounds)
        await lab.idle(40)
