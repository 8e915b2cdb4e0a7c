"""One call through a media gateway that has been set up already: speech both ways over RTP or SDES-SRTP, 50 packets a
second, and what came out: how long each packet took, and how good the speech still is.

The only argument is a JSON object:
  a, b      the two legs: port (ours), to (the gateway's), codec (opus, nb, pcmu), send and receive (SDES keys, base64,
            or absent)
  speech    WAV file
  seconds   length of the call
The answer is one line with "aToB" and "bToA": sent, received, delay (mean, p50, p99, most; milliseconds), pesq against
what went in, codecOnly (pesq of the same codecs without a gateway, from the original), original (pesq of what came
out, from the original), audioDelay (milliseconds of the sound beyond that of its packets).
"""

import base64
import fractions
import json
import select
import socket
import struct
import sys
import time

import av
import numpy
from pylibsrtp import Policy, Session

from judge import RATE, correlation, overlap
from peer_protocol import read_wav, resample

STEP = 0.02
SETTLE_SECONDS = 0.5
SO_TIMESTAMPNS = 35
FULL_BAND = {"rate": 48000, "bits": 32000, "application": "voip", "complexity": 9}
NARROW_BAND = {"rate": 8000, "bits": 16000, "application": "voip", "complexity": 9}
TOWARDS_APP = {"rate": 8000, "bits": 32000, "application": "lowdelay", "complexity": 0}


