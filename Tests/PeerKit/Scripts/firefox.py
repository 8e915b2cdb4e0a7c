"""Headless Firefox ESR, driven by WebDriver BiDi (https://w3c.github.io/webdriver-bidi/) over its own remote port: no
program stands between."""

import asyncio
import json
import pathlib
import re
import shutil

from web_socket import Closed, WebSocket

PROGRAM = "firefox-esr"
# Seconds.
START = 60
REPLY = 30
# What people have set when they call: a microphone that is allowed, here the browser's own tone, and sound that may
# start. What would ask the network for things of its own is off. How ICE looks for ways is as it is delivered.
PREFERENCES = {
    "media.navigator.streams.fake": True,
    "permissions.default.microphone": 1,
    "media.autoplay.default": 0,
    "media.autoplay.blocking_policy": 0,
    "app.update.enabled": False,
    "browser.shell.checkDefaultBrowser": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "services.settings.server": "data:,#remote-settings-dummy/v1",
    "toolkit.telemetry.server": "",
}


class Firefox:
    def __init__(self, folder, preferences=None):
        self._profile = pathlib.Path(folder) / "firefox"
        self._preferences = {**PREFERENCES, **(preferences or {})}
        self._process = None
        self._web = None
        self._tasks = []
        self._replies = {}
        self._number = 0
        self._log = []
        self.context = None
        # What pages said on their console.
        self.console = []

    async def start(self):
        self._profile.mkdir(parents=True)
        lines = [f"user_pref({json.dumps(name)}, {json.dumps(value)});" for name, value in self._preferences.items()]
        (self._profile / "user.js").write_text("\n".join(lines) + "\n")
        self._process = await asyncio.create_subprocess_exec(
            shutil.which(PROGRAM), "--headless", "--no-remote", "--profile", str(self._profile),
            "--remote-debugging-port", "0", "about:blank",
            stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
        )
        port = await asyncio.wait_for(self._port(), START)
        self._tasks.append(asyncio.ensure_future(self._read_log()))
        self._web = await WebSocket.open("127.0.0.1", port, "/session")
        self._tasks.append(asyncio.ensure_future(self._read()))
        await self.ask("session.new", capabilities={"alwaysMatch": {"acceptInsecureCerts": True}})
        await self.ask("session.subscribe", events=["log.entryAdded"])
        tree = await self.ask("browsingContext.getTree")
        self.context = tree["contexts"][0]["context"]

    async def _port(self):
        while line := await self._process.stdout.readline():
            self._log.append(line.decode("utf-8", "replace").rstrip())
            if found := re.search(r"BiDi listening on ws://[^:]+:(\d+)", self._log[-1]):
                return int(found[1])
        raise RuntimeError(f"Firefox ends at once: {self._log[-5:]}")

    async def _read_log(self):
        while line := await self._process.stdout.readline():
            self._log = self._log[-50:] + [line.decode("utf-8", "replace").rstrip()]

    async def _read(self):
        try:
            while True:
                message = json.loads(await self._web.receive())
                if waiting := self._replies.pop(message.get("id"), None):
                    waiting.set_result(message)
                elif message.get("method") == "log.entryAdded":
                    entry = message["params"]
                    self.console.append(f"{entry.get('level')}: {entry.get('text')}")
        except Closed as problem:
            for waiting in self._replies.values():
                waiting.set_exception(RuntimeError(f"Firefox is gone: {problem}; {self._log[-5:]}"))

    async def ask(self, method, **parameters):
        """A command of WebDriver BiDi and its result."""
        self._number += 1
        waiting = self._replies[self._number] = asyncio.get_running_loop().create_future()
        await self._web.send(json.dumps({"id": self._number, "method": method, "params": parameters}))
        reply = await asyncio.wait_for(waiting, REPLY)
        if reply["type"] != "success":
            raise RuntimeError(f"{method}: {reply.get('error')}: {reply.get('message')}")
        return reply["result"]

    async def before_pages(self, function):
        """Runs a function, given as its source, in every page before the page's own scripts."""
        await self.ask("script.addPreloadScript", functionDeclaration=function)

    async def visit(self, address):
        await self.ask("browsingContext.navigate", context=self.context, url=address, wait="complete")

    async def evaluate(self, expression):
        """The value of an expression in the page, or of the promise that it is; by way of JSON."""
        result = await self.ask(
            "script.evaluate", expression=f"(async () => JSON.stringify((await ({expression})) ?? null))()",
            target={"context": self.context}, awaitPromise=True, userActivation=True,
        )
        if result["type"] != "success":
            raise RuntimeError(f"{expression[:200]}: {result['exceptionDetails'].get('text')}")
        return json.loads(result["result"]["value"])

    async def click(self, selector):
        """By pointer, where the element is."""
        shared = await self.ask(
            "browsingContext.locateNodes", context=self.context, locator={"type": "css", "value": selector})
        if not shared["nodes"]:
            raise RuntimeError(f"the page has no {selector}")
        element = {"type": "element", "element": {"sharedId": shared["nodes"][0]["sharedId"]}}
        await self.evaluate(f"document.querySelector({json.dumps(selector)}).scrollIntoView({{ block: 'center' }})")
        await self.ask("input.performActions", context=self.context, actions=[{
            "type": "pointer", "id": "mouse", "actions": [
                {"type": "pointerMove", "x": 0, "y": 0, "origin": element},
                {"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0},
            ],
        }])

    async def type(self, text):
        """Keys, into what has the focus."""
        await self.ask("input.performActions", context=self.context, actions=[{
            "type": "key", "id": "keyboard",
            "actions": [{"type": kind, "value": key} for key in text for kind in ("keyDown", "keyUp")],
        }])

    async def end(self):
        if self._process and self._process.returncode is None:
            self._process.terminate()
            try:
                await asyncio.wait_for(self._process.wait(), 10)
            except asyncio.TimeoutError:
                self._process.kill()
                await self._process.wait()
        for task in self._tasks:
            task.cancel()
