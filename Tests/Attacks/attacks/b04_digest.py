"""Who gets the gateway's credentials."""

from gateway_lab import Lab, Trunk
from ground import *

PASSWORD = "planted-trunk-password-7261"
REALM = "carrier.example"
FOREIGN = 'Digest realm="evil.example", nonce="bm9uY2U", qop="auth", algorithm=MD5'
OWN = f'Digest realm="{REALM}", nonce="b3du", qop="auth", algorithm=MD5'


async def attack(ground):
    """Class H, digest leak: the called party or a foreign trunk challenges the gateway.
    Evidence: CVE-2021-41158 (FreeSWITCH), CVE-2020-9352 and Enable Security's SIP digest leak.
    Must hold: credentials go to the configured realm of the configured trunk alone, in INVITE, re-INVITE and BYE; never
    after a redirection to somebody else."""
    account = ["account:", "  username: landline", f"  password: {PASSWORD}", f"  realm: {REALM}", "redirections: 2"]
    async with Lab("b04", trunks=[Trunk("first", lines=account)]) as lab:
        elsewhere = HostileCarrier("elsewhere", lab.ports.take())
        await elsewhere.start()
        challenges = 0

        def challenge(message, reply, status, text):
            nonlocal challenges
            challenges += 1
            field = "WWW-Authenticate" if status == 401 else "Proxy-Authenticate"
            texts = text if isinstance(text, list) else [text]
            reply(response(message, status, f"challenge{challenges}", carrier, headers=[f"{field}: {each}" for each in texts]))
            return True

        def script(message, reply, call):
            has = bool(message.one("authorization") or message.one("proxy-authorization"))
            is_first = ";tag=" not in message.one("to")
            match message.user[-1:], message.method, is_first:
                case "1", "INVITE", True:
                    return challenge(message, reply, 401, FOREIGN)
                case "2", "INVITE", True:
                    return challenge(message, reply, 407, FOREIGN)
                case "3", "INVITE", True:
                    return challenge(message, reply, 401, [
                        OWN.replace(REALM, f"x.{REALM}"), OWN.replace(REALM, f"{REALM} "), OWN.replace(REALM, REALM.upper()),
                        OWN.replace(REALM, ""), OWN.replace("realm=", "realm2="), FOREIGN])
                case "4", "INVITE", True if not has:
                    return challenge(message, reply, 401, OWN)
                case "5", "INVITE", True:
                    reply(response(message, 302, "moved", carrier, headers=[f"Contact: <sip:6@127.0.0.1:{elsewhere.port}>"]))
                    return True
            if not is_first and message.method in ("INVITE", "BYE", "UPDATE") and not is_answered(message):
                return challenge(message, reply, 401 if message.method == "BYE" else 407, FOREIGN)
            return False

        seen = set()

        def is_answered(message):
            """Each request of a dialog is challenged once, its repetition is not."""
            key = message.one("cseq"), message.one("call-id")
            known = key in seen
            seen.add(key)
            return known

        def elsewhere_script(message, reply, call):
            if message.method != "INVITE":
                return False
            return challenge(message, reply, 401, OWN)

        elsewhere.script = elsewhere_script
        carrier = await hostile_carrier(lab, "first", script=script)
        app = await lab.app()
        for number in (1, 2, 3, 5):
            call = await app.call(f"+4670000000{number}")
            ended = await call.ended()
            require(ended["type"] == "ended" and "failure" in ended, f"challenge {number} ends the call: {ended}")
        # The trunk's own challenge is answered; the others in the same call are not.
        voice = await Voice.start(app, "+46700000004")
        await voice.peer.do_direction("sendonly")
        await app.tell("offer", call=voice.call.id, sdp=await voice.peer.offer())
        await until("the change reaches the trunk", lambda: any(
            ";tag=" in message.one("to") for _, message in carrier.requests("INVITE") + carrier.requests("UPDATE")), 5)
        await settled(carrier, lab.sip_port)
        await voice.end()
        await until("BYE", lambda: carrier.requests("BYE"))
        # What a challenge makes it send it sends when it reads it.
        for each in (carrier, elsewhere):
            await settled(each, lab.sip_port)
        leaked, rightful = [], 0
        challenged = {message.one("call-id") for _, message in carrier.requests("INVITE") if message.user.endswith("4")}
        for owner, data, message in [("trunk", *each) for each in carrier.raw] + [
                ("elsewhere", *each) for each in elsewhere.raw]:
            for value in message.all("authorization") + message.all("proxy-authorization"):
                realm = re.search(r'realm="([^"]*)"', value)
                if owner == "trunk" and message.one("call-id") in challenged and realm and realm.group(1) == REALM:
                    rightful += 1
                else:
                    leaked.append(f"{owner}: {message.start}: {value}")
            if PASSWORD.encode() in data:
                leaked.append(f"{owner}: the password itself")
        ground.none("B4", leaked, "credentials sent to others",
                    f"{challenges} challenges in INVITE, re-INVITE and BYE, {len(elsewhere.requests('INVITE'))} INVITEs "
                    "after redirection")
        require(rightful > 0, "the trunk's own challenge is answered")
        elsewhere.close()
        await lab.idle()
