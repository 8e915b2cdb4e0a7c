"""What is promised of sound on bad networks: the calls that show it, and how each row is read from them."""

import asyncio
import contextlib
import itertools
import multiprocessing
import os
import pathlib
import shutil
import statistics
import tempfile
from concurrent.futures import ProcessPoolExecutor

from gateway_lab import Account, Lab, LabError, Trunk, require
from line import Gateway, Line
from scoreboard import is_full, row
from sound import PLAYOUT, encoded, judged, say, understood
from stories import STORIES

# Calls by name: what Line is told of their network.
CALLS = {
    "clean": {},
    "app-5": {"app": "loss 5"}, "app-10": {"app": "loss 10"}, "app-20": {"app": "loss 20"},
    "app-30": {"app": "loss 30"}, "app-bursts": {"app": "loss 10 burst 5"},
    "app-jitter": {"app": "jitter 80"}, "app-mess": {"app": "reorder 5 duplicate 5 corrupt 1"},
    "trunk-5": {"trunk": "loss 5"}, "trunk-10": {"trunk": "loss 10"}, "trunk-20": {"trunk": "loss 20"},
    "trunk-jitter": {"trunk": "jitter 80"}, "trunk-mess": {"trunk": "reorder 5 duplicate 5 corrupt 1"},
    **{name: {"story": story, **more} for name, (story, more) in STORIES.items()},
}
# What is lost or comes late in one call of these moves its PESQ by more than is left to the target; with the good network all
# others are compared.
VARYING = {"clean", "app-5", "app-10", "app-20", "app-jitter", "trunk-jitter", "app-mess", "trunk-mess"}
# Milliseconds that an end may be late for its own sound, with jitter of 80 ms what is left of a far end's wait; and how often a
# call is made again where one was later.
MOST_LATE, MOST_LATE_WITH_JITTER = 50, 20
MOST_REPEATS = 1
# The ways that sound takes, and which of them a bad network of a side touches.
UP, DOWN = "app to trunk", "trunk to app"
WAYS = {"clean": [UP, DOWN], "app": [UP, DOWN], "trunk": [DOWN]}


# What no busy machine can spoil, and so fails a build: calls that are kept, sound that is back, and sound both ways. The other
# figures are of sound in real time, and fail a run of --full alone.
GATES = {"F3", "F6", "F8"}


class Results:
    """The calls that were made, and what was heard of them: the median of the seeds."""

    def __init__(self, lines, heard, codec):
        self.lines, self._heard, self.codec = lines, heard, codec

    def of(self, name, way, figure):
        return statistics.median(each[figure] for each in self._heard[name, way])


class Row:
    def __init__(self, name, says, calls, is_heard, read):
        self.name, self.says, self._read = name, says, read
        # Sound is judged beside that of a good network.
        self.calls = [*(["clean"] if is_heard else []), *calls]
        self.ways = [(call, way) for call in self.calls for way in WAYS[call.partition("-")[0]]] if is_heard else []
        self.is_broken = False

    def tell(self, figure, unit, target, passed, detail, gate=None):
        """A figure of the scoreboard."""
        gate = self.name in GATES or "LANDLINE_FULL" in os.environ if gate is None else gate
        shown = f"{figure:.2f}" if isinstance(figure, float) else str(figure)
        row(self.name, figure=shown, unit=unit, target=target, passed=passed, detail=detail, gate=gate)
        print(f"{'ok  ' if passed else 'MISS'} {self.name:3} {shown} {unit} ({target}) {detail}", flush=True)
        self.is_broken = self.is_broken or gate and not passed

    def read(self, results):
        lost = [line.name for name in self.calls for line in results.lines[name] if not line.is_kept]
        if lost:
            self.tell(len(lost), "calls lost", "= 0", False, ", ".join(lost), gate=True)
        self._read(self, results)

    @property
    def bad_ways(self):
        return [(call, way) for call, way in self.ways if call != "clean"]


ALL = []


def declare(name, says, calls, is_heard=True):
    """Declares a row: the calls that have to be made, and whether their sound is judged."""
    def take(read):
        ALL.append(Row(name, says, calls, is_heard, read))
        return read
    return take


def tell_drop(self, results, call, way, most):
    good, bad = results.of("clean", way, "pesq"), results.of(call, way, "pesq")
    # To what is written: two figures behind the point.
    drop = round(good - bad, 2)
    self.tell(drop, "PESQ drop", f"<= {most}", drop <= most,
              f"{call}, {way} ({results.codec}): {bad:.2f} of {good:.2f}, STOI {results.of(call, way, 'stoi'):.2f}, "
              f"lost {results.of(call, way, 'lost'):.1f} %")


