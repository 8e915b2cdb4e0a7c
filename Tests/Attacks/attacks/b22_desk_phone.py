"""A desk phone's password that is guessed, and one that is stolen."""

import hashlib
import json

from gateway_lab import DECK, MICRO, Account, Lab, Trunk
from ground import *

ABROAD = "+4740612345"
RULE = "{of: account, to: foreign, calls: 20, spend: 5, then: lock}"
CALLS, SPEND = 20, 5 * MICRO
GUESSER, NEIGHBOUR, THIEF = "127.0.9.9", "127.0.9.10", "127.0.9.11"
# What a source is looked at in a minute, and answered in ten seconds.
GUESSES, ANSWERS = 10, 40


def digest(*parts):
    return hashlib.sha256(":".join(parts).encode()).hexdigest()


class Telephone:
    """As much of a telephone as a thief needs."""

    def __init__(self, lab, host, name, password):
        self.lab, self.host, self.name, self.password = lab, host, name, password
        self.socket = Datagrams(host)
        self.nonce, self.count, self.seen = None, 0, 0
        self.finals, self.acknowledged = {}, set()

    def message(self, method, target, call_id, cseq, fields=(), body=b""):
        uri = f"sip:{target}@127.0.0.1" if method != "REGISTER" else "sip:127.0.0.1"
        to = self.name if method == "REGISTER" else target
        return sip(method, self.socket.port, target=to, gateway=self.lab.sip_port, host=self.host, call_id=call_id,
                   cseq=cseq, uri=uri, sender=self.name, via=";rport", body=body,
                   fields=["User-Agent: telephone of somebody", *fields])

    def proof(self, method, target, name=None, password=None):
        uri = f"sip:{target}@127.0.0.1" if method != "REGISTER" else "sip:127.0.0.1"
        name, password = name or self.name, password or self.password
        self.count += 1
        nc = f"{self.count:08x}"
        response = digest(digest(name, "landline", password), self.nonce, nc, "c0", "auth", digest(method, uri))
        field = "Authorization" if method == "REGISTER" else "Proxy-Authorization"
        return (f'{field}: Digest username="{name}", realm="landline", nonce="{self.nonce}", uri="{uri}", '
                f'response="{response}", algorithm=SHA-256, qop=auth, nc={nc}, cnonce="c0"')

    def send(self, *arguments, **more):
        self.socket.send(self.message(*arguments, **more), self.lab.sip_port)

    def read(self):
        """Reads what came: the last nonce, final statuses by Call-ID; a 200 to an INVITE is acknowledged."""
        for _, data, _ in self.socket.received[self.seen:]:
            self.seen += 1
            text = data.decode("latin-1")
            if not text.startswith("SIP/2.0 "):
                # Requests of the gateway, such as a BYE, are answered.
                if text.startswith("BYE "):
                    lines = [line for line in text.split("\r\n") if re.match("(Via|From|To|Call-ID|CSeq):", line)]
                    self.socket.send("\r\n".join(["SIP/2.0 200 OK", *lines, "Content-Length: 0", "", ""]).encode(),
                                     self.lab.sip_port)
                continue
            status, call_id = int(text[8:11]), re.search(r"\r\nCall-ID: *([^\r]*)", text)[1]
            if nonce := re.search(r'nonce="([0-9a-f]+)"', text):
                self.nonce, self.count = nonce[1], 0
            if status >= 200:
                self.finals.setdefault(call_id, []).append((status, text))
            if status == 200 and " INVITE\r\n" in text:
                to = re.search(r"\r\nTo: *([^\r]*)", text)[1]
                contact = re.search(r"\r\nContact: *<([^>]*)", text)[1]
                cseq = re.search(r"\r\nCSeq: *(\d+)", text)[1]
                ack = sip("ACK", self.socket.port, host=self.host, call_id=call_id, cseq=int(cseq), uri=contact,
                          sender=self.name).decode()
                self.socket.send(re.sub(r"\r\nTo: [^\r]*", lambda _: f"\r\nTo: {to}", ack).encode(), self.lab.sip_port)
        return self.finals

    async def answer(self, call_id, seconds=5):
        await until(f"answer to {call_id}", lambda: call_id in self.read(), seconds)
        return self.finals[call_id][-1]

    async def challenge(self, method="REGISTER", target=""):
        call_id = f"challenge{random.getrandbits(48):x}"
        self.send(method, target, call_id, 1)
        return await self.answer(call_id)


def plain(text):
    """An answer without what differs by itself."""
    return re.sub(r'nonce="[^"]*"|tag=[^\r;>]*|branch=[^\r;]*|Call-ID: [^\r]*|lobby|ghost', "", text)


