"""A page of headless Chromium that calls with landline.js, driven by commands. Everything but the WebSocket is answered from
files of this machine under the gateway's own origin, with the gateway's content security policy.

Commands:
  client         key, user, secret, credentials (secret, callback, throws, empty), wrong, url  -> client or refused
  connect                                                        -> connected or not-connected
  call           to, kind, headers, caller, anonymous, microphone (true, false, "stream")      -> asked-for
  ask            method of the call, values                      -> did or did-not
  microphone, streams, twoHolds, stop, stopGracefully, cut (code), restart, path, left, level (seconds), record,
  exports, save (file), example (file, names), reload, offline (value), messages, close
Events: state, asked (of the page's credentials function), call-NAME with the members of the call's event and `at`
(milliseconds after the call was asked for), heard (the first sample that is no silence), over, unhandled, page-error,
console; loaded after each load. `messages` tells how many of each type were sent, which of them the document of the
protocol refuses, and what of a secret was seen where none may be.
"""

import argparse
import asyncio
import base64
import json
import pathlib
import re

import numpy
from playwright.async_api import async_playwright

from chromium_peer import FLAGS
from peer_protocol import emit, serve, write_wav
from schema import Schema

RATE = 48000
HERE = pathlib.Path(__file__).parent
ROOT = HERE.parents[2]
LIBRARY = ROOT / "Sources/CLandlinePages/Pages/landline.js"
DOCUMENT = ROOT / "Sources/AppProtocol/API/landline.v1.asyncapi.json"
# As the gateway's pages have it, and the recorder, which is made in the page.
POLICY = (
    "default-src 'none'; script-src 'self' blob:; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "media-src 'self' blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
TYPES = {".html": "text/html", ".js": "text/javascript"}


class Page:
    def __init__(self, page, context, origin):
        self._page = page
        self._context = context
        self._origin = origin
        self._schema = Schema(json.loads(DOCUMENT.read_text()))
        self._sent = {}
        self._problems = []
        # Texts that may stand in first messages alone.
        self._secrets = set()
        self._seen = []
        self._example = ""

    def watch(self):
        self._page.on("websocket", self._opened)
        self._page.on("console", lambda message: self._say("console", message.text))
        self._page.on("pageerror", lambda error: emit("page-error", reason=str(error)))
        self._page.on("request", lambda request: self._look("address", request.url))

    def _say(self, kind, text):
        emit(kind, text=text)
        self._look(kind, text)

    def _look(self, kind, text):
        for secret in self._secrets:
            if secret in text:
                self._seen.append(kind)

    def _opened(self, socket):
        self._look("address", socket.url)
        socket.on("framesent", self._frame_sent)
        socket.on("framereceived", self._frame_received)

    def _frame_sent(self, text):
        message = json.loads(text)
        kind = message["type"]
        self._sent[kind] = self._sent.get(kind, 0) + 1
        found = self._schema.problems(message, {"$ref": f"#/components/messages/app.{kind}/payload"})
        self._problems += [f"{kind}: {each}" for each in found]
        proof = message.get("proof", {})
        self._secrets |= {proof[name] for name in ("signature", "token") if name in proof}

    def _frame_received(self, text):
        message = json.loads(text)
        self._secrets |= {message[name][part] for name, part in (("resume", "token"), ("credential", "secret")) if name in message}

    def tell(self, event):
        self._look("event", json.dumps(event))
        emit(event.pop("event"), **event)

    async def route(self, route):
        path = route.request.url[len(self._origin) :] or "/"
        file = {"/": HERE / "landline_js.html", "/landline.js": LIBRARY}.get(path, HERE / path.lstrip("/"))
        if path == "/example.js":
            return await route.fulfill(content_type="text/javascript", body=self._example)
        if not file.is_file():
            return await route.fulfill(status=404, body="")
        await route.fulfill(
            content_type=TYPES[file.suffix], body=file.read_text(), headers={"Content-Security-Policy": POLICY}
        )

    async def load(self):
        await self._page.goto(self._origin + "/")
        await self._page.wait_for_function("() => globalThis.page !== undefined")
        await self._call("open", rate=RATE)

    async def _call(self, method, /, **values):
        return await self._page.evaluate("([name, values]) => page[name](values)", [method, values])

    async def do_client(self, secret="", **values):
        self._secrets.add(secret)
        self._secrets.discard("")
        await self._call("client", secret=secret, **values)

    async def do_call(self, **values):
        await self._call("call", **values)

    async def do_save(self, file):
        samples = numpy.frombuffer(base64.b64decode(await self._call("recorded")), dtype="<i2")
        write_wav(file, RATE, samples)
        emit("saved", file=file, seconds=len(samples) / RATE, rate=RATE)

    async def do_reload(self):
        await self.load()

    async def do_leave(self):
        await self._page.goto("about:blank")
        emit("gone")

    async def do_offline(self, value):
        await self._context.set_offline(value)
        emit("network", offline=value)

    async def do_messages(self):
        emit("messages", sent=self._sent, problems=self._problems, seen=self._seen)

    async def do_example(self, file, heading, names):
        """Runs the first example under a heading of the documentation as it is written, its names filled in."""
        text = pathlib.Path(file).read_text().split(heading, 1)[1]
        code = re.search(r"```js\n(.*?)```", text, re.S).group(1)
        lead = "".join(f"const {name} = {json.dumps(value)};\n" for name, value in names.items())
        self._example = lead + code
        await self._page.evaluate("() => import('/example.js')")
        emit("example", lines=len(code.strip().splitlines()))
        await self._page.click("#call")

    async def do_shown(self, pattern):
        await self._page.wait_for_function(
            "(pattern) => new RegExp(pattern).test(document.querySelector('output').textContent)", arg=pattern, timeout=15000
        )
        emit("shown", text=await self._page.text_content("output"))

    async def do_click(self, selector):
        await self._page.click(selector)

    async def do_close(self):
        pass

    def __getattr__(self, name):
        """The rest is the page's."""
        if not name.startswith("do_"):
            raise AttributeError(name)

        async def act(**values):
            await self._call(name[3:], **values)

        return act


async def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    parser.add_argument("--origin", required=True, help="http://127.0.0.1:PORT of the gateway")
    parser.add_argument("--microphone", default="", help="WAV file that the microphone hears over and over")
    options = parser.parse_args()
    # The page is made here, so the browser thinks that it came from far away, and would keep it from loopback.
    flags = [each + ",LocalNetworkAccessChecks" * each.startswith("--disable-features") for each in FLAGS]
    flags += [f"--use-file-for-fake-audio-capture={options.microphone}"] * bool(options.microphone)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=options.chromium, headless=True, args=flags)
        try:
            context = await browser.new_context(permissions=["microphone"])
            view = await context.new_page()
            page = Page(view, context, options.origin)
            page.watch()
            await context.route("**/*", page.route)
            await view.expose_function("tell", page.tell)
            await page.load()
            await serve(page)
        finally:
            await browser.close()


if __name__ == "__main__":
    asyncio.run(main())