def tell_drops(self, results, most):
    for call, way in self.bad_ways:
        tell_drop(self, results, call, way, most[call.partition("-")[2]])


@declare("F1", "5 % of the packets are lost at random", ["app-5", "trunk-5"])
def five(self, results):
    tell_drops(self, results, {"5": 0.3})


@declare("F2", "10 and 20 % are lost", ["app-10", "app-20", "trunk-10", "trunk-20"])
def twenty(self, results):
    tell_drops(self, results, {"10": 0.6, "20": 1.0})


@declare("F3", "30 % are lost, and 10 % in bursts of five", ["app-30", "app-bursts"])
def thirty(self, results):
    for call, way in self.bad_ways:
        share = round(results.of(call, way, "stoi"), 2)
        self.tell(share, "STOI", ">= 0.75", share >= 0.75,
                  f"{call}, {way}: PESQ {results.of(call, way, 'pesq'):.2f}, the call is kept")


@declare("F4", "each packet comes up to 80 ms later", ["app-jitter", "trunk-jitter"])
def jitter(self, results):
    for call, way in self.bad_ways:
        late = results.of(call, way, "late")
        self.tell(late, "% late frames", "<= 1", late <= 1,
                  f"{call}, {way}: for a far end that waits {PLAYOUT * 1000:.0f} ms longer than on a good network")
        more = round(1000 * (results.of(call, way, "slowest") - results.of("clean", way, "median")))
        self.tell(more, "ms more from mouth to ear, 99th percentile", "<= 100", more <= 100, f"{call}, {way}")
        # What is late is lost to such a far end: as much as at 5 % of loss.
        tell_drop(self, results, call, way, 0.3)


@declare("F5", "5 % are overtaken, 5 % come twice, 1 % are damaged", ["app-mess", "trunk-mess"])
def mess(self, results):
    # What is damaged is lost, and what comes 50 ms late may be: six of a hundred, of which five may cost 0.3.
    for call, way in self.bad_ways:
        tell_drop(self, results, call, way, 0.36)


@declare("F6", "3 s without a network, then another port", ["gone", "gone-nominated", "gone-resumed"], is_heard=False)
def gone(self, results):
    for call in self.calls:
        for line in results.lines[call]:
            for way, seconds in line.facts["back"].items():
                self.tell(seconds, "s until sound is back", "<= 1", seconds <= 1,
                          f"{call}, {way}: {line.facts['says']}; the call is kept")


@declare("F7", "25, 50 and 100 kb/s", ["thin-25", "thin-50", "thin-100"], is_heard=False)
def thin(self, results):
    for call in self.calls:
        for line in results.lines[call]:
            facts = line.facts
            rate = f"{call.partition('-')[2]} kb/s"
            self.tell(facts["lost"], "% lost", "<= 3", facts["lost"] <= 3,
                      f"{rate}, from 3 s on: {facts['sent']:.0f} kb/s with headers, the call is kept")
            self.tell(facts["queue"], "ms of standing queue", "<= 150", facts["queue"] <= 150, f"{rate}, from 3 s on")
            self.tell(facts["back"], "s until the bit rate is back", "<= 30", facts["back"] <= 30,
                      f"{rate}, then a wide link: {facts['before']:.0f} kb/s before, {facts['after']:.0f} after")


@declare("F8", "held and resumed, new sources, numbers that roll over", ["turns"], is_heard=False)
def turns(self, results):
    for line in results.lines["turns"]:
        bad = [name for name, is_good in line.facts["turns"].items() if not is_good]
        self.tell(len(bad), "one-way calls", "= 0", not bad,
                  f"behind {', '.join(line.facts['turns'])}" + (f": not behind {', '.join(bad)}" if bad else ""))


@declare("F9", "nothing is lost", [])
def good(self, results):
    for way, least in ((UP, 3.17), (DOWN, 3.19)):
        quality = round(results.of("clean", way, "pesq"), 2)
        self.tell(quality, "PESQ", f">= {least}", quality >= least,
                  f"{way} ({results.codec}), STOI {results.of('clean', way, 'stoi'):.2f}")


@declare("F10", "words that are understood at 10 % of loss", ["app-10", "trunk-10"])
def recognised(self, results):
    # Over all ways, for one word more or less is a hundredth of one way's.
    shares = [(call, way, results.of(call, way, "words"), results.of("clean", way, "words")) for call, way in self.bad_ways]
    share = round(100 * sum(bad for _, _, bad, _ in shares) / sum(good for _, _, _, good in shares), 1)
    self.tell(share, "% of the words of a good network", ">= 95", share >= 95, "; ".join(
        f"{call}, {way} {100 * bad:.0f} % of the words, of {100 * good:.0f}" for call, way, bad, good in shares))