async def attack(ground):
    """Class H and K: brute force at a registrar, and toll fraud with a telephone's password.
    Evidence: svwar and svcrack; CVE-2025-47779 (identity not bound to credentials); CFCA and Plivo on stolen extensions.
    Must hold: an unknown name and a wrong password hear the same, ten wrong passwords of a source are looked at in a
    minute and no answer lasts longer than forty in ten seconds, a neighbour registers meanwhile; with the right password
    no call leaves for a country that the account may not call, and where it may, no more calls than the rule says, then
    the account is locked; nothing is sent twice to whoever proved nothing."""
    norway = DECK + "47,Norway,0.60,0,1,1\n"
    async with Lab("b22", trunks=[Trunk("first")], accounts=[Account("main", 1000)], deck=norway,
                   calls={"per-session": "1000", "media-set-up": "120s"}, countries=None, velocity=[RULE]) as lab:
        carrier = await hostile_carrier(lab, "first")
        made = json.loads(lab.command("desk-phone", "set", "lobby", "--user", "alice", "--environment", "production",
                                      "--json"))
        password = made["password"]
        again = json.loads(lab.command("desk-phone", "show", "lobby", "--environment", "production", "--json"))
        files = b"".join(path.read_bytes() for path in lab.folder.rglob("*") if path.is_file())
        ground.none("B22", [1] if again["password"] or password.encode() in files else [], "passwords shown again or kept")

        # Guesses
        guesser = Telephone(lab, GUESSER, "lobby", "")
        answers = {}
        for name in ("lobby", "ghost"):
            guesser.name = name
            status, text = await guesser.challenge()
            proof = guesser.proof("REGISTER", "", name, "wrong-password-of-somebody")
            call_id = f"first{name}"
            guesser.send("REGISTER", "", call_id, 2, fields=[proof])
            answers[name] = (status, plain(text), plain((await guesser.answer(call_id))[1]))
        ground.none("B22", [1] if answers["lobby"] != answers["ghost"] else [], "answers that tell an unknown name",
                    str(answers["lobby"][0]))
        tries = ground.size(300, 5_000)
        guesser.name = "lobby"
        begin, sent, answered = time.monotonic(), guesser.socket.sent, guesser.socket.bytes_received
        for number in range(tries):
            guesser.send("REGISTER", "", f"guess{number}", 2,
                         fields=[guesser.proof("REGISTER", "", password=f"wrong-password-{number:06d}")])
            if number % 50 == 49:
                await asyncio.sleep(0.01)
        neighbour = Telephone(lab, NEIGHBOUR, "lobby", password)
        await neighbour.challenge()
        neighbour.send("REGISTER", "", "neighbour", 2, fields=[neighbour.proof("REGISTER", "")])
        served = (await neighbour.answer("neighbour"))[0]
        # The right one among them is not looked at either.
        guesser.send("REGISTER", "", "right", 2, fields=[guesser.proof("REGISTER", "", password=password)])
        await until("the end of the guesses", lambda: time.monotonic() - begin > 1.5, 5)
        looked_at = sum(any(call.startswith(word) for word in ("guess", "first")) for call in guesser.read())
        let_in = [call for call, finals in guesser.finals.items() if any(status == 200 for status, _ in finals)]
        ground.none("B22", let_in, "let in", f"{tries} guesses")
        ground.promise("B22", looked_at, "wrong passwords looked at", f"<= {GUESSES}", 0 < looked_at <= GUESSES,
                       f"of {tries} in {time.monotonic() - begin:.1f} s; the neighbour heard {served}")
        ground.promise("B22", served, "what a neighbour hears", "200", served == 200)
        back = guesser.socket.bytes_received - answered
        ground.promise("B22", back / max(1, guesser.socket.sent - sent), "bytes out / bytes in", "<= 1.0",
                       back <= guesser.socket.sent - sent)

        stranger = Telephone(lab, THIEF, "lobby", password)
        status, challenge = await stranger.challenge("INVITE", ABROAD)

        # The stolen password
        async def dials(call_id, seconds=10):
            stranger.send("INVITE", ABROAD, call_id, 2, fields=["Content-Type: application/sdp",
                                                              stranger.proof("INVITE", ABROAD)],
                          body=description(THIEF, 40000))
            return (await stranger.answer(call_id, seconds))[0]

        refused = await dials("abroad")
        ground.promise("B22", len(carrier.calls), "INVITEs to a country that nobody allowed", "0",
                       not carrier.calls and refused == 403, f"the thief heard {refused}")
        lab.command("account", "set-cap", "main", "--countries", "46,47")
        # The payer's rules are known for a second.
        number = 0

        async def is_allowed():
            nonlocal number
            number += 1
            return await dials(f"allowed{number}") == 200
        await until("the country is allowed", is_allowed, 10, every=0.2)
        statuses = {}
        for number in range(ground.size(60, 1_000)):
            status = await dials(f"call{number}")
            statuses[status] = statuses.get(status, 0) + 1
        locked = None

        async def is_locked():
            nonlocal locked
            locked = json.loads((await lab.http_request("GET", "/v1/accounts/main"))[2])
            return locked["status"] == "locked"
        await until("the account is locked", is_locked, 10)

        def all_are_over():
            stranger.read()
            return not carrier.up
        await until("all calls are over", all_are_over, 10)
        await lab.idle(40)
        # A challenge is answered once, whatever time goes by without an ACK.
        asked = re.search(r"\r\nCall-ID: *([^\r]*)", challenge)[1]
        ground.none("B22", stranger.finals[asked][1:], "answers repeated to whoever proved nothing", f"{status}")
        abroad = [row for row in lab.holds() if str(row.get("destination", "")).startswith("+47")]
        spent = sum(round(float(row.get("cost") or 0) * MICRO) for row in abroad)
        ground.promise("B22", len(carrier.calls), "calls abroad with a stolen password", f"<= {CALLS}",
                       0 < len(carrier.calls) <= CALLS, f"answers {statuses}")
        ground.promise("B22", spent / MICRO, "spent abroad", f"<= {SPEND / MICRO:.0f}", bool(abroad) and spent <= SPEND)
