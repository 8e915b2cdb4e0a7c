"""Those who begin and never end."""

import contextlib
import pathlib
import resource
import tempfile

from gateway_lab import PROTOCOL, Lab, Trunk
from ground import *


async def attack(ground):
    """Class M and B, slow and half-open clients.
    Evidence: AST-2016-005 (idle TCP connections use up all slots), slowloris, livekit and verto WebSocket fixes.
    Must hold: requests and upgrades that never end, sockets without a word, WebSockets without a proof, handshakes and SIP
    messages that stop halfway: 10 s later not one of them is held, and a call went through in between."""
    count = ground.size(60, 2500)
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    require(most > 14 * count, f"{most} descriptors are enough")
    folder = pathlib.Path(tempfile.mkdtemp())
    async with Lab("c08", trunks=[Trunk("first")], tls=certificate(folder)) as lab:
        carrier = await hostile_carrier(lab, "first")
        app = await lab.app()
        # Ports of a call rest open after it, and are none of theirs.
        before = lab.streams_open()
        upgrade = "\r\n".join([
            "GET /v1/connect HTTP/1.1", f"Host: 127.0.0.1:{lab.http_port}", "Upgrade: websocket", "Connection: Upgrade",
            "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==", "Sec-WebSocket-Version: 13",
            f"Sec-WebSocket-Protocol: {PROTOCOL}"]).encode()
        kinds = {
            "HTTP without a word": (lab.http_port, b""), "half an upgrade": (lab.http_port, upgrade),
            "half a line": (lab.http_port, b"GET /v1"), "a body that never comes": (
                lab.http_port, b"POST /v1/accounts HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n{"),
            "an upgrade without a proof": (lab.http_port, upgrade + b"\r\n\r\n"),
            "half a frame": (lab.http_port, upgrade + b"\r\n\r\n\x81\xfe\xff"),
            "half a SIP message": (lab.sip_port, b"INVITE sip:a@b SIP/2.0\r\nVia: "),
            "SIP without a word": (lab.sip_port, b""), "half a ClientHello": (lab.tls_port, b"\x16\x03\x01\x02\x00\x01"),
            "TLS without a word": (lab.tls_port, b""),
        }
        streams, dribbling, refused = [], [], 0
        for name, (port, data) in kinds.items():
            for number in range(count):
                try:
                    # No more from one address than one host may have.
                    reader, writer = await asyncio.open_connection(
                        "127.0.0.1", port, local_addr=(f"127.0.{3 + number // 100}.{1 + number % 100}", 0))
                except OSError:
                    refused += 1
                    continue
                writer.write(data)
                streams.append((name, reader, writer))
                if number % 4 == 0 and data:
                    dribbling.append(writer)
        opened = time.monotonic()
        held = lab.streams_open() - before
        call = await app.call()
        await call.accepted()
        await call.hang_up()
        await call.ended()
        # Some of them send a byte now and then.
        while time.monotonic() - opened < 10:
            for writer in dribbling:
                if not writer.transport.is_closing():
                    writer.write(b"a")
            await asyncio.sleep(1)
        # A deadline of 10 s is looked after once a second.
        await asyncio.sleep(1)
        left = lab.streams_open() - before
        alive = {}
        for name, reader, writer in streams:
            if not reader.at_eof() and not writer.transport.is_closing():
                # What was read is a refusal or a WebSocket's word; the end comes behind it.
                reader._buffer.clear()
                with contextlib.suppress(asyncio.TimeoutError, OSError):
                    if await asyncio.wait_for(reader.read(), 0.002 if len(alive) > 40 else 0.02) is not None:
                        continue
                alive[name] = alive.get(name, 0) + 1
        ground.promise("C8", max(0, left), "connections held after 10 s", "0", left <= 0,
                       f"{len(streams)} opened, {held} held at first, {refused} refused; left: {alive}")
        for _, _, writer in streams:
            writer.transport.abort()
        call = await app.call()
        await call.accepted()
        await call.hang_up()
        await call.ended()
        await lab.idle()
        require(len(carrier.calls) == 2, "both calls went through")
