"""The page that the README shows, as somebody makes it who pastes it: from a file and from other origins, in headless
Chromium, beside `landline dev`.

  --landline PATH

Commands:
  dev       folder, origins                 `landline dev` in a home of its own, with --origin for each -> port
  paste     folder, readme, name            runs the README's block that makes the file `name`, in that home -> bytes
  call      folder, name, origin            opens the page, presses its button -> texts that it showed, in order
  connect   origin                          a page of an origin imports landline.js and connects -> code, phrase, message
  stop                                      ends the gateway
  close
An origin is "file" for the file itself, or `http://HOST`, whose port is this script's: HOST is made to lead here.
Events: ready, done (do and the values above), failed (reason).
"""

import argparse
import asyncio
import functools
import http.server
import json
import os
import pathlib
import re
import threading
import time

from playwright.async_api import async_playwright

from chromium_peer import FLAGS
from peer_protocol import emit, serve

# What anybody could write who knows the gateway's address.
CONNECTS = """async ([gateway, key]) => {
  const { Landline } = await import(gateway + "/landline.js");
  const landline = new Landline({ applicationKey: key, user: "alice", capabilities: ["calling"], credentials: () => ({ token: "none" }) });
  const began = performance.now();
  try {
    await landline.connect();
    return { code: "connected" };
  } catch (error) {
    return { code: error.code, phrase: error.phrase, message: error.message, milliseconds: performance.now() - began };
  }
}"""


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *arguments):
        pass


class Pages:
    def __init__(self, landline, play):
        self._landline = landline
        self._play = play
        self._gateway = None
        self._port = 0
        self._server = None

    def __getattr__(self, name):
        if not name.startswith("do_"):
            raise AttributeError(name)
        action = getattr(self, name[3:] + "_", None)
        if action is None:
            raise AttributeError(name)

        async def run(**values):
            emit("done", do=name[3:], **(await action(**values) or {}))

        return run

    # The gateway

    async def dev_(self, folder, origins=()):
        log = (pathlib.Path(folder) / "dev.log").open("w+")
        options = [part for origin in origins for part in ("--origin", self._named(origin))]
        self._gateway = await asyncio.create_subprocess_exec(
            self._landline, "dev", "--port", "0", *options, stdin=asyncio.subprocess.DEVNULL, stdout=log, stderr=log,
            env=self._home(folder), cwd=folder)
        end = time.monotonic() + 30
        while time.monotonic() < end and self._gateway.returncode is None:
            if found := re.search(r"//127\.0\.0\.1:(\d+)/[\s\S]*\n  try ", pathlib.Path(log.name).read_text()):
                self._port = int(found[1])
                return {"port": self._port}
            await asyncio.sleep(0.05)
        raise RuntimeError(f"it does not start: {pathlib.Path(log.name).read_text()[-1500:]}")

    @staticmethod
    def _home(folder):
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("LANDLINE_", "XDG_"))}
        return {**kept, "HOME": folder}

    async def stop_(self):
        if self._gateway and self._gateway.returncode is None:
            self._gateway.terminate()
            await self._gateway.wait()
        self._gateway = None

    # The page

    async def paste_(self, folder, readme, name):
        blocks = re.findall(r"^```\w*\n(.*?)^```", pathlib.Path(readme).read_text(), re.S | re.M)
        block = next((block for block in blocks if name in block), None)
        if block is None:
            raise RuntimeError(f"{readme} has no block that makes {name}")
        shell = await asyncio.create_subprocess_exec(
            "bash", "-eu", stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT, env=self._home(folder), cwd=folder)
        said, _ = await shell.communicate(block.encode())
        if shell.returncode != 0:
            raise RuntimeError(f"the block fails: {said.decode()}")
        return {"bytes": (pathlib.Path(folder) / name).stat().st_size}

    def _served(self, folder):
        if self._server is None:
            self._server = http.server.ThreadingHTTPServer(
                ("127.0.0.1", 0), functools.partial(Quiet, directory=folder))
            threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self._server.server_port

    def _named(self, origin, folder="/nonexistent"):
        return origin if origin == "file" else f"{origin}:{self._served(folder)}"

    async def _page(self, origin):
        host = origin.partition("://")[2].partition(":")[0]
        flags = [f"--host-resolver-rules=MAP {host} 127.0.0.1", f"--unsafely-treat-insecure-origin-as-secure={origin}"]
        browser = await self._play.chromium.launch(
            executable_path="/usr/bin/chromium", args=FLAGS + (flags if origin != "file" else []))
        context = await browser.new_context()
        page = await context.new_page()
        page.said = []
        page.on("console", lambda message: page.said.append(message.text))
        page.on("pageerror", lambda error: page.said.append(str(error)))
        return browser, page

    async def call_(self, folder, name, origin):
        origin = self._named(origin, folder)
        browser, page = await self._page(origin)
        try:
            if origin != "file":
                await page.context.grant_permissions(["microphone"], origin=origin)
            await page.goto(f"file://{folder}/{name}" if origin == "file" else f"{origin}/{name}")
            await page.evaluate(
                """() => { globalThis.shown = []; const output = document.querySelector("output");
                  new MutationObserver(() => shown.push(output.textContent)).observe(output, { childList: true, characterData: true, subtree: true }); }""")
            await page.locator("button").click()
            end = time.monotonic() + 25
            while True:
                shown = await page.evaluate("shown")
                if any("hungUp" in text for text in shown):
                    break
                if time.monotonic() > end:
                    raise RuntimeError(f"it showed {shown}, and said {page.said}")
                await asyncio.sleep(0.05)
            return {"texts": shown, "said": page.said}
        finally:
            await browser.close()

    async def connect_(self, origin):
        folder = os.getcwd()
        origin = self._named(origin, folder)
        (pathlib.Path(folder) / "blank.html").write_text("<!doctype html><title>blank</title>")
        browser, page = await self._page(origin)
        try:
            await page.goto(f"file://{folder}/blank.html" if origin == "file" else f"{origin}/blank.html")
            key = "00000000-0000-4000-8000-000000000000"
            return {"origin": origin, **await page.evaluate(CONNECTS, [f"http://127.0.0.1:{self._port}", key])}
        finally:
            await browser.close()

    async def do_close(self):
        await self.stop_()


async def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--landline", required=True)
    options = parser.parse_args()
    async with async_playwright() as play:
        await serve(Pages(options.landline, play))


asyncio.run(main())
