"""Asks a gateway for calls at a given rate, whatever it answers, on many sessions: as cheap as Python can.

usage: caller.py PORT APPLICATION-KEY SESSIONS, then lines on standard input, each answered by a line of JSON with what
became of the calls, all of them and by the tenth of a second in which they were asked for. Nobody hangs up: the callee does.

    rate CALLS-PER-SECOND SECONDS    asks whatever is answered
    hold CALLS SECONDS               so many are asked for and not answered yet, at any time
"""

import asyncio
import collections
import json
import os
import re
import struct
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "PeerKit", "Scripts"))

from gateway_lab import CLIENT, NUMBER, PROTOCOL, SECRET, signature, silent_offer  # noqa: E402
from web_socket import WebSocket  # noqa: E402

ASKED = re.compile(rb'"type":"(placed|error)","id":(\d+)')
CALL = re.compile(rb'"call":"([0-9a-f-]+)"')
RETRY = re.compile(rb'"retry_after":(\d+)')
COST = re.compile(rb'"cost_micro":[1-9]')
# Seconds after which nobody waits for an answer any more.
LONGEST = 2
# What one app may have at a time.
CALLS = 16


class Session(asyncio.Protocol):
    """A connection after its upgrade: frames out with a mask of zeros, frames in cut by their lengths."""

    def __init__(self, load):
        self.load = load
        self.data = b""
        self.live = 0
        self.by_call = {}

    def adopt(self, transport, rest):
        self.transport = transport
        transport.set_protocol(self)
        if rest:
            self.data_received(rest)

    def data_received(self, data):
        data = self.data + data if self.data else data
        start, end = 0, len(data)
        while end - start >= 2:
            size, head = data[start + 1] & 0x7F, 2
            if size == 126:
                if end - start < 4:
                    break
                size, head = int.from_bytes(data[start + 2 : start + 4], "big"), 4
            elif size == 127:
                if end - start < 10:
                    break
                size, head = int.from_bytes(data[start + 2 : start + 10], "big"), 10
            if end - start < head + size:
                break
            kind = data[start] & 0x0F
            if kind == 1:
                self.take(data[start + head : start + head + size])
            elif kind == 9:
                self.transport.write(bytes([0x8A, 0x80 | size]) + b"\0\0\0\0" + data[start + head : start + head + size])
            start += head + size
        self.data = data[start:]

    def take(self, text):
        if text.startswith(b'{"type":"accepted"'):
            bin_ = self.by_call.get(CALL.search(text).group(1))
            if bin_ is not None:
                asked, tenth = bin_
                tenth["answered"] += 1
                now = time.monotonic()
                self.load.delays.append(now - asked)
                if now - asked <= LONGEST:
                    tenth["good"] += 1
                    self.load.answered_at.append(now)
        elif text.startswith(b'{"type":"ended"'):
            found = self.by_call.pop(CALL.search(text).group(1), None)
            self.live -= 1
            if found is not None:
                found[1]["ended"] += 1
                if b'"failure"' in text:
                    found[1]["failed"] += 1
                    code = re.search(rb'"code":"([^"]+)"', text).group(1).decode()
                    self.load.codes[code] += 1
                    self.load.charged_failures += COST.search(text) is not None
        elif found := ASKED.search(text[:60]):
            asked = self.load.asked.pop(int(found.group(2)), None)
            if asked is None:
                return
            if found.group(1) == b"placed":
                self.by_call[CALL.search(text).group(1)] = asked
                asked[1]["placed"] += 1
            else:
                self.live -= 1
                asked[1]["refused"] += 1
                self.load.refusal_delays.append(time.monotonic() - asked[0])
                self.load.codes[re.search(rb'"code":"([^"]+)"', text).group(1).decode()] += 1
                self.load.untold += RETRY.search(text) is None

    def connection_lost(self, problem):
        self.load.lost += 1
        self.load.sessions.remove(self)

    def ask(self, number, tenth):
        text = self.load.message.replace(b'"id":0', b'"id":%d' % number)
        self.load.asked[number] = (time.monotonic(), tenth)
        self.live += 1
        tenth["asked"] += 1
        # A mask of zeros is a mask (RFC 6455 section 5.3), and costs nothing.
        self.transport.write(struct.pack("!BBHI", 0x81, 0xFE, len(text), 0) + text)


