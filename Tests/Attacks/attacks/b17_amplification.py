"""Whether the gateway can be used against a third party."""

from gateway_lab import Lab, Trunk
from ground import *


async def attack(ground):
    """Class J, reflection and amplification: what an unauthenticated source over UDP gets back.
    Evidence: Via reflection 1:10 to more than 1:350 (draft-zourzouvillys-sip-via-cookie), RFC 5393, coturn GHSA-5x2p.
    Must hold: bytes out / bytes in <= 1.0 and at most one packet for each probe, never to anybody but the source."""
    async with Lab("b17", trunks=[Trunk("first")]) as lab:
        carrier = await hostile_carrier(lab, "first")
        voice = await Voice.start(await lab.app())
        # Addresses that Via names: nothing may come to them.
        others = [Datagrams("127.0.0.3", port) for port in (5060, 9, 40001)]
        sip_port = lab.sip_port
        probes = []

        def probe(name, data, port, host=STRANGER):
            source = Datagrams(host)
            data = data(source.port) if callable(data) else data
            source.send(data, port)
            probes.append((name, source))

        vias = {"plain": "", "rport": ";rport", "rport given": ";rport=40001", "maddr": ";maddr=127.0.0.3",
                "received": ";received=127.0.0.3", "all": ";maddr=127.0.0.3;received=127.0.0.3;rport=40001;ttl=9"}
        for method in METHODS:
            for name, via in vias.items():
                probe(f"{method} {name}", lambda port: sip(method, port, gateway=sip_port, via=via), sip_port)
            probe(f"{method} in a dialog", lambda port: sip(method, port, gateway=sip_port, to_tag="foreign"), sip_port)
            probe(f"{method} from elsewhere",
                  lambda port: sip(method, 40001, host="127.0.0.3", gateway=sip_port), sip_port)
        body = description()
        for name, data in {
            "INVITE with a description": lambda port: sip(
                "INVITE", port, gateway=sip_port, fields=["Content-Type: application/sdp"], body=body),
            "INVITE that asks for a lot": lambda port: sip(
                "INVITE", port, gateway=sip_port, fields=["Require: " + ", ".join(f"a{i}" for i in range(40))]),
            "many Vias": lambda port: sip("OPTIONS", port, gateway=sip_port,
                                          fields=["Via: SIP/2.0/UDP 127.0.0.3;branch=z9hG4bKx"] * 20),
            "the least that can be": lambda port: (
                f"OPTIONS sip:a SIP/2.0\r\nv:SIP/2.0/UDP {STRANGER}:{port};branch=z9hG4bKa\r\nf:<sip:a>;tag=1\r\n"
                "t:<sip:a>\r\ni:1\r\nCSeq:1 OPTIONS\r\n\r\n").encode(),
            "no Call-ID": lambda port: sip("OPTIONS", port, gateway=sip_port).replace(b"Call-ID:", b"X-ID:"),
            "wrong length": lambda port: sip("INVITE", port, gateway=sip_port).replace(b"Length: 0", b"Length: 99"),
            "version 3": lambda port: sip("INVITE", port, gateway=sip_port).replace(b"SIP/2.0\r\n", b"SIP/3.0\r\n", 1),
            "a response": b"SIP/2.0 200 OK\r\nVia: SIP/2.0/UDP 127.0.0.3;branch=z9hG4bKa\r\nCSeq: 1 INVITE\r\n\r\n",
            "a keep-alive": b"\r\n\r\n", "empty": b"", "one byte": b"\0", "junk": ground.random.randbytes(900),
            "large junk": ground.random.randbytes(60000), "text": b"GET / HTTP/1.1\r\n\r\n",
        }.items():
            probe(name, data, sip_port)
        stun = b"\x00\x01\x00\x00\x21\x12\xa4\x42" + ground.random.randbytes(12)
        user = b"\x00\x06\x00\x08abcd:efg" + b"\x00\x08\x00\x14" + bytes(20)
        integrity = b"\x00\x01" + len(user).to_bytes(2, "big") + b"\x21\x12\xa4\x42" + ground.random.randbytes(12) + user
        for port in media_ports(lab):
            for name, data in {
                "STUN": stun, "STUN with a wrong key": integrity, "STUN allocate": b"\x00\x03" + stun[2:],
                "ClientHello": client_hello(ground.random), "DTLS alert": b"\x15\xfe\xfd" + bytes(8) + b"\x00\x02\x02\x28",
                "RTP": rtp(1, 160), "RTCP": b"\x80\xc9\x00\x01" + bytes(4), "RTCP BYE": b"\x81\xcb\x00\x01" + bytes(4),
                "ChannelData": b"\x40\x00\x00\x04abcd", "junk": ground.random.randbytes(400), "empty": b"",
            }.items():
                probe(f"{name} to a port of media", data, port)
        # Two repetitions of a response would have come by now (timer G: 0.5 s, 1 s).
        await asyncio.sleep(ground.size(1.8, 34))
        ratios = {name: source.bytes_received / max(1, source.sent) for name, source in probes}
        most = max(len(source.received) for _, source in probes)
        worst = max(ratios, key=ratios.get)
        total = sum(source.bytes_received for _, source in probes) / sum(source.sent for _, source in probes)
        ground.promise("B17", f"{ratios[worst]:.2f}", "bytes out / bytes in, worst probe", "<= 1.0", ratios[worst] <= 1,
                       f"{len(probes)} probes over UDP, all together {total:.3f}; worst: {worst}")
        ground.promise("B17", most, "packets for one probe", "<= 1", most <= 1)
        ground.none("B17", [data for other in others for _, data, _ in other.received],
                    "packets to addresses that Via named")
        await voice.speaks()
        ended = await voice.end()
        ground.promise("B17", ended["cause"], "end of the call meanwhile", "hungUp", ended["cause"] == "hungUp")
        await lab.idle()


def client_hello(random):
    """A DTLS 1.2 ClientHello that offers no encryption (TLS_NULL_WITH_NULL_NULL)."""
    hello = b"\xfe\xfd" + random.randbytes(32) + b"\0" + b"\0" + b"\0\x02\0\0" + b"\x01\0"
    handshake = b"\x01" + len(hello).to_bytes(3, "big") + b"\0\0" + b"\0\0\0" + len(hello).to_bytes(3, "big") + hello
    return b"\x16\xfe\xff\0\0" + bytes(6) + len(handshake).to_bytes(2, "big") + handshake
