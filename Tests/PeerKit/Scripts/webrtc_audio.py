"""One audio call of aiortc on loopback: offers or answers, plays, records, sends and hears digits.

Commands: remote (type, sdp), offer, play (file), dtmf (digits, milliseconds, gap), impair (loss, jitter, seed, late,
deaf), direction (value), record, length, save (file), stats, close.
Events: offer and answer (sdp), connected (dtls, srtp, role), state (value), playing, played, dtmf (digit, milliseconds,
packets), dtmf-sent, recording, length (seconds), saved (file, seconds), stats.

aiortc knows no telephone-event. Both clock rates are added to its codecs here, so they are offered and accepted; event
packets take the place of audio packets in its outgoing stream and are taken from its incoming one.
"""

import asyncio
import fractions
import random
import struct
import time

import aioice.ice
import numpy
from aiortc import RTCConfiguration, RTCPeerConnection, RTCRtpReceiver, RTCSessionDescription
from aiortc import codecs as aiortc_codecs
from aiortc import rtcdtlstransport
from aiortc.mediastreams import MediaStreamError, MediaStreamTrack
from aiortc.rtcrtpparameters import RTCRtpCodecParameters
from av import AudioFrame

from peer_protocol import emit, read_wav, resample, write_wav

RATE = 48000
# A packet that is sent late comes so long behind its place: no receiver waits for it.
LATE_SECONDS = 0.3
FRAME = 960
DIGITS = "0123456789*#ABCD"
EVENT_VOLUME = 10
END_PACKETS = 3
# A far end's time stamps place what is recorded; none may make a recording of more than this.
MOST_RECORDED_SECONDS = 600

aioice.ice.get_host_addresses = lambda use_ipv4, use_ipv6: ["127.0.0.1"]
aiortc_codecs.CODECS["audio"] += [
    RTCRtpCodecParameters(
        mimeType="audio/telephone-event", clockRate=clock, payloadType=kind, parameters={events: None}
    )
    # aiortc tells codecs of one name apart by their parameters alone.
    for clock, kind, events in [(48000, 110, "0-15"), (8000, 101, "0-16")]
]


class Microphone(MediaStreamTrack):
    """Silence until something is to be played, in frames of 20 ms on the wall clock."""

    kind = "audio"

    def __init__(self):
        super().__init__()
        self._samples = numpy.zeros(0)
        self._position = 0
        self._start = None
        self._sent = 0
        self._is_playing = False

    def play(self, samples):
        self._samples, self._position, self._is_playing = samples, 0, True

    async def recv(self):
        if self.readyState != "live":
            raise MediaStreamError
        now = time.monotonic()
        self._start = now if self._start is None else self._start
        await asyncio.sleep(max(0, self._start + self._sent / RATE - now))
        part = self._samples[self._position : self._position + FRAME]
        self._position += len(part)
        block = numpy.zeros(FRAME, dtype=numpy.int16)
        block[: len(part)] = numpy.clip(numpy.rint(part), -32768, 32767)
        if self._is_playing and self._position >= len(self._samples):
            self._is_playing = False
            emit("played")
        frame = AudioFrame.from_ndarray(block.reshape(1, -1), format="s16", layout="mono")
        frame.pts, frame.sample_rate, frame.time_base = self._sent, RATE, fractions.Fraction(1, RATE)
        self._sent += FRAME
        return frame


class Recording:
    """What arrived, decoded by aiortc, each frame where its time stamp says."""

    def __init__(self):
        self._parts = []
        self._end = 0
        self.rate = 0
        self._origin = None
        self.refused = 0

    def add(self, frame):
        samples = frame.to_ndarray().reshape(-1)
        if frame.layout.name == "stereo":
            samples = samples.reshape(-1, 2).mean(axis=1)
        self.rate = self.rate or frame.sample_rate
        place = int(frame.pts * frame.time_base * frame.sample_rate)
        self._origin = place if self._origin is None else self._origin
        place -= self._origin
        if frame.sample_rate != self.rate or not 0 <= place < MOST_RECORDED_SECONDS * self.rate:
            self.refused += 1
            return
        self._parts.append((place, samples))
        self._end = max(self._end, place + len(samples))

    @property
    def seconds(self):
        return self._end / (self.rate or RATE)

    def save(self, path):
        whole = numpy.zeros(self._end)
        for place, part in self._parts:
            whole[place : place + len(part)] = part
        write_wav(path, self.rate or RATE, whole)
        emit("saved", file=path, seconds=self.seconds, rate=self.rate, refused=self.refused)


