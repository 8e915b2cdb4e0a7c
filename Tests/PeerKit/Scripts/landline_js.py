"""A page of headless Chromium that calls with landline.js, driven by commands, and further tabs of the same browser. Everything
but the WebSocket is answered from files of this machine under the gateway's own origin, with the gateway's content security policy.

Commands, of the page or of the `tab` that they name:
  tab            name: opens another tab; its events have its name and a colon in front    -> NAME:loaded
  client         key, user, secret, credentials (secret, callback, token, throws, empty), wrong, url, device, name, busy, keeps
                 (the browser's storage), reaction (answer, hangUp: what is done while the page is told of a call) -> client or refused
  connect                                                        -> connected or not-connected
  listen         on                                              -> listening or not-listening
  incoming       told by itself, when somebody calls; the call is the one under way from then on
  answer         as in the library: headers, microphone          -> answered or not-answered
  call           to, kind, headers, caller, anonymous, microphone (true, false, "stream")      -> asked-for
  ask            method of the call, values                      -> did or did-not
  example        heading, names: a script of the guide           -> example
  vouch          heading, key, secret: a program of the guide    -> vouching
  scenario       name of a method of FakeGateway, with --fake    -> played
  exports        the module against its declarations, and these against the protocol's document
  carry (rate), uplink: reports of a link that carries so many bit/s, or the real ones; what the sender may send
  lose (loss): part of what comes that counts as lost, or what the browser counts
  playFile, sendFile (frequency, milliseconds, loop, mode), hearOwn, fileOver, stopFile, stopSending, badFile: sound files
  tone (name), mayNotify, notices, focusNotice: signals and notifications
  microphone, release, streams, twoHolds, stop, stopGracefully, cut (code), restart, path, left, level (seconds), record,
  save (file), reload, leave, offline (value), click (selector), shown (pattern), messages, close
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
import secrets

import numpy
from playwright.async_api import async_playwright

import landline_app
from chromium_peer import FLAGS
from landline_js_fake import FakeGateway
from peer_protocol import emit, serve, write_wav
from schema import Schema

RATE = 48000
HERE = pathlib.Path(__file__).parent
ROOT = HERE.parents[2]
LIBRARY = ROOT / "Sources/CLandlinePages/Pages/landline.js"
DECLARATIONS = LIBRARY.with_suffix(".d.ts")
GUIDE = ROOT / "Sources/CLandlinePages/Documentation/LandlineJS.md"
DOCUMENT = ROOT / "Sources/AppProtocol/API/landline.v1.asyncapi.json"
# As the gateway's pages have it, and the recorder, which is made in the page.
POLICY = (
    "default-src 'none'; script-src 'self' blob:; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "media-src 'self' blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
# Where the guide's page asks for its credentials.
VOUCHING = "/landline-credentials"
TONE_SECONDS = 2
TYPES = {".html": "text/html", ".js": "text/javascript"}


def write_tone(file):
    """A tone that wavers: a steady one would be taken for noise, and removed."""
    time = numpy.arange(RATE * TONE_SECONDS) / RATE
    write_wav(file, RATE, 8000 * numpy.sin(2 * numpy.pi * 440 * time + 6 * numpy.sin(6 * numpy.pi * time)))


def declared_names():
    """Names of the module as its declarations have them, `Class.member` or alone."""
    names = set()
    owner = None
    for line in DECLARATIONS.read_text().splitlines():
        if top := re.match(r"export declare (?:class|const) (\w+)", line):
            owner = top.group(1)
            names.add(owner)
            owner = owner if line.endswith("{") else None
        elif line.startswith("}"):
            owner = None
        elif owner and (member := re.match(r"  (?:readonly )?(\w+)[?(:<]", line)):
            names.add(f"{owner}.{member.group(1)}")
    # Those of the browser's own classes.
    inherited = {"addEventListener", "constructor", "name"}
    return {name for name in names if name.split(".")[-1] not in inherited}


def declared_words(name):
    """The texts that a type of the declarations is made of."""
    declaration = re.search(rf"export type {name} =(.*?);", DECLARATIONS.read_text(), re.S).group(1)
    return set(re.findall(r'"([^"]+)"', declaration))


def declared_members(name):
    """The members of an interface of the declarations."""
    body = re.search(rf"export interface {name} (?:extends \w+ )?{{(.*?)\n}}", DECLARATIONS.read_text(), re.S).group(1)
    return set(re.findall(r"^  (\w+)\??:", body, re.M))


def type_problems(document):
    """What the declarations have otherwise than the protocol's document."""
    schemas, messages = document["components"]["schemas"], document["components"]["messages"]

    def payload(name):
        return messages[f"gateway.{name}"]["payload"]["properties"]

    failure = schemas["Failure"]["properties"]
    # Of messages about a call; what describes the sound is the library's own.
    told = {name.split(".")[1] for name, each in messages.items() if "seq" in each["payload"]["properties"]}
    events = told - {"done", "answered", "error", "offered", "progress"}
    events |= {"progressing", "quality", "members", "speakers", "media", "microphone"}
    # A client's, not a call's.
    of_clients = {"incoming"}
    events -= of_clients
    pairs = {
        "FailureCode": (declared_words("FailureCode"), set(failure["code"]["enum"])),
        "FailureDomain": (declared_words("FailureDomain"), set(failure["domain"]["enum"])),
        "RetryAdvice": (declared_words("RetryAdvice"), set(failure["retry"]["enum"])),
        "EndCause": (declared_words("EndCause"), set(payload("ended")["cause"]["enum"])),
        "QualityWarning": (declared_words("QualityWarning"), set(payload("warning")["warning"]["enum"])),
        "CallEventMap": (declared_members("CallEventMap"), events),
        "LandlineEventMap": (declared_members("LandlineEventMap") & told, of_clients),
        "Caller": (declared_members("Caller"), set(schemas["Caller"]["properties"])),
        "FailureDetails": (declared_members("FailureDetails"), set(failure)),
        "InvalidValue": (declared_members("InvalidValue"), set(schemas["InvalidValue"]["properties"])),
        "Attempt": (declared_members("Attempt"), set(schemas["Attempt"]["properties"])),
        "Reason": (declared_members("Reason"), set(schemas["Reason"]["properties"])),
        "QualityDirection": (declared_members("QualityDirection"), set(schemas["Direction"]["properties"])),
        "CallSummary": (declared_members("CallSummary"), set(payload("ended")) - {"type", "seq"}),
        "PriceDetail": (declared_members("PriceDetail"), set(payload("price")) - {"type", "seq"}),
        "MembersDetail": (declared_members("MembersDetail"), set(payload("members")) - {"type", "call"}),
        "Member": (declared_members("Member"), set(payload("members")["members"]["items"]["properties"])),
        "SpeakersDetail": (declared_members("SpeakersDetail"), set(payload("speakers")) - {"type", "call"}),
        "QualityDetail": (declared_members("QualityDetail"), set(payload("quality")) - {"type"}),
    }
    return [f"{name}: {sorted(ours ^ theirs)}" for name, (ours, theirs) in pairs.items() if ours != theirs]


