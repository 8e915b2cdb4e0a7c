"""Runs what delivers the rows and prints the board.

usage: Deploy/scoreboard [--full] [--only ROW…] [--no-build] [--with FILE] [--skip PRODUCER…]

  --full       the long campaigns as well
  --only       these rows alone; nothing is written to the tree then
  --with       rows that a run just before recorded (LANDLINE_SCOREBOARD): what delivered them is not run again
  --skip       do not run these producers (fuzz, sanitize, …): their rows come from --with or say "not run"
Ends with 1 when a promise is broken (or one of this size was not looked at), or a producer failed.
"""

import argparse
import datetime
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import board
import producers

HERE = Path(__file__).resolve().parent
WRITTEN = HERE / "Scoreboard.md"


def output(*command):
    try:
        return subprocess.run(command, cwd=producers.ROOT, capture_output=True, text=True, timeout=20).stdout.strip()
    except (OSError, subprocess.TimeoutExpired):
        return ""


def machine():
    model = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(), re.M)
    memory = re.search(r"^MemTotal:\s*(\d+)", Path("/proc/meminfo").read_text(), re.M)
    name = model.group(1) if model else platform.machine()
    gigabytes = int(memory.group(1)) / 1_048_576 if memory else 0
    return f"{os.cpu_count()} × {name}, {gigabytes:.0f} GiB, {platform.system()} {platform.release()}"


def peers():
    """The versions of the programs of others that were on the machine."""
    packages = ["sip-tester", "baresip", "kamailio", "chromium", "sslscan", "tshark", "libssl3", "libosip2-15", "libsrtp2-1"]
    listed = output("dpkg-query", "-W", "-f", "${Package} ${Version}\n", *packages)
    swift = re.search(r"Swift version ([\d.]+)", output("swift", "--version"))
    found = [line for line in listed.splitlines() if len(line.split()) == 2]
    return ", ".join(([f"Swift {swift.group(1)}"] if swift else []) + found)


def facts(size, seconds, outcomes):
    commit = output("git", "rev-parse", "--short", "HEAD")
    changed = " with changes" if output("git", "status", "--porcelain", "--untracked-files=no") else ""
    took = ", ".join(f"{name} {outcome.seconds:.0f} s" for name, outcome in outcomes.items() if outcome.status is not None)
    return [
        ("machine", machine()), ("date", datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC")),
        ("commit", commit + changed), ("size", size), ("peers and libraries", peers()),
        ("took", f"{seconds / 60:.1f} min ({took})"),
    ]


def wanted(rows, size, delivered, skipped):
    """The producers that are needed, and the suites of Swift: those of rows that nobody delivered yet."""
    names, filters = set(), set()
    for row in rows:
        if row.id in delivered or (row.size == "full" and size != "full"):
            continue
        for name in row.by:
            kind, _, suite = name.partition(":")
            if kind not in skipped:
                names.add(kind)
                if suite:
                    filters.add(suite)
    return names, filters


def why_not(row, size, outcomes, skipped):
    if not row.by:
        return "nothing measures it"
    if row.size == "full" and size != "full":
        return "runs with --full"
    parts = []
    for kind in dict.fromkeys(name.partition(":")[0] for name in row.by):
        if kind in skipped:
            parts.append(f"{kind} was left out")
        elif kind in outcomes and outcomes[kind].status:
            parts.append(f"{kind} ended with {outcomes[kind].status}: {outcomes[kind].words}")
        elif kind in outcomes and outcomes[kind].status is None:
            parts.append(outcomes[kind].words)
        elif kind in outcomes:
            parts.append(f"{kind} said nothing of it")
    return "; ".join(parts)


def main():
    parser = argparse.ArgumentParser(prog="Deploy/scoreboard", description=__doc__.split("\n\n")[0])
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--only", nargs="+", metavar="ROW", default=[])
    parser.add_argument("--with", dest="earlier", action="append", metavar="FILE", default=[])
    parser.add_argument("--skip", nargs="+", metavar="PRODUCER", default=[])
    parser.add_argument("--no-build", action="store_true", help="the build is there already")
    options = parser.parse_args()
    size = "full" if options.full or "LANDLINE_FULL" in os.environ else "ci"

    rows = board.table(HERE / "rows.json")
    unknown = set(options.only) - {row.id for row in rows}
    if unknown:
        parser.error(f"no such row: {', '.join(sorted(unknown))}")
    if options.only:
        rows = [row for row in rows if row.id in options.only]

    lines = [line for path in options.earlier if Path(path).exists() for line in board.recorded(path)]
    names, filters = wanted(rows, size, {line["row"] for line in lines}, options.skip)

    begin = time.monotonic()
    outcomes = {}
    folder = Path(tempfile.mkdtemp(prefix="scoreboard-"))
    rows_file = folder / "rows.jsonl"
    rows_file.touch()
    def show(text):
        print(text, file=sys.stderr, flush=True)

    for producer in producers.producers(size, filters):
        if producer.name in names:
            show(f"== {producer.name}")
            outcomes[producer.name] = producers.run(producer, size, rows_file, folder, show)
    lines += board.recorded(rows_file)

    strangers = sorted({line["row"] for line in lines} - {row.id for row in board.table(HERE / "rows.json")})
    notes = {row.id: why_not(row, size, outcomes, options.skip) for row in rows}
    found = board.results(rows, lines, notes, options.skip)
    print(board.terminal(found))
    print(f"\n{board.summary(found)}.")
    if not options.only:
        WRITTEN.write_text(board.markdown(found, facts(size, time.monotonic() - begin, outcomes), size))
        print(f"written: {WRITTEN.relative_to(producers.ROOT)}")

    broken = [result for result in found if result.breaks(size)]
    failed = {name: outcome for name, outcome in outcomes.items() if outcome.status}
    for result in broken:
        print(f"broken: {result.row.id} {result.row.title}: {result.verdict} {result.note}".rstrip())
    for name, outcome in failed.items():
        print(f"failed: {name} (status {outcome.status}): {outcome.words}\n        its log: {outcome.log}")
    if strangers:
        print(f"failed: rows that the table does not have: {', '.join(strangers)}")
    if failed or strangers:
        sys.exit(1)
    shutil.rmtree(folder)
    sys.exit(1 if broken else 0)


if __name__ == "__main__":
    main()
