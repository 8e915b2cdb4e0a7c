"""The board: what was measured beside what was asked for. No process is started and no clock is read here."""

import json
import re
from pathlib import Path

NUMBER = re.compile(r"[-+]?\d+(?:[.,]\d+)*(?:[eE][-+]?\d+)?")


class Row:
    """A line of the table: what is measured, in what unit, and what it must come to."""

    def __init__(self, members):
        self.id = members["id"]
        self.title = members["title"]
        self.unit = members["unit"]
        self.target = members["target"]
        self.is_core = members.get("core", False)
        self.is_gate = members.get("gate", False)
        self.size = members.get("size", "ci")
        self.by = members["by"]


def table(path):
    return [Row(members) for members in json.loads(Path(path).read_text())]


def recorded(path):
    """The lines of a run, in the order they were written. A torn or foreign line is an error, never skipped."""
    lines = []
    for number, line in enumerate(Path(path).read_text().splitlines(), 1):
        try:
            members = json.loads(line)
            lines.append({
                "row": members["row"], "figure": str(members["figure"]), "unit": str(members["unit"]),
                "target": str(members["target"]), "passed": members["passed"] is True,
                "size": str(members.get("size", "ci")), "detail": str(members.get("detail", "")),
                "gate": members.get("gate") is True,
            })
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(f"{path}, line {number}: {error}") from error
    return lines


def number(text):
    """The number that a text is, thousands separated or not, a unit behind it or `of` how many; None where it is more."""
    found = re.fullmatch(rf"\s*({NUMBER.pattern})(?:\s*[^\d\s][^\d]*?|\s+of\s+{NUMBER.pattern}[^\d]*)?\s*", text)
    return float(found.group(1).replace(",", "")) if found else None


def bound(target):
    """("<=" | ">=" | "=", number), where a target is that simple."""
    found = re.match(r"\s*(<=|>=|=)?\s*", target)
    value = number(target[found.end():])
    return None if value is None else (found.group(1) or "=", value)


def holds(figure, target):
    """Whether a figure meets a target that is simple enough to judge; None where it is not."""
    value, wanted = number(figure), bound(target)
    if value is None or wanted is None:
        return None
    relation, limit = wanted
    return {"<=": value <= limit, ">=": value >= limit, "=": value == limit}[relation]


def miss(figure, target):
    """By how much a figure misses its target, in words; empty where that cannot be said."""
    value, wanted = number(figure), bound(target)
    if value is None or wanted is None:
        return ""
    distance = abs(value - wanted[1])
    share = f", {distance / abs(wanted[1]) * 100:.0f} %" if wanted[1] else ""
    return f"misses by {distance:g}{share}"


class Result:
    """What became of a row: the worst of its lines."""

    def __init__(self, row, lines, note="", is_left_out=False):
        self.row = row
        self.is_left_out = is_left_out
        self.lines = lines
        self.note = note
        self.line = max(lines, key=self._badness) if lines else None

    @staticmethod
    def _badness(line):
        """Misses before passes, then the figure that is worse by its own target."""
        value, wanted = number(line["figure"]), bound(line["target"])
        if value is None or wanted is None:
            return (not Result.line_passed(line), 0.0)
        relation, limit = wanted
        distance = {"<=": value - limit, ">=": limit - value, "=": abs(value - limit)}[relation]
        # Lines of one row may count different things: what matters is the share of its limit.
        return (not Result.line_passed(line), distance / abs(limit) if limit else distance)

    @staticmethod
    def line_passed(line):
        """A line that says it passed and whose figure does not is a miss."""
        return line["passed"] and holds(line["figure"], line["target"]) is not False

    @property
    def was_run(self):
        return self.line is not None

    @property
    def passed(self):
        return bool(self.lines) and all(self.line_passed(line) for line in self.lines)

    def breaks(self, size):
        """Whether a build must fail for it: a promise broken, or one of this size that nothing looked at unasked."""
        if not self.was_run:
            return self.row.is_gate and not self.is_left_out and (self.row.size == "ci" or size == "full")
        return not self.passed and (
            self.row.is_gate or any(line["gate"] for line in self.lines if not self.line_passed(line)))

    @property
    def verdict(self):
        if not self.was_run:
            return "not run"
        if self.passed:
            return "pass"
        how_much = miss(self.line["figure"], self.line["target"])
        return f"NO, {how_much}" if how_much else "NO"

    def cells(self):
        row, line = self.row, self.line
        if line is None:
            return [row.id, row.title, "", row.target, self.verdict, "", self.note]
        more = f"{len(self.lines)} measurements" if len(self.lines) > 1 else ""
        detail = "; ".join(part for part in (line["detail"], more) if part)
        return [row.id, row.title, f"{line['figure']} {line['unit']}", line["target"], self.verdict, line["size"], detail]


def results(rows, lines, notes, skipped=()):
    """One result a row of the table; notes: row id → why nothing was delivered; skipped: producers that were left out."""
    def is_left_out(row):
        return bool(row.by) and all(name.partition(":")[0] in skipped for name in row.by)

    return [
        Result(row, [line for line in lines if line["row"] == row.id], notes.get(row.id, ""), is_left_out(row))
        for row in rows
    ]


HEADINGS = ["row", "test", "figure", "target", "passed", "size", "detail"]


def terminal(found, width=150):
    """The board as text of aligned columns."""
    def cut(text, length):
        text = text.replace("\n", " ")
        return text if len(text) <= length else text[: length - 1] + "…"

    limits = [4, 52, 44, 16, 26, 5, 60]
    grid = [HEADINGS] + [result.cells() for result in found]
    grid = [[cut(cell, limit) for cell, limit in zip(cells, limits)] for cells in grid]
    widths = [max(len(cells[index]) for cells in grid) for index in range(len(HEADINGS))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(cells, widths)).rstrip() for cells in grid)


def summary(found):
    core = [result for result in found if result.row.is_core]
    parts = []
    for name, part in (("core", core), ("other", [result for result in found if not result.row.is_core])):
        if part:
            run = [result for result in part if result.was_run]
            passed = sum(result.passed for result in run)
            parts.append(f"{name} rows: {passed} of {len(part)} pass, {len(run) - passed} miss, {len(part) - len(run)} not run")
    return "; ".join(parts)


def markdown(found, facts, size):
    """The board as a file; facts: what the machine and the programs were, as (name, text)."""
    def cell(text):
        return text.replace("|", "\\|").replace("\n", " ")

    def section(title, part):
        lines = [f"## {title}", "", "| " + " | ".join(HEADINGS) + " |", "|" + "---|" * len(HEADINGS)]
        lines += ["| " + " | ".join(cell(text) for text in result.cells()) + " |" for result in part]
        return lines + [""]

    lines = [
        "# Scoreboard", "",
        f"Written by `Deploy/scoreboard{' --full' if size == 'full' else ''}` from what it ran. A row that nothing measured in",
        "this run says \"not run\"; several measurements of one row show the worst.", "",
        f"**{summary(found)}.**", "",
    ]
    lines += ["| | |", "|---|---|"] + [f"| {cell(name)} | {cell(text)} |" for name, text in facts] + [""]
    lines += section("Core board", [result for result in found if result.row.is_core])
    lines += section("The others", [result for result in found if not result.row.is_core])
    return "\n".join(lines).rstrip() + "\n"
