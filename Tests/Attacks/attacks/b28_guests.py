"""Somebody who comes in to calls of others, has them recorded, and has one key pressed for everybody."""

from gateway_lab import CALLER, Account, Trunk, failure
from ground import *

# Guests that are asked for at once, and those that one call may have.
ASKED, GUESTS = 20, 8
# Wishes to record that one app has, and keys that it presses in a conference.
WISHES, KEYS = 1000, 640
# Keys that a conference passes on within a second.
PASSED = 10
APPS = 8


class RecordingLab(OwnedLab):
    """Apps of one application may have their calls recorded."""

    def configuration(self):
        own = f"        account: main\n        caller-numbers: [\"{CALLER}\"]"
        text = super().configuration()
        require(own in text, "the application's entry")
        return text.replace(own, f"{own}\n        apps-record: opus\n        apps-record-announced: false")


async def attack(ground):
    """Class B, others in a call, and what one word of an app does to many.
    Evidence: eavesdropping through features for supervisors (Asterisk ChanSpy behind a guessed extension), conferences that are
    entered by a name that the program makes itself, and recordings begun without a right.
    Must hold: nobody comes in to a call of another account, nor by the name of the place where guests meet; a call has at most
    eight guests, and none stays after it; an app records only where its application may, and nobody else's call; a storm of
    wishes or keys ends no call, and is not multiplied."""
    calls = {"per-session": "100", "media-set-up": "120s"}
    accounts = [Account("main", 50), Account("other", 10)]
    async with RecordingLab("b28", accounts=accounts, trunks=[Trunk("first")], calls=calls) as lab:
        await lab.carrier("first")
        app, mallory = await lab.app("main"), await lab.app("other", user="mallory")
        call = await app.call()
        await call.accepted()
        path = f"/v1/live-calls/{call.id}/participants"

        async def add(number, account=None):
            proof = {"Authorization": f"Bearer {lab.key(account)}"} if account else {}
            fields = {"Idempotency-Key": f"{time.monotonic_ns()}", **proof}
            status, _, text = await lab.http_request(
                "POST", path, {"kind": "phone", "target": number}, fields, bearer=account is None, seconds=30)
            return status, text

        # Ears of others.
        odd = []
        for account in ("other", "nobody"):
            status, _ = await add("+46701234599", account)
            odd += [] if status in (401, 403, 404) else [f"{account}: {status}"]
        for place in (f"call {call.id}", f"call%20{call.id}", call.id):
            found = await mallory.place(place, kind="conference")
            first = await found.next(10)
            # The call's id is a conference's like any other: nobody is in it.
            if place == call.id and first["type"] == "placed":
                await found.accepted()
                members = found.first("members")
                odd += [f"{place}: {members}"] if members and len(members["members"]) > 1 else []
                await found.hang_up()
            elif first["type"] == "placed" and " " in place:
                odd.append(f"{place}: {first}")
        answers = [await mallory.ask("record", call=one, state="on") for one in (call.id, "no-such-call", "")]
        odd += [f"record: {answer}" for answer in answers if answer["type"] != "error"]
        own = await mallory.call()
        await own.accepted()
        answer = await mallory.ask("record", call=own.id, state="on")
        odd += [] if failure(answer) == "gw.recording" else [f"an application that may not: {answer}"]
        await own.hang_up()
        ground.none("B28", odd, "calls that somebody else came in to or had recorded")

        # Guests without an end.
        answers = await asyncio.gather(*(add(f"+467012346{number:02}") for number in range(ASKED)))
        taken = sum(status == 201 for status, _ in answers)
        odd = [answer for answer in answers if answer[0] not in (201, 409, 503)]
        ground.promise("B28", taken, "guests of one call", f"= {GUESTS}", taken == GUESTS and not odd,
                       f"{ASKED} asked for at once; {odd[:2]}")

        # Wishes without an end, by the call's own app.
        began = time.monotonic()
        for number in range(WISHES):
            await app.tell("record", call=call.id, state=("on", "paused", "on", "off")[number % 4])
        answer = await app.ask("record", call=call.id, state="off", seconds=60)
        ground.promise("B28", int(call.first("ended", "gone") is not None), "calls ended by wishes to record", "= 0",
                       answer["type"] == "done" and call.first("ended", "gone") is None,
                       f"{WISHES} in {time.monotonic() - began:.1f} s")
        await call.hang_up()
        await call.ended()
        await lab.idle(40)

        # One app's keys, in a conference that passes them on.
        members = []
        for number in range(APPS):
            member = await lab.app("main", user=f"user{number}", features=["rooms.1"])
            members.append(await member.call("weekly", kind="conference"))
            await members[-1].accepted()
        status, _, text = await lab.http_request("PATCH", "/v1/conferences/weekly?application=main", {"keys": "forward"})
        require(status == 200, f"keys are passed on: {status} {text[:200]}")
        began = time.monotonic()
        for _ in range(KEYS // 64):
            await members[0].app.tell("dtmf", call=members[0].id, digits="1234567890*#ABCD" * 4)
        await members[0].app.ask("room", call=members[0].id, watch="none", seconds=30)
        await members[-1].app.ask("room", call=members[-1].id, watch="none", seconds=30)
        took = time.monotonic() - began
        told = [sum(message["type"] == "digit" for message in member.messages) for member in members]
        most = PASSED * (int(took) + 2)
        ground.promise("B28", max(0, max(told) - most), "keys passed on beyond ten a second", "= 0",
                       0 < max(told[1:]) <= most and told[0] == 0, f"{KEYS} keys in {took:.1f} s, told {told}")
        for member in members:
            await member.hang_up()
        await lab.idle(40)
