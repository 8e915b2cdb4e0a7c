"""One call over a bad network: an app behind a relay, the gateway, and a trunk, behind a relay too where the row wants it.
Both ends speak at once, and keep what comes to them."""

import asyncio
import pathlib
import pickle
import random
import re
import signal
import socket
import struct
import time

from gateway_lab import LabError, binary, require, until
from sip_carrier import Carrier, pause
from sound import CODECS

HERE = pathlib.Path(__file__).resolve().parent
# Milliseconds of every datagram's way between an app and the gateway: a round trip of 50 ms.
APP_DELAY = 25
# Packets of a call's start on the bad network that are not judged: reports have to tell of it first.
SETTLING = 150
# Packets after the last word.
TAIL = 25


class Relay:
    """`landline-lab simulate relay` in front of a port; what it does is changed by `change`."""

    async def start(self, lab, target, seed, delay=0):
        self._process = await lab.started(
            str(pathlib.Path(binary()).with_name("landline-lab")), "simulate", "relay", "--listen", "127.0.0.1:0", "--to",
            f"127.0.0.1:{target}", "--seed", str(seed), "--delay", str(delay), "--commands",
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE)
        greeting = (await asyncio.wait_for(self._process.stderr.readline(), 10)).decode()
        found = re.search(r"127\.0\.0\.1:(\d+)", greeting)
        require(found, f"the relay says where it listens: {greeting}")
        self.port = int(found.group(1))
        return self

    def change(self, text):
        require(self._process.returncode is None, "the relay runs")
        self._process.stdin.write(text.encode() + b"\n")

    async def stop(self):
        if self._process.returncode is None:
            self._process.send_signal(signal.SIGTERM)
            await self._process.wait()


class TrunkSound:
    """The trunk's side of one call: speaks one codec in packets of 20 ms, and keeps what comes."""

    def __init__(self, codec, speech, sequence):
        """speech: the packets of the text, and silence."""
        self.codec = codec
        self._speech, self._silence = speech
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind(("127.0.0.1", 0))
        self._socket.setblocking(False)
        self.port = self._socket.getsockname()[1]
        # What the description names: a relay's port where there is one.
        self.told_port = self.port
        self.target = None
        self.type = CODECS[codec][0]
        self.began = None
        # Milliseconds by which the latest packet of the text left too late.
        self.late = 0.0
        self.packets = []
        self._sequence = sequence
        self._source = random.getrandbits(32)
        self._stamp = random.getrandbits(32)
        self._next = None
        self._is_over = asyncio.Event()
        # Speaks again and again.
        self.repeats = False
        asyncio.get_running_loop().add_reader(self._socket.fileno(), self._read)
        self._task = None

    def _read(self):
        for _ in range(64):
            try:
                data, address = self._socket.recvfrom(2048)
            except (BlockingIOError, ConnectionRefusedError):
                return
            if len(data) < 12 or 64 <= data[1] & 0x7F < 96:
                continue
            sequence, stamp, source = struct.unpack("!HII", data[2:12])
            self.packets.append((time.monotonic(), data[1] & 0x7F, sequence, stamp, source, data[12:]))
            # Behind a relay the way back is where packets come from.
            self.target = self.target or address

    def begin(self):
        self._task = asyncio.ensure_future(self._send())

    def play(self):
        self._next = 0

    def change_source(self):
        """As after a transfer inside the carrier's network: another stream with numbers of its own."""
        self._source, self._stamp = random.getrandbits(32), random.getrandbits(32)
        self._sequence = random.getrandbits(15)

    async def spoken(self, seconds):
        await asyncio.wait_for(self._is_over.wait(), seconds)

    async def _send(self):
        step = CODECS[self.codec][1] // 50
        number, start = 0, time.monotonic()
        while True:
            due = start + 0.02 * number
            await pause(due)
            payload = self._silence
            if self._next is not None:
                if self._next == 0:
                    self.began = due
                self.late = max(self.late, 1000 * (time.monotonic() - due))
                payload = self._speech[self._next]
                self._next += 1
                if self._next == len(self._speech):
                    self._next = 0 if self.repeats else None
                    self._is_over.set()
            header = struct.pack(
                "!BBHII", 0x80, self.type, self._sequence & 0xFFFF, self._stamp & 0xFFFFFFFF, self._source)
            if self.target:
                try:
                    self._socket.sendto(header + payload, self.target)
                except (BlockingIOError, ConnectionRefusedError):
                    pass
            self._sequence, self._stamp, number = self._sequence + 1, self._stamp + step, number + 1

    def keep(self, path):
        path.write_bytes(pickle.dumps({"began": self.began, "packets": self.packets}))

    def close(self):
        if self._task:
            self._task.cancel()
        asyncio.get_running_loop().remove_reader(self._socket.fileno())
        self._socket.close()