# The run


def seeds(name):
    if "story" in CALLS[name]:
        return (1,)
    return (1, 2, 3) if is_full() or name in VARYING else (1,)


async def calls(names, codec, width, folder):
    """Makes these calls, so many at a time, on one gateway.
    Returns the lines by name, and problems."""
    speech = say(folder)
    # Before anybody speaks: this process is the trunk's clock.
    speech["packets"] = encoded(codec, speech["trunk"])
    lines = {name: [Line(f"{name}-{codec}-{seed}", codec=codec, seed=seed, **CALLS[name]) for seed in seeds(name)]
             for name in names}
    gate, numbers, problems = asyncio.Semaphore(width), itertools.count(1), []
    async with Lab("networks", accounts=[Account("main", 1000)], trunks=[Trunk("only")]) as lab:
        gateway = Gateway(lab)
        await gateway.start()

        async def one(line, number):
            async with gate:
                try:
                    await line.run(gateway, f"+467{number:08d}", speech, folder)
                except (LabError, OSError, asyncio.TimeoutError) as problem:
                    problems.append(f"{line.name}: {problem or type(problem).__name__}")

        try:
            # The longest first.
            order = sorted((line for each in lines.values() for line in each), key=lambda line: line.story is None)
            await asyncio.gather(*(one(line, next(numbers)) for line in order))
            for _ in range(MOST_REPEATS):
                late = [line for line in order if not problems and line.story is None and line.late > (
                    MOST_LATE_WITH_JITTER if "jitter" in line.name else MOST_LATE)]
                for line in late:
                    print(f"↻ {line.name}: made again, since an end of its was late by {line.late:.0f} ms", flush=True)
                await asyncio.gather(*(one(line, next(numbers)) for line in late))
            require(lab.is_running, "the gateway runs")
            if not problems:
                await lab.idle(20)
        finally:
            gateway.close()
    return lines, speech, problems


def listen(lines, wanted, speech, folder, has_words):
    """What was heard, by call and way, for each seed."""
    heard = {}
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        for call, way in sorted(wanted, key=lambda each: each[0] != "clean"):
            side = way.partition(" ")[0]
            heard[call, way] = []
            for line in lines[call]:
                to_app, to_trunk = line.kept
                terms = (to_trunk, line.codec, line.app_began) if side == "app" else (to_app, "opus", line.sound.began)
                heard[call, way].append(pool.submit(
                    judged, speech[side], *terms, None if call == "clean" else heard["clean", way][0].result()["median"],
                    folder / f"{line.name}-{side}.wav"))
        heard = {key: [future.result() for future in futures] for key, futures in heard.items()}
    if has_words:
        recognise(heard, lines, folder)
    return heard


def recognise(heard, lines, folder):
    from judge import Judge
    model = Judge()._load()
    require(model, "a speech model is installed")
    for (call, way), each in heard.items():
        if call in ("clean", "app-10", "trunk-10"):
            for line, result in zip(lines[call], each):
                side = way.partition(" ")[0]
                result["words"] = understood(model, folder / f"{line.name}-{side}.wav", side)


@contextlib.contextmanager
def kept_folder():
    """For what was heard; LANDLINE_KEEP leaves it there."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="landline-networks-"))
    try:
        yield folder
    finally:
        if not os.environ.get("LANDLINE_KEEP"):
            shutil.rmtree(folder)


async def run(chosen, width):
    """Ends with the rows that were broken, and what failed."""
    problems = []
    codecs = ["PCMU", "PCMA", "G722", "opus"] if is_full() else ["PCMU"]
    for codec in codecs:
        rows = [each for each in chosen if codec == "PCMU" or each.name in ("F1", "F2")]
        names = list(dict.fromkeys(name for each in rows for name in each.calls))
        if not names:
            continue
        with kept_folder() as folder:
            lines, speech, failed = await calls(names, codec, width, folder)
            problems += failed
            for problem in failed:
                print(f"FAIL {problem}", flush=True)
            if failed:
                continue
            wanted = dict.fromkeys(way for each in rows for way in each.ways)
            results = Results(lines, listen(lines, wanted, speech, folder, any(each.name == "F10" for each in rows)), codec)
            for each in rows:
                each.read(results)
    return problems
