"""What was heard at a far end, from the packets that came there and when: decoded as a phone or a browser does, and judged
against what was said."""

import difflib
import fractions
import pickle
import subprocess

import av
import numpy
import opus
from judge import correlation, overlap, words
from peer_protocol import read_wav, resample, write_wav
from pystoi import stoi
from rtp_probe import decode_pcmu, encode_pcmu, quality

RATE = 8000
PACKET = RATE // 50
# The shortest part of sound that Opus knows.
STEP = RATE // 400
# How long a far end may wait for a packet that is later than the fastest, in seconds: what F4 allows.
PLAYOUT = 0.1

SENTENCES = [
    "The gateway carries the voice of a telephone to an app, and the voice of an app to a telephone.",
    "A river runs through the valley, and seven old boats lie on its northern bank.",
    "Please bring the yellow letters to the third house before nine o'clock tomorrow morning.",
    "She asked whether the train would stop here again, and nobody in the station knew the answer.",
    "What was lost has to be filled in, so that both people still understand every word.",
]
TEXTS = {"app": " ".join(SENTENCES), "trunk": " ".join(SENTENCES[2:] + SENTENCES[:2])}


def say(folder):
    """What each side says, as WAV files of 24 s by name: at the rate of an app's Opus, since changing it there would hold an
    app up."""
    files = {}
    for side, text in TEXTS.items():
        files[side] = folder / f"{side}.wav"
        subprocess.run(["flite", "-voice", "slt", "-t", text, "-o", files[side]], check=True)
        rate, samples = read_wav(str(files[side]))
        write_wav(str(files[side]), opus.RATE, resample(samples, rate, opus.RATE))
    return files


def spoken(path):
    rate, samples = read_wav(str(path))
    return resample(samples, rate, RATE)


# Codecs of trunks

# Name in a description: (payload type or None for the offer's own, clock of the time stamps, rate of the sound, codec of FFmpeg).
CODECS = {
    "PCMU": (0, 8000, 8000, None), "PCMA": (8, 8000, 8000, "pcm_alaw"), "G722": (9, 8000, 16000, "g722"),
    "opus": (None, 48000, 48000, None),
}


def encoded(name, path):
    """The packets of 20 ms of a WAV file, and what silence is."""
    rate, samples = read_wav(str(path))
    samples = resample(samples, rate, CODECS[name][2])
    size = CODECS[name][2] // 50
    samples = numpy.concatenate([samples, numpy.zeros(-len(samples) % size)])
    samples = numpy.clip(numpy.rint(samples), -32768, 32767).astype(numpy.int16)
    if name == "opus":
        encoder = opus.Encoder(32000, opus.FULL_BAND)
        encoder.expect(10)
        packets = [encoder.encode(samples[at : at + size]) for at in range(0, len(samples), size)]
        return packets, opus.Encoder(32000, opus.FULL_BAND).encode(numpy.zeros(size, numpy.int16))
    if name == "PCMU":
        data = encode_pcmu(samples).tobytes()
        silence = encode_pcmu(numpy.zeros(PACKET)).tobytes()
    else:
        data, silence = recoded(name, samples), recoded(name, numpy.zeros(size, numpy.int16))
    return [data[at : at + PACKET] for at in range(0, len(data) - PACKET + 1, PACKET)], silence[:PACKET]


def recoded(name, samples):
    rate, kind = CODECS[name][2:]
    codec = av.CodecContext.create(kind, "w")
    codec.sample_rate, codec.format, codec.layout, codec.time_base = rate, "s16", "mono", fractions.Fraction(1, rate)
    frame = av.AudioFrame.from_ndarray(samples.reshape(1, -1), format="s16", layout="mono")
    frame.sample_rate, frame.pts = rate, 0
    return b"".join(bytes(packet) for packet in codec.encode(frame) + codec.encode(None))


# What came