class NetworkCarrier(Carrier):
    """Answers each number with the sound of its line."""

    def __init__(self, *arguments, **settings):
        super().__init__(*arguments, **settings)
        # By number.
        self.sounds = {}

    def description(self, call=None, request=None):
        sound = self.sounds[call.number]
        offered = (request or call.invite).body.decode()
        name = "opus/48000/2" if sound.codec == "opus" else f"{sound.codec}/8000"
        if sound.type is None:
            sound.type = int(re.search(r"a=rtpmap:(\d+) opus/", offered, re.I).group(1))
        held = {"sendonly": "recvonly", "recvonly": "sendonly", "inactive": "inactive"}
        direction = re.search(r"a=(sendonly|recvonly|inactive)", offered)
        return "\r\n".join([
            "v=0", "o=carrier 7 1 IN IP4 127.0.0.1", "s=-", "c=IN IP4 127.0.0.1", "t=0 0",
            f"m=audio {sound.told_port} RTP/AVP {sound.type}", f"a=rtpmap:{sound.type} {name}",
            *(["a=fmtp:%d useinbandfec=1" % sound.type] if sound.codec == "opus" else []), "a=ptime:20",
            f"a={held[direction.group(1)] if direction else 'sendrecv'}", "",
        ])


class Gateway:
    """The gateway of a lab, and the trunk behind it."""

    def __init__(self, lab):
        self.lab = lab
        self._carrier = NetworkCarrier("trunk", lab.trunks[0].port)

    async def start(self):
        await self._carrier.start()

    def close(self):
        self._carrier.close()

    async def connect(self, line):
        self._carrier.sounds[line.number] = line.sound
        await line.through(self.lab.app_media_port)
        await line.peer.registered(self.lab, user=f"user-{line.name}")
        if line.wraps:
            await line.peer.do("wrap")
        await line.peer.do("call", to=line.number)
        await line.peer.event("got-accepted", 30)
        await line.peer.event("connected", 30)
        call = next(call for call in self._carrier.calls if call.number == line.number)
        if line.trunk_network is None:
            line.sound.target = call.offered_media()

    async def disconnect(self, line):
        line.is_kept = not any(event["event"] == "got-ended" for event in line.peer.events)
        if line.is_kept:
            await line.peer.do("hangup")
            await line.peer.event("got-ended", 15)


class Line:
    """app, trunk: how the network of that side is bad, in the words of the relay; None: the trunk's is none at all.
    story: what happens while both speak, given this line; without one, both speak their text to its end."""

    def __init__(self, name, app="", trunk=None, codec="PCMU", seed=1, story=None, wraps=False):
        self.name, self.app_network, self.trunk_network, self.codec, self.seed = name, app, trunk, codec, seed
        self.story, self.wraps = story, wraps
        self.facts = {}
        # The call lasted until it was hung up here.
        self.is_kept = False

    async def run(self, gateway, number, speech, folder):
        self.lab, self.folder, self.number = gateway.lab, folder, number
        self.sound = TrunkSound(self.codec, speech["packets"], 65536 - 300 if self.wraps else random.getrandbits(15))
        self.peer = self.relay = trunk_relay = None
        try:
            if self.trunk_network is not None:
                # The gateway is its client, for it sends to the address that the trunk's description names and takes
                # sound from there alone.
                trunk_relay = await Relay().start(self.lab, self.sound.port, self.seed + 100)
                self.sound.told_port = trunk_relay.port
            self.peer = await self.lab.peer(str(HERE / "network_app.py"), "--no-events")
            await gateway.connect(self)
            self.sound.begin()
            await self.came(TAIL)
            self.relay.change(self.app_network or "loss 0")
            if trunk_relay:
                trunk_relay.change(self.trunk_network)
            await self.came(SETTLING if self.story is None else TAIL)
            await self._speak(speech)
            self.app_began, _ = await self.app_packets()
            self.sound.keep(self.folder / f"{self.name}-trunk.kept")
            self.relay.change("loss 0 rate 0 jitter 0 reorder 0 duplicate 0 corrupt 0")
            await gateway.disconnect(self)
        except LabError as problem:
            raise LabError(f"{self.name}: {problem}") from None
        finally:
            self.sound.close()
            for relay in (self.relay, trunk_relay):
                if relay:
                    await relay.stop()
            if self.peer:
                await self.peer.do("close")

    async def through(self, port):
        """Puts the app's relay before a port of the gateway."""
        self.relay = await Relay().start(self.lab, port, self.seed, APP_DELAY)
        await self.peer.do("through", port=self.relay.port)

    async def came(self, count, seconds=30):
        """Waits for so many packets more at the trunk: that is 50 a second."""
        wanted = len(self.sound.packets) + count
        await until(f"{count} packets at the trunk", lambda: len(self.sound.packets) >= wanted, seconds)

    async def _speak(self, speech):
        self.sound.play()
        await self.peer.do("play", file=str(speech["app"]))
        if self.story:
            await self.story(self)
            return
        await self.peer.event("spoken", 60)
        await self.sound.spoken(60)
        await self.came(TAIL)

    async def app_packets(self):
        """What the app kept so far: (began, packets)."""
        path = self.folder / f"{self.name}-app.kept"
        after = len(self.peer.events)
        await self.peer.do("keep", file=str(path))
        await self.peer.event("kept", 10, after)
        kept = pickle.loads(path.read_bytes())
        return kept["began"], kept["packets"]

    @property
    def late(self):
        """Milliseconds by which one of the ends was late for its own sound: then the machine was judged, and no gateway."""
        return max([self.sound.late] + [event["worst"] for event in self.peer.events
                                        if event["event"] == "late" and event["at"] >= self.app_began])

    @property
    def kept(self):
        """What came to the app and to the trunk, as files."""
        return self.folder / f"{self.name}-app.kept", self.folder / f"{self.name}-trunk.kept"
