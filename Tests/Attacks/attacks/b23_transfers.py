"""A phone behind a trunk that transfers calls to where it gains by it."""

import json

from gateway_lab import DECK, MICRO, Account, Lab, Trunk
from ground import *

ABROAD = "+4740612345"
HOME = "+46701234567"
# Of one call, as the engine allows it.
TRANSFERS = 8


async def attack(ground):
    """Class B, toll fraud by transfers.
    Evidence: REFER as a way around dial plans (Asterisk AST-2020-002 and its advice on `allow_transfer`; GSMA on call-forwarding
    fraud): whoever answers a call has it go on to a dear number, at the cost of the account that placed it.
    Must hold: a trunk without `transfers` has 603, and nothing is dialled; with it, a country that the account does not call is
    not dialled either, and the call goes on; no call is transferred more often than eight times; each leg has a hold; a REFER
    that names a call of another account by its tags joins nothing."""
    norway = DECK + "47,Norway,0.60,0,1,1\n"
    trunks = [Trunk("first", lines=["transfers: true"])]
    async with Lab("b23", trunks=trunks, accounts=[Account("main", 100), Account("other", 100)], deck=norway,
                   calls={"per-session": "100", "media-set-up": "120s"}, countries=None, wide=True) as lab:
        for name in ("main", "other"):
            lab.command("account", "set-cap", name, "--countries", "46")
        first = await hostile_carrier(lab, "first")
        app, other = await lab.app("main", user="alice"), await lab.app("other", user="mallory")
        call = await app.call(HOME)
        await call.accepted()
        foreign = await other.call(HOME)
        await foreign.accepted()
        leg, stranger = first.calls[0], first.calls[1]
        number = 100

        async def refer(target, on=leg, fields=()):
            """Asks for a transfer in a call. -> the response's status, and the last status that NOTIFY told, if any"""
            nonlocal number
            number += 1
            answers, told = len(first.raw), number
            first._socket.sendto(
                in_dialog("REFER", on, told, port=first.port, fields=[f"Refer-To: {target}", *fields]),
                ("127.0.0.1", lab.sip_port))

            def response():
                return next((message.status for _, message in first.raw[answers:]
                             if message.method is None and message.one("cseq").endswith("REFER")), None)

            def final():
                states = [data for data, message in first.raw[answers:] if message.method == "NOTIFY"]
                return next((int(data.rsplit(b"SIP/2.0 ", 1)[1][:3]) for data in states if b"terminated" in data), None)
            await until("the answer to REFER", lambda: response() is not None)
            if response() == 202:
                await until("the last NOTIFY", lambda: final() is not None, 20)
            return response(), final()

        dialled = [call.number for call in first.calls]
        told = await refer(f"<sip:{ABROAD}@127.0.0.1>")
        abroad = [one.number for one in first.calls if one.number.endswith(ABROAD[1:])]
        ground.promise("B23", len(abroad), "INVITEs to a country that the account does not call", "0",
                       not abroad and told[0] == 202 and (told[1] or 0) >= 400, f"REFER got {told}, dialled {dialled}")
        ids = re.search(r";tag=([^;>]+)", stranger.invite.one("from")).group(1), stranger.tag
        replaces = f"{stranger.id}%3Bto-tag%3D{ids[0]}%3Bfrom-tag%3D{ids[1]}"
        told = await refer(f"<sip:anybody@127.0.0.1?Replaces={replaces}>")
        joined = foreign.first("ended") or call.first("ended")
        ground.promise("B23", int(bool(joined)), "calls of another account that were joined", "0",
                       not joined and told[0] in (403, 481, 603), f"REFER with Replaces got {told}")
        carried, latest = 0, leg
        while carried < 2 * TRANSFERS:
            before = len(first.calls)
            told = await refer(f"<sip:{HOME}@127.0.0.1>", latest)
            if told[1] != 200:
                break
            carried, latest = carried + 1, first.calls[before]
        ground.promise("B23", carried, "transfers of one call", f"<= {TRANSFERS}", carried == TRANSFERS, f"then {told}")
        holds = [row for row in lab.holds() if row.get("account") in (None, "main")]
        ground.promise("B23", len(holds), "holds for the legs that were dialled", f">= {carried + 1}",
                       len(holds) >= carried + 1, "")
        for one in (call, foreign):
            await one.hang_up()
        await until("all calls are over", lambda: not first.up, 10)
        await lab.idle(40)

    async with Lab("b23-not", trunks=[Trunk("first")]) as lab:
        first = await hostile_carrier(lab, "first")
        app = await lab.app()
        call = await app.call(HOME)
        await call.accepted()
        leg = first.calls[0]
        first._socket.sendto(
            in_dialog("REFER", leg, 100, port=first.port, fields=[f"Refer-To: <sip:{HOME}@127.0.0.1>"]),
            ("127.0.0.1", lab.sip_port))

        def answers():
            return [message.status for _, message in first.raw if message.method is None
                    and message.one("cseq").endswith("REFER")]
        await until("the answer to REFER", lambda: answers() or None)
        may = "REFER" in leg.invite.one("allow")
        ground.promise("B23", len(first.calls) - 1, "INVITEs for a trunk that may not transfer", "0",
                       len(first.calls) == 1 and answers()[0] == 603 and not may, f"{answers()}, Allow names REFER: {may}")
        await call.hang_up()
        await call.ended()
        await lab.idle(40)