def make_token(application, user, secret):
    return landline_app.token(user, application, secret, secrets.token_hex(8), "//rtc.sinch.com/applications/")


class Page:
    def __init__(self, page, context, origin, name="", library=LIBRARY):
        self._prefix = f"{name}:" if name else ""
        self._page = page
        self._context = context
        self._origin = origin
        self._library = library
        self._schema = Schema(json.loads(DOCUMENT.read_text()))
        self._sent = {}
        self._problems = []
        # Texts that may stand in first messages alone.
        self._secrets = set()
        self._seen = []
        self._example = ""
        self._vouch = None
        self.fake = None

    def _emit(self, event, /, **values):
        emit(self._prefix + event, **values)

    def watch(self):
        self._page.on("websocket", self._opened)
        self._page.on("console", lambda message: self._say("console", message.text))
        self._page.on("pageerror", lambda error: self._emit("page-error", reason=str(error)))
        self._page.on("request", lambda request: self._look("address", request.url))

    def _say(self, kind, text):
        self._emit(kind, text=text)
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
        self._emit(event.pop("event"), **event)

    async def route(self, route):
        path = route.request.url[len(self._origin) :] or "/"
        file = {"/": HERE / "landline_js.html", "/landline.js": self._library}.get(path, HERE / path.lstrip("/"))
        if path == VOUCHING:
            asked = json.loads(route.request.post_data)
            return await route.fulfill(content_type="application/json", body=json.dumps(self._vouch(asked)))
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
        self._emit("saved", file=file, seconds=len(samples) / RATE, rate=RATE)

    async def do_reload(self):
        await self.load()

    async def do_leave(self):
        await self._page.goto("about:blank")
        self._emit("gone")

    async def do_offline(self, value):
        await self._context.set_offline(value)
        self._emit("network", offline=value)

    async def do_scenario(self, name):
        """Plays a gateway that does what one of ours seldom does."""
        await self.fake.play(name, self._call)
        self._emit("played", name=name)

    async def do_messages(self):
        self._emit("messages", sent=self._sent, problems=self._problems, seen=self._seen)

    async def do_exports(self):
        names = set(await self._call("names"))
        declared = declared_names()
        self._emit(
            "exports", count=len(names), undeclared=sorted(names - declared), absent=sorted(declared - names),
            types=type_problems(json.loads(DOCUMENT.read_text())),
        )

    def _code(self, heading, language):
        text = GUIDE.read_text().split(f"\n{heading}\n", 1)[1]
        return re.search(rf"```{language}\n(.*?)```", text, re.S).group(1)

    async def do_example(self, heading, names):
        """Runs the first script under a heading of the guide as it is written, with values for the names it leaves open."""
        code = self._code(heading, "js")
        self._example = "".join(f"const {name} = {json.dumps(value)};\n" for name, value in names.items()) + code
        await self._page.evaluate("() => import('/example.js')")
        self._emit("example", lines=len(code.strip().splitlines()))

    async def do_vouch(self, heading, key, secret):
        """Vouches for users with the first Python program under a heading of the guide, as it is written."""
        space = {}
        exec(compile(self._code(heading, "python"), str(GUIDE), "exec"), space)
        self._vouch = lambda asked: space["vouch"](asked, key, secret)
        self._emit("vouching")

    async def do_shown(self, pattern):
        await self._page.wait_for_function(
            "(pattern) => new RegExp(pattern).test(document.querySelector('output').textContent)", arg=pattern, timeout=15000
        )
        self._emit("shown", text=await self._page.text_content("output"))

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


