"""Requests of those who may not send any."""

import pathlib
import ssl
import tempfile

from gateway_lab import Lab, Trunk
from ground import *


async def attack(ground):
    """Class H, methods without credentials and forged requests in dialogs.
    Evidence: CVE-2021-37624, CVE-2021-41157 (MESSAGE and SUBSCRIBE unasked), pocket-dial #356 (BYE by Call-ID alone).
    Must hold: every method over UDP, TCP and TLS, outside of dialogs, with foreign tags, and in a live call with wrong
    source, tags or CSeq: accepted 0, and the call goes on. Strangers hear nothing at all."""
    folder = pathlib.Path(tempfile.mkdtemp())
    async with Lab("b03", trunks=[Trunk("first")], listeners=("udp", "tcp"), tls=certificate(folder)) as lab:
        carrier = await hostile_carrier(lab, "first")
        voice = await Voice.start(await lab.app())
        call = carrier.calls[0]
        own_tag = re.search(r";tag=([^;>]+)", call.invite.one("from")).group(1)
        thief = Datagrams("127.0.0.2")
        body = description(port=thief.port)
        accepted, tried, probes = [], 0, []
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE

        def strange(method, transport, host, port, state):
            """The bytes of one cell of the table."""
            carries = ["Content-Type: application/sdp"] if method in ("INVITE", "UPDATE", "ACK") else []
            if method == "REFER":
                carries = ["Refer-To: <sip:+46700000009@127.0.0.1>"]
            text = body if method in ("INVITE", "UPDATE", "ACK") else b""
            if state == "none":
                return sip(method, port, transport=transport, host=host, gateway=lab.sip_port, fields=carries, body=text)
            if state == "foreign tag":
                return sip(method, port, transport=transport, host=host, gateway=lab.sip_port, to_tag="foreign",
                           call_id=call.id, fields=carries, body=text)
            if state == "wrong source":
                return in_dialog(method, call, 900, port=port, host=host, transport=transport, body=text,
                                 fields=carries if method == "REFER" else ())
            if state == "wrong remote tag":
                return in_dialog(method, call, 900, port=port, host=host, transport=transport, tag="guess", body=text)
            return in_dialog(method, call, 900, port=port, host=host, transport=transport, to_tag=own_tag[:-1] + "0",
                             body=text)

        for transport in ("UDP", "TCP", "TLS"):
            for state in ("none", "foreign tag", "wrong source", "wrong remote tag", "wrong local tag"):
                # Tags are guessed from the trunk's own host; everything else comes from a stranger.
                host = "127.0.0.1" if state.startswith("wrong r") or state.startswith("wrong l") else STRANGER
                for method in METHODS:
                    tried += 1
                    if transport == "UDP":
                        source = Datagrams(host)
                        source.send(strange(method, transport, host, source.port, state), lab.sip_port)
                    else:
                        source = await Stream.open(
                            lab.tls_port if transport == "TLS" else lab.sip_port,
                            context if transport == "TLS" else None, host)
                        # Behind it a request that the trunk's host gets an answer to, and that ends a stranger's stream.
                        source.writer.write(strange(method, transport, host, source.port, state) + sip(
                            "OPTIONS", source.port, transport=transport, host=host, gateway=lab.sip_port, call_id="last"))
                    probes.append((f"{method} {transport} {state}", source, host))
        await settled(carrier, lab.sip_port)
        for name, source, host in probes:
            if isinstance(source, Stream):
                answers = source.responses
                await until(f"the end of {name}", lambda: source.is_over or any(id == "last" for _, id in answers()))
                accepted += [f"{name}: {status}" for status, id in answers() if status < 300 and id != "last"]
                if host == STRANGER and answers() and not source.is_over:
                    accepted.append(f"{name}: the stranger's stream goes on")
            else:
                accepted += [f"{name}: {data.split()[1].decode()}" for _, data, _ in source.received
                             if data.startswith(b"SIP/2.0 2")]
            source.close()

        # Numbers that go back, from the trunk itself.
        own = HostileTrunkAnswers(carrier)
        carrier._socket.sendto(in_dialog("OPTIONS", call, 50, port=carrier.port), ("127.0.0.1", lab.sip_port))
        try:
            await until("answer to the trunk's OPTIONS", lambda: own.statuses("OPTIONS") == [200], 3)
        except LabError:
            ground.none("B3", accepted + ["the trunk itself is not heard any more"], "accepted or harmed")
            return
        for number in (50, 49, 1, 0):
            for method in ("BYE", "INVITE", "UPDATE", "INFO", "REFER"):
                tried += 1
                before = len(own.all)
                carrier._socket.sendto(in_dialog(method, call, number, port=carrier.port, body=body if method in (
                    "INVITE", "UPDATE") else b""), ("127.0.0.1", lab.sip_port))
                await until("answer to an old number", lambda: len(own.all) > before)
                accepted += [f"{method} with CSeq {number}: {status}" for _, status in own.all[before:] if status < 300]
        ground.none("B3", accepted, "accepted", f"{tried} requests: {len(METHODS)} methods over UDP, TCP and TLS in 5 "
                    "states, and old numbers")
        await voice.speaks()
        heard = len(carrier.heard)
        await until("sound at the trunk", lambda: len(carrier.heard) > heard + 25)
        harmed = [] if call.is_up and not voice.call.first("ended") else voice.call.kinds
        ground.none("B3", harmed + [data for _, data, _ in thief.received], "harm to the live call",
                    "it goes on, nothing of its sound went elsewhere")
        carrier._sequence = call._sequence = 2000
        call.hang_up()
        ended = await voice.call.ended()
        require("failure" not in ended, f"the trunk's own BYE ends it: {ended}")
        await voice.close()

        async def recorded():
            return len(json.loads((await lab.http_request("GET", "/v1/calls"))[2])["calls"]) == 1

        await until("the record of the one call that was made", recorded)
        await lab.idle()


class HostileTrunkAnswers:
    """Responses that come to a carrier's own requests."""

    def __init__(self, carrier):
        self.all = []

        def script(message, reply, call):
            if message.method is None:
                self.all.append((message.one("cseq").split()[-1], message.status))
            return False

        carrier.script = script

    def statuses(self, method):
        return [status for name, status in self.all if name == method]