class DigitSender:
    """Puts event packets in the place of audio packets (RFC 4733): one each 20 ms, the last one three times."""

    def __init__(self):
        self._waiting = []
        self._current = None
        self._gap = 0

    def add(self, digits, milliseconds, gap):
        self._waiting += [(DIGITS.index(digit), max(1, milliseconds // 20), gap // 20) for digit in digits]

    def replace(self, packet, payload_type, clock, audio_clock):
        """Returns the packet that goes out in the place of an audio packet."""
        if self._current is None:
            if self._gap > 0 or not self._waiting:
                self._gap = max(0, self._gap - 1)
                return packet
            digit, steps, gap = self._waiting.pop(0)
            self._current = {"digit": digit, "steps": steps, "gap": gap, "step": 0, "stamp": packet[4:8]}
        current = self._current
        current["step"] += 1
        is_end = current["step"] >= current["steps"]
        duration = min(current["step"], current["steps"]) * clock // 50
        # The time stamp stays in the audio's clock: both clocks are one where the peers agree on it (RFC 4733 2.1).
        header = bytes([0x80, (0x80 if current["step"] == 1 else 0) | payload_type]) + packet[2:4] + current["stamp"]
        payload = struct.pack("!BBH", current["digit"], (0x80 if is_end else 0) | EVENT_VOLUME, min(duration, 0xFFFF))
        if current["step"] == current["steps"] + END_PACKETS - 1:
            emit("dtmf-sent", digit=DIGITS[current["digit"]], milliseconds=current["steps"] * 20)
            self._gap = current["gap"]
            self._current = None
        return header + packet[8:12] + payload


class DigitReceiver:
    def __init__(self):
        self._stamp = None
        self._is_over = True
        self._packets = 0
        self.count = 0

    def take(self, packet, clock):
        self.count += 1
        if len(packet.payload) < 4:
            return
        digit, flags, duration = struct.unpack("!BBH", packet.payload[:4])
        if packet.timestamp != self._stamp:
            self._stamp, self._is_over, self._packets = packet.timestamp, False, 0
        self._packets += 1
        if flags & 0x80 and not self._is_over:
            self._is_over = True
            name = DIGITS[digit] if digit < len(DIGITS) else str(digit)
            emit("dtmf", digit=name, milliseconds=duration * 1000 // clock, packets=self._packets, volume=flags & 0x3F)


class Peer:
    def __init__(self, options):
        self._options = options
        self._pc = RTCPeerConnection(RTCConfiguration(iceServers=[]))
        self._microphone = Microphone()
        self._recording = Recording()
        self._sender = DigitSender()
        self._receiver = DigitReceiver()
        self._random = random.Random(1)
        self._loss = 0.0
        self._jitter = 0.0
        self._late = 0.0
        self._deaf = 0.0
        self._dropped = 0
        self._kinds = {}
        self._has_connected = False
        self._is_hooked = False
        self._started = time.monotonic()
        self._tasks = set()
        self._transceiver = self._pc.addTransceiver(self._microphone, direction="sendrecv")
        known = RTCRtpReceiver.getCapabilities("audio").codecs
        wanted = [codec for name in options.codec.split(",") for codec in known if _name(codec) == name.lower()]
        if not wanted:
            raise ValueError(f"no codec of {options.codec} is known")
        if not options.no_events:
            wanted += [codec for codec in known if _name(codec) == "telephone-event"]
        self._transceiver.setCodecPreferences(wanted)
        if options.profile:
            transport = self._transceiver.sender.transport
            names = [name.encode() for name in options.profile.split(",")]
            known = {each.openssl_profile: each for each in rtcdtlstransport.SRTP_PROFILES}
            transport._srtp_profiles = [known[name] for name in names]
        self._pc.on("track", self._heard)
        self._pc.on("connectionstatechange", self._changed)

    # What the connection tells

    def _heard(self, track):
        task = asyncio.ensure_future(self._record(track))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _record(self, track):
        try:
            while True:
                frame = await track.recv()
                if self._recording is not None:
                    self._recording.add(frame)
        except MediaStreamError:
            pass

    async def _changed(self):
        state = self._pc.connectionState
        emit("state", value=state)
        if state == "connected" and not self._has_connected:
            self._has_connected = True
            transport = self._transceiver.sender.transport
            pair = transport.transport._connection._nominated.get(1)
            emit(
                "connected",
                dtls=transport._ssl.get_protocol_version_name(),
                srtp=transport._ssl.get_selected_srtp_profile().decode(),
                role=transport._role,
                local=list(pair.local_addr) if pair else None,
                remote=list(pair.remote_addr) if pair else None,
                milliseconds=round((time.monotonic() - self._started) * 1000),
            )
            if self._options.play:
                await self.do_play(self._options.play)

    def _hook(self):
        """Stands between aiortc and its transport, once its keys of both directions are to come."""
        if self._is_hooked:
            return
        self._is_hooked = True
        transport, receiver = self._transceiver.sender.transport, self._transceiver.receiver
        send, handle = transport._send_rtp, receiver._handle_rtp_packet

        async def send_rtp(data):
            if rtcdtlstransport.is_rtcp(data):
                return await send(data)
            if self._options.echo:
                return None
            kind, clock = self._event_codec()
            if kind is not None:
                data = self._sender.replace(data, kind, clock, self._transceiver._codecs[0].clockRate)
            if self._loss and self._random.random() < self._loss:
                self._dropped += 1
                return None
            if self._late and self._random.random() < self._late:
                task = asyncio.ensure_future(self._send_late(send, data))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)
                return None
            if self._jitter:
                # aiortc marks each packet as the first of a talkspurt, and tshark measures none that is marked.
                data = data[:1] + bytes([data[1] & 0x7F]) + data[2:]
                await asyncio.sleep(self._random.random() * self._jitter / 1000)
            return await send(data)

        async def handle_rtp(packet, arrival_time_ms):
            if self._deaf and self._random.random() < self._deaf:
                return None
            if self._options.echo:
                marked = packet.payload_type | (0x80 if packet.marker else 0)
                numbers = struct.pack(
                    "!BBHII", 0x80, marked, packet.sequence_number, packet.timestamp, self._transceiver.sender._ssrc
                )
                await send(numbers + packet.payload)
            self._kinds[packet.payload_type] = self._kinds.get(packet.payload_type, 0) + 1
            clock = next((c.clockRate for c in self._events() if c.payloadType == packet.payload_type), None)
            if clock is not None:
                return self._receiver.take(packet, clock)
            # aiortc sees a stream without events, else its jitter buffer would wait for them.
            packet.sequence_number = (packet.sequence_number - self._receiver.count) & 0xFFFF
            return await handle(packet, arrival_time_ms=arrival_time_ms)

        transport._send_rtp, receiver._handle_rtp_packet = send_rtp, handle_rtp

    def _events(self):
        return [codec for codec in self._transceiver._codecs if _name(codec) == "telephone-event"]

    def _event_codec(self):
        """Payload type and clock of the events that fit to the audio; (None, 0) where none were negotiated."""
        audio = self._transceiver._codecs[0].clockRate
        events = sorted(self._events(), key=lambda codec: codec.clockRate != audio)
        return (events[0].payloadType, events[0].clockRate) if events else (None, 0)

    # Commands

    async def do_offer(self):
        emit("offer", sdp=await self.offer())

    async def do_remote(self, type, sdp):
        answer = await self.remote(type, sdp)
        if answer is not None:
            emit("answer", sdp=answer)

    async def offer(self):
        """Returns the description to send."""
        await self._pc.setLocalDescription(await self._pc.createOffer())
        if not self._has_connected:
            self._hook()
        return self._with_setup(self._pc.localDescription.sdp)

    async def remote(self, type, sdp):
        """Takes the other side's description.
        Returns the answer to an offer, None otherwise."""
        self._started = time.monotonic()
        await self._pc.setRemoteDescription(RTCSessionDescription(sdp=sdp, type=type))
        if type != "offer":
            return None
        transport = self._transceiver.sender.transport
        if not self._has_connected:
            self._hook()
            if self._options.setup in ("active", "passive"):
                transport._set_role("client" if self._options.setup == "active" else "server")
        await self._pc.setLocalDescription(await self._pc.createAnswer())
        return self._pc.localDescription.sdp

    def _with_setup(self, sdp):
        """An offer says actpass; RFC 5763 allows it to say active or passive as well."""
        if self._options.setup not in ("active", "passive"):
            return sdp
        return sdp.replace("a=setup:actpass", f"a=setup:{self._options.setup}")

    async def do_direction(self, value):
        self._transceiver.direction = value

    async def do_play(self, file):
        rate, samples = read_wav(file)
        self._microphone.play(resample(samples, rate, RATE))
        emit("playing", file=file, seconds=len(samples) / rate)

    async def do_dtmf(self, digits, milliseconds=100, gap=60):
        if self._event_codec()[0] is None:
            raise ValueError("no telephone-event was negotiated")
        self._sender.add(digits, milliseconds, gap)

    async def _send_late(self, send, data):
        await asyncio.sleep(LATE_SECONDS)
        await send(data)

    async def do_impair(self, loss, jitter=0, seed=1, late=0, deaf=0):
        """Loses a share of all packets, keeps each of the others for up to so many milliseconds, in order, and sends a
        share of them behind many others; loses a share of what comes in."""
        self._loss, self._jitter, self._random = loss, jitter, random.Random(seed)
        self._late, self._deaf = late, deaf

    async def do_record(self):
        self._recording = Recording()
        emit("recording")

    async def do_length(self):
        emit("length", seconds=self._recording.seconds)

    async def do_save(self, file):
        self._recording.save(file)

    async def do_stats(self):
        values = {"payloadTypes": self._kinds, "dropped": self._dropped, "events": self._receiver.count}
        for entry in (await self._pc.getStats()).values():
            if entry.type == "inbound-rtp":
                clock = self._transceiver._codecs[0].clockRate
                values |= {
                    "packetsReceived": entry.packetsReceived,
                    "packetsLost": entry.packetsLost,
                    "jitterMilliseconds": entry.jitter * 1000 / clock,
                }
            elif entry.type == "outbound-rtp":
                values |= {"packetsSent": entry.packetsSent, "bytesSent": entry.bytesSent}
            elif entry.type == "remote-inbound-rtp":
                values |= {"remoteLost": entry.packetsLost, "roundTripSeconds": entry.roundTripTime}
        emit("stats", **values)

    async def do_close(self):
        await self._pc.close()


def _name(codec):
    return codec.mimeType.split("/")[1].lower()


def add_options(parser):
    """Adds what a peer reads of its options."""
    parser.add_argument("--setup", default="", help="active or passive; else as the other side leaves it")
    parser.add_argument("--codec", default="opus", help="names in order of preference: opus, pcmu, pcma, g722")
    parser.add_argument("--profile", default="", help="SRTP profiles in OpenSSL's words, in order")
    parser.add_argument("--no-events", action="store_true", help="no telephone-event")
    parser.add_argument("--echo", action="store_true", help="send back each packet as it came, and nothing else")
    parser.add_argument("--play", default="", help="WAV file that plays as soon as the call is connected")
