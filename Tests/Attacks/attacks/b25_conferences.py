"""Somebody in a conference who has the gateway shout, and somebody who listens from elsewhere."""

from gateway_lab import Account, Lab, failure
from ground import *

# Apps in the conference, requests of the one that storms, and seconds that they are spread over.
APPS, STORM, SECONDS = 20, 3000, 5
# Messages a second of each kind that an app is told of its conference.
NEWS = 4
ROOM = "weekly"


async def attack(ground):
    """Class B, one participant's requests multiplied by all others, and rooms of others.
    Evidence: join and mute storms of conference bridges (FreeSWITCH mod_conference events, Jitsi's presence storms of 2020), and
    meetings entered by a guessed id (Zoom, 2020).
    Must hold: however often somebody mutes itself and asks who is there, each other app is told at most four times a second,
    nobody's call ends and calls are still answered; the same id in another application is another conference, whose app is told
    of nobody else; what is no call of a conference, or not one's own, cannot be followed."""
    calls = {"per-session": "100", "media-set-up": "120s"}
    async with Lab("b25", accounts=[Account("main", 10), Account("other", 10)], calls=calls) as lab:
        async def member(account, user):
            app = await lab.app(account, user=user, features=["rooms.1"])
            call = await app.call(ROOM, kind="conference")
            await call.accepted()
            return call
        members = [await member("main", f"user{number}") for number in range(APPS)]
        mallory = await member("other", "mallory")
        await until("everybody knows of everybody", lambda: all(one.first("members") for one in members), 10)
        storming, others = members[0], members[1:]
        before = [len(one.messages) for one in others]
        began = time.monotonic()
        for number in range(STORM):
            if number % 3:
                await storming.app.tell("mute", call=storming.id, muted=bool(number & 1))
            else:
                await storming.app.tell("room", call=storming.id, watch="speakers")
            if number % 50 == 0:
                await until("its turn", lambda: time.monotonic() >= began + SECONDS * number / STORM, 10)
        late = await lab.app("main", user="late")
        call = await late.call(ROOM, kind="conference")
        accepted = await call.accepted(20)
        took = time.monotonic() - began
        told = max(sum(message["type"] == "members" for message in one.messages[count:])
                   for one, count in zip(others, before))
        most = NEWS * took + 2
        ended = sum(one.first("ended", "gone") is not None for one in members)
        ground.promise("B25", max(0, round(told - most)), "messages beyond four a second", "= 0",
                       told <= most and told > 0,
                       f"{STORM} requests in {took:.1f} s, at most {told} messages of who is there to each of {APPS - 1} others")
        ground.promise("B25", ended, "calls ended by the storm", "= 0", ended == 0 and accepted["type"] == "accepted", "")
        heard = [one["from"]["value"] for message in mallory.messages if message["type"] == "members"
                 for one in message["members"]]
        ground.promise("B25", len(set(heard) - {"mallory"}), "members of another application's conference that were told",
                       "= 0", set(heard) == {"mallory"}, f"{heard[:5]}")
        answers = [await mallory.app.ask("room", call=one) for one in (storming.id, "no-such-call", "")]
        refused = [answer for answer in answers if answer["type"] == "error"]
        ground.promise("B25", len(answers) - len(refused), "calls of others that could be followed", "= 0",
                       len(refused) == len(answers), f"{[failure(answer) for answer in answers]}")
        for one in [*members, mallory, call]:
            await one.hang_up()
        await lab.idle(40)
