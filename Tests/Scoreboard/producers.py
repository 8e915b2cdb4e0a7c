"""What delivers the rows: one command each, run one after the other, since most of them fill the machine."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


class Producer:
    """A command that appends rows, and how long it may take in each size."""

    def __init__(self, name, command, ci, full=None):
        self.name = name
        self.command = command
        self.seconds = {"ci": ci, "full": full or ci}


def producers(size, filters):
    """The commands in the order they are run; filters: regular expressions of the Swift suites."""
    full = size == "full"
    script = sys.executable
    found = [
        Producer("versions", [script, "Tests/Scoreboard/version_floors.py"], 30),
        Producer("traps", [script, "Tests/Scoreboard/trap_constructs.py"], 60),
    ]
    if filters:
        pattern = "|".join(sorted(filters))
        found.append(Producer("swift", ["swift", "test", "-c", "release", "--skip-build", "--filter", pattern], 240, 3600))
    found += [
        Producer(
            "simulate",
            [str(Path(os.environ.get("LANDLINE_BINARY", ".build/release/landline")).with_name("landline-lab")), "simulate",
             "calls", "--seed", "1", "--seeds", "10000" if full else "20", "--hours", "8"], 180, 36_000),
        Producer("attacks", ["Tests/Attacks/run"] + (["--full"] if full else []), 300, 7200),
        Producer("faults", ["Tests/Faults/run"] + (["--full"] if full else []), 300, 7200),
        Producer("networks", ["Tests/Networks/run"] + (["--full"] if full else []), 700, 7200),
        Producer("relays", ["Tests/Relays/run"], 180),
        Producer("memory", ["Deploy/soak", "--memory"], 2400),
        Producer("fuzz", ["Deploy/fuzz", "300" if full else "5"], 900, 36_000),
    ]
    for kind in ("address", "thread"):
        # Each with a build of its own.
        found.append(Producer(f"soak-{kind}", ["Deploy/soak", kind], 3600))
        found.append(Producer(f"sanitize-{kind}", ["Deploy/sanitize", kind], 5400))
    return found


class Outcome:
    def __init__(self, status, seconds, log, words):
        self.status = status
        self.seconds = seconds
        self.log = log
        self.words = words


def last_words(log):
    """The end of a log that says most, without colours."""
    lines = [re.sub(r"\x1b\[[0-9;]*m", "", line).strip() for line in log.read_text(errors="replace").splitlines()]
    lines = [line for line in lines if line]
    return lines[-1][:200] if lines else "it said nothing"


def run(producer, size, rows_file, folder, show):
    """Runs one command in a process group of its own; what it leaves running is ended with it."""
    log = Path(folder) / f"{producer.name}.log"
    if not os.access(ROOT / producer.command[0], os.X_OK) and "/" in producer.command[0] and not Path(producer.command[0]).is_absolute():
        log.write_text("")
        return Outcome(None, 0.0, log, f"there is no {producer.command[0]}")
    environment = dict(os.environ, LANDLINE_SCOREBOARD=str(rows_file))
    if size == "full":
        environment["LANDLINE_FULL"] = "1"
    begin = time.monotonic()
    with log.open("wb") as output:
        process = subprocess.Popen(
            producer.command, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, stdout=output,
            stderr=subprocess.STDOUT, start_new_session=True)
        try:
            status = process.wait(timeout=producer.seconds[size])
            words = last_words(log) if status else ""
        except subprocess.TimeoutExpired:
            status, words = 124, f"not done within {producer.seconds[size]} s"
        except KeyboardInterrupt:
            end(process)
            raise
        if status == 124:
            end(process)
    seconds = time.monotonic() - begin
    show(f"{producer.name}: {'ok' if status == 0 else f'status {status}: {words}'} ({seconds:.0f} s)")
    return Outcome(status, seconds, log, words)


def end(process):
    """The command and what it started: first asked, then made to."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
        except ProcessLookupError:
            break
        try:
            process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            continue
    process.wait()
