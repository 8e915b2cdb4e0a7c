"""The first versions of libraries without a known hole that we are open to, against what is installed and resolved.

Ends with 1 when one is below its floor.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "Tests/PeerKit/Scripts"))

# What is installed has its floors there.
FLOORS = dict(line.split() for line in (ROOT / "Deploy/packages").read_text().splitlines()
              if not line.startswith("#") and " " in line)
# Debian package → (floor, why, whether it must be there).
PACKAGES = {
    "libssl3": (FLOORS["libssl3"], "DTLS records of future epochs, short records, late repeats", True),
    "libosip2-15": (FLOORS["libosip2-15"], "CVE-2022-41550: integer overflow in the body's head", True),
}
# Swift package → (floor, why, whether it must be there).
RESOLVED = {
    "swift-nio": ("2.100.0", "CVE-2026-28970: line breaks in HTTP heads", True),
    "swift-nio-http2": ("1.44.1", "CVE-2026-28898: line breaks in pseudo-headers", False),
}


def installed(package):
    done = subprocess.run(["dpkg-query", "-W", "-f", "${db:Status-Status} ${Version}", package], capture_output=True, text=True)
    status, _, version = done.stdout.partition(" ")
    return version if done.returncode == 0 and status == "installed" else None


def debian_at_least(version, floor):
    return subprocess.run(["dpkg", "--compare-versions", version, "ge", floor]).returncode == 0


def resolved(path):
    """Package identity → version, of a Package.resolved of format 2 or 3."""
    pins = json.loads(Path(path).read_text())["pins"]
    return {pin["identity"]: pin["state"].get("version") for pin in pins}


def at_least(version, floor):
    """Whether a semantic version is not below another; one before a release is below it."""
    def key(text):
        number, _, before = text.partition("-")
        parts = [int(part) for part in re.findall(r"\d+", number.partition("+")[0])]
        return (parts + [0, 0, 0])[:3], not before
    return key(version) >= key(floor)


def judge(packages, pins, find=installed):
    """(lines, names below their floor)."""
    lines, below = [], []
    for name, (floor, why, is_needed) in packages.items():
        version = find(name)
        good = debian_at_least(version, floor) if version else not is_needed
        lines.append(f"{name} {version or 'absent'} (floor {floor}: {why}): {'ok' if good else 'BELOW'}")
        below += [] if good else [name]
    for name, (floor, why, is_needed) in RESOLVED.items():
        version = pins.get(name)
        # A branch or a commit has no version: nobody can say what it is above.
        good = at_least(version, floor) if version else name not in pins and not is_needed
        lines.append(f"{name} {version or 'absent'} (floor {floor}: {why}): {'ok' if good else 'BELOW'}")
        below += [] if good else [name]
    return lines, below


def main():
    pins = ROOT / "Package.resolved"
    if not pins.exists():
        print("no Package.resolved: build first")
        return 2
    lines, below = judge(PACKAGES, resolved(pins))
    print("\n".join(lines))
    from scoreboard import row
    row("B16", figure=len(below), unit="below", target="= 0", passed=not below, gate=True,
        detail=", ".join(line.partition(" (")[0] for line in lines))
    return 1 if below else 0


if __name__ == "__main__":
    sys.exit(main())
