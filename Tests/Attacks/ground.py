"""What attacks share: where promises go, raw sockets, SIP messages as text, a carrier that is scripted, and calls with
sound."""

import argparse
import asyncio
import contextlib
import json
import os
import random
import re
import socket
import subprocess
import time

import numpy
import webrtc_audio
from gateway_lab import NUMBER, Lab, LabError, binary, require, until
from scoreboard import row
from sip_carrier import Carrier, Message, Plan, response

# A host that is no trunk's; all of 127.0.0.0/8 is this machine's loopback.
STRANGER = "127.0.0.2"
METHODS = ("OPTIONS", "INVITE", "REGISTER", "SUBSCRIBE", "MESSAGE", "PUBLISH", "BYE", "CANCEL", "ACK", "PRACK", "UPDATE",
           "INFO", "NOTIFY", "REFER", "DANCE")

webrtc_audio.emit = lambda *arguments, **members: None


class OwnedLab(Lab):
    """Each account has an owner with a key."""

    def configuration(self):
        owners = ["    owners:"]
        for account in self.accounts:
            owners += [f"      {account.name}-owner:", f"        account: {account.name}",
                       f"        key-file: {account.name}-owner.key"]
        own = "    operators:\n      production-admin:"
        return super().configuration().replace(own, "\n".join(owners) + "\n" + own)

    def key(self, account):
        return f"owner-key-of-{account}-0123456789abcdef"

    def prepare(self):
        for account in self.accounts:
            file = self.folder / f"{account.name}-owner.key"
            file.write_text(self.key(account.name) + "\n")
            file.chmod(0o600)
        super().prepare()


class Ground:
    def __init__(self, name, results, is_full):
        self.name, self._results, self.is_full = name, results, is_full
        self.random = random.Random(name)

    def size(self, ci, full):
        return full if self.is_full else ci

    def promise(self, row_name, figure, unit, target, passed, detail="", gate=True):
        """What was measured; `gate`: whether a miss must fail a build."""
        size = "full" if self.is_full else "ci"
        row(row_name, figure=figure, unit=unit, target=target, passed=passed, detail=detail, size=size, gate=gate)
        self._write({"row": row_name, "figure": str(figure), "unit": unit, "target": target, "passed": bool(passed),
                     "detail": detail, "gate": gate})

    def none(self, row_name, found, unit, detail=""):
        """Promises that a list is empty; what is in it is shown."""
        shown = "; ".join(str(each)[:160] for each in list(found)[:4])
        self.promise(row_name, len(found), unit, "0", not found, f"{detail}: {shown}" if shown else detail)

    def skip(self, row_name, reason):
        self._write({"row": row_name, "figure": "-", "unit": "", "target": "", "passed": True, "detail": reason,
                     "gate": False, "skipped": True})

    def _write(self, line):
        with open(self._results, "a") as file:
            file.write(json.dumps(line) + "\n")


def add_address(address):
    """Gives this network's loopback one more address."""
    subprocess.run(["ip", "address", "add", address, "dev", "lo"], check=True)


def certificate(folder, name="127.0.0.1"):
    """A certificate of one's own: (certificate, key) as paths."""
    paths = folder / "server.pem", folder / "server.key"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "30",
         "-subj", f"/CN={name}", "-addext", f"subjectAltName=IP:{name}", "-out", paths[0], "-keyout", paths[1]],
        check=True, capture_output=True)
    paths[1].chmod(0o600)
    return paths


async def https_gateway(lab, folder, pair):
    """A second gateway of the same accounts that speaks HTTPS, since the lab asks its own over HTTP: (port, process)."""
    port = lab.ports.take()
    state = folder / "other"
    state.mkdir()
    text = lab.configuration().replace(
        f"bind: 127.0.0.1:{lab.http_port}", f"bind: 127.0.0.1:{port}\n  certificate: {pair[0]}\n  key: {pair[1]}", 1)
    for old in (lab.sip_port, lab.tls_port):
        text = text.replace(f"bind: 127.0.0.1:{old}", f"bind: 127.0.0.1:{lab.ports.take()}")
    text = text.replace(f"port: {lab.app_media_port}", f"port: {lab.ports.take()}").replace(str(lab.state), str(state))
    path = lab.folder / "secure.yaml"
    path.write_text(text)
    process = await lab.started(
        binary(), "serve", "--config", str(path), stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL)

    def connects():
        with contextlib.suppress(OSError):
            socket.create_connection(("127.0.0.1", port), 1).close()
            return True
        return False

    await until("HTTPS", connects, 15, every=0.1)
    return port, process


# Datagrams


