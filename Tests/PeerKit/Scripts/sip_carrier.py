"""A carrier that does what a test says: a SIP user agent server over UDP or TCP on loopback, and what it saw.

    carrier = Carrier("first", 5070, plan=lambda invite: Plan(ring=0.1, answer=0.5, bye_after=2))
"""

import asyncio
import re
import socket
import struct
import time

# Nobody has to find this carrier's sound there.
DISCARD = 9


class Plan:
    """What happens to one call. Times are seconds, from the INVITE on; None is never."""

    def __init__(
        self, *, ring=0.0, early=None, answer=0.02, status=200, headers=(), bye_after=None, ignores_bye=False,
        ignores_all=False, answers_cancel=True, copies=1,
    ):
        """ring: 180; early: 183 with a description; answer: the final response `status`; bye_after: seconds after the
        answer; copies: how often each response is sent."""
        self.ring, self.early, self.answer, self.status, self.headers = ring, early, answer, status, list(headers)
        self.bye_after, self.ignores_bye, self.ignores_all = bye_after, ignores_bye, ignores_all
        self.answers_cancel, self.copies = answers_cancel, copies


class Message:
    """A SIP message, read as far as a carrier needs it."""

    def __init__(self, data):
        head, _, self.body = data.partition(b"\r\n\r\n")
        lines = head.decode("utf-8", "replace").split("\r\n")
        self.start = lines[0]
        self.fields = []
        for line in lines[1:]:
            name, _, value = line.partition(":")
            self.fields.append((name.strip().lower(), value.strip()))
        self.method = None if self.start.startswith("SIP/2.0") else self.start.split(" ")[0]
        self.status = int(self.start.split(" ")[1]) if self.method is None else None

    def all(self, name):
        short = {"via": "v", "from": "f", "to": "t", "call-id": "i", "contact": "m", "content-length": "l"}.get(name)
        return [value for key, value in self.fields if key in (name, short)]

    def one(self, name):
        return (self.all(name) or [""])[0]

    @property
    def user(self):
        found = re.match(r"\S+ sips?:([^@;>]*)@", self.start)
        return found.group(1) if found else ""


class CarrierCall:
    def __init__(self, carrier, invite, reply):
        self.carrier, self.invite, self.reply = carrier, invite, reply
        self.id = invite.one("call-id")
        self.number = invite.user
        self.invited_at = time.monotonic()
        self.invites = 1
        self.rung_at = self.answered_at = self.acknowledged_at = self.cancelled_at = self.bye_at = None
        self.bye_sent_at = self.bye_confirmed_at = None
        self.acks = self.byes = 0
        self.final = None
        self.tag = f"{carrier.name}{len(carrier.calls)}"
        self.tasks = []
        self._last = None
        self._sequence = 0
        self.plan = carrier.plan(invite)

    @property
    def is_up(self):
        return self.answered_at is not None and self.bye_at is None and self.bye_sent_at is None

    def respond(self, status, request=None, body=None, headers=()):
        request = request or self.invite
        text = response(request, status, self.tag, self.carrier, body, headers)
        if request is self.invite:
            self._last = text
            if status >= 200:
                self.final = status
                if status < 300:
                    self.answered_at = time.monotonic()
        for _ in range(self.plan.copies):
            self.reply(text)

    def again(self):
        self.invites += 1
        if self._last and not self.plan.ignores_all:
            self.reply(self._last)

    async def run(self):
        plan = self.plan
        if plan.ignores_all:
            return
        if plan.ring is not None:
            await pause(self.invited_at + plan.ring)
            if self.final is None:
                self.rung_at = time.monotonic()
                self.respond(180)
        if plan.early is not None:
            await pause(self.invited_at + plan.early)
            if self.final is None:
                self.respond(183, body=self.carrier.description(self))
        if plan.answer is None:
            return
        await pause(self.invited_at + plan.answer)
        if self.final is not None:
            return
        self.respond(plan.status, body=self.carrier.description(self) if plan.status < 300 else None, headers=plan.headers)
        # RFC 3261 section 13.3.1.4: a 2xx is repeated until its ACK.
        wait, until = 0.5, time.monotonic() + 32
        while self.acknowledged_at is None and time.monotonic() < until and not self.carrier.is_stream:
            await asyncio.sleep(wait)
            if self.acknowledged_at is None and self._last and self.bye_at is None:
                self.reply(self._last)
            wait = min(4, 2 * wait)

    async def hang_up_later(self, seconds):
        await asyncio.sleep(seconds)
        if self.is_up:
            self.hang_up()

    def hang_up(self):
        """BYE, repeated until it is answered."""
        self.bye_sent_at = time.monotonic()
        self.tasks.append(asyncio.ensure_future(self._bye()))

    async def _bye(self):
        self._sequence += 1
        target = re.search(r"<([^>]+)>", self.invite.one("contact"))
        lines = [
            f"BYE {target.group(1) if target else self.invite.one('contact')} SIP/2.0",
            f"Via: SIP/2.0/{self.carrier.transport.upper()} 127.0.0.1:{self.carrier.port}"
            f";branch=z9hG4bK{self.tag}b{self._sequence}",
            f"From: {self.invite.one('to')};tag={self.tag}", f"To: {self.invite.one('from')}", f"Call-ID: {self.id}",
            f"CSeq: {self._sequence} BYE", "Max-Forwards: 70", "Content-Length: 0", "", "",
        ]
        wait = 0.5
        for _ in range(8):
            self.reply("\r\n".join(lines).encode())
            await asyncio.sleep(wait)
            if self.bye_confirmed_at is not None:
                return
            wait = min(4, 2 * wait)

    def offered_media(self):
        """Where the gateway wants its sound: (address, port)."""
        text = self.invite.body.decode("utf-8", "replace")
        host = re.search(r"^c=IN IP4 (\S+)", text, re.M)
        port = re.search(r"^m=audio (\d+)", text, re.M)
        return (host.group(1), int(port.group(1))) if host and port else None