class Load:
    def __init__(self):
        self.asked = {}
        self.number = 10
        self.sessions = []
        self.turn = self.lost = 0
        self.message = json.dumps({"type": "call", "id": 0, "to": {"kind": "phone", "number": NUMBER},
                                   "offer": silent_offer(1)}, separators=(",", ":")).encode()
        self.clear()

    def clear(self):
        self.delays, self.refusal_delays, self.answered_at, self.codes = [], [], [], collections.Counter()
        self.untold = self.charged_failures = 0

    async def open(self, port, application, count):
        stamp = int(time.time() * 1000)
        for number in range(count):
            web = await WebSocket.open("127.0.0.1", port, "/v1/connect", PROTOCOL)
            user = f"caller{number}"
            await web.send(json.dumps({
                "type": "register", "id": 1, "application": application, "user": user, "device": f"d{number}",
                "client": CLIENT, "capabilities": ["calling"],
                "proof": {"kind": "signature", "signature": signature(user, application, stamp + number, SECRET),
                          "sequence": str(stamp + number)}}))
            answer = json.loads(await web.receive())
            if answer["type"] != "registered":
                raise SystemExit(f"not registered: {answer}")
            session = Session(self)
            # Its writer would close the connection with its own end.
            session.web = web
            session.adopt(web._writer.transport, bytes(web._reader._buffer))
            self.sessions.append(session)

    def ask(self, tenth):
        """Asks on the next session that may have one call more.
        Returns whether there was one."""
        for _ in range(len(self.sessions)):
            self.turn += 1
            session = self.sessions[self.turn % len(self.sessions)]
            if session.live < CALLS:
                self.number += 1
                session.ask(self.number, tenth)
                return True
        return False

    async def run(self, kind, count, seconds):
        self.clear()
        tenths = [dict.fromkeys(("asked", "placed", "answered", "good", "refused", "ended", "failed"), 0)
                  for _ in range(int(seconds * 10) + 1)]
        start, sent, skipped = time.monotonic(), 0, 0
        while (now := time.monotonic() - start) < seconds:
            if kind == "rate":
                due = min(int(now * count) - sent, 400)
                sent += due
            else:
                due = int(count) - len(self.asked) - sum(tenth["placed"] - tenth["answered"] for tenth in tenths) + (
                    sum(tenth["failed"] for tenth in tenths))
            for _ in range(due):
                skipped += not self.ask(tenths[int(now * 10)])
            await asyncio.sleep(0.002)
        end = time.monotonic()
        # What is under way may come to its end.
        while time.monotonic() < end + 6 and any(session.live for session in self.sessions):
            await asyncio.sleep(0.05)
        delays, refusals = sorted(self.delays), sorted(self.refusal_delays)

        def at(values, share):
            return values[min(len(values) - 1, int(share * len(values)))] if values else None

        total = {key: sum(tenth[key] for tenth in tenths) for key in tenths[0]}
        print(json.dumps({
            "took": end - start, "skipped": skipped, "total": total, "tenths": tenths, "codes": self.codes,
            # Answered calls a second, without the first second's: a queue that is emptied afterwards is no throughput.
            "goodput": sum(start + 1 < each <= end for each in self.answered_at) / max(0.001, end - start - 1),
            "untold": self.untold, "charged_failures": self.charged_failures, "p95": at(delays, 0.95),
            "refusal_p95": at(refusals, 0.95), "live": sum(session.live for session in self.sessions),
            "lost": self.lost}), flush=True)


async def main():
    load = Load()
    await load.open(int(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
    print(json.dumps({"ready": len(load.sessions)}), flush=True)
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while line := await reader.readline():
        kind, count, seconds = line.split()
        await load.run(kind.decode(), float(count), float(seconds))


asyncio.run(main())
