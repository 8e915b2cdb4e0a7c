"""What a page looks like in some state: while its gateway is gone, before it is left, to somebody without a microphone."""

import asyncio
import re
import time

from pages_person import NARROW, WIDE
from pages_phone import Phone

# Of an element and of what is muted on this page.
COLOURS = """(selector) => {
  const node = document.querySelector(selector);
  const probe = document.body.appendChild(document.createElement("span"));
  probe.className = "muted";
  const [own, muted] = [node && getComputedStyle(node).color, getComputedStyle(probe).color];
  probe.remove();
  return { own, muted, filter: node && getComputedStyle(node).filter };
}"""
# A microphone that is refused, or that is not there: what browsers answer to a page.
SILENT = """(absent) => {
  const refuse = async () => { throw new DOMException("no", absent ? "NotFoundError" : "NotAllowedError"); };
  Object.defineProperty(MediaDevices.prototype, "getUserMedia", { value: refuse });
  if (absent) Object.defineProperty(MediaDevices.prototype, "enumerateDevices", { value: async () => [] });
  Object.defineProperty(Permissions.prototype, "query", { value: async () => ({ state: "denied" }) });
}"""
LADDER = """() => {
  const rows = [...document.querySelectorAll(".ladder-frame [data-index]")];
  const whole = (node) => node.querySelector(".what, .label")?.textContent.trim() ?? "";
  const last = rows.at(-1)?.getBoundingClientRect();
  const frame = document.querySelector(".ladder-frame").getBoundingClientRect();
  return {
    labels: rows.map(whole), drawn: rows[0]?.namespaceURI.endsWith("svg") ?? false,
    inside: Boolean(last) && last.bottom <= frame.bottom + 1,
  };
}"""
OVERVIEW = """() => {
  const text = (selector) => [...document.querySelectorAll(selector)].map((node) => node.innerText.replace(/\\s+/g, " ").trim());
  const amounts = document.querySelector("main").innerText.match(/[0-9][0-9,]*\\.[0-9]+(?= [A-Z]{3}(?! a minute|\\/min))/g) ?? [];
  return {
    times: text("main time"), chips: text("#numbers button"), number: document.querySelector("#target")?.value ?? null,
    credit: document.querySelector(".credit:not([hidden])")?.innerText ?? null, badges: text("main .badge"),
    open: [...document.querySelectorAll(".finding")].filter((node) => node.tagName !== "DETAILS" || node.open).length,
    folded: document.querySelectorAll("details.finding:not([open])").length,
    decimals: [...new Set(amounts.map((amount) => amount.split(".")[1].length))], amounts,
    plots: document.querySelectorAll("main figure .canvas svg .path").length,
    code: document.querySelector("#code-panel")?.innerText ?? null,
    bars: [...document.querySelectorAll("main .day")].map((node) => node.textContent.trim()),
    legs: text(".legs tbody tr"), score: text("#score")[0] ?? null,
  };
}"""


class States:
    async def gone_(self, person, figure):
        """Waits until the page says that its gateway is gone -> seconds since the relay was cut, colours of a figure."""
        banner = person.page.locator("#banner-gateway")
        await banner.wait_for(timeout=10_000)
        seconds = time.monotonic() - self.cut_at.get(person.name, time.monotonic())
        return {"seconds": seconds, "text": await banner.inner_text(), **await person.page.evaluate(COLOURS, figure)}

    async def back_(self, person, figure, seconds=20):
        """Waits until it says so no more -> colours of a figure."""
        await person.page.locator("#banner-gateway").wait_for(state="detached", timeout=seconds * 1000)
        return await person.page.evaluate(COLOURS, figure)

    async def cost_told_(self, person, seconds=30):
        """What the page says a call has cost, once it knows it."""
        return {"cost": await person.until(
            "(() => { const text = document.querySelector('#cost-told')?.textContent ?? '';"
            " return /[0-9]|nothing/.test(text) && text; })()", seconds)}

    async def leave_asks_(self, person, how):
        """Tries to leave, and stays -> which dialogs were shown, and where the page is now."""
        page, shown = person.page, []

        def dismiss(dialog):
            shown.append(dialog.type)
            asyncio.ensure_future(dialog.dismiss())

        page.on("dialog", dismiss)
        try:
            if how == "reload":
                await page.evaluate("() => { setTimeout(() => location.reload(), 0); }")
            elif how == "back":
                await page.evaluate("() => { setTimeout(() => history.back(), 0); }")
            elif how == "address":
                await page.evaluate("() => { setTimeout(() => location.assign('/account'), 0); }")
            end = time.monotonic() + 5
            while not shown and time.monotonic() < end:
                await asyncio.sleep(0.05)
        finally:
            page.remove_listener("dialog", dismiss)
        return {"dialogs": shown, "url": page.url}

    async def beside_(self, person, name):
        """Follows a link by its name -> the address that opened beside, what it shows, where this page is."""
        link = person.page.get_by_role("link", name=name, exact=True)
        async with person.context.expect_page(timeout=10_000) as opened:
            await link.click()
        other = await opened.value
        await other.locator("h1").first.wait_for()
        await other.locator(".ladder-frame, table, .card").first.wait_for()
        text = await other.locator("body").inner_text()
        address = other.url
        await other.close()
        return {"address": address, "text": text, "url": person.page.url}

    async def silence_(self, person, absent=True):
        """From the next page on there is no microphone."""
        await person.context.add_init_script(f"({SILENT})({'true' if absent else 'false'})")

    async def asked_(self, person, number, choice):
        """Dials, answers the question before the call with a button -> its text, and how many calls were sent."""
        seen = len(person.messages)
        await Phone(person).dial(number)
        dialog = person.page.get_by_role("dialog")
        await dialog.wait_for()
        text = await dialog.inner_text()
        before = [message for way, message in person.messages[seen:] if way == "sent" and message["type"] == "call"]
        await dialog.get_by_role("button", name=choice, exact=True).click()
        await dialog.wait_for(state="detached")
        return {"text": text, "before": len(before)}

    async def chip_(self, person, name):
        """Presses one of the numbers to try -> the call that was placed at once."""
        seen = len(person.messages)
        await Phone(person).ready()
        await person.page.locator("#numbers").get_by_role("button", name=re.compile(name)).click()
        placed = await person.message("placed", after=seen)
        return {"call": placed["call"]}

    async def overview_(self, person, narrow=False):
        return await person.page.evaluate(OVERVIEW)

    async def ladder_(self, person, narrow=False):
        """Labels of the ladder's rows, and whether the last of them can be seen without scrolling inside."""
        await person.page.set_viewport_size(NARROW if narrow else WIDE)
        await person.until(f"document.querySelector('.ladder-rows') {'!==' if narrow else '==='} null")
        found = await person.page.evaluate(LADDER)
        await person.page.set_viewport_size(WIDE)
        return found

    async def switch_(self, person, name):
        """Chooses a figure of the plot -> its caption, its lines, and how many are drawn with one switched off."""
        figure = person.page.locator("main figure").filter(has=person.page.get_by_role("group", name="Lines"))
        await figure.get_by_role("button", name=name, exact=True).click()
        lines = figure.get_by_role("group", name="Lines").get_by_role("button")
        found = {"caption": await figure.locator("figcaption").inner_text(), "lines": await lines.all_inner_texts()}
        drawing = figure.locator(".canvas svg .path")
        found["drawn"] = await drawing.count()
        await lines.first.click()
        found["less"] = await drawing.count()
        await lines.first.click()
        return found
