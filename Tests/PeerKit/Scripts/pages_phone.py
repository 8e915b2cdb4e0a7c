"""The page to call from, by what people see of it: names of fields and buttons, never the page's own identifiers."""

import asyncio
import re


class Phone:
    def __init__(self, person, field="Phone number"):
        self._person = person
        self._page = person.page
        self.number = self._page.get_by_role("textbox", name=field, exact=True)
        self.call = self._page.get_by_role("button", name="Call", exact=True)
        self.hang_up = self._page.get_by_role("button", name="Hang up", exact=True)

    def answer(self, user):
        return self._page.get_by_role("button", name=f"Answer {user}", exact=True)

    def decline(self, user):
        return self._page.get_by_role("button", name=f"Decline {user}", exact=True)

    async def ready(self):
        """Waits until calls can be made."""
        await self._page.get_by_role("status").filter(has_text=re.compile("^ready ")).wait_for()
        await self.call.wait_for()
        for _ in range(500):
            if await self.call.is_enabled():
                return
            await asyncio.sleep(0.02)
        raise RuntimeError("the button to call stays without use")

    async def dial(self, number):
        """By pointer."""
        await self.number.click()
        await self.number.fill(number)
        await self.ready()
        await self.call.click()

    async def dial_by_keyboard(self, number):
        await self._person.focus(self.number)
        await self._page.keyboard.press("Control+A")
        await self._page.keyboard.type(number)
        await self.ready()
        await self._person.focus(self.call)
        await self._page.keyboard.press("Enter")

    async def connected(self):
        await self._person.until("pagesJudge.calls.at(-1)?.connected")

    async def text(self):
        """Everything that stands on the page."""
        return await self._page.locator("main").inner_text()
