"""Runs one attack: `attack_host.py NAME RESULTS [--full]`, inside a network of its own."""

import asyncio
import importlib.util
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "PeerKit" / "Scripts")]

from ground import Ground  # noqa: E402


def main():
    name, results = sys.argv[1:3]
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    specification = importlib.util.spec_from_file_location(name, HERE / "attacks" / f"{name}.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    asyncio.run(module.attack(Ground(name, results, "--full" in sys.argv)))


if __name__ == "__main__":
    main()