async def pause(until):
    left = until - time.monotonic()
    if left > 0:
        await asyncio.sleep(left)


def response(request, status, tag, carrier, body=None, headers=()):
    lines = [f"SIP/2.0 {status} {PHRASES.get(status, 'Whatever')}"]
    lines += [f"Via: {value}" for value in request.all("via")]
    lines += [f"Record-Route: {value}" for value in request.all("record-route")]
    lines.append(f"From: {request.one('from')}")
    to = request.one("to")
    lines.append(f"To: {to}" + ("" if ";tag=" in to or status == 100 else f";tag={tag}"))
    lines += [f"Call-ID: {request.one('call-id')}", f"CSeq: {request.one('cseq')}"]
    if status < 300 or 300 <= status < 400 and not any(each.lower().startswith("contact") for each in headers):
        lines.append(f"Contact: <sip:carrier@127.0.0.1:{carrier.port};transport={carrier.transport}>")
    lines += list(headers)
    data = (body or "").encode()
    if data:
        lines.append("Content-Type: application/sdp")
    lines.append(f"Content-Length: {len(data)}")
    return "\r\n".join(lines + ["", ""]).encode() + data


PHRASES = {100: "Trying", 180: "Ringing", 183: "Session Progress", 200: "OK", 486: "Busy Here", 487: "Request Terminated",
           503: "Service Unavailable", 408: "Request Timeout", 404: "Not Found", 481: "Call Does Not Exist"}


