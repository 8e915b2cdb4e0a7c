"""Somebody with a browser window of their own: one context, one page, and everything that goes over its wires."""

import asyncio
import json
import pathlib
import re
import time
from urllib.parse import urlsplit

TAP = pathlib.Path(__file__).with_name("pages_tap.js")
# A narrow telephone and a desk.
NARROW = {"width": 360, "height": 760}
WIDE = {"width": 1280, "height": 900}
# A message of more than this is no message of a call.
MOST_FRAME = 1 << 20
# Members of messages and replies that nobody else may know.
SECRET_MEMBERS = {"token", "secret", "signature"}
# What a page may be quiet for before it is taken for drawn.
QUIET_SECONDS = 0.15


def secrets_in(value):
    """Every text of a member that is a secret, however deep."""
    if isinstance(value, dict):
        for name, each in value.items():
            if name in SECRET_MEMBERS and isinstance(each, str):
                yield each
            else:
                yield from secrets_in(each)
    elif isinstance(value, list):
        for each in value:
            yield from secrets_in(each)


class Person:
    def __init__(self, name, base):
        self.name = name
        self.base = base
        self.page = None
        self.context = None
        self.wire = None
        # Texts that must never be seen outside a body or the one header made for them.
        self.secrets = set()
        # Addresses of requests and sockets; texts of other headers; what the console said.
        self.addresses = []
        self.headers = []
        self.console = []
        self.page_errors = []
        # Policies of documents by address, bytes of the wire by address, cookies that went out by address.
        self.policies = {}
        self.bytes = {}
        self.cookies = {}
        # Messages of the app's socket: (direction, message).
        self.messages = []
        self._open = {}
        # The document that each request is of.
        self._documents = {}
        self._changed = time.monotonic()

    # Life

    async def begin(self, browser, theme="light", narrow=False):
        self.context = await browser.new_context(
            permissions=["microphone"], color_scheme=theme, viewport=NARROW if narrow else WIDE, locale="en-GB",
            reduced_motion="reduce",
        )
        self.context.set_default_timeout(15_000)
        await self.context.add_init_script(path=TAP)
        self.page = await self.context.new_page()
        self.page.on("console", self._said)
        self.page.on("pageerror", lambda error: self.page_errors.append(str(error)))
        self.page.on("websocket", self._socket)
        self.page.on("response", lambda response: asyncio.ensure_future(self._answered(response)))
        self.wire = await self.context.new_cdp_session(self.page)
        self.wire.on("Network.requestWillBeSent", self._sent)
        self.wire.on("Network.requestWillBeSentExtraInfo", self._headed)
        self.wire.on("Network.loadingFinished", self._finished)
        self.wire.on("Network.loadingFailed", self._finished)
        self.wire.on("Page.frameNavigated", self._navigated)
        await self.wire.send("Network.enable")
        await self.wire.send("Page.enable")

    async def end(self):
        await self.context.close()

    # What goes over the wires

    def _said(self, message):
        place = message.location.get("url", "")
        self.console.append((message.type, message.text, place))

    def _sent(self, event):
        address = event["request"]["url"]
        self.addresses.append(address)
        self._open[event["requestId"]] = address
        self._documents[event["requestId"]] = event.get("loaderId")
        self._changed = time.monotonic()

    def _navigated(self, event):
        """Of requests that a page had under way when it was left, the end is not always told."""
        frame = event["frame"]
        if "parentId" not in frame:
            for request in [each for each in self._open if self._documents.get(each) != frame["loaderId"]]:
                del self._open[request]
            self._documents = {request: frame["loaderId"] for request in self._open}

    def _headed(self, event):
        for name, value in event["headers"].items():
            if name.lower() == "cookie":
                self.cookies.setdefault(self._open.get(event["requestId"], ""), set()).add(value)
            elif name.lower() != "authorization":
                self.headers.append(f"{name}: {value}")

    def _finished(self, event):
        address = self._open.pop(event["requestId"], "")
        self._changed = time.monotonic()
        size = event.get("encodedDataLength", 0)
        self.bytes[address] = max(self.bytes.get(address, 0), size)

    async def _answered(self, response):
        try:
            headers = await response.all_headers()
            if response.request.resource_type == "document":
                self.policies[response.url] = headers.get("content-security-policy", "")
            for line in headers.get("set-cookie", "").splitlines():
                value = line.split(";")[0].partition("=")[2]
                if value:
                    self.secrets.add(value)
            path = urlsplit(response.url).path
            if path in ("/v1/phone-registrations", "/v1/sign-in") and response.status < 300:
                self.secrets.update(secrets_in(await response.json()))
        except Exception as problem:  # the page may be gone by now
            self.headers.append(f"unread: {type(problem).__name__}")

    def _socket(self, socket):
        self.addresses.append(socket.url)

        def take(direction):
            def taken(payload):
                if not isinstance(payload, str) or len(payload) > MOST_FRAME:
                    return
                try:
                    message = json.loads(payload)
                except ValueError:
                    return
                self.secrets.update(secrets_in(message))
                self.messages.append((direction, message))

            return taken

        socket.on("framesent", take("sent"))
        socket.on("framereceived", take("received"))

    # Steps

    async def visit(self, path):
        """Opens a page and waits until it is drawn.
        Returns the status of the document."""
        response = await self.page.goto(self.base + path, wait_until="load")
        await self.settled()
        return response.status if response else None

    async def settled(self, seconds=10):
        """Waits for the first heading, and until no request but a stream is under way."""
        await self.page.locator("h1").first.wait_for()
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            waiting = [address for address in self._open.values() if "watch=" not in address]
            if not waiting and time.monotonic() - self._changed > QUIET_SECONDS:
                return
            await asyncio.sleep(0.02)
        raise RuntimeError(f"the page never rests: {waiting}")

    async def sign_in(self, key):
        """By keyboard: the field of the key has the focus."""
        self.secrets.add(key)
        field = self.page.get_by_label("Key", exact=True)
        await field.wait_for()
        await self.focus(field)
        await self.page.keyboard.type(key)
        await self.page.keyboard.press("Enter")
        await field.wait_for(state="detached")
        await self.settled()

    async def focus(self, locator, most=80, back=False):
        """Presses Tab until an element has the focus; each stop on the way must show that it has it."""
        await locator.wait_for()
        for _ in range(most):
            if await locator.evaluate("node => node === document.activeElement"):
                return
            await self.page.keyboard.press("Shift+Tab" if back else "Tab")
            unseen = await self.page.evaluate(
                """() => {
                  const node = document.activeElement;
                  if (!node || node === document.body) return null;
                  const shows = (style) =>
                    (style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0) || style.boxShadow !== "none";
                  return shows(getComputedStyle(node)) ? null : node.outerHTML.slice(0, 120);
                }"""
            )
            if unseen:
                raise RuntimeError(f"nothing shows that this has the focus: {unseen}")
        raise RuntimeError(f"{most} times Tab never reach {locator}")

    async def message(self, kind, call=None, direction="received", seconds=15, after=0):
        """The first message of a type since a place in the list of messages."""
        end = time.monotonic() + seconds
        while True:
            for way, message in self.messages[after:]:
                if way == direction and message.get("type") == kind and call in (None, message.get("call")):
                    return message
            if time.monotonic() > end:
                last = [message.get("type") for _, message in self.messages[-12:]]
                raise RuntimeError(f"no message {kind} within {seconds} s; the last were {last}")
            await asyncio.sleep(0.01)

    async def until(self, expression, seconds=15):
        """Waits until an expression is true in the page. The page's policy forbids the ways of Playwright to do it."""
        end = time.monotonic() + seconds
        while not (found := await self.page.evaluate(expression)):
            if time.monotonic() > end:
                raise RuntimeError(f"not within {seconds} s: {expression}")
            await asyncio.sleep(0.02)
        return found

    # Judgement

    async def audit(self, allowed=()):
        """What should not be: a list of findings for each thing that pages promise.
        `allowed`: parts of lines of the console that a test has caused on purpose."""
        own = urlsplit(self.base).netloc
        foreign = sorted(
            {
                address
                for address in self.addresses
                if urlsplit(address).netloc != own and urlsplit(address).scheme not in ("data", "blob", "about")
            }
        )
        # A browser says itself that a page was asked to sign in.
        noise = [re.compile(part) for part in (*allowed, r"status of 401 .*\|.*/v1/me$")]
        lines = [f"{kind}: {text}|{place}" for kind, text, place in self.console if kind in ("error", "warning")]
        console = [line for line in lines if not any(each.search(line) for each in noise)] + self.page_errors
        violations, storage = [], ""
        try:
            state = await self.page.evaluate(
                """() => ({
                  violations: globalThis.pagesJudge?.violations ?? [],
                  storage: JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href]),
                })"""
            )
            violations, storage = state["violations"], state["storage"]
        except Exception:  # no document is open
            pass
        policies = [
            f"{address}: {policy or 'none'}"
            for address, policy in self.policies.items()
            if urlsplit(address).netloc == own and not is_strict(policy)
        ]
        places = {
            "address": self.addresses, "header": self.headers, "storage": [storage],
            "console": [text for _, text, _ in self.console],
        }
        leaks = sorted(
            {
                f"{place}: {text[:60]}"
                for place, texts in places.items()
                for text in texts
                for secret in self.secrets
                if len(secret) > 7 and secret in text
            }
        )
        return {"foreign": foreign, "console": console, "violations": violations, "policies": policies, "leaks": leaks}


def is_strict(policy):
    """Whether a policy lets nothing in that the gateway itself does not serve."""
    parts = {}
    for part in policy.split(";"):
        words = part.split()
        if words:
            parts[words[0].lower()] = words[1:]
    values = [value for words in parts.values() for value in words]
    return (
        parts.get("default-src") == ["'none'"]
        and not any("unsafe" in value or value.startswith(("http", "*", "ws:", "wss:")) for value in values)
        and parts.get("script-src") == ["'self'"]
        and parts.get("style-src") == ["'self'"]
        and parts.get("frame-ancestors") == ["'none'"]
        and parts.get("base-uri") == ["'none'"]
    )
