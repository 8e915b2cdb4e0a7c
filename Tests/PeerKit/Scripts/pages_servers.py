"""Small servers on loopback beside a gateway: a relay whose connections can be cut, and a site of another origin."""

import asyncio


class Relay:
    """Passes TCP on to a port; `cut` breaks every connection and refuses new ones until `mend`."""

    def __init__(self, port):
        self._target = port
        self._writers = set()
        self._server = None
        self._is_cut = False
        self.port = 0

    async def start(self):
        self._server = await asyncio.start_server(self._take, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def _take(self, reader, writer):
        if self._is_cut:
            writer.transport.abort()
            return
        try:
            far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self._target)
        except OSError:
            writer.transport.abort()
            return
        ends = {writer, far_writer}
        self._writers |= ends
        await asyncio.gather(_pass(reader, far_writer), _pass(far_reader, writer))
        self._writers -= ends

    def cut(self):
        self._is_cut = True
        for writer in self._writers:
            writer.transport.abort()

    def mend(self):
        self._is_cut = False

    async def stop(self):
        self.cut()
        if self._server:
            self._server.close()


async def _pass(reader, writer):
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
        writer.write_eof()
    except (OSError, RuntimeError):
        writer.transport.abort()


class Site:
    """Answers every GET with one page, and remembers the heads of the requests that came."""

    def __init__(self, page):
        self._page = page.encode()
        self._server = None
        self.requests = []
        self.port = 0

    async def start(self):
        self._server = await asyncio.start_server(self._answer, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]

    async def _answer(self, reader, writer):
        try:
            self.requests.append((await reader.readuntil(b"\r\n\r\n")).decode("latin-1"))
            head = (
                "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nConnection: close\r\n"
                f"Content-Length: {len(self._page)}\r\n\r\n"
            )
            writer.write(head.encode() + self._page)
            await writer.drain()
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass
        finally:
            writer.close()

    async def stop(self):
        if self._server:
            self._server.close()