class Carrier:
    def __init__(self, name, port, *, plan=None, transport="udp", sound=False, resets=False):
        """sound: sends silence of G.711 while a call is up; resets: takes TCP connections and breaks them at once."""
        self.name, self.port, self.transport, self.resets = name, port, transport, resets
        self.plan = plan or (lambda invite: Plan())
        self.calls = []
        self.by_id = {}
        self.options = 0
        # Everything that comes is dropped unseen.
        self.is_dead = False
        # OPTIONS gets this.
        self.options_status = 200
        # INVITEs come in, and nothing is said to them.
        self.datagrams = 0
        self._has_sound = sound
        self._socket = None
        self._server = None
        self._writers = set()
        self._tasks = set()
        self._rtp = None

    @property
    def is_stream(self):
        return self.transport == "tcp"

    async def start(self):
        if self.is_stream:
            self._server = await asyncio.start_server(self._connected, "127.0.0.1", self.port)
        else:
            loop = asyncio.get_running_loop()
            udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            udp.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
            udp.setblocking(False)
            udp.bind(("127.0.0.1", self.port))
            self._socket = udp
            loop.add_reader(udp.fileno(), self._readable)
        if self._has_sound:
            self._rtp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            self._rtp.bind(("127.0.0.1", 0))
            self._rtp.setblocking(False)

    def close(self):
        """The carrier is gone: what is sent to it is refused by the machine."""
        for task in list(self._tasks) + [task for call in self.calls for task in call.tasks]:
            task.cancel()
        if self._socket:
            asyncio.get_event_loop().remove_reader(self._socket.fileno())
            self._socket.close()
            self._socket = None
        if self._server:
            self._server.close()
            for writer in list(self._writers):
                writer.transport.abort()
            self._server = None
        if self._rtp:
            self._rtp.close()
            self._rtp = None

    def description(self, call=None, request=None):
        """What a call is answered with; request: a later offer of its."""
        port = self._rtp.getsockname()[1] if self._rtp else DISCARD
        return "\r\n".join([
            "v=0", "o=carrier 7 1 IN IP4 127.0.0.1", "s=-", "c=IN IP4 127.0.0.1", "t=0 0",
            f"m=audio {port} RTP/AVP 0 101", "a=rtpmap:0 PCMU/8000", "a=rtpmap:101 telephone-event/8000",
            "a=fmtp:101 0-15", "a=ptime:20", "a=sendrecv", "",
        ])

    @property
    def up(self):
        return [call for call in self.calls if call.is_up]

    # What comes

    def _readable(self):
        for _ in range(64):
            try:
                data, address = self._socket.recvfrom(65535)
            except (BlockingIOError, ConnectionRefusedError, AttributeError):
                return
            udp = self._socket
            self.datagrams += 1
            if len(data) > 4 and not self.is_dead:
                self._take(data, lambda text, address=address, udp=udp: self._send(udp, text, address))

    def _send(self, udp, text, address):
        if udp is self._socket and not self.is_dead:
            try:
                udp.sendto(text, address)
            except OSError:
                pass

    async def _connected(self, reader, writer):
        if self.resets:
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.transport.abort()
            return
        self._writers.add(writer)
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                if not head.strip():
                    continue
                found = re.search(rb"(?im)^(?:content-length|l)\s*:\s*(\d+)", head)
                body = await reader.readexactly(int(found.group(1)) if found else 0)
                if not self.is_dead:
                    self._take(head.lstrip() + body, lambda text: writer.write(text))
        except (asyncio.IncompleteReadError, OSError):
            pass
        finally:
            self._writers.discard(writer)
            writer.close()

    def _take(self, data, reply):
        message = Message(data)
        call = self.by_id.get(message.one("call-id"))
        if message.method is None:
            if call and "BYE" in message.one("cseq"):
                call.bye_confirmed_at = time.monotonic()
        elif message.method == "OPTIONS":
            self.options += 1
            if self.options_status:
                reply(response(message, self.options_status, "options", self))
        elif message.method == "INVITE":
            if call and ";tag=" in message.one("to"):
                call.respond(200, message, self.description(call, message))
            elif call:
                call.again()
            else:
                call = CarrierCall(self, message, reply)
                self.calls.append(call)
                self.by_id[call.id] = call
                self._spawn(call.run())
        elif call is None:
            if message.method != "ACK":
                reply(response(message, 481, "unknown", self))
        elif message.method == "ACK":
            call.acks += 1
            if call.acknowledged_at is None:
                call.acknowledged_at = time.monotonic()
                if call.answered_at is not None:
                    if call.plan.bye_after is not None:
                        call.tasks.append(asyncio.ensure_future(call.hang_up_later(call.plan.bye_after)))
                    if self._rtp:
                        self._spawn(self._speak(call))
        elif message.method == "CANCEL":
            call.cancelled_at = call.cancelled_at or time.monotonic()
            if not call.plan.ignores_all and call.plan.answers_cancel:
                call.respond(200, message)
                if call.final is None:
                    call.respond(487)
        elif message.method == "BYE":
            call.byes += 1
            call.bye_at = call.bye_at or time.monotonic()
            if not call.plan.ignores_bye:
                call.respond(200, message)
        else:
            call.respond(200, message)

    async def _speak(self, call):
        target = call.offered_media()
        number, start = 0, time.monotonic()
        while call.is_up and self._rtp and target:
            header = struct.pack("!BBHII", 0x80, 0, number & 0xFFFF, 160 * number & 0xFFFFFFFF, 0x1234)
            try:
                self._rtp.sendto(header + b"\xff" * 160, target)
            except OSError:
                return
            number += 1
            await pause(start + 0.02 * number)

    def _spawn(self, work):
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
