"""How long a call takes from a browser: from the click to the connection and to the first sound, on the phone page of a
gateway and, by the same script in the same browser, on a page of ours that calls the echo test of Janus.

The connection is there when the browser says so: both sides have checked the path and have the keys. The first sound is
the first sample that the browser plays above silence: of the gateway's prompt, and of the browser's own microphone that
Janus sends back.

Prints a table; with --json one object a line, for tests.
"""

import argparse
import asyncio
import json
import math
import pathlib
import statistics
import sys
import tempfile

import numpy
from playwright.async_api import async_playwright

from chromium_peer import FLAGS
from pages_janus import Janus
from pages_person import Person
from pages_phone import Phone
from pages_servers import Site
from peer_protocol import write_wav

PAGE = pathlib.Path(__file__).with_name("pages_janus.html")
NUMBER = "+46000000000"
# The times of the last call once it was heard.
HEARD = "pagesJudge.calls.at(-1)?.sound && pagesJudge.times()"
RATE = 48000
# What must hold of the medians, in milliseconds.
TARGETS = {"connected": 100, "sound": 250}


def babble(file):
    """Four seconds of sound that no noise suppression takes for noise: short bursts at changing pitches."""
    time = numpy.arange(4 * RATE) / RATE
    pitch = 250 + 150 * ((time * 10).astype(int) % 7)
    is_on = (time * 10) % 1 < 0.7
    write_wav(file, RATE, 12000 * is_on * numpy.sin(2 * math.pi * pitch * time))


async def ours(browser, port, key, runs):
    person = Person("caller", f"http://127.0.0.1:{port}")
    await person.begin(browser)
    await person.visit("/")
    if key:
        await person.sign_in(key)
    phone = Phone(person)
    found = []
    for _ in range(runs):
        seen = len(person.messages)
        await phone.dial(NUMBER)
        found.append(await person.until(HEARD))
        placed = await person.message("placed", after=seen)
        await phone.hang_up.click()
        await person.message("ended", placed["call"])
        await phone.ready()
    await person.end()
    return found


async def janus(browser, runs):
    far, site = Janus(), Site(PAGE.read_text())
    await site.start()
    try:
        await far.start()
        person = Person("caller", f"http://127.0.0.1:{site.port}")
        await person.begin(browser)
        page = person.page
        await page.goto(f"{person.base}/?janus={far.address}")
        found = []
        for _ in range(runs):
            await page.get_by_text("ready").wait_for()
            await page.get_by_role("button", name="Call").click()
            found.append(await person.until(HEARD))
            await page.get_by_role("button", name="End").click()
        await person.end()
        return found
    finally:
        far.stop()
        await site.stop()


def row(name, values):
    values = sorted(values)
    return (
        f"{name:<34}{statistics.median(values):>9.0f}{values[0]:>9.0f}{values[-1]:>9.0f}"
    )


def table(found, runs):
    print(f"{f'milliseconds after the click, {runs} calls':<34}{'median':>9}{'least':>9}{'most':>9}{'target':>9}")
    good = True
    for what, title in (("connected", "connected"), ("sound", "first sound")):
        for who, times in found.items():
            line = row(f"{title}, {who}", [each[what] for each in times])
            if who == "landline":
                median = statistics.median(each[what] for each in times)
                good &= median <= TARGETS[what]
                line += f"{TARGETS[what]:>9}  {'met' if median <= TARGETS[what] else 'missed'}"
            print(line)
    return good


async def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    parser.add_argument("--port", type=int, required=True, help="of the gateway on 127.0.0.1")
    parser.add_argument("--key-file", help="holds the key to sign in with; landline dev needs none")
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    key = pathlib.Path(options.key_file).read_text().split("\n")[0].strip() if options.key_file else None
    # The first call of a browser opens its sound devices: it is made, and not counted.
    runs = options.runs + 1
    with tempfile.TemporaryDirectory() as folder:
        microphone = f"{folder}/microphone.wav"
        babble(microphone)
        flags = FLAGS + [f"--use-file-for-fake-audio-capture={microphone}"]
        async with async_playwright() as playwright:
            browser = await playwright.chromium.launch(executable_path=options.chromium, headless=True, args=flags)
            try:
                found = {"landline": (await ours(browser, options.port, key, runs))[1:]}
                if Janus.is_installed:
                    found["janus"] = (await janus(browser, runs))[1:]
            finally:
                await browser.close()
    if options.json:
        for who, times in found.items():
            medians = {what: statistics.median(each[what] for each in times) for what in TARGETS}
            print(json.dumps({"event": "measured", "who": who, "runs": len(times), **medians}))
        return 0
    if "janus" not in found:
        print("janus is absent: apt-get install janus", file=sys.stderr)
    return 0 if table(found, options.runs) else 1


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
