"""People with browsers on the pages of a gateway: headless Chromium, its microphone fed from a WAV file, what its calls
play recorded in the page.

Commands; `person` names who does it, and everybody has a browser context of their own:
  begin      person, port, theme, narrow, relayed   a window; `relayed`: over connections that `cut` breaks
  visit      person, path                           -> status
  sign-in    person, key                            by keyboard
  call       person, number                         by clicks -> call
  key-call   person, number                         by keyboard alone -> call
  refused    person, number, code                   calls, and waits for the explanation of this code -> call, text
  mistyped   person, number, code                   the same for what is no number -> placed (calls that were sent), text
  call-user  person, user                           by the button of a user who is there -> call
  ringing    person, user                           waits until somebody calls -> text, title of the page
  answer     person, user, by ("click" or "key")    and waits until the browser is connected
  decline    person, user, by
  afresh     person                                 what was heard of the last call so far is forgotten
  sounded    person                                 waits for the first sound of the last call
  ended      person                                 waits for its end -> the message
  hang-up    person, by ("click" or "key")
  wait       person, text                           waits until the page shows it
  text       person, path                           -> what the page shows, after a visit where a path is given
  ask        person, path, method, body             asks as the page can -> status, body
  tables     person                                 -> every table of the page: caption, head, rows
  recorded   person, file                           -> seconds
  times      person                                 -> milliseconds after the click
  used       person                                 -> how often pointer and keys were used
  reload, leave                                     of the page
  cut, mend  person                                 breaks every connection of a relayed person, and lets them in again
  look       person, path, name, folder             axe-core and pictures, light, dark and narrow -> complaints
  gone       person, figure                         waits until the page says that its gateway is gone -> seconds, colours
  back       person, figure                         waits until it is there again -> colours
  cost-told  person                                 -> what the page says the last call has cost, once it knows
  leave-asks person, how                            tries to leave and stays -> dialogs, url
  beside     person, name                           follows a link that opens beside -> address, text, url
  silence    person, absent                         no microphone from the next page on
  asked      person, number, choice                 dials and answers the question before the call -> text, before
  chip       person, name                           presses a number to try -> call
  overview   person                                 -> what stands in certain places of the page
  ladder     person, narrow                         -> labels of the ladder's rows, drawn, inside
  switch     person, name                           chooses a figure of the plot -> caption, lines, drawn, less
  audit      person, allowed                        -> what pages promise and did not hold
  foreign    person, host, account                  a page of another origin tries -> what came of each trial
  rebound    person, host                           asks for a session by another name of this machine -> status, cookie
  end        person
  close
Events: ready, done (do and the values above), failed (reason).
"""

import argparse
import asyncio
import base64
import pathlib
import re
import time
from urllib.parse import urlsplit

import numpy
from playwright.async_api import async_playwright

from chromium_peer import FLAGS
from pages_person import NARROW, WIDE, Person
from pages_phone import Phone
from pages_servers import Relay, Site
from pages_sight import complaints, overflow, picture, violations
from pages_states import States
from peer_protocol import emit, serve, write_wav

FOREIGN = pathlib.Path(__file__).with_name("pages_foreign.html")
# What stands in an error's reason of a page.
MOST_TEXT = 1500
TABLES = """() => [...document.querySelectorAll("main table")].map((table) => {
  const text = (node) => node.innerText.replace(/\\s+/g, " ").trim();
  const rows = [...table.querySelectorAll("tr")].map((row) => [...row.cells].map(text));
  const label = table.caption ? text(table.caption) : table.getAttribute("aria-label")
    ?? document.getElementById(table.getAttribute("aria-labelledby"))?.innerText ?? "";
  return { caption: label, rows };
})"""


