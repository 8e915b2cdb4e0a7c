"""Somebody who wants to hear what others said, and somebody who has the gateway write and read without an end."""

import json

from gateway_lab import Account, Trunk
from ground import *

# Starts and ends of one recording, and ranges of its sound that are asked for.
STORM, RANGES = 100, 500


async def attack(ground):
    """Class B, recordings as a way to listen in, and to fill disks and descriptors.
    Evidence: recordings that a guessed or counted id handed to anybody (Zoom's cloud recordings found by their names, 2020),
    millions of calls in a folder without a lock (Medicall, 2019), and range requests without a bound (Apache httpd,
    CVE-2011-3192).
    Must hold: whoever is not the account's owner or an operator learns of no recording, neither that there is one; nothing of
    what was said stands on the disk in the clear; starts, ends and ranges in storms leave no file and no descriptor open,
    and the call goes on."""
    calls = {"per-session": "100", "media-set-up": "120s"}
    accounts = [Account("main", 10), Account("other", 10)]
    async with OwnedLab("b26", accounts=accounts, trunks=[Trunk("first")], calls=calls) as lab:
        await lab.carrier("first")
        app = await lab.app("main")
        call = await app.call()
        await call.accepted()
        target = f"/v1/live-calls/{call.id}/recording"

        def proof(account):
            return {"Authorization": f"Bearer {lab.key(account)}"} if account else {}

        async def ask(method, path, body=None, account=None, **fields):
            fields = {name.replace("_", "-"): value for name, value in fields.items()}
            if method == "POST":
                fields["Idempotency-Key"] = f"{time.monotonic_ns()}"
            return await lab.http_request(
                method, path, body, {**fields, **proof(account)}, bearer=account is None)

        before = lab.descriptors_open()
        began = time.monotonic()
        odd = []
        for number in range(STORM):
            status, _, text = await ask("POST", target, {"format": ("wav", "opus")[number % 2]})
            odd += [] if status == 201 else [f"{status} {text}"]
            status, _, text = await ask("DELETE", target)
            odd += [] if status == 204 else [f"{status} {text}"]
        took = time.monotonic() - began
        ground.none("B26", odd, "starts and ends that were refused", f"{STORM} of each in {took:.1f} s")

        async def over():
            rows = json.loads((await ask("GET", "/v1/recordings?limit=200"))[2])["recordings"]
            return rows if all(row["state"] == "complete" for row in rows) else None

        rows = await until("the end of every recording", over, 20)
        ground.promise("B26", STORM - len(rows), "recordings lost", "= 0", len(rows) == STORM)
        held = await until("descriptors given back", lambda: lab.descriptors_open() <= before + 5, 20)
        ground.promise("B26", lab.descriptors_open() - before, "descriptors kept", "<= 5", held)
        # What others learn.
        await ask("POST", target, {"format": "wav"})
        running = json.loads((await ask("GET", f"/v1/calls/{call.id}"))[2])["recording"]["id"]
        found = []
        for path in (f"/v1/recordings/{rows[0]['id']}", f"/v1/recordings/{rows[0]['id']}/sound", f"/v1/recordings/{running}",
                     f"/v1/recordings/{running}/sound", "/v1/recordings/..%2f..%2frecording.key/sound"):
            for account in ("other", None):
                status, _, text = await lab.http_request(
                    "GET", path, None, proof(account), bearer=False)
                if status not in (401, 403, 404) or rows[0]["id"] in text.replace(path, ""):
                    found.append(f"{account} {path}: {status}")
        for method, path, body in (("DELETE", f"/v1/recordings/{rows[0]['id']}", None), ("DELETE", target, None),
                                   ("PATCH", target, {"paused": True}), ("POST", target, {"format": "wav"})):
            status, _, text = await ask(method, path, body, account="other")
            if status != 404:
                found.append(f"other {method} {path}: {status}")
        status, _, text = await ask("GET", "/v1/recordings?limit=200", account="other")
        if status == 200 and json.loads(text)["recordings"]:
            found.append(f"other: {text[:100]}")
        ground.none("B26", found, "recordings told or handed to others")
        status, _, _ = await ask("GET", f"/v1/recordings/{rows[0]['id']}", account="main")
        ground.promise("B26", status, "for the owner", "= 200", status == 200)
        # Ranges of one file, all kinds of them.
        path, began = f"/v1/recordings/{rows[0]['id']}/sound", time.monotonic()
        texts = ["bytes=0-", "bytes=-1", "bytes=9999999999-", "bytes=0-0,1-1,2-2", f"bytes={'0' * 70}-", "bytes=5-4", "bytes=--1",
                 "bytes=18446744073709551616-", "bytes=0-18446744073709551615", "bytes=" + ",".join(["0-"] * 1300)]
        odd = []
        for number in range(RANGES):
            status, _, _ = await ask("GET", path, Range=texts[number % len(texts)])
            odd += [] if status in (200, 206, 416) else [f"{texts[number % len(texts)][:40]}: {status}"]
        ground.none("B26", odd, "ranges that break something", f"{RANGES} in {time.monotonic() - began:.1f} s")
        files = [file for file in lab.state.rglob("*") if file.suffix == ".sealed"]
        clear = [file.name for file in files if any(mark in file.read_bytes() for mark in (b"OggS", b"RIFF", b"OpusHead"))]
        ground.promise("B26", len(clear), "files in the clear", "= 0", not clear and len(files) >= STORM, f"{len(files)} files")
        open_to_others = [file.name for file in files if file.stat().st_mode & 0o077]
        ground.none("B26", open_to_others, "files that others of the machine may read")
        ground.promise("B26", int(call.first("ended", "gone") is not None), "calls ended by it", "= 0",
                       call.first("ended", "gone") is None)
        await call.hang_up()
        await call.ended()
        await lab.idle(40)
