"""What must never be written anywhere."""

import base64
import contextlib
import pathlib
import sqlite3
import tempfile
import urllib.parse
import zlib

import landline_app
from gateway_lab import SECRET, App, Lab, Trunk
from ground import *

TRUNK_PASSWORD = "planted-trunk-password-5519"
OWNER_KEY = "planted-owner-key-0f9e8d7c6b5a4938"
HEP_PASSWORD = "planted-hep-password-3141"
NONCE = "cGxhbnRlZC1ub25jZQ"
REALM = "carrier.example"


async def attack(ground):
    """Class N, secrets and numbers in logs, traces, records, error replies, metrics, arguments and environment.
    Evidence: Asterisk and FreeSWITCH debug logs with digest secrets, GHSA-xpc6-x892-v83c, tokens in access logs.
    Must hold: of >= 20 kinds of planted secrets none is found after calls at trace level (row B13); no E.164 number
    stands unmasked in a log at info (row B14)."""
    folder = pathlib.Path(tempfile.mkdtemp())
    pair = certificate(folder)
    (folder / "owner.key").write_text(OWNER_KEY + "\n")
    (folder / "hep.key").write_text(HEP_PASSWORD + "\n")
    for name in ("owner.key", "hep.key"):
        (folder / name).chmod(0o600)
    collector = Datagrams("127.0.0.1")
    plain = ["account:", "  username: landline", f"  password: {TRUNK_PASSWORD}", f"  realm: {REALM}", "srtp: required"]
    lab = Lab("b13", trunks=[Trunk("first", lines=plain)], tls=pair, log_level="trace",
              more=f"hep:\n  collector: 127.0.0.1:{collector.port}\n  capture-id: 7\n  password-file: {folder}/hep.key\n")
    written = lab.configuration

    def configuration():
        return written().replace(
            "    operators:\n      production-admin:",
            f"    owners:\n      owner:\n        key-file: {folder}/owner.key\n        account: main\n"
            "    operators:\n      production-admin:")

    lab.configuration = configuration
    # What the process is given must not matter.
    lab.wrapper = ["prlimit", "--core=unlimited"]
    async with lab:
        secrets = {
            "operator key": lab.operator(), "owner key": OWNER_KEY, "application secret": SECRET,
            "trunk password": TRUNK_PASSWORD, "HEP password": HEP_PASSWORD,
            "TLS key": "".join(pair[1].read_text().splitlines()[1:3]), "TLS key, one line": pair[1].read_text().splitlines()[1],
            "Authorization of an operator": f"Bearer {lab.operator()}",
        }

        crypto = {}

        def script(message, reply, call):
            if message.method != "INVITE" or ";tag=" in message.one("to"):
                return False
            crypto["tag"] = re.search(rb"a=crypto:(\d+) AES_CM_128_HMAC_SHA1_80", message.body).group(1).decode()
            for number, found in enumerate(re.findall(rb"a=crypto:\S+ \S+ inline:([A-Za-z0-9+/=]+)", message.body)):
                secrets[f"SRTP key of the gateway {number}"] = found.decode()
            if not message.one("authorization"):
                reply(response(message, 401, "challenge", carrier, headers=[
                    f'WWW-Authenticate: Digest realm="{REALM}", nonce="{NONCE}", qop="auth", algorithm=MD5']))
                return True
            for name in ("response", "cnonce"):
                secrets[f"digest {name}"] = re.search(name + r'="([^"]+)"', message.one("authorization")).group(1)
            return False

        key = "cGxhbnRlZC1zcnRwLWtleS1vZi10aGUtdHJ1bmshIQ=="[:40]
        carrier = await hostile_carrier(lab, "first", script=script)
        describe = carrier.description
        carrier.description = lambda *asked: describe(*asked).replace("RTP/AVP", "RTP/SAVP") + (
            f"a=crypto:{crypto['tag']} AES_CM_128_HMAC_SHA1_80 inline:{key}\r\n")
        secrets["SRTP key of the trunk"] = key

        # Apps: a signature, a token, a credential, a session that is resumed, and what is wrong of each.
        app = await lab.app()
        sequence = lab.next_sequence()
        sign = landline_app.signature("bob", app.account.key, sequence, SECRET)
        token = landline_app.token("carol", app.account.key, SECRET, "nonce-1", "//rtc.sinch.com/applications/")
        forged = landline_app.token("carol", app.account.key, "d3JvbmcgYnV0IGxvbmcgZW5vdWdo", "nonce-2",
                                    "//rtc.sinch.com/applications/")
        secrets |= {"signature": sign, "token": token, "token's signature": token.split(".")[2], "forged token": forged,
                    "resume token": app.token}
        for user, proof in [("bob", {"kind": "signature", "signature": sign, "sequence": str(sequence)}),
                            ("carol", {"kind": "token", "token": token}), ("carol", {"kind": "token", "token": forged})]:
            answer = await asking(lab, user, proof)
            if "credential" in answer:
                secrets[f"credential of {user}"] = answer["credential"]["secret"]
                again = {"kind": "credential", "credential": answer["credential"]["id"],
                         "secret": answer["credential"]["secret"]}
                await asking(lab, user, again)
            if "resume" in answer:
                secrets[f"resume token of {user}"] = answer["resume"]["token"]
        app.drop()
        app = await lab.app()
        secrets["resume token after a while"] = app.token

        # Calls: one that is up with sound, one that is refused, one without a price.
        voice = await Voice.begin(app, "+46700000001", headers={"x-order": "4711"})
        local = voice.peer._pc.localDescription.sdp
        for owner, text in (("app", local), ("gateway", voice.placed["answer"])):
            secrets[f"ice-pwd of the {owner}"] = re.search(r"a=ice-pwd:(\S+)", text).group(1)
        await voice.call.accepted()
        await until("keys of the call", lambda: voice.peer._has_connected, 15)
        transport = voice.peer._transceiver.sender.transport
        view = transport._ssl.export_keying_material(b"EXTRACTOR-dtls_srtp", 60)
        secrets |= {"DTLS-SRTP key, Base64": b64(view[:16]), "DTLS-SRTP key, hexadecimal": view[:16].hex()}
        async def media_sent():
            return (await lab.metrics()).get('landline_media_packets_total{direction="sent"}', 0) > 0

        await until("sound went on", media_sent)
        await voice.end()
        for number in ("+4915112345678", "+46", "not-a-number"):
            with contextlib.suppress(LabError):
                await app.call(number)

        # REST and the pages: right and wrong keys, a session of the pages.
        replies = []
        status, fields, text = await lab.http_request(
            "POST", "/v1/sign-in", {"key": lab.operator()}, headers={"Origin": f"http://127.0.0.1:{lab.http_port}"},
            bearer=False)
        replies.append(text)
        cookie = re.search(r"=([^;]+)", fields.get("set-cookie", ""))
        if cookie:
            secrets["cookie of a session"] = cookie.group(1)
        call_id = voice.call.id
        wrong = lab.operator()[:-1] + "x"
        for method, path, body, headers in [
            ("GET", "/v1/accounts/none", None, {}), ("GET", f"/v1/calls/{call_id}", None, {}),
            ("GET", f"/v1/calls/{call_id}/story", None, {}), ("GET", "/v1/trunks", None, {}), ("GET", "/v1/status", None, {}),
            ("POST", "/v1/calls", {"secret": SECRET, "key": lab.operator()}, {}), ("GET", "/metrics", None, {}),
            ("GET", f"/v1/{wrong}", None, {}), ("GET", "/v1/status", None, {"Cookie": f"landline={wrong}"}),
            ("POST", "/v1/accounts", b"{" + lab.operator().encode(), {}),
        ]:
            status, fields, text = await lab.http_request(method, path, body, headers=headers)
            replies.append(f"{method} {path}: " + json.dumps(fields) + text)
        explained = lab.run("explain", call_id)[1] + lab.run("calls", "pcap", call_id)[1]
        await until("the call's trace is kept", lambda: is_kept(lab, call_id))

        process = pathlib.Path(f"/proc/{lab.pid}")
        places = {
            "log at trace level": lab.log_text().encode(), "answers of REST and the pages": "\n".join(replies).encode(),
            "arguments": (process / "cmdline").read_bytes(), "environment": (process / "environ").read_bytes(),
            "landline explain and pcap": explained.encode(),
            "copies for the collector": b"".join(data for _, data, _ in collector.received),
        }
        for path in [*lab.state.rglob("*"), *lab.home_state.rglob("*")]:
            if path.is_file():
                places[f"{path.relative_to(lab.folder)}"] = contents(path)
        # The collector's password belongs to the collector, as HEP has it.
        rightful = {("HEP password", "copies for the collector")}
        found = [f"{name} in {place}" for name, secret in secrets.items() for place, data in places.items()
                 if (name, place) not in rightful and any(form in data for form in forms(secret))]
        kinds = len(secrets)
        ground.none("B13", found, "planted secrets found",
                    f"{kinds} kinds in {len(places)} places, {sum(map(len, places.values())) >> 10} kB")
        require(kinds >= 20, f"20 kinds were planted: {sorted(secrets)}")
        limits = (process / "limits").read_text()
        core = re.search(r"Max core file size\s+(\S+)", limits).group(1)
        ground.promise("B13", core, "bytes of a core file", "0", core == "0", "a core would hold keys and voices")

        # Numbers, at the level that is used.
        await lab.stop()
        lab.log_level = "info"
        carrier.script = None
        lab.write_configuration()
        await lab.start()
        app = await lab.app("main", user="+46709999999")
        for number in ("+46700000001", "+46700000002", "+4915112345678"):
            with contextlib.suppress(LabError):
                call = await app.call(number)
                await call.told("accepted", "ended", seconds=3)
                await call.hang_up()
                await call.ended()
        for text in ("+46700000003 ", "tel:+46700000003", "0046700000003"):
            with contextlib.suppress(LabError):
                await app.call(text)
        stranger = Datagrams("127.0.0.2")
        stranger.send(sip("INVITE", stranger.port, target="+46700000004", gateway=lab.sip_port), lab.sip_port)
        await lab.http_request("GET", "/v1/rates?number=%2B46700000005")
        await lab.idle(books=False)
        numbers = re.findall(r"\+?(?:46[17]0\d{7}|4915112345678)", re.sub(
            r'"application":"[^"]*"', "", lab.log_text()))
        ground.none("B14", numbers, "numbers unmasked at info", f"{len(lab.log_lines())} lines")


