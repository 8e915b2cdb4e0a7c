"""What the scripts of this folder share: one JSON object a line both ways, and WAV files.

A test writes commands such as {"do": "play", "file": "…"} to standard input and reads events such as
{"event": "connected", …} from standard output. The end of standard input is the command to close.
"""

import asyncio
import json
import sys
import threading
import time
import wave

import numpy


def emit(event, **values):
    """Writes one event."""
    sys.stdout.write(json.dumps({"event": event, **values}) + "\n")
    sys.stdout.flush()


class Commands:
    """Commands in order of arrival. A thread reads, so that a pipe, a file and a terminal are alike."""

    def __init__(self):
        self._loop = asyncio.get_running_loop()
        self._queue = asyncio.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in sys.stdin:
            if line.strip():
                self._loop.call_soon_threadsafe(self._queue.put_nowait, line)
        self._loop.call_soon_threadsafe(self._queue.put_nowait, '{"do": "close"}')

    async def next(self):
        return json.loads(await self._queue.get())


class Clock:
    """Knows how late this program is for its own ticks, and tells it: an event `late` for each quarter of a second in
    which a tick came late, with the worst delay and the sum of all in milliseconds, and when it was (monotonic seconds)."""

    TICK = 0.02
    PERIOD = 0.25
    # A tick that comes less late harms no stream of packets of 20 ms.
    LATE = 0.02

    def __init__(self):
        self._worst = 0.0
        self._total = 0.0
        self._begin = time.monotonic()
        self._task = asyncio.ensure_future(self._run())

    def count_delay(self, seconds):
        """Something that was due so long ago is done now."""
        now = time.monotonic()
        if seconds > self.LATE:
            self._worst = max(self._worst, seconds)
            self._total += seconds
        if now - self._begin >= self.PERIOD:
            if self._total:
                emit("late", at=now, worst=self._worst * 1000, total=self._total * 1000)
            self._worst, self._total, self._begin = 0.0, 0.0, now

    def stop(self):
        self._task.cancel()

    async def _run(self):
        due = time.monotonic()
        while True:
            # After a pause the ticks go on from now: what was missed is told once.
            due = max(due, time.monotonic() - self.TICK) + self.TICK
            await asyncio.sleep(max(0.0, due - time.monotonic()))
            self.count_delay(time.monotonic() - due)


async def serve(peer, keeps_time=False):
    """Runs the command `name` as the method `do_name` of `peer` until `close`; what goes wrong is an event.

    `keeps_time`: sound passes through this program, so it tells how late it is."""
    commands = Commands()
    clock = Clock() if keeps_time else None
    emit("ready")
    while True:
        command = await commands.next()
        name = command.pop("do", "")
        action = getattr(peer, "do_" + name, None)
        try:
            if action is None:
                raise ValueError(f"unknown command {name!r}")
            await action(**command)
        except Exception as problem:  # a test reads the reason
            emit("failed", command=name, reason=f"{type(problem).__name__}: {problem}")
        if name == "close":
            if clock is not None:
                clock.stop()
            emit("closed")
            return


def read_wav(path):
    """A WAV file of 16-bit samples.
    Returns (samples a second, mono samples as floats of 16-bit size)."""
    with wave.open(path, "rb") as file:
        if file.getsampwidth() != 2:
            raise ValueError(f"{path}: 16-bit samples are expected, not {8 * file.getsampwidth()}")
        samples = numpy.frombuffer(file.readframes(file.getnframes()), dtype="<i2").astype(numpy.float64)
        channels = file.getnchannels()
        return file.getframerate(), samples.reshape(-1, channels).mean(axis=1) if channels > 1 else samples


def write_wav(path, rate, samples):
    """Writes mono samples of 16-bit size."""
    with wave.open(path, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(numpy.clip(numpy.rint(samples), -32768, 32767).astype("<i2").tobytes())


def resample(samples, source, target):
    """Changes the rate of a whole recording, band-limited, by its spectrum."""
    if source == target or len(samples) == 0:
        return samples
    count = int(round(len(samples) * target / source))
    spectrum = numpy.fft.rfft(samples)
    kept = numpy.zeros(count // 2 + 1, dtype=complex)
    bins = min(len(kept), len(spectrum))
    kept[:bins] = spectrum[:bins]
    return numpy.fft.irfft(kept, count) * (count / len(samples))
