"""Whether the house keeps its floors: what a target may import, and how far folders and files of one target lean on each other.

  upward  a target imports one of a higher row of FLOORS, or its row is unknown
  pairs   two folders of one target whose files name each other's types: at most PAIRS in all
  circle  files of one target that need each other in a ring: at most CIRCLE of them

The two limits are what is there. A change may lower them, and none may raise them.

usage: floors.py [--list]   ends with 1 when a rule is broken; --list names the pairs and the circles
"""

import re
import sys
from pathlib import Path

from declared_imports import ROOT, imports, without_comments

PAIRS = 6
CIRCLE = 5

# From the ground up; a target imports its own row, where another of it stands below, and the rows under it. Executables and
# libraries of C have their rows by their names.
FLOORS = [
    ("values", {"CallModel", "NumberPlan", "LandlineDigest"}),
    ("cores", {
        "SIPCore", "SDPCore", "SecureTransport", "MediaCore", "RoutingCore", "LedgerCore", "AppProtocol", "CallEngine", "CallStory",
    }),
    ("node", {"NodeCore"}),
    ("shells", {
        "LandlineWire", "LandlineResolver", "LandlineOutbound", "LandlineConfiguration", "LandlineNode", "LandlineHTTP", "LandlineServer",
        "LandlineClient", "LandlineSQLite", "LedgerSQLite", "RecordsSQLite", "LedgerSpool",
        "LandlineRecording",
    }),
    ("laboratory", {"SimulationKit", "LandlineBench"}),
    ("commands", {"LandlineConsole", "LandlineArguments"}),
    ("executables", {"landline", "landline-lab"}),
]
# What the product may not carry.
LABORATORY = {"SimulationKit", "LandlineBench"}
PRODUCT = {"landline", "LandlineConsole", "LandlineArguments", "LandlineNode", "LandlineHTTP", "LandlineServer"}

TYPE = re.compile(
    r"^(?:@\w+(?:\([^)]*\))?\s+)*(?:public |package |final |indirect )*(?:struct|enum|class|actor|protocol)\s+(\w+)", re.MULTILINE)
WORD = re.compile(r"\b[A-Z]\w+")
TEXT = re.compile(r'"(?:[^"\\\n]|\\.)*"')


def row(target):
    if target.startswith("CLandline"):
        return -1
    return next((number for number, (_, names) in enumerate(FLOORS) if target in names), None)


def upward(imported):
    """Problems of imports, given what each target of ours imports."""
    problems = []
    for target in sorted(imported):
        own = row(target)
        if own is None:
            problems.append(f"{target} stands on no floor: name it in FLOORS")
            continue
        for other in sorted(imported[target] & set(imported) - {target}):
            if (row(other) or 0) > own:
                problems.append(f"{target} imports {other}, which stands above it")
            if target in PRODUCT and other in LABORATORY:
                problems.append(f"{target} imports {other}: the product carries no simulation and no benchmark")
    return problems


def owners(targets):
    """The target and the file that declare each type; without names that are declared more than once."""
    declared = {}
    for target, sources in targets.items():
        for path, text in sources.items():
            for name in TYPE.findall(text):
                declared.setdefault(name, set()).add((target, path))
    return {name: next(iter(places)) for name, places in declared.items() if len(places) == 1}


def needs(sources, owner):
    """The files of a target that each of its files needs: it names a type that one of them declares.
    owner: the file of each type."""
    return {
        path: {owner[word] for word in set(WORD.findall(text)) if word in owner} - {path}
        for path, text in sources.items()
    }


def pairs(graph):
    """Folders of which each needs the other; files outside a folder count for none."""
    def folder(path):
        return path.split("/")[0] if "/" in path else None

    leans = {
        (folder(path), folder(other)) for path, others in graph.items() for other in others
        if folder(path) and folder(other) and folder(path) != folder(other)
    }
    return sorted(pair for pair in leans if pair[0] < pair[1] and pair[::-1] in leans)


def circles(graph):
    """Groups of files in which each can be reached from each, the largest first."""
    reach = {}
    for start in graph:
        seen, waiting = set(), [start]
        while waiting:
            for other in graph[waiting.pop()] - seen:
                seen.add(other)
                waiting.append(other)
        reach[start] = seen
    groups = {frozenset({path} | {other for other in reach[path] if path in reach[other]}) for path in graph}
    return sorted((sorted(group) for group in groups if len(group) > 1), key=lambda group: (-len(group), group))


def main(arguments):
    texts = {}
    for folder in sorted(path for path in (ROOT / "Sources").iterdir() if path.is_dir()):
        texts[folder.name] = {
            str(path.relative_to(folder)): TEXT.sub('""', without_comments(path.read_text()))
            for path in sorted(folder.rglob("*.swift"))
        }
    declared = owners(texts)
    problems = upward({target: imports(files.values()) for target, files in texts.items()})
    found, largest = 0, []
    for target, files in texts.items():
        graph = needs(files, {name: path for name, (at, path) in declared.items() if at == target})
        in_pairs, rings = pairs(graph), circles(graph)
        found += len(in_pairs)
        largest.append((len(rings[0]) if rings else 0, target))
        if "--list" in arguments:
            for first, second in in_pairs:
                print(f"{target}: {first} and {second} need each other")
            for ring in rings:
                print(f"{target}: {len(ring)} files in a circle: {' '.join(ring)}")
    if found > PAIRS:
        problems.append(f"{found} pairs of folders need each other, {PAIRS} are allowed")
    if max(largest)[0] > CIRCLE:
        problems.append(f"{max(largest)[1]}: {max(largest)[0]} files need each other in a circle, {CIRCLE} are allowed")
    for problem in problems:
        print(problem)
    print(f"{len(texts)} targets; {found} pairs of folders that need each other; largest circle: {max(largest)[0]} files")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
