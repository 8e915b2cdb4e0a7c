"""Whether a trunk's signed callers lead the gateway into its own network, or are believed without a right."""

import base64
import importlib.util
import pathlib
import tempfile

from gateway_lab import Lab, Trunk
from ground import *

CALLED = "+46850000536"
CALLER = "+46701111111"


def ssrf():
    """The listeners, spellings and names of the other attack on inner addresses."""
    place = pathlib.Path(__file__).with_name("b10_ssrf.py")
    specification = importlib.util.spec_from_file_location("b10_ssrf", place)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


class VerifyingLab(Lab):
    """A gateway whose only number is called over a trunk that verifies callers."""

    def configuration(self):
        row = f"    numbers:\n      \"{CALLED}\": {{user: bob}}\n    sip-hosts:"
        return super().configuration().replace("    sip-hosts:", row, 1)


def passport(address, **claims):
    """A token that is right in all but its signature: nothing is fetched for one that is wrong in anything else."""
    def part(value):
        return base64.urlsafe_b64encode(json.dumps(value, separators=(",", ":")).encode()).rstrip(b"=").decode()

    header = {"alg": "ES256", "ppt": "shaken", "typ": "passport", "x5u": address}
    payload = {"attest": "A", "dest": {"tn": [CALLED[1:]]}, "iat": int(time.time()), "orig": {"tn": CALLER[1:]},
               "origid": "0f7c3b1e-7a52-4f0e-9a3c-0c1d2e3f4a5b", **claims}
    signature = base64.urlsafe_b64encode(random.randbytes(64)).rstrip(b"=").decode()
    return f"{part(header)}.{part(payload)}.{signature};info=<{address}>;alg=ES256;ppt=shaken"


async def attack(ground):
    """Class L, SSRF by the certificate's address of a signed caller (RFC 8224 section 14, x5u).
    Evidence: CVE-2022-21723 and others in stacks that fetch what a SIP message names; JWT libraries that follow x5u.
    Must hold: of more than 60 spellings of inner addresses, and names that resolve inside, none is connected to; a public one
    is, so the fetches are real. Every call is decided within two seconds, and no caller is told as verified."""
    inside = ssrf()
    for address in inside.INSIDE:
        if not address.startswith("127.") and address != "::1":
            add_address(f"{address}/{128 if ':' in address else 32}")
    add_address(f"{inside.OUTSIDE}/32")
    questions = inside.serve_names()
    folder = pathlib.Path(tempfile.mkdtemp())
    authority, _ = certificate(folder)
    trunk = Trunk("first", lines=["stir: verify"])
    async with VerifyingLab("b21", trunks=[trunk], more=f"stir:\n  authorities: [{authority}]\n") as lab:
        reached, outside = [], []
        for address in inside.INSIDE:
            for port in (443, 8443, 80):
                await inside.tcp_listener(address, port, reached)
        await inside.tcp_listener(inside.OUTSIDE, 443, outside)
        peer = Datagrams("127.0.0.1")
        spellings = [host for host in inside.SPELLINGS if host.isascii() and ";" not in host and "<" not in host]
        hosts = spellings + list(inside.NAMES) + ["rebinding.example.com", f"{inside.OUTSIDE}@10.0.0.1", inside.OUTSIDE]
        slow, odd, tried = [], [], 0
        for host in hosts:
            for port in ("", ":8443", ":80"):
                tried += 1
                call_id = f"signed{tried}"
                message = sip(
                    "INVITE", peer.port, gateway=lab.sip_port, host="127.0.0.1", target=CALLED, sender=CALLER,
                    call_id=call_id, body=description("127.0.0.1"),
                    fields=[f"Identity: {passport(f'https://{host}{port}/certificate.pem')}",
                            "Content-Type: application/sdp"])
                begin = time.monotonic()
                peer.send(message, lab.sip_port)

                def final(call_id=call_id):
                    return next((data for _, data, _ in peer.received
                                 if call_id.encode() in data and not data.startswith(b"SIP/2.0 1")), None)

                await until("the call is decided", final, 5, every=0.01)
                if time.monotonic() - begin > 2:
                    slow.append(f"{host}{port}: {time.monotonic() - begin:.1f} s")
                # Nobody is there: the call is refused for that, and for nothing else.
                if not final().startswith(b"SIP/2.0 480"):
                    odd.append(f"{host}{port}: {final()[:60]!r}")
        records = json.loads((await lab.http_request("GET", "/v1/calls?limit=100"))[2])
        failed = [call for call in records.get("calls", []) if (call.get("from") or {}).get("verified") == "failed"]
        require(failed, f"callers are told as failed: {str(records)[:300]}")
        verified = [call for call in records.get("calls", []) if (call.get("from") or {}).get("verified") in ("A", "B", "C")]
        require(outside, "the public address is fetched from")
        require(not odd, f"each call goes on to nobody: {odd[:5]}")
        ground.none("B21", reached, "connections inside",
                    f"{tried} calls: {len(spellings)} spellings, {len(inside.NAMES)} names ({len(questions)} questions to "
                    f"the resolver), {len(outside)} connections to the public address")
        ground.none("B21", slow, "calls that waited longer than 2 s for their verification", f"{tried} calls")
        ground.none("B21", verified, "callers told as verified without a signature", f"{tried} calls")
        peer.close()
        await lab.idle(30)