class Datagrams:
    """A UDP socket and what came to it: (seconds, bytes, from)."""

    def __init__(self, host=STRANGER, port=0):
        self.socket = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
        self.socket.setblocking(False)
        self.socket.bind((host, port))
        self.host, self.port = self.socket.getsockname()[:2]
        self.received = []
        self.sent = 0
        asyncio.get_running_loop().add_reader(self.socket.fileno(), self._read)

    def _read(self):
        for _ in range(256):
            try:
                data, source = self.socket.recvfrom(65535)
            except (BlockingIOError, ConnectionRefusedError):
                return
            self.received.append((time.monotonic(), data, source))

    def send(self, data, port, host="127.0.0.1"):
        try:
            self.sent += self.socket.sendto(data, (host, port))
        except (BlockingIOError, ConnectionRefusedError):
            pass

    @property
    def bytes_received(self):
        return sum(len(data) for _, data, _ in self.received)

    def close(self):
        asyncio.get_running_loop().remove_reader(self.socket.fileno())
        self.socket.close()


async def spray(sockets, ports, make, count, per_second, host="127.0.0.1"):
    """Sends `make(number)` from these sockets in turn to these ports in turn, at a rate. Sends what can be sent.
    Returns how many."""
    begin, sent = time.monotonic(), 0
    while sent < count:
        due = min(count, int((time.monotonic() - begin) * per_second) + 1)
        for number in range(sent, min(due, sent + 500)):
            sockets[number % len(sockets)].send(make(number), ports[number % len(ports)], host)
        sent = min(due, sent + 500)
        await asyncio.sleep(0 if sent < due else 0.002)
    return sent


# SIP as text


def sip(method, port, *, target=NUMBER, gateway=5060, transport="UDP", host=STRANGER, branch=None, via="", to_tag="",
        from_tag="stranger", call_id=None, cseq=1, fields=(), body=b"", uri=None, sender="stranger"):
    branch = branch or f"z9hG4bK{random.getrandbits(64):x}"
    lines = [
        f"{method} {uri or f'sip:{target}@127.0.0.1:{gateway}'} SIP/2.0",
        f"Via: SIP/2.0/{transport} {host}:{port};branch={branch}{via}",
        f"From: <sip:{sender}@{host}>;tag={from_tag}",
        f"To: <sip:{target}@127.0.0.1>" + (f";tag={to_tag}" if to_tag else ""),
        f"Call-ID: {call_id or f'{random.getrandbits(64):x}'}", f"CSeq: {cseq} {method}", "Max-Forwards: 70",
        f"Contact: <sip:{sender}@{host}:{port}>", *fields, f"Content-Length: {len(body)}", "", "",
    ]
    return "\r\n".join(lines).encode() + body


def description(host=STRANGER, port=40000):
    return "\r\n".join(["v=0", f"o=- 1 1 IN IP4 {host}", "s=-", f"c=IN IP4 {host}", "t=0 0",
                        f"m=audio {port} RTP/AVP 0", "a=rtpmap:0 PCMU/8000", ""]).encode()


class Stream:
    """A TCP or TLS connection to a SIP listener."""

    def __init__(self, reader, writer):
        self.reader, self.writer = reader, writer
        self.data = b""
        self.is_over = False
        self._task = asyncio.ensure_future(self._read())

    @classmethod
    async def open(cls, port, tls=None, host=STRANGER):
        return cls(*await asyncio.open_connection("127.0.0.1", port, ssl=tls, local_addr=(host, 0),
                                                  server_hostname="127.0.0.1" if tls else None))

    @property
    def port(self):
        return self.writer.get_extra_info("sockname")[1]

    async def _read(self):
        try:
            while data := await self.reader.read(65536):
                self.data += data
        except OSError:
            pass
        self.is_over = True

    def responses(self):
        """(status, Call-ID) of each."""
        return [(int(status), call_id.decode()) for status, call_id in re.findall(
            rb"SIP/2\.0 (\d{3}) .*?\r\nCall-ID: *([^\r]*)\r\n", self.data, re.S)]

    def statuses(self):
        return [status for status, _ in self.responses()]

    def close(self):
        self._task.cancel()
        self.writer.transport.abort()


# A carrier that attacks


class HostileCarrier(Carrier):
    """Keeps what came as it came; `script(message, reply, call)` may take a message over by returning True. Its sound is
    a socket of each call's own."""

    def __init__(self, *arguments, script=None, **settings):
        super().__init__(*arguments, sound=True, **settings)
        self.script = script
        # (bytes, message), in order.
        self.raw = []
        # (seconds, bytes, from) of all media.
        self.heard = []

    async def start(self):
        await super().start()
        asyncio.get_running_loop().add_reader(self._rtp.fileno(), self._hear)

    def _hear(self):
        for _ in range(256):
            try:
                data, source = self._rtp.recvfrom(2048)
            except (BlockingIOError, ConnectionRefusedError):
                return
            self.heard.append((time.monotonic(), data, source))

    @property
    def sound_port(self):
        return self._rtp.getsockname()[1]

    def close(self):
        if self._rtp:
            asyncio.get_running_loop().remove_reader(self._rtp.fileno())
        super().close()

    def _take(self, data, reply):
        message = Message(data)
        self.raw.append((data, message))
        if self.script and self.script(message, reply, self.by_id.get(message.one("call-id"))):
            return
        super()._take(data, reply)

    def requests(self, method):
        return [(data, message) for data, message in self.raw if message.method == method]


