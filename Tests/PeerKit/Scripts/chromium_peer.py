"""A WebRTC end point of headless Chromium on loopback: offers or answers one audio call, its microphone fed from a
WAV file, what it hears recorded in the page.

Commands: remote (type, sdp), offer (iceRestart), play, silence, dtmf (digits, milliseconds, gap), direction (value),
record, length, save (file), stats, close.
Events: ready, late (as peer_protocol's clock tells it, here of the thread that plays sound), offer and answer (sdp), connected (dtls, srtp, role), state (value), playing, dtmf-started (digit),
dtmf-sent, recording, length (seconds), saved (file, seconds), stats, failed (reason), closed.

On a machine with further addresses its checks may come from one of those, although its candidates name 127.0.0.1 alone:
a peer-reflexive candidate to the other side. What it plays is stretched in time where the machine is busy, so a recording
is better judged by its words, its start and its digits than by PESQ.
"""

import argparse
import asyncio
import base64
import pathlib
import time

import numpy
from playwright.async_api import async_playwright

from peer_protocol import emit, serve, write_wav

RATE = 48000
# A page of this name is a secure context, which a microphone needs; nothing is ever asked of the network for it.
ADDRESS = "http://localhost/"
PAGE = pathlib.Path(__file__).with_suffix(".html")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--autoplay-policy=no-user-gesture-required",
    "--use-fake-ui-for-media-stream",
    "--use-fake-device-for-media-stream",
    # Candidates show 127.0.0.1 as it is, and it is one at all.
    "--disable-features=WebRtcHideLocalIpsWithMdns",
    "--force-webrtc-ip-handling-policy=default_public_and_private_interfaces",
    "--allow-loopback-in-peer-connection",
]


def on_loopback(sdp):
    """Leaves out every candidate that is not UDP on 127.0.0.1."""
    lines = []
    for line in sdp.splitlines():
        words = line.split()
        is_candidate = line.startswith("a=candidate:")
        if not is_candidate or (words[2].lower() == "udp" and words[4] == "127.0.0.1"):
            lines.append(line)
    return "\r\n".join(lines) + "\r\n"


class Peer:
    def __init__(self, page, play):
        self._page = page
        self._play = play
        # Kept, or a task could be collected before its end.
        self._tasks = set()

    def tell(self, event):
        if "sdp" in event:
            event["sdp"] = on_loopback(event["sdp"])
        if event["event"] == "late":
            event["at"] = time.monotonic()
        emit(event.pop("event"), **event)
        if self._play and event.get("dtls"):
            task = asyncio.ensure_future(self._call("play"))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _call(self, method, **values):
        return await self._page.evaluate("([name, values]) => peer[name](values)", [method, values])

    async def do_offer(self, **values):
        await self._call("offer", **values)

    async def do_remote(self, **values):
        await self._call("remote", **values)

    async def do_play(self):
        await self._call("play")

    async def do_silence(self):
        await self._call("silence")

    async def do_dtmf(self, **values):
        await self._call("dtmf", **values)

    async def do_direction(self, **values):
        await self._call("direction", **values)

    async def do_record(self):
        await self._call("record")

    async def do_stats(self):
        await self._call("stats")

    async def do_length(self):
        await self._call("length")

    async def do_save(self, file):
        samples = numpy.frombuffer(base64.b64decode(await self._call("recorded")), dtype="<i2")
        write_wav(file, RATE, samples)
        emit("saved", file=file, seconds=len(samples) / RATE, rate=RATE)

    async def do_close(self):
        await self._call("close")


async def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    parser.add_argument("--setup", default="", help="active or passive; else as Chromium likes it")
    parser.add_argument("--codec", default="", help="names in order of preference; else Chromium's own list")
    parser.add_argument("--microphone", default="", help="WAV file that the microphone hears once")
    parser.add_argument("--play", action="store_true", help="open the microphone as soon as the call is connected")
    options = parser.parse_args()
    flags = FLAGS + [f"--use-file-for-fake-audio-capture={options.microphone}%noloop"] * bool(options.microphone)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=options.chromium, headless=True, args=flags)
        try:
            context = await browser.new_context(permissions=["microphone"])
            await context.route(
                "**/*", lambda route: route.fulfill(content_type="text/html", body=PAGE.read_text())
            )
            page = await context.new_page()
            peer = Peer(page, options.play)
            await page.expose_function("tell", peer.tell)
            await page.goto(ADDRESS)
            await page.evaluate(
                "values => peer.open(values)", {"codec": options.codec, "setup": options.setup, "rate": RATE}
            )
            await serve(peer)
        finally:
            await browser.close()


if __name__ == "__main__":
    asyncio.run(main())
