"""The page to call from, by what people see of it: names of fields and buttons, never the page's own identifiers."""

import re

NUMBER = re.compile(r"^(phone )?number", re.I)
CALL = re.compile(r"^call\b(?!s)", re.I)
HANG_UP = re.compile(r"^hang up", re.I)


class Phone:
    def __init__(self, person):
        self._person = person
        self._page = person.page
        self.number = self._page.get_by_label(NUMBER).first
        self.call = self._page.get_by_role("button", name=CALL).first
        self.hang_up = self._page.get_by_role("button", name=HANG_UP).first

    async def ready(self):
        """Waits until calls can be made."""
        await self.call.wait_for()
        await self._page.wait_for_function(
            "button => !button.disabled && button.getAttribute('aria-disabled') !== 'true'",
            arg=await self.call.element_handle(),
        )

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
        await self._page.wait_for_function("pagesJudge.calls.at(-1)?.connected")

    async def text(self):
        """Everything that stands on the page."""
        return await self._page.locator("main").inner_text()
