"""The client's end of a WebSocket (RFC 6455) over plain TCP, no larger than tests need it."""

import asyncio
import base64
import hashlib
import os
import struct

# RFC 6455 section 1.3.
GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
CONTINUATION, TEXT, CLOSE, PING, PONG = 0, 1, 8, 9, 10
MOST_BYTES = 1 << 24


class Closed(Exception):
    """The connection is over: code 1006 where no close frame came."""

    def __init__(self, code, reason=""):
        super().__init__(f"closed with {code} {reason}".strip())
        self.code, self.reason = code, reason


class WebSocket:
    def __init__(self, reader, writer):
        self._reader, self._writer = reader, writer

    @classmethod
    async def open(cls, host, port, path, protocol=None, origin="", **connection):
        """Connects, with what asyncio.open_connection takes; what the server says instead of 101 is a ValueError."""
        reader, writer = await asyncio.open_connection(host, port, **connection)
        key = base64.b64encode(os.urandom(16))
        lines = [
            f"GET {path} HTTP/1.1",
            f"Host: {host}:{port}",
            "Upgrade: websocket",
            "Connection: Upgrade",
            f"Sec-WebSocket-Key: {key.decode()}",
            "Sec-WebSocket-Version: 13",
        ]
        lines += [f"Sec-WebSocket-Protocol: {protocol}"] if protocol else []
        lines += [f"Origin: {origin}"] if origin else []
        writer.write("\r\n".join(lines + ["", ""]).encode())
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        fields = dict(line.lower().split(": ", 1) for line in head[1:] if ": " in line)
        accept = base64.b64encode(hashlib.sha1(key + GUID).digest()).decode()
        accepted = next((line.split(": ", 1)[1] for line in head if line.lower().startswith("sec-websocket-accept: ")), "")
        if " 101 " not in head[0] or accepted != accept or fields.get("sec-websocket-protocol") != protocol:
            writer.close()
            raise ValueError(f"no WebSocket: {head[0]} {fields}")
        return cls(reader, writer)

    async def send(self, text):
        await self._send(TEXT, text.encode())

    async def _send(self, kind, payload):
        size = len(payload)
        if size < 126:
            head = struct.pack("!BB", 0x80 | kind, 0x80 | size)
        elif size < 1 << 16:
            head = struct.pack("!BBH", 0x80 | kind, 0x80 | 126, size)
        else:
            head = struct.pack("!BBQ", 0x80 | kind, 0x80 | 127, size)
        mask = os.urandom(4)
        masked = bytes(byte ^ mask[index & 3] for index, byte in enumerate(payload))
        self._writer.write(head + mask + masked)
        await self._writer.drain()

    async def receive(self):
        """The next text; answers pings and closing. Raises Closed."""
        text = b""
        while True:
            try:
                is_last, kind, payload = await self._frame()
            except (asyncio.IncompleteReadError, OSError):
                raise Closed(1006) from None
            if kind == PING:
                await self._send(PONG, payload)
            elif kind == CLOSE:
                await self._send(CLOSE, payload[:2])
                self._writer.close()
                code = struct.unpack("!H", payload[:2])[0] if len(payload) >= 2 else 1005
                raise Closed(code, payload[2:].decode("utf-8", "replace"))
            elif kind in (TEXT, CONTINUATION):
                text += payload
                if len(text) > MOST_BYTES:
                    raise ValueError("the server's message is too large")
                if is_last:
                    return text.decode()

    async def _frame(self):
        first, second = await self._reader.readexactly(2)
        if second & 0x80:
            raise ValueError("the server masks a frame")
        size = second & 0x7F
        if size == 126:
            (size,) = struct.unpack("!H", await self._reader.readexactly(2))
        elif size == 127:
            (size,) = struct.unpack("!Q", await self._reader.readexactly(8))
        if size > MOST_BYTES:
            raise ValueError("the server's frame is too large")
        return bool(first & 0x80), first & 0x0F, await self._reader.readexactly(size)

    async def close(self, code=1000):
        await self._send(CLOSE, struct.pack("!H", code))

    def drop(self):
        """The network is gone: nothing is said, nothing more is read."""
        self._writer.transport.abort()