async def settled(carrier, gateway):
    """Waits until all that came to the gateway's SIP port over UDP before now was looked at, and had its effects: a
    request of the trunk itself, which comes behind it, is answered."""
    call_id = f"settled-{random.getrandbits(64):x}"
    carrier._socket.sendto(
        sip("OPTIONS", carrier.port, gateway=gateway, host="127.0.0.1", call_id=call_id), ("127.0.0.1", gateway))
    await until("answer to the trunk's own request", lambda: any(
        message.method is None and message.one("call-id") == call_id for _, message in carrier.raw))


async def hostile_carrier(lab, name, **settings):
    """In the place of `lab.carrier`: the lab closes it."""
    trunk = next(trunk for trunk in lab.trunks if trunk.name == name)
    carrier = HostileCarrier(name, trunk.port, **settings)
    await carrier.start()
    lab._carriers.setdefault(carrier.port, []).append(carrier)
    return carrier


def in_dialog(method, call, cseq, *, port, host="127.0.0.1", transport="UDP", tag=None, to_tag=None, body=b"", fields=()):
    """A request of the callee in a carrier's call, with its own tags unless others are given."""
    to = re.sub(r";tag=[^;>]*", f";tag={to_tag}", call.invite.one("from")) if to_tag else call.invite.one("from")
    target = re.search(r"<([^>]+)>", call.invite.one("contact")).group(1)
    lines = [
        f"{method} {target} SIP/2.0",
        f"Via: SIP/2.0/{transport} {host}:{port};branch=z9hG4bK{random.getrandbits(64):x}",
        f"From: {call.invite.one('to')};tag={tag or call.tag}", f"To: {to}", f"Call-ID: {call.id}",
        f"CSeq: {cseq} {method}", "Max-Forwards: 70", f"Contact: <sip:carrier@{host}:{port}>", *fields,
        *(["Content-Type: application/sdp"] if body else []), f"Content-Length: {len(body)}", "", "",
    ]
    return "\r\n".join(lines).encode() + body


# Calls with sound


class Voice:
    """A call of an app with sound, by aiortc. The app says nothing (silence); what it hears is kept."""

    def __init__(self, call, peer, placed):
        self.call, self.peer, self.placed = call, peer, placed

    @classmethod
    async def begin(cls, app, to=NUMBER, codec="pcma", **members):
        options = argparse.Namespace(setup="", codec=codec, profile="", no_events=True, echo=False, play="")
        peer = webrtc_audio.Peer(options)
        call = await app.place(to, offer=await peer.offer(), **members)
        placed = await call.next()
        require(placed["type"] == "placed", f"the call is placed: {placed}")
        voice = cls(call, peer, placed)
        await peer.remote("answer", placed["answer"])
        return voice

    @classmethod
    async def start(cls, app, to=NUMBER, codec="pcma", **members):
        voice = await cls.begin(app, to, codec, **members)
        await voice.is_up()
        return voice

    async def is_up(self, seconds=20):
        await self.call.accepted(seconds)
        await until("keys of the call", lambda: self.peer._has_connected, seconds)

    @property
    def frames(self):
        """How many frames of sound came."""
        return len(self.peer._recording._parts)

    def loudest(self, since=0):
        """Of all samples that came after so many frames, 0 to 32768."""
        parts = [numpy.abs(samples).max() for _, samples in self.peer._recording._parts[since:] if len(samples)]
        return int(max(parts, default=0))

    async def speaks(self, seconds=10):
        """Waits for half a second of sound more."""
        before = self.frames
        await until("sound of the call", lambda: self.frames >= before + 25, seconds)

    @property
    def local(self):
        """Where its packets come from."""
        pair = self.peer._transceiver.sender.transport.transport._connection._nominated.get(1)
        return tuple(pair.local_addr[:2])

    async def end(self):
        await self.call.hang_up()
        ended = await self.call.ended()
        await self.peer.do_close()
        return ended

    async def close(self):
        await self.peer.do_close()


def rtp(sequence, stamp, source=0x41545441, kind=0, payload=b"\x80" * 160):
    """A packet of G.711; this payload is as loud as can be."""
    return bytes([0x80, kind]) + (sequence & 0xFFFF).to_bytes(2, "big") + (stamp & 0xFFFFFFFF).to_bytes(4, "big") + (
        source.to_bytes(4, "big")) + payload


def media_ports(lab):
    """UDP ports that the gateway holds apart from SIP, from /proc/net/udp."""
    own = set()
    folder = f"/proc/{lab.pid}/fd"
    for name in os.listdir(folder):
        try:
            own.add(os.readlink(f"{folder}/{name}"))
        except OSError:
            continue
    ports = set()
    for line in open(f"/proc/{lab.pid}/net/udp").read().splitlines()[1:]:
        cells = line.split()
        if f"socket:[{cells[9]}]" in own:
            ports.add(int(cells[1].split(":")[1], 16))
    return sorted(ports - {lab.sip_port})


__all__ = [name for name in dir() if not name.startswith("_")]
