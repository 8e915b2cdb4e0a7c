"""The app of landline_app.py at the far end of a bad network: it reaches the gateway through a relay, sends Opus with copies
(FEC) for the loss that it is told of, and keeps every packet that it gets with the time at which it came.

Commands besides those of landline_app.py:
  through   port: of the relay towards the gateway, for calls from now on
  nominate  value: whether checks of the path carry USE-CANDIDATE
  source    the sound goes on under another SSRC
  wrap      the next call's sequence numbers begin 300 packets before their end
  keep      file: writes what came and what was sent (see `Kept`)
Times are seconds of the machine's monotonic clock.
"""

import argparse
import asyncio
import fractions
import pathlib
import pickle
import random
import re
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "PeerKit" / "Scripts")]

import aioice.ice  # noqa: E402
import landline_app  # noqa: E402
import numpy  # noqa: E402
import opus  # noqa: E402
from aiortc import rtcrtpsender  # noqa: E402
from aiortc.mediastreams import MediaStreamError, MediaStreamTrack  # noqa: E402
from aiortc.rtp import RtcpRrPacket, RtcpSrPacket  # noqa: E402
from av.packet import Packet  # noqa: E402
from peer_protocol import emit, read_wav, resample, serve  # noqa: E402
from webrtc_audio import Peer, add_options  # noqa: E402

FRAME = opus.RATE // 50
# As libwebrtc checks a path that is not known to be stable; aiortc waits five seconds.
CHECK_SECONDS = 0.48
# RFC 7675 section 5.1.
CONSENT_SECONDS = 30
# Packets before the roll-over, where one is asked for.
BEFORE_WRAP = 300


class Voice(MediaStreamTrack):
    """Speech, and silence before and after it, as packets of 20 ms on the machine's clock."""

    kind = "audio"

    def __init__(self):
        super().__init__()
        self.encoder = None
        self.began = None
        self._samples = numpy.zeros(0)
        self._frames = 0
        self._first = None
        self._loss = 0.0

    def play(self, samples):
        self._samples, self.began = samples, None
        self._first = self._frames

    def heard_loss(self, fraction):
        """What the far end reports moves what is expected half of the way."""
        self._loss += (fraction - self._loss) / 2
        # As libwebrtc: never more than a fifth.
        self.encoder.expect(round(100 * min(self._loss, 0.2)))

    async def recv(self):
        if self.readyState != "live":
            raise MediaStreamError
        if self._frames == 0:
            self._start = time.monotonic()
        due = self._start + self._frames / 50
        await asyncio.sleep(max(0, due - time.monotonic()))
        block = numpy.zeros(FRAME, dtype=numpy.int16)
        if self._first is not None:
            begin = (self._frames - self._first) * FRAME
            if begin == 0:
                self.began = due
            part = self._samples[begin : begin + FRAME]
            block[: len(part)] = numpy.clip(numpy.rint(part), -32768, 32767)
            if len(part) < FRAME:
                self._first = None
                emit("spoken")
        packet = Packet(self.encoder.encode(block))
        packet.pts, packet.time_base = self._frames * FRAME, fractions.Fraction(1, opus.RATE)
        self._frames += 1
        return packet


class NetworkPeer(Peer):
    through = None
    nominates = False

    def __init__(self, options):
        super().__init__(options)
        self._voice = Voice()
        self._transceiver.sender.replaceTrack(self._voice)
        # (arrival, payload type, sequence, time stamp, SSRC, payload) of each packet.
        self._packets = []
        self._checks = None

    def _hook(self):
        if self._is_hooked:
            return
        self._is_hooked = True
        sender, receiver = self._transceiver.sender, self._transceiver.receiver
        handle_rtp, handle_rtcp = receiver._handle_rtp_packet, sender._handle_rtcp_packet

        async def handle_packet(packet, arrival_time_ms):
            self._packets.append((time.monotonic(), packet.payload_type, packet.sequence_number, packet.timestamp,
                                  packet.ssrc, packet.payload))
            return await handle_rtp(packet, arrival_time_ms=arrival_time_ms)

        async def handle_report(packet):
            if isinstance(packet, (RtcpRrPacket, RtcpSrPacket)):
                for report in packet.reports:
                    if report.ssrc == sender._ssrc:
                        self._voice.heard_loss(report.fraction_lost / 256)
            return await handle_rtcp(packet)

        receiver._handle_rtp_packet, sender._handle_rtcp_packet = handle_packet, handle_report
        connection = sender.transport.transport._connection
        connection.query_consent = lambda: self._check(connection)

    async def _check(self, connection):
        """Checks the path at a browser's pace, whatever became of the check before."""
        answered = time.monotonic()

        async def ask(pair):
            nonlocal answered
            request = connection.build_request(pair, nominate=self.nominates)
            try:
                await pair.protocol.request(request, pair.remote_addr, retransmissions=0,
                                            integrity_key=connection.remote_password.encode())
                answered = time.monotonic()
            except aioice.ice.stun.TransactionError:
                pass

        while time.monotonic() - answered < CONSENT_SECONDS:
            await asyncio.sleep(CHECK_SECONDS)
            for pair in list(connection._nominated.values()):
                self._tasks.add(task := asyncio.ensure_future(ask(pair)))
                task.add_done_callback(self._tasks.discard)
        await connection.close()

    def _with_setup(self, sdp):
        """aiortc says nothing of Opus; browsers ask for copies."""
        sdp = re.sub(r"(a=rtpmap:(\d+) opus/48000/2\r\n)", r"\1a=fmtp:\2 minptime=10;useinbandfec=1\r\n", sdp)
        return super()._with_setup(sdp)

    async def remote(self, type, sdp):
        if self._voice.encoder is None:
            self._voice.encoder = asked_for(sdp)
        if self.through is not None:
            sdp = re.sub(r"(a=candidate:\S+ \d+ udp \d+ \S+) \d+", rf"\1 {self.through}", sdp, flags=re.I)
        return await super().remote(type, sdp)

    async def do_play(self, file):
        rate, samples = read_wav(file)
        self._voice.play(resample(samples, rate, opus.RATE))
        emit("playing", seconds=len(samples) / rate)

    async def do_source(self):
        self._transceiver.sender._ssrc = random.getrandbits(32)
        emit("sourced")

    async def do_keep(self, file):
        with open(file, "wb") as out:
            pickle.dump({"began": self._voice.began, "packets": self._packets}, out)
        emit("kept")


def asked_for(sdp):
    """The encoder that an answer asks for."""
    kind = re.search(r"a=rtpmap:(\d+) opus/", sdp, re.I).group(1)
    found = re.search(rf"a=fmtp:{kind} (.*)", sdp)
    terms = dict(re.findall(r"([\w-]+)=([\d]+)", found.group(1) if found else ""))
    rate = int(terms.get("maxplaybackrate", 48000))
    bandwidth = opus.NARROW_BAND if rate <= 8000 else opus.WIDE_BAND if rate <= 16000 else opus.FULL_BAND
    return opus.Encoder(int(terms.get("maxaveragebitrate", 32000)), bandwidth, terms.get("useinbandfec") == "1")


class NetworkApp(landline_app.App):
    async def do_through(self, port):
        NetworkPeer.through = port

    async def do_nominate(self, value):
        NetworkPeer.nominates = value

    async def do_wrap(self):
        rtcrtpsender.random_sequence_number = lambda: 65536 - BEFORE_WRAP


async def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_options(parser)
    landline_app.Peer = NetworkPeer
    await serve(NetworkApp(parser.parse_args()), keeps_time=True)


if __name__ == "__main__":
    asyncio.run(main())