def is_kept(lab, call):
    """Whether what was traced of a call is in a store."""
    for path in lab.state.rglob("*"):
        with contextlib.suppress(sqlite3.Error, OSError):
            if path.is_file() and path.read_bytes()[:15] == b"SQLite format 3":
                store = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
                with contextlib.closing(store):
                    if store.execute("SELECT 1 FROM call_trace WHERE call = ?", (call,)).fetchone():
                        return True
    return False


def contents(path):
    """A file as it is, and of a store what its tables hold, so that nothing hides between pages."""
    data = path.read_bytes()
    if data.startswith(b"SQLite format 3"):
        with contextlib.suppress(sqlite3.Error):
            store = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
            data += "\n".join(store.iterdump()).encode()
            for (table,) in store.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
                for values in store.execute(f'SELECT * FROM "{table}"'):
                    data += b"\n".join(unpacked(value) for value in values)
            store.close()
    return data


def unpacked(value):
    if not isinstance(value, bytes):
        return str(value).encode()
    for kind in (15, -15, 47):
        with contextlib.suppress(zlib.error):
            return value + zlib.decompress(value, kind)
    return value


def forms(secret):
    """As it is, in hexadecimal, in Base64, and escaped."""
    data = secret.encode()
    return {data, data.hex().encode(), base64.b64encode(data), secret.replace("/", "\\/").encode(),
            urllib.parse.quote(secret, safe="").encode()}


def b64(data):
    return base64.b64encode(data).decode()


async def asking(lab, user, proof):
    """What one registration with this proof gets, on a connection of its own."""
    app = App(lab, lab.account("main"), user, "device-of-" + user)
    lab._apps.append(app)
    await app.connect()
    return await app.ask("register", application=app.account.key, user=user, device=app.device, client="test",
                         capabilities=["calling"], proof=proof)
