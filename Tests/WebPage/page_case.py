"""What the tests of the page share: one speaker, one browser, and a page for each test."""

import atexit
import functools
import os
import re
import unittest
from pathlib import Path

import axe_playwright_python
from playwright.sync_api import expect, sync_playwright
from speaker import LIMIT, Speaker

#: A small phone, and a PC.
SIZES = {360: 640, 1280: 800}
AXE = Path(axe_playwright_python.__file__).parent / "axe.min.js"
CHROMIUM = os.environ.get("TONEARM_CHROMIUM", "/usr/bin/chromium")

expect.set_options(timeout=LIMIT * 1000)


@functools.cache
def the_speaker():
    speaker = Speaker()
    atexit.register(speaker.discard)
    return speaker


@functools.cache
def the_browser():
    playwright = sync_playwright().start()
    browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
    atexit.register(playwright.stop)
    atexit.register(browser.close)
    return browser


def at_both_widths(test):
    """Runs a test on a phone and on a PC, each with a new page and nothing in the queue."""

    @functools.wraps(test)
    def run(self):
        for width in SIZES:
            with self.subTest(width=width):
                self.speaker.reset()
                self.open_page(width)
                test(self)
                self.close_page()

    return run


class PageCase(unittest.TestCase):
    """A test that drives the page. `page` is open after `open_page`."""

    @classmethod
    def setUpClass(cls):
        cls.speaker = the_speaker()
        cls.browser = the_browser()

    def open_page(self, width, hash="#/", language="en-US", scheme="light", script=""):
        context = self.browser.new_context(viewport={"width": width, "height": SIZES[width]}, locale=language,
                                           color_scheme=scheme)
        self.addCleanup(context.close)
        context.set_default_timeout(LIMIT * 1000)
        if script:
            context.add_init_script(script)
        self.width = width
        self.page = context.new_page()
        self.mistakes = []
        self.page.on("pageerror", lambda error: self.mistakes.append(f"error: {error}"))
        self.page.on("console", self.note_message)
        self.page.on("request", lambda request: self.note_request(request.url))
        self.page.goto(f"{self.speaker.address}/{hash}")

    def note_message(self, message):
        # A browser writes a message for each request that is refused, such as a cover that is missing.
        is_refusal = message.text.startswith("Failed to load resource") and "/api/" in message.location["url"]
        if message.type in ("error", "warning") and not is_refusal:
            self.mistakes.append(f"{message.type}: {message.text}")

    def note_request(self, url):
        if not url.startswith(self.speaker.address):
            self.mistakes.append(f"request elsewhere: {url}")

    def close_page(self):
        """Ends the page, which must have made no mistake and be no wider than the window."""
        wide = self.page.evaluate("document.documentElement.scrollWidth")
        self.assertLessEqual(wide, self.width, "the page scrolls sideways")
        self.page.context.close()
        self.assertEqual(self.mistakes, [])

    def expect_no_violation(self, where):
        """Looks for mistakes that keep people with disabilities out."""
        if not self.page.evaluate("typeof axe === 'object'"):
            self.page.evaluate(AXE.read_text())
        violations = self.page.evaluate("axe.run().then(result => result.violations)")
        found = [f"{each['id']}: {node['html'][:150]}" for each in violations for node in each["nodes"]]
        self.assertEqual(found, [], where)

    # Parts of the page.

    def button(self, name, within=None):
        return (within or self.page).get_by_role("button", name=name, exact=True)

    def field(self, label):
        return self.page.get_by_label(label, exact=True)

    def go(self, tab):
        """Opens the page of a tab."""
        self.page.get_by_role("navigation").get_by_role("link", name=tab, exact=True).click()
        expect(self.page.locator("#tabs a[aria-current]"), f"the tab {tab}").to_have_text(tab)

    def show_player(self):
        """The large player, which a phone has on a page of its own."""
        if self.width < 900:
            self.go("Playing")
        expect(self.page.locator("#player"), "the player").to_be_visible()

    def heading(self, title):
        return self.page.locator("#view").get_by_role("heading", name=title, level=2)

    def row(self, title):
        """The row with this title."""
        exact = re.compile(rf"^(\d+\. )?{re.escape(title)}$")
        return self.page.get_by_role("listitem").filter(has=self.page.locator(".row-title", has_text=exact))

    def rows(self, label):
        """The titles of a list."""
        return self.page.get_by_role("list", name=label, exact=True).locator(".row-title")

    def open_row(self, title):
        self.row(title).locator(".row-main").click()

    def choose(self, title, action):
        """Chooses from the menu of a row."""
        self.button(f"More for {title}").click()
        self.button(action, self.page.get_by_role("dialog")).click()

    def expect_notice(self, line):
        expect(self.page.locator("#notice"), f"the notice {line}").to_contain_text(line)

    def focused(self):
        """What has the focus: the name that a screen reader says."""
        return self.page.evaluate("""() => {
            const element = document.activeElement;
            return element.getAttribute("aria-label") || (element.labels && element.labels[0] || element).textContent;
        }""")

    def tab_to(self, name):
        """Presses the Tab key until something of this name has the focus."""
        seen = []
        for _ in range(100):
            self.page.keyboard.press("Tab")
            seen.append(self.focused().strip())
            if seen[-1] == name:
                return
        self.fail(f"the Tab key does not reach {name}, only {seen}")