class Pages(States):
    def __init__(self, browser):
        # When the connections of somebody were cut.
        self.cut_at = {}
        self._browser = browser
        self._people = {}
        self._relays = {}

    def __getattr__(self, name):
        """Commands have names with hyphens, and each answers with `done` and what the page said when it went wrong."""
        if not name.startswith("do_"):
            raise AttributeError(name)
        action = getattr(self, name[3:].replace("-", "_") + "_", None)
        if action is None:
            raise AttributeError(name)

        async def run(**values):
            person = self._people.get(values.get("person"))
            if person is not None:
                values["person"] = person
            try:
                found = await action(**values)
            except Exception as problem:
                raise RuntimeError(f"{problem}\n{await self._view(person)}") from problem
            emit("done", do=name[3:], **(found or {}))

        return run

    async def _view(self, person):
        """What somebody looks at right now."""
        if person is None or person.page is None:
            return ""
        try:
            text = await person.page.locator("body").inner_text(timeout=1000)
            types = [f"{way} {message.get('type')}" for way, message in person.messages[-10:]]
            return f"{person.page.url}\n{text[:MOST_TEXT]}\n{types}\n{person.console[-5:]}\n{person.page_errors[-3:]}"
        except Exception as problem:
            return f"no view: {problem}"

    # Windows

    async def begin_(self, person, port, theme="light", narrow=False, relayed=False):
        if relayed:
            relay = Relay(port)
            await relay.start()
            self._relays[person], port = relay, relay.port
        one = Person(person, f"http://127.0.0.1:{port}")
        self._people[person] = one
        await one.begin(self._browser, theme, narrow)

    async def end_(self, person):
        await person.end()
        self._people.pop(person.name, None)
        if relay := self._relays.pop(person.name, None):
            await relay.stop()

    async def visit_(self, person, path):
        return {"status": await person.visit(path)}

    async def reload_(self, person):
        await person.page.reload(wait_until="load")
        await person.settled()

    async def leave_(self, person):
        await person.page.goto("about:blank")

    async def sign_in_(self, person, key):
        await person.sign_in(key)

    async def cut_(self, person):
        self.cut_at[person.name] = time.monotonic()
        self._relays[person.name].cut()

    async def mend_(self, person):
        self._relays[person.name].mend()

    # Calls

    async def _placed(self, person, dial, number):
        seen = len(person.messages)
        await dial(number)
        placed = await person.message("placed", after=seen)
        await Phone(person).connected()
        return {"call": placed["call"]}

    async def call_(self, person, number):
        return await self._placed(person, Phone(person).dial, number)

    async def key_call_(self, person, number):
        return await self._placed(person, Phone(person).dial_by_keyboard, number)

    async def conference_(self, person, conference):
        await person.page.get_by_role("tab", name="Conference", exact=True).click()
        return await self._placed(person, Phone(person, "Conference").dial, conference)

    async def refused_(self, person, number, code):
        phone = Phone(person)
        seen = len(person.messages)
        await phone.dial(number)
        await person.page.get_by_role("link", name=f"About {code}", exact=True).wait_for()
        await person.page.get_by_text("What to do").first.wait_for()
        call = next((message.get("call") for _, message in person.messages[seen:] if message.get("call")), None)
        return {"call": call, "text": await phone.text()}

    async def mistyped_(self, person, number, code):
        phone = Phone(person)
        seen = len(person.messages)
        await phone.dial(number)
        await person.page.locator(f'main a[href="/errors/{code}"]:visible').first.wait_for()
        placed = [message for way, message in person.messages[seen:] if way == "sent" and message["type"] == "call"]
        return {"placed": len(placed), "text": await phone.text()}

    # Users

    async def call_user_(self, person, user):
        seen = len(person.messages)
        await person.page.get_by_role("button", name=f"Call {user}", exact=True).click()
        placed = await person.message("placed", after=seen)
        return {"call": placed["call"]}

    async def ringing_(self, person, user):
        await Phone(person).answer(user).wait_for()
        calls = person.page.get_by_role("region", name="Incoming calls")
        return {"text": await calls.inner_text(), "title": await person.page.title()}

    async def _pressed(self, person, button, by):
        if by == "click":
            await button.click()
        else:
            # It comes before what had the focus when the page was opened.
            await person.focus(button, back=True)
            await person.page.keyboard.press("Enter")

    async def answer_(self, person, user, by="click"):
        await self._pressed(person, Phone(person).answer(user), by)
        await Phone(person).connected()

    async def decline_(self, person, user, by="click"):
        await self._pressed(person, Phone(person).decline(user), by)

    async def afresh_(self, person):
        await person.page.evaluate("pagesJudge.calls.at(-1).blocks.length = 0")

    async def sounded_(self, person):
        await person.until("pagesJudge.calls.at(-1)?.sound")

    async def ended_(self, person, call=None):
        return {"message": await person.message("ended", call)}

    async def hang_up_(self, person, by="click"):
        button = Phone(person).hang_up
        if by == "click":
            await button.click()
        else:
            await person.focus(button)
            await person.page.keyboard.press("Enter")

    async def transfer_(self, person, to, button):
        """Opens the panel for it, writes to whom, and presses one of its buttons."""
        if not await person.page.get_by_role("textbox", name="To whom").is_visible():
            await person.page.locator("summary", has_text="Transfer").click()
        await person.page.get_by_role("textbox", name="To whom").fill(to)
        await self.press_button_(person, button)

    async def press_button_(self, person, button):
        await person.page.get_by_role("button", name=button, exact=True).click()

    async def played_(self, person):
        """Plays the page's recording from its middle, for which a part of the file is asked for."""
        return await person.page.evaluate(
            """async () => {
              const audio = document.querySelector("audio[controls]");
              audio.muted = true;
              await audio.play();
              audio.currentTime = audio.duration / 2;
              await new Promise((resolve, reject) => {
                audio.addEventListener("ended", resolve);
                audio.addEventListener("error", () => reject(new Error(audio.error.message)));
              });
              return { seconds: audio.duration };
            }"""
        )

    async def recorded_(self, person, file):
        heard = await person.page.evaluate("pagesJudge.recorded()")
        samples = numpy.frombuffer(base64.b64decode(heard["samples"]), dtype="<i2")
        # Nothing came yet where there is no rate.
        rate = heard["rate"] or 48000
        write_wav(file, rate, samples)
        return {"seconds": len(samples) / rate}

    async def times_(self, person):
        return {"times": await person.page.evaluate("pagesJudge.times()")}

    async def used_(self, person):
        return await person.page.evaluate("({ pointer: pagesJudge.pointer, keys: pagesJudge.keys })")

    # Reading

    async def wait_(self, person, text, seconds=15):
        await person.page.get_by_text(re.compile(text, re.I)).filter(visible=True).first.wait_for(timeout=seconds * 1000)

    async def text_(self, person, path=None):
        if path is not None:
            await person.visit(path)
        return {"text": await person.page.locator("body").inner_text()}

    async def ask_(self, person, path, method="GET", body=None):
        return await person.page.evaluate(
            """async ([path, method, body]) => {
              const answer = await fetch(path, { method, body: body && JSON.stringify(body),
                headers: body ? { "Content-Type": "application/json" } : {} });
              return { status: answer.status, body: (await answer.text()).slice(0, 200000) };
            }""",
            [path, method, body],
        )

    async def tables_(self, person):
        return {"tables": await person.page.evaluate(TABLES)}

    # Judgement

    async def look_(self, person, name, path=None, folder=None):
        """Every way in which a page may look, and whether everybody can use it."""
        if path is not None:
            await person.visit(path)
        page, found, pictures = person.page, [], []
        for theme in ("light", "dark"):
            await page.emulate_media(color_scheme=theme)
            found += [f"{name}, {theme}: {each}" for each in await violations(page)]
            for shape, size in (("wide", WIDE), ("narrow", NARROW)):
                await page.set_viewport_size(size)
                if shape == "narrow" and theme == "light":
                    found += [f"{name} is wider than a telephone: {each}" for each in await overflow(page)]
                if shape == "narrow" and theme == "dark":
                    continue
                title = f"{name}-{theme}-{shape}"
                look = await picture(page, f"{folder}/{title}.png" if folder else None)
                found += complaints(title, look, theme)
                pictures.append(title)
            await page.set_viewport_size(WIDE)
        await page.emulate_media(color_scheme="light")
        return {"complaints": found, "pictures": pictures, "title": await page.title()}

    async def audit_(self, person, allowed=()):
        # What a window of another page left behind is of no interest.
        found = await person.audit(allowed)
        sizes = {}
        for address, size in person.bytes.items():
            parts = urlsplit(address)
            if parts.netloc == urlsplit(person.base).netloc and not parts.path.startswith("/v1/"):
                sizes[parts.path] = max(size, sizes.get(parts.path, 0))
        return {**found, "bytes": sum(sizes.values()), "files": sizes, "secrets": sorted(person.secrets)}

    async def foreign_(self, person, host, account):
        """Opens a page of another origin beside the gateway's, in the same browser with the same cookies."""
        site = Site(FOREIGN.read_text())
        await site.start()
        page = await person.context.new_page()
        wire = await person.context.new_cdp_session(page)
        await wire.send("Network.enable")
        own, carried, given, addresses = urlsplit(person.base).netloc, [], [], {}

        def sent(event):
            addresses[event["requestId"]] = event["request"]["url"]

        def headed(event):
            headers = {name.lower(): value for name, value in event["headers"].items()}
            if headers.get("host", headers.get(":authority", own)) == own and "landline=" in headers.get("cookie", ""):
                carried.append(addresses.get(event["requestId"], "?"))

        def received(event):
            if any(name.lower() == "set-cookie" for name in event["headers"]):
                given.append(addresses.get(event["requestId"], "?"))

        wire.on("Network.requestWillBeSent", sent)
        wire.on("Network.requestWillBeSentExtraInfo", headed)
        wire.on("Network.responseReceivedExtraInfo", received)
        try:
            await page.goto(f"http://{host}:{site.port}/?gateway={person.base}")
            trials = await page.evaluate("values => trials(values)", {"account": account})
            frames = [frame.url for frame in page.frames[1:]]
        finally:
            await page.close()
            await site.stop()
        return {"trials": trials, "carried": carried, "given": given, "frames": frames}

    async def rebound_(self, person, host):
        """Asks for a session as a page would whose host's name was made to lead here."""
        parts = urlsplit(person.base)
        reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
        name = f"{host}:{parts.port}"
        writer.write(
            f"POST /v1/sign-in HTTP/1.1\r\nHost: {name}\r\nOrigin: http://{name}\r\nSec-Fetch-Site: same-origin\r\n"
            "Content-Length: 0\r\nConnection: close\r\n\r\n".encode()
        )
        head = (await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 10)).decode("latin-1")
        writer.close()
        cookie = re.search(r"^set-cookie: *(.*?)\r$", head, re.I | re.M)
        return {"status": int(head.split()[1]), "cookie": cookie and cookie.group(1)}

    async def do_close(self):
        for person in list(self._people.values()):
            await person.end()
        for relay in self._relays.values():
            await relay.stop()


async def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    parser.add_argument("--microphone", default="", help="WAV file that the microphone hears again and again")
    options = parser.parse_args()
    flags = FLAGS + [f"--use-file-for-fake-audio-capture={options.microphone}"] * bool(options.microphone)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=options.chromium, headless=True, args=flags)
        try:
            await serve(Pages(browser))
        finally:
            await browser.close()


if __name__ == "__main__":
    asyncio.run(main())
