"""A stolen application key that dials abroad as fast as it can."""

import json

from gateway_lab import DECK, MICRO, Account, Lab, Trunk, failure
from ground import *

ABROAD = "+4740612345"
RULE = "{of: account, to: foreign, calls: 40, spend: 5, then: lock}"
SPEND = 5 * MICRO


async def attack(ground):
    """Class B, toll fraud with an application's key.
    Evidence: GSMA and CFCA on international revenue share fraud; FreshCaller and Twilio on stolen keys.
    Must hold: a country that the account never called is refused with the words that allow it; where it is allowed, the
    account is locked when the rule of an hour is reached, with its reason, its calls end, and what was spent abroad is no
    more than the rule says; unlocked, it calls again."""
    norway = DECK + "47,Norway,0.60,0,1,1\n"
    calls = {"per-session": "1000", "media-set-up": "120s"}
    async with Lab("b20", trunks=[Trunk("first")], accounts=[Account("main", 1000)], deck=norway, calls=calls,
                   countries=None, velocity=[RULE]) as lab:
        carrier = await hostile_carrier(lab, "first")
        apps = [await lab.app("main", user=f"user{number}") for number in range(4)]
        refused = await (await apps[0].place(ABROAD)).ended()
        words = json.dumps(refused)
        told = failure(refused) == "gw.policy" and "set-cap main --countries 46,47" in words
        ground.promise("B20", len(carrier.calls), "INVITEs to a country that nobody allowed", "0",
                       not carrier.calls and told, words[:200])
        lab.command("account", "set-cap", "main", "--countries", "46,47")
        home = await apps[0].call()
        await home.accepted()
        tries = ground.size(200, 5_000)
        # The payer's rules are known for a second.
        async def is_allowed():
            call = await apps[0].place(ABROAD)
            first = await call.told("accepted", "ended", "error")
            if first["type"] == "accepted":
                await call.hang_up()
            return first["type"] == "accepted"
        await until("the country is allowed", is_allowed, 10, every=0.2)
        placed = []
        begin = time.monotonic()
        for number in range(tries):
            placed.append(await apps[number % len(apps)].place(ABROAD))
        codes = {}
        for call in placed:
            first = await call.told("accepted", "ended", "error", "gone", seconds=30)
            code = "accepted" if first["type"] == "accepted" else failure(first)
            codes[code] = codes.get(code, 0) + 1
        locked = None
        async def is_locked():
            nonlocal locked
            locked = json.loads((await lab.http_request("GET", "/v1/accounts/main"))[2])
            return locked["status"] == "locked"
        await until("the account is locked", is_locked, 10)
        await until("all calls are over", lambda: not carrier.up, 10)
        seconds = time.monotonic() - begin
        end = await home.ended()
        await lab.idle(40)
        # An answered call that ends within its first millisecond costs nothing, so what proves the row is that there were holds.
        abroad = [row for row in lab.holds() if str(row.get("destination", "")).startswith("+47")]
        spent = sum(map(row_cost, abroad))
        ground.promise("B20", spent / MICRO, "spent abroad", f"<= {SPEND / MICRO:.0f}", bool(abroad) and spent <= SPEND,
                       f"{len(abroad)} holds of {tries} calls in {seconds:.1f} s: {codes}")
        shown = json.dumps(json.loads(lab.command("account", "show", "main", "--json")))
        reason = "account to foreign numbers: 40 calls or a spend of 5.00 in an hour"
        held = locked.get("lock_reason") == reason and reason in shown and failure(end) == "gw.policy"
        ground.promise("B20", int(not held), "locks without their reason, or calls that went on", "0", held,
                       f"{locked.get('lock_reason')}; the call at home ended with {failure(end)}")
        reached = await lab.metric("landline_velocity_reached_total")
        ground.promise("B20", reached, "rules reached, as the metrics count them", "1", reached == 1)
        lab.command("account", "unlock", "main")

        async def calls_again():
            call = await apps[1].place()
            return (await call.told("accepted", "ended", "error"))["type"] == "accepted"
        await until("the account calls again", calls_again, 10, every=0.2)


def row_cost(row):
    return round(float(row.get("cost") or 0) * MICRO)
