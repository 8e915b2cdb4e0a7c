"""Text that would be something else to a store, a shell or a log."""

import pathlib
import urllib.parse

import landline_app
from gateway_lab import CLIENT, SECRET, App, Lab, Trunk
from ground import *

TEXTS = [
    "'", "''", '"', "' OR '1'='1", "' OR 1=1 --", "'; DROP TABLE accounts; --", "main'--", "main' UNION SELECT * FROM accounts --",
    "1; ATTACH DATABASE '/tmp/evil' AS evil", "' || (SELECT name FROM sqlite_master) || '", "\\' OR 1=1 --", "%27%20OR%201=1", "main%00",
    "main\x00", "$(touch /tmp/evil)", "`touch /tmp/evil`", "; touch /tmp/evil", "| touch /tmp/evil", "&& touch /tmp/evil", "--help",
    "-v", "../../etc/passwd", "..%2f..%2fetc%2fpasswd", "/etc/passwd", "%s%s%s%n", "{}", "${jndi:ldap://127.0.0.1/a}", "{{7*7}}",
    "<script>alert(1)</script>", "=cmd|' /C calc'!A0", "@SUM(1+1)", "main\n{\"level\":\"critical\",\"message\":\"forged\"}",
    "main\r\nforged critical", "\x1b[2J\x1b[31mforged", "\u2028forged", "\u202eforged", "main\tforged", "a" * 5000, "é", "日本", "\x7f", "*", "%",
    "_", "[a-z]", "main;main", "main,main", "NULL", "null", "0", "-1", "1e999", "9" * 40,
]


async def attack(ground):
    """Class L, injection into the store, the shell and the log.
    Evidence: GHSA-ph27-3m5q-mj5m (SQL in CEL), coturn bfacd816, GHSA-4g7c-p5wg-j4hp, CVE-2021-1000004, GHSA-4pgv-j3mr-3rcp.
    Must hold: as names, keys, paths, queries, bodies, devices and fields they have 0 effects: no account more or less, books
    in order, no file; no page shows them as markup; one record of the log for each event, none of them forged."""
    effects, tried = [], 0
    evil = pathlib.Path("/tmp/evil")
    evil.unlink(missing_ok=True)
    for log_format in ("json", "text"):
        lab = Lab("b11", trunks=[Trunk("first")], log_level="trace")
        written = lab.configuration
        lab.configuration = lambda written=written, kind=log_format: written().replace("log:\n", f"log:\n  format: {kind}\n")
        async with lab:
            carrier = await hostile_carrier(lab, "first")
            carrier.plan = lambda invite: Plan(ring=None, answer=0, status=486, headers=[
                "Reason: Q.850;cause=17;text=\"'; DROP TABLE calls; --\"", "X-Order: forged\"}"])
            before = accounts(lab)
            texts = TEXTS if log_format == "json" else TEXTS[30:40]
            statuses = {}
            for text in texts:
                quoted = urllib.parse.quote(text, safe="")
                raw = "".join(each for each in text if each > " " and each.isascii() and each not in "\x7f")[:2000]
                for method, path, body, headers in [
                    ("GET", f"/v1/accounts/{quoted}", None, {}), ("GET", f"/v1/accounts/{raw}", None, {}),
                    ("GET", f"/v1/calls?account={quoted}&limit={quoted}&cursor={quoted}", None, {}),
                    ("GET", f"/v1/calls/{quoted}/story", None, {}), ("GET", f"/v1/accounts/main/history?from={quoted}", None, {}),
                    ("GET", f"/v1/rates?number={quoted}&account={quoted}", None, {}), ("GET", f"/errors/{quoted}", None, {}),
                    ("GET", f"/{raw}", None, {}),
                    ("POST", f"/v1/accounts/{quoted}/topups", {"amount": text, "key": text}, {"Idempotency-Key": raw or "a"}),
                    ("POST", "/v1/accounts/main/topups", {"amount": "x" + text, "key": text, text: text}, {"User-Agent": raw}),
                    ("POST", "/v1/accounts", {"name": "x'" + text, "currency": text}, {"X-Request-ID": raw}),
                    ("GET", "/v1/status", None, {"Authorization": f"Bearer {raw}", "Cookie": f"a={raw}", "X-Forwarded-For": raw}),
                ]:
                    tried += 1
                    try:
                        code, fields, said = await lab.http_request(method, path, body, headers=headers,
                                                                    bearer="Authorization" not in headers)
                    except (LabError, asyncio.IncompleteReadError, ConnectionError):
                        continue
                    statuses[code] = statuses.get(code, 0) + 1
                    if code >= 500:
                        effects.append(f"{code} for {method} {path[:80]}")
                    kind = fields.get("content-type", "")
                    if "html" in kind and "<script>alert" in said:
                        effects.append(f"markup at {path[:60]}")
                    if "root:x:" in said or "sqlite_master" in said and "SELECT" not in path:
                        effects.append(f"{path[:60]} shows what it should not")
                # An app's own fields.
                tried += 1
                app = App(lab, lab.account("main"), f"u{text}"[:40], text[:60] or "d")
                lab._apps.append(app)
                sequence = lab.next_sequence()
                try:
                    await app.connect()
                    await app.ask("register", 5, application=app.account.key, user=app.user, device=app.device,
                                  client=(CLIENT + text)[:60], capabilities=["calling", text[:20]],
                                  proof={"kind": "signature", "sequence": str(sequence), "signature": landline_app.signature(
                                      app.user, app.account.key, sequence, SECRET)})
                    await app.ask("call", 5, to={"kind": "phone", "number": NUMBER + text[:100]}, offer="v=0" + text[:1000])
                except (LabError, asyncio.TimeoutError, ConnectionError):
                    pass
                app.drop()
                if "\0" not in text and len(text) < 4000 and log_format == "json" and texts.index(text) % ground.size(5, 1) == 0:
                    for command in (["account", "show", text], ["history", "main", "--from", text]):
                        tried += 1
                        status, output, told = lab.run(*command)
                        if status == 0 and text not in ("--help", "-v", "0") or status in (1, 6, 7) or status < 0:
                            effects.append(f"landline {command[:2]} {text[:40]!r}: {status} {told[:80]}")
            app = await lab.app()
            call = await app.call()
            await call.ended()
            await lab.idle()
            if accounts(lab) != before:
                effects.append(f"accounts: {accounts(lab)}")
            if evil.exists():
                effects.append("a command was run")
            lines = lab.log_text().split("\n")[:-1]
            for line in lines:
                if log_format == "json":
                    try:
                        record = json.loads(line)
                        if record["level"] == "critical" or not {"time", "level", "message"} <= set(record):
                            effects.append(f"log: {line[:120]}")
                    except ValueError:
                        effects.append(f"log: no record: {line[:120]!r}")
                elif not re.match(r"\d{4}-\d\d-\d\dT[\d:.]+Z\s", line):
                    effects.append(f"log: no record: {line[:120]!r}")
                if any(ord(each) < 32 and each != "\t" or each in "\x7f\u2028\u2029\u0085" for each in line):
                    effects.append(f"log: a control character: {line[:120]!r}")
            detail = f"{tried} tries; answers {dict(sorted(statuses.items()))}" if log_format == "json" else detail
            detail += f"; {len(lines)} records of {log_format}"
    ground.none("B11", effects, "effects", detail)


def accounts(lab):
    # Without the place in the books: the holds of calls go on in them.
    rows = json.loads(lab.command("account", "list", "--json"))["accounts"]
    return json.dumps(rows, sort_keys=True)