class Tabs:
    """The tabs of one browser: each command is for the one that it names, else for the first."""

    def __init__(self, context, origin):
        self._context = context
        self._origin = origin
        self._pages = {}

    async def open(self, name="", fake=None, library=LIBRARY):
        view = await self._context.new_page()
        page = self._pages[name] = Page(view, self._context, self._origin, name, library)
        page.watch()
        await view.expose_function("tell", page.tell)
        await view.expose_function("makeToken", make_token)
        await view.route("**/*", page.route)
        if fake:
            page.fake = fake
            await view.route_web_socket("**/v1/connect", fake.opened)
        await page.load()

    async def do_tab(self, name):
        await self.open(name)

    def __getattr__(self, name):
        if not name.startswith("do_"):
            raise AttributeError(name)

        async def act(tab="", **values):
            await getattr(self._pages[tab], name)(**values)

        return act


async def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    parser.add_argument("--origin", required=True, help="http://127.0.0.1:PORT of the gateway")
    parser.add_argument("--fake", action="store_true", help="no gateway: `scenario` plays one")
    parser.add_argument("--microphone", default="", help="WAV file that the microphone hears over and over; else a tone")
    parser.add_argument("--library", default=LIBRARY, type=pathlib.Path, help="the first page's landline.js; else today's")
    options = parser.parse_args()
    if not options.microphone:
        options.microphone = str(pathlib.Path("tone.wav").absolute())
        write_tone(options.microphone)
    # The page is made here, so the browser thinks that it came from far away, and would keep it from loopback.
    flags = [each + ",LocalNetworkAccessChecks" * each.startswith("--disable-features") for each in FLAGS]
    flags.append(f"--use-file-for-fake-audio-capture={options.microphone}")
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=options.chromium, headless=True, args=flags)
        try:
            context = await browser.new_context(permissions=["microphone"])
            tabs = Tabs(context, options.origin)
            await tabs.open(fake=FakeGateway(Schema(json.loads(DOCUMENT.read_text()))) if options.fake else None, library=options.library)
            await serve(tabs)
        finally:
            await browser.close()


if __name__ == "__main__":
    asyncio.run(main())