def encode_opus(samples, settings):
    """Packets of 20 ms."""
    encoder = av.CodecContext.create("libopus", "w")
    encoder.bit_rate, encoder.format, encoder.layout = settings["bits"], "s16", "mono"
    encoder.sample_rate, encoder.time_base = settings["rate"], fractions.Fraction(1, settings["rate"])
    encoder.options = {
        "application": settings["application"],
        "frame_duration": "20",
        "compression_level": str(settings["complexity"]),
    }
    size, packets = settings["rate"] // 50, []
    for number in range(len(samples) // size):
        block = numpy.rint(samples[number * size : (number + 1) * size]).astype(numpy.int16).reshape(1, -1)
        frame = av.AudioFrame.from_ndarray(block, format="s16", layout="mono")
        frame.sample_rate, frame.pts, frame.time_base = settings["rate"], number * size, encoder.time_base
        packets += [bytes(packet) for packet in encoder.encode(frame)]
    return packets


def decode_opus(packets):
    """Samples at the judge's rate; 20 ms of silence for an absent packet."""
    decoder = av.CodecContext.create("libopus", "r")
    decoder.format, decoder.layout, decoder.sample_rate = "s16", "mono", 48000
    parts = []
    for packet in packets:
        frames = decoder.decode(av.Packet(packet)) if packet else []
        sound = numpy.concatenate([f.to_ndarray().reshape(-1) for f in frames]) if frames else numpy.zeros(960)
        parts.append(sound if len(sound) == 960 or not frames else sound.reshape(-1, len(sound) // 960).mean(axis=1))
    return resample(numpy.concatenate(parts).astype(float), 48000, RATE)


def encode_pcmu(samples):
    """ITU-T G.711, mu law."""
    values = numpy.clip(numpy.rint(samples), -32635, 32635).astype(int)
    sizes = numpy.abs(values) + 132
    exponents = numpy.floor(numpy.log2(sizes)).astype(int) - 7
    codes = numpy.where(values < 0, 0x80, 0) | exponents << 4 | sizes >> exponents + 3 & 15
    return (~codes & 255).astype(numpy.uint8)


def decode_pcmu(codes):
    codes = ~codes.astype(int) & 255
    sizes = ((codes & 15) << 3) + 132 << (codes >> 4 & 7)
    return numpy.where(codes & 0x80, 132 - sizes, sizes - 132).astype(float)


def pcmu_packets(samples):
    codes = encode_pcmu(samples)
    return [codes[n * 160 : (n + 1) * 160].tobytes() for n in range(len(codes) // 160)]


def unpack_pcmu(packets):
    return decode_pcmu(numpy.frombuffer(b"".join(packet or b"\xff" * 160 for packet in packets), numpy.uint8))


def decode(codec, packets):
    return unpack_pcmu(packets) if codec == "pcmu" else decode_opus(packets)


def quality(reference, heard):
    """PESQ narrow band; None where it cannot be told."""
    try:
        from pesq import NoUtterancesError, pesq
    except ImportError:
        return None
    offset, _ = correlation(reference, heard)
    first, second = overlap(reference, heard, offset)
    try:
        return round(float(pesq(RATE, first.astype(numpy.int16), second.astype(numpy.int16), "nb")), 3)
    except NoUtterancesError:
        return None


class Leg:
    def __init__(self, terms, speech, source):
        self.codec = terms["codec"]
        self.step = 160 if self.codec == "pcmu" else 960
        self.type = 0 if self.codec == "pcmu" else 111
        if self.codec == "pcmu":
            self.packets = pcmu_packets(resample(speech, source, RATE))
        else:
            settings = FULL_BAND if self.codec == "opus" else NARROW_BAND
            self.packets = encode_opus(resample(speech, source, settings["rate"]), settings)
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        self.socket.bind(("127.0.0.1", terms["port"]))
        self.socket.connect(("127.0.0.1", terms["to"]))
        self.sender = session(terms.get("send"), Policy.SSRC_ANY_OUTBOUND)
        self.receiver = session(terms.get("receive"), Policy.SSRC_ANY_INBOUND)
        self.sent, self.arrived, self.refused = [], {}, 0

    def send(self, number):
        stamp = (number * self.step) & 0xFFFFFFFF
        header = struct.pack("!BBHII", 0x80, self.type | (0x80 if number == 0 else 0), number & 0xFFFF, stamp, 0x51)
        packet = header + self.packets[number]
        packet = self.sender.protect(packet) if self.sender else packet
        self.sent.append(time.time())
        self.socket.send(packet)

    def receive(self):
        try:
            packet, ancillary, _, _ = self.socket.recvmsg(2048, 256)
        except ConnectionRefusedError:
            self.refused += 1
            return
        if len(packet) < 12 or 64 <= packet[1] & 127 < 96:
            return
        packet = self.receiver.unprotect(packet) if self.receiver else packet
        if packet[1] & 127 != self.type:
            return
        seconds, nanoseconds = struct.unpack("qq", ancillary[0][2][:16])
        stamp = struct.unpack("!I", packet[4:8])[0]
        start = 12 + 4 * (packet[0] & 15)
        if packet[0] & 16:
            start += 4 + 4 * struct.unpack("!H", packet[start + 2 : start + 4])[0]
        self.arrived.setdefault(stamp, (seconds + nanoseconds / 1e9, packet[start:]))


def session(key, kind):
    if not key:
        return None
    return Session(
        Policy(
            key=base64.b64decode(key), ssrc_type=kind, srtp_profile=Policy.SRTP_PROFILE_AES128_CM_SHA1_80
        )
    )


def judged(source, target, original):
    """What went into `source` came out of `target`."""
    result = {"sent": len(source.sent), "received": len(target.arrived), "refused": source.refused}
    if not target.arrived:
        return result
    first = next(iter(target.arrived))

    def place(stamp):
        return ((stamp - first + 2**31) % 2**32 - 2**31) // target.step

    by_place = {place(stamp): value for stamp, value in target.arrived.items()}
    lowest = min(by_place)
    count = min(max(by_place) - lowest + 1, 2 * len(source.sent))
    heard = decode(target.codec, [by_place.get(lowest + n, (0, None))[1] for n in range(count)])
    entered = decode(source.codec, source.packets)
    offset, alike = correlation(entered, heard)
    # Packets that the gateway left out at the start move all that follow.
    shift = round(-offset / 160)
    result["correlation"] = round(alike, 3)
    result["audioDelay"] = (offset + 160 * shift) / 8
    delays = sorted(
        (value[0] - source.sent[n - lowest + shift]) * 1000
        for n, value in by_place.items()
        if 0 <= n - lowest + shift < len(source.sent)
    )
    if delays:
        result["delay"] = {
            "mean": sum(delays) / len(delays),
            "p50": delays[len(delays) // 2],
            "p99": delays[int(len(delays) * 0.99)],
            "most": delays[-1],
        }
    result["pesq"] = quality(entered, heard)
    result["original"] = quality(original, heard)
    result["codecOnly"] = quality(original, codec_only(source, target, entered))
    return result


def codec_only(source, target, entered):
    """What the best gateway's output would sound like."""
    if source.codec == target.codec or (source.codec == "nb" and target.codec == "opus"):
        return entered
    if target.codec == "pcmu":
        return decode_pcmu(encode_pcmu(entered))
    return decode_opus(encode_opus(entered, TOWARDS_APP))


def main():
    terms = json.loads(sys.argv[1])
    source, speech = read_wav(terms["speech"])
    speech = speech[: int(terms["seconds"] * source)]
    legs = [Leg(terms[name], speech, source) for name in ("a", "b")]
    count = min(len(leg.packets) for leg in legs)
    start = time.monotonic() + 0.05
    number, end = 0, start + count * STEP + SETTLE_SECONDS
    sockets = {leg.socket: leg for leg in legs}
    while (now := time.monotonic()) < end:
        due = start + number * STEP if number < count else end
        for each in select.select(list(sockets), [], [], max(0, min(due, end) - now))[0]:
            sockets[each].receive()
        if number < count and time.monotonic() >= due:
            for leg in legs:
                leg.send(number)
            number += 1
    original = resample(speech, source, RATE)
    print(json.dumps({"aToB": judged(*legs, original), "bToA": judged(*reversed(legs), original)}))


if __name__ == "__main__":
    main()
