"""What an app can bring onto the wire towards a trunk."""

import contextlib

from gateway_lab import CALLER, Lab, Trunk
from ground import *

INJECTIONS = ["\r\nX-Evil: 1", "\nX-Evil: 1", "\rX-Evil: 1", "\r\n\r\nINVITE sip:evil SIP/2.0", "\r\n folded", "\n\tfolded",
              "\x00", "a\x00b", "\x0b", "\x0c", "\x1b[31m", "\x7f", "\x85X-Evil: 1", "\u2028X-Evil: 1", "%0d%0aX-Evil: 1",
              "%0D%0A%20", "%00", "\\r\\nX-Evil: 1", "a;tag=evil", "<sip:evil@evil>", '"', '" <sip:evil@evil>;x="', "a,b",
              "a>;lr", "?X-Evil=1", "a?Route=%3Csip:evil%3E", "@evil.example", "evil@evil.example", " ", "\t", "é", "日本",
              "😀", "a" * 900, ";maddr=127.0.0.9", ":pass", "a:b", "*", "&X-Evil=1"]
NAMES = ["X-Evil", "x-a b", "x-a:", "x-a ", " x-a", "x-a\t", "x-a\r\nX-Evil", "x-\x00", "x-", "x-é", "x-landline-account",
         "x-sinch-internal", "via", "Via", "route", "Record-Route", "contact", "Authorization", "P-Asserted-Identity",
         "p-asserted-identity", "Privacy", "content-length", "Content-Type", "from", "f", "i", "m", "l", "to",
         "proxy-authorization", "x-" + "a" * 70, "X-A\u0000", "x_a", "diversion", "history-info", "remote-party-id",
         "identity", "x-real-ip", "subject", "user-agent", "max-forwards", "cseq"]
# What an INVITE of the gateway may hold; anything else is somebody's that got through.
ALLOWED = {"via", "from", "to", "call-id", "cseq", "contact", "max-forwards", "allow", "supported", "content-type",
           "content-length", "user-agent", "session-expires", "min-se", "p-asserted-identity", "accept", "privacy",
           "x-order"}


async def attack(ground):
    """Class I, header injection and smuggling from the app's side.
    Evidence: CVE-2020-28361, CVE-2016-9938, GHSA-chcx-pf5f-wxc7 (CR LF), FreeSWITCH fbac12b451, GHSA-2grh-7mhv-fcfw.
    Must hold: whatever stands in headers, numbers, users, callers and addresses: each INVITE at a raw trunk has exactly the
    header fields that the gateway writes, each of them once and on a line of its own, and the values that were allowed."""
    async with Lab("b09", trunks=[Trunk("first")]) as lab:
        carrier = await hostile_carrier(lab, "first")
        carrier.plan = lambda invite: Plan(ring=None, answer=0, status=486)
        app = await lab.app()
        tried, bad, refused = 0, [], 0

        async def call(what, to=NUMBER, kind="phone", by=app, **members):
            nonlocal tried, refused
            tried += 1
            before = len(carrier.raw)
            made = await by.place(to, kind, **members)
            end = await made.ended()
            refused += end["type"] == "error"
            for data, message in carrier.raw[before:]:
                bad.extend(f"{what}: {each}" for each in strange(data, message, members.get("headers", {})))

        for value in INJECTIONS:
            await call(f"value {value!r}", headers={"x-order": value})
            await call(f"number {value!r}", NUMBER + value)
            await call(f"number {value!r}", value)
            await call(f"address {value!r}", f"a{value}@127.0.0.1", "sip")
            await call(f"domain {value!r}", f"alice@127.0.0.1{value}", "sip")
            await call(f"caller {value!r}", **{"from": CALLER + value})
            with contextlib.suppress(LabError):
                user = await lab.app("main", user=f"u{value}")
                await call(f"user {value!r}", by=user)
                user.drop()
        for name in NAMES:
            await call(f"name {name!r}", headers={name: "evil", "x-order": "1"})
        for byte in range(256) if ground.is_full else range(0, 33):
            for text in (chr(byte), f"a{chr(byte)}b"):
                await call(f"value {text!r}", headers={"x-order": text})
                await call(f"name {text!r}", headers={"x-a" + text: "1"})
        await call("many", headers={f"x-{number}": "1" for number in range(40)})
        await call("more than fits", headers={f"x-{number}": "a" * 1000 for number in range(20)})
        # The other way: a trunk's headers reach the app as values, never as messages.
        carrier.plan = lambda invite: Plan(ring=None, answer=0, status=486, headers=[
            'X-Order: "},{"type":"registered"}', "X-Folded: a\r\n b", "X-Evil : 1", "X-Empty:", "x-landline: 1"])
        answered = await app.call()
        end = await answered.ended()
        require(end["type"] == "ended", f"the app hears the end: {end}")
        if any(name != name.lower() or not name.startswith("x-") or "\r" in value or "\n" in value
               for name, value in end.get("headers", {}).items()):
            bad.append(f"headers for the app: {end['headers']}")
        invites = len(carrier.requests("INVITE"))
        require(invites > 20, f"harmless ones get through: {invites}")
        ground.none("B9", bad, "fields or bytes that do not belong there",
                    f"{tried} calls, {invites} INVITEs at the trunk, {refused} refused before")
        await lab.idle()


def strange(data, message, headers):
    """What should not stand in an INVITE or ACK."""
    if message.method not in ("INVITE", "ACK", "CANCEL"):
        return [] if message.method is None else [f"a {message.method}"]
    head = data.partition(b"\r\n\r\n")[0]
    found = []
    if b"\n" in head.replace(b"\r\n", b"") or b"\r" in head.replace(b"\r\n", b"") or b"\0" in head:
        found.append("a bare CR, LF or NUL")
    if any(line[:1] in (b" ", b"\t") for line in head.split(b"\r\n")):
        found.append("a folded line")
    if any(byte < 32 and byte not in (9, 13, 10) for byte in head):
        found.append("a control character")
    names = [name for name, _ in message.fields]
    own = {name.lower() for name in headers if name.lower().startswith("x-")}
    found += [f"field {name}" for name in names if name not in ALLOWED and name not in own]
    found += [f"{name} stands {names.count(name)} times" for name in set(names) if names.count(name) > 1]
    sent = {name.lower(): value for name, value in headers.items()}
    for name, value in message.fields:
        if name.startswith("x-") and sent.get(name, "").strip() != value:
            found.append(f"{name} is {value!r}")
    if not re.fullmatch(rb"(INVITE|ACK|CANCEL) sips?:[!-;=?-~]+ SIP/2\.0", head.split(b"\r\n")[0]):
        found.append(f"start line {head.splitlines()[0]!r}")
    for name in ("from", "to", "contact", "p-asserted-identity"):
        value = message.one(name)
        if value and (value.count("<") != 1 or "evil" in value.partition("<")[2].partition("@")[2] or "maddr" in value):
            found.append(f"{name}: {value}")
    if message.method == "INVITE":
        identity = message.one("p-asserted-identity")
        if identity and CALLER not in identity:
            found.append(f"identity {identity}")
        if int(message.one("content-length") or 0) != len(message.body):
            found.append("a length that is not the body's")
    return found
