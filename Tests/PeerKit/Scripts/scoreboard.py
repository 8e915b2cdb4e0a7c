"""What a script measured for a row of the scoreboard: a line of JSON in the file that LANDLINE_SCOREBOARD names.

    from scoreboard import row
    row("B17", figure="0.74", unit="bytes out / bytes in", target="<= 1.0", passed=True, detail="UDP, 12 probes")

Several lines for one row are allowed; the board shows the worst of them. Without the variable nothing happens.

From a shell: scoreboard.py ROW FIGURE UNIT TARGET yes|no [DETAIL] [--gate]
"""

import argparse
import json
import os


def is_full():
    """Whether the long campaigns were asked for."""
    return "LANDLINE_FULL" in os.environ


def row(name, *, figure, unit, target, passed, detail="", size=None, gate=False):
    """Appends the line with one write, so that many processes may share the file.

    gate: whether a miss must fail a build (a crash, a leak, a wrong bill, a broken promise).
    """
    path = os.environ.get("LANDLINE_SCOREBOARD")
    if not path:
        return
    line = json.dumps({
        "row": name, "figure": str(figure), "unit": unit, "target": target, "passed": bool(passed),
        "size": size or ("full" if is_full() else "ci"), "detail": detail, "gate": bool(gate),
    }, ensure_ascii=False) + "\n"
    data = line.encode()
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
    try:
        written = os.write(descriptor, data)
    finally:
        os.close(descriptor)
    if written != len(data):
        raise OSError(f"{path}: wrote {written} of {len(data)} bytes")


def main():
    parser = argparse.ArgumentParser(description="Appends a row to the file that LANDLINE_SCOREBOARD names.")
    for name in ("row", "figure", "unit", "target"):
        parser.add_argument(name)
    parser.add_argument("passed", choices=["yes", "no"])
    parser.add_argument("detail", nargs="?", default="")
    parser.add_argument("--gate", action="store_true", help="a miss must fail a build")
    options = parser.parse_args()
    row(options.row, figure=options.figure, unit=options.unit, target=options.target, passed=options.passed == "yes",
        detail=options.detail, gate=options.gate)


if __name__ == "__main__":
    main()
