"""Proofs that are none."""

import base64
import contextlib
import hashlib
import hmac

import landline_app
from gateway_lab import CLIENT, PROTOCOL, SECRET, Account, App, Lab
from ground import *
from web_socket import Closed, WebSocket

PREFIX = "//rtc.sinch.com/applications/"


async def attack(ground):
    """Class H, authentication at the app's door.
    Evidence: CVE-2025-47779 (identity not bound to credentials), GHSA-64qc-9x89-rx5j (missing field), JWT algorithm swaps.
    Must hold: replayed, forged, expired, truncated, swapped, other people's and other apps' proofs: 0 let in, and right ones
    still are."""
    tries = ground.size(2000, 100_000)
    lab = Lab("b01", accounts=[Account("main"), Account("other"), Account("trial", 1, environment="sandbox")])
    async with lab:
        app = await lab.app()
        key, other = app.account.key, lab.account("other").key
        sequence = lab.next_sequence()
        good_signature = landline_app.signature("victim", key, sequence, SECRET)
        good_token = landline_app.token("victim", key, SECRET, "once", PREFIX)
        await prove(lab, key, "victim", {"kind": "signature", "signature": good_signature, "sequence": str(sequence)}, True)
        answer = await prove(lab, key, "victim", {"kind": "token", "token": good_token}, True)
        credential = answer.get("credential")
        random = ground.random
        head, body, tail = good_token.split(".")
        part = lambda value: base64.urlsafe_b64encode(value).rstrip(b"=").decode()
        secret = base64.b64decode(SECRET)

        def forged(claims=None, header=None, sign=None):
            now = int(time.time())
            kid = time.strftime("hkdfv1-%Y%m%d", time.gmtime(now))
            issuer = PREFIX + key
            text_head = part(json.dumps({"alg": "HS256", "kid": kid, "typ": "JWT"} | (header or {})).encode())
            text_body = part(json.dumps({"iss": issuer, "sub": f"{issuer}/users/victim", "iat": now, "exp": now + 600,
                                         "nonce": str(random.random())} | (claims or {})).encode())
            data = f"{text_head}.{text_body}".encode()
            day = hmac.new(secret, kid.removeprefix("hkdfv1-").encode(), hashlib.sha256).digest()
            signature = hmac.new(sign(day) if sign else day, data, hashlib.sha256).digest()
            return f"{text_head}.{text_body}.{part(signature)}"

        def signatures(number):
            fresh = lab.next_sequence() + 10_000_000
            own = landline_app.signature("victim", key, fresh, SECRET)
            return [
                (key, "victim", good_signature, sequence), (key, "victim", good_signature, fresh),
                (key, "admin", good_signature, fresh), (key, "victim", own[:-2], fresh), (key, "victim", own[:-4] + "AAA=", fresh),
                (key, "victim", own.lower(), fresh), (key, "victim", "", fresh), (key, "victim", own + "A", fresh),
                (other, "victim", own, fresh), (key, "victi", own, fresh), (key, "victim ", own, fresh),
                # The fields are joined without a mark: what belongs to the user may not become the key's.
                (key, "victim" + key[:1], own, fresh), (key, "victim", landline_app.signature("victim", key, fresh, ""), fresh),
                (key, "victim", base64.b64encode(random.randbytes(20)).decode(), fresh),
                (key, "victim", landline_app.signature("victim", key, sequence - 1, SECRET), sequence - 1),
                ("00000000-0000-0000-0000-000000000000", "victim", own, fresh),
            ][number % 16]

        def tokens(number):
            wrong = lambda day: bytes([day[0] ^ 1]) + day[1:]
            return [
                lambda: good_token, lambda: f"{head}.{body}.", lambda: f"{head}.{body}", lambda: f"{head}.{body}.{tail[:-4]}",
                lambda: part(json.dumps({"alg": "none"}).encode()) + f".{body}.", lambda: forged(header={"alg": "none"}),
                lambda: forged(header={"alg": "HS512"}), lambda: forged(header={"alg": "RS256"}),
                lambda: forged(header={"alg": ""}), lambda: forged(header={"alg": ["HS256"]}),
                lambda: forged(claims={"exp": int(time.time()) - 5}), lambda: forged(claims={"exp": 0}),
                lambda: forged(claims={"exp": "never"}), lambda: forged(claims={"exp": 10**12}),
                lambda: forged(claims={"iat": int(time.time()) + 7200}), lambda: forged(claims={"iss": PREFIX + other}),
                lambda: forged(claims={"sub": f"{PREFIX}{other}/users/victim"}), lambda: forged(claims={"nonce": "once"}),
                lambda: forged(claims={"nonce": ""}), lambda: forged(claims={"nonce": None}),
                lambda: forged(sign=lambda day: secret), lambda: forged(sign=lambda day: b""), lambda: forged(sign=wrong),
                lambda: forged(header={"kid": "hkdfv1-19700101"}, sign=wrong), lambda: forged(header={"kid": "hkdfv1-x"}),
                lambda: forged(header={"kid": "hkdfv1-20990101"}), lambda: forged(claims={"sub": f"{PREFIX}{key}/users/admin"}),
                lambda: base64.b64encode(random.randbytes(200)).decode(), lambda: "..", lambda: "a" * 2048,
            ][number % 30]()

        def credentials(number):
            right = credential or {"id": "none", "secret": "none"}
            text = right["secret"]
            return [(right["id"], text[:-1]), (right["id"], ""), (right["id"], text[::-1]), ("", text), (right["id"] + "0", text),
                    (right["id"][:-1], text), (right["id"], text + "0"), (right["id"].lower(), text.lower())][number % 8]

        let_in, tried = [], 0

        async def worker(share):
            nonlocal tried
            web = None
            for number in share:
                kind = number % 3
                user, application = "victim", key
                if kind == 0:
                    application, user, text, count = signatures(number // 3)
                    proof = {"kind": "signature", "signature": text, "sequence": str(count)}
                elif kind == 1:
                    proof = {"kind": "token", "token": tokens(number // 3)}
                else:
                    name, text = credentials(number // 3)
                    proof = {"kind": "credential", "credential": name, "secret": text}
                    # Its own device's, elsewhere.
                    if number % 9 == 2 and credential:
                        proof = {"kind": "credential", "credential": credential["id"], "secret": credential["secret"]}
                        user = "somebody-else"
                if web is None:
                    web = await WebSocket.open("127.0.0.1", lab.http_port, "/v1/connect", PROTOCOL)
                try:
                    await web.send(json.dumps(
                        {"type": "register", "id": 1 + number % 1000, "application": application, "user": user,
                         "device": "attacker", "client": CLIENT, "capabilities": ["calling"], "proof": proof}))
                    said = json.loads(await asyncio.wait_for(web.receive(), 10))
                    if said["type"] in ("registered", "resumed"):
                        let_in.append(f"{number}: {proof}")
                    if said["type"] != "error":
                        web.drop()
                        web = None
                except (Closed, ConnectionError):
                    web = None
                tried += 1
            if web:
                web.drop()

        workers = 8
        await asyncio.gather(*(worker(range(first, tries, workers)) for first in range(workers)))
        # A session's token of somebody else, and without.
        for session, token in ((app.session, "x" * 43), ("x" * 26, app.token), (app.session, app.token[:-1]), ("", "")):
            thief = App(lab, app.account, "thief", "thief")
            lab._apps.append(thief)
            await thief.connect()
            tried += 1
            with contextlib.suppress(LabError, asyncio.TimeoutError):
                said = await thief.ask("resume", 3, session=session, token=token, last_event=0)
                if said["type"] == "resumed":
                    let_in.append(f"resume {session[:4]}")
        # Requests before any proof.
        for kind in ("call", "hangup", "dtmf", "offer", "answer", "mute", "report", "ping"):
            thief = App(lab, app.account, "thief", "thief")
            lab._apps.append(thief)
            await thief.connect()
            tried += 1
            with contextlib.suppress(LabError, asyncio.TimeoutError):
                said = await thief.ask(kind, 3, call="x" * 26, digits="1", sdp="v=0", muted=True, figures={}, offer="v=0",
                                       to={"kind": "phone", "number": NUMBER})
                if said["type"] not in ("error", "closing", "pong"):
                    let_in.append(f"{kind} without a proof: {said['type']}")
        ground.none("B1", let_in, "let in", f"{tried} tries")
        # Those with a right still come in, from the same host.
        fresh = lab.next_sequence() + 20_000_000
        proof = {"kind": "signature", "signature": landline_app.signature("bystander", key, fresh, SECRET),
                 "sequence": str(fresh)}
        await prove(lab, key, "bystander", proof, True)
        await lab.idle()


async def prove(lab, key, user, proof, expected):
    app = App(lab, lab.account("main"), user, "device-of-" + user)
    lab._apps.append(app)
    await app.connect()
    answer = await app.ask("register", application=key, user=user, device=app.device, client=CLIENT,
                           capabilities=["calling"], proof=proof)
    require((answer["type"] == "registered") == expected, f"{user} is let in: {answer}")
    return answer