class Heard:
    """The packets of one stream in the order of their time stamps, each once."""

    def __init__(self, path, codec):
        with open(path, "rb") as file:
            kept = pickle.load(file)
        self.codec, self.clock = codec, CODECS[codec][1]
        packets = kept["packets"]
        sources = [each[4] for each in packets]
        source = max(set(sources), key=sources.count)
        packets = [each for each in packets if each[4] == source and each[5]]
        first = packets[0][3]
        # (seconds of the stream, arrival, sequence, payload)
        placed = {}
        for arrival, _, sequence, stamp, _, payload in packets:
            at = ((stamp - first + 2**31) % 2**32 - 2**31) / self.clock
            placed.setdefault(at, (at, arrival, sequence, payload))
        self.packets = [placed[at] for at in sorted(placed)]

    def sound(self, latest=None):
        """Samples of 8 kHz from the first packet on. latest: seconds of a packet's way, by these two ends' own count, after
        which it is of no use."""
        packets = [each for each in self.packets if latest is None or each[1] - each[0] <= latest]
        start, end = packets[0][0], self.packets[-1][0]
        if self.codec == "opus":
            return self._opus(packets)
        data = [b""] * (round((end - start) * 50) + 1)
        for at, _, _, payload in packets:
            data[min(len(data) - 1, round((at - start) * 50))] = payload
        # As simple phones do, what is missing is the packet before once more.
        for number, payload in enumerate(data):
            data[number] = payload or data[number - 1]
        if self.codec == "PCMU":
            return decode_pcmu(numpy.frombuffer(b"".join(data), numpy.uint8))
        codec = av.CodecContext.create(CODECS[self.codec][3], "r")
        codec.sample_rate, codec.layout = CODECS[self.codec][2], "mono"
        frames = codec.decode(av.Packet(b"".join(data)))
        return resample(numpy.concatenate([frame.to_ndarray().reshape(-1) for frame in frames]), CODECS[self.codec][2], RATE)

    def _opus(self, packets):
        decoder, parts, place = opus.Decoder(RATE), [], round(packets[0][0] * RATE)
        for at, _, _, payload in packets:
            begin = round(at * RATE)
            length = decoder.length(payload)
            if begin < place:
                continue
            # The last part of a gap may be in the packet behind it, and the library makes up the rest, by 2.5 ms.
            while begin - place >= length + STEP:
                parts.append(decoder.conceal(min(PACKET, (begin - place - length) // STEP * STEP)))
                place += len(parts[-1])
            if begin - place >= STEP:
                parts.append(decoder.copy(payload, (begin - place) // STEP * STEP))
                place += len(parts[-1])
            parts.append(numpy.zeros(begin - place, numpy.int16))
            parts.append(decoder.decode(payload))
            place = begin + len(parts[-1])
        return numpy.concatenate(parts).astype(float)


def judged(reference, path, codec, began, normal=None, keep=None):
    """What became of speech that was begun at a time. normal: the usual seconds from mouth to ear of a good network, from which
    the time is counted that a far end may wait; without it, from the fastest packet's.
    Returns pesq, stoi, late (percent), way (median and 99th percentile, seconds), packets, lost (percent)."""
    source, heard = spoken(reference), Heard(path, codec)
    whole = heard.sound()
    offset, alike = correlation(source, whole)
    origin = heard.packets[0][0]
    # Arrival less place in the stream, and arrival less the moment at which it was said, differ by a constant.
    shift = origin + offset / RATE - began
    ways = [arrival - at + shift for at, arrival, _, _ in heard.packets
            if 0 <= at - origin - offset / RATE <= len(source) / RATE]
    limit = (min(ways) if normal is None else normal) + PLAYOUT
    sound = heard.sound(limit - shift)
    offset, alike = correlation(source, sound)
    first, second = overlap(source, sound, offset)
    if keep:
        write_wav(str(keep), RATE, second)
    ways.sort()
    numbers = [each[2] for each in heard.packets]
    span = (numbers[-1] - numbers[0]) % 65536 + 1
    return {
        "pesq": quality(source, sound), "stoi": float(stoi(first, second, RATE)), "correlation": alike,
        "late": 100 * sum(way > limit for way in ways) / len(ways), "median": ways[len(ways) // 2],
        "slowest": ways[int(0.99 * len(ways))], "packets": len(ways), "lost": 100 * (1 - len(numbers) / span),
    }


def understood(model, path, side):
    """The share of the words that a recogniser finds in a recording, in order."""
    segments, _ = model.transcribe(
        resample(spoken(path), RATE, 16000).astype(numpy.float32) / 32768, language="en", beam_size=5)
    want, got = words(TEXTS[side]), words(" ".join(segment.text for segment in segments))
    blocks = difflib.SequenceMatcher(None, want, got, autojunk=False).get_matching_blocks()
    return sum(block.size for block in blocks) / len(want)


__all__ = ["CODECS", "PLAYOUT", "TEXTS", "Heard", "encoded", "judged", "say", "understood"]
