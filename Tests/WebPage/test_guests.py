"""Guests who may use the music alone: what the page locks, why, and the way to the rest."""

import os
import re

from page_case import SIZES, PageCase, expect

PASSWORD = "correct horse"
#: The buttons and links of the system in the settings.
SYSTEM = ("Restart", "Power off", "Restart the network", "Install the update")


class Guests(PageCase):
    """With `restart_with`, the speaker is restarted for a test."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.addClassCleanup(cls.speaker.restart)

    def restart_with(self, guests, password=None):
        """Has the system of an image, whose reports the test plays."""
        for name, state in (("update", "running=0.1.0\nmode=idle\n"), ("wifi", "mode=connected\nssid=61\n")):
            folder = self.speaker.folder / f"guests-{name}"
            folder.mkdir(exist_ok=True)
            (folder / "state").write_text(state)
        self.speaker.restart(password=password, settings=f"""guests = {guests}
[update]
folder = {self.speaker.folder}/guests-update
[network]
wifi-folder = {self.speaker.folder}/guests-wifi
""")
        self.speaker.reset()

    def open_settings(self, width, **options):
        self.open_page(width, "#/settings", **options)
        expect(self.page.locator("#setting-audio-normalization"), "the settings").to_be_visible()

    def commands(self):
        """The commands of the system that were run."""
        path = self.speaker.folder / "commands"
        return path.read_text() if path.exists() else ""

    def expect_locked(self):
        expect(self.field("Same loudness")).to_be_enabled()
        expect(self.field("Sound device")).to_be_disabled()
        expect(self.page.locator("#view")).to_contain_text("It needs the password.")
        for name in SYSTEM:
            expect(self.button(name), name).to_be_hidden()
        expect(self.page.get_by_role("link", name="Choose a network")).to_be_hidden()

    def screenshot(self, name):
        if folder := os.environ.get("TONEARM_SCREENSHOTS"):
            self.page.screenshot(path=f"{folder}/guests-{name}.png")

    def test_without_a_password_the_page_names_the_way_to_one(self):
        self.restart_with("music-only")
        for width in SIZES:
            with self.subTest(width=width):
                self.open_settings(width)
                expect(self.page.locator("#view .guest")).to_contain_text(
                    "The rest needs a password, and this speaker has none yet. Its owner sets one: password.txt")
                expect(self.button("Log in")).to_have_count(0)
                self.expect_locked()
                self.expect_no_violation("the settings of a guest")
                self.screenshot(f"none-{width}")
                self.page.evaluate("location.hash = '#/wifi'")
                expect(self.heading("Wi-Fi")).to_be_visible()
                expect(self.page.locator("#view .guest")).to_contain_text("needs a password")
                # The limit of another client.
                self.speaker.ask("config-set", key="audio.maximum-volume", value="60 %")
                self.go("Settings")
                self.field("Highest volume, in percent").fill("70")
                self.page.keyboard.press("Tab")
                self.expect_notice("Not saved: Not for guests: it needs the password.")
                self.speaker.reset()
                self.close_page()

    def test_with_a_password_the_login_opens_the_system(self):
        self.restart_with("music-only", PASSWORD)
        before = self.commands()
        for width in SIZES:
            with self.subTest(width=width):
                self.open_settings(width)
                expect(self.page.locator("#view .guest")).to_contain_text(
                    "Wi-Fi, updates, restarts and some settings need the password.")
                self.expect_locked()
                self.screenshot(f"login-{width}")
                self.button("Log in").click()
                expect(self.field("Password"), "the field for the password").to_be_focused()
                self.expect_no_violation("the login of a guest")
                self.screenshot(f"form-{width}")
                self.button("Without the password").click()
                expect(self.page.locator("#setting-audio-normalization"), "the settings again").to_be_visible()
                self.expect_locked()
                self.button("Log in").click()
                self.field("Password").fill(PASSWORD)
                self.page.keyboard.press("Enter")
                for name in SYSTEM:
                    expect(self.button(name), name).to_be_visible()
                expect(self.field("Sound device")).to_be_enabled()
                expect(self.page.get_by_role("link", name="Choose a network")).to_be_visible()
                expect(self.page.locator("#view .guest")).to_have_count(0)
                self.screenshot(f"in-{width}")
                # The session ends elsewhere.
                self.page.context.clear_cookies()
                self.button("Restart").click()
                self.button("Restart", self.page.get_by_role("dialog")).click()
                expect(self.field("Password"), "the field for the password").to_be_focused()
                self.button("Without the password").click()
                self.expect_locked()
                self.close_page()
        self.assertEqual(self.commands(), before)

    def test_speaks_german(self):
        self.restart_with("music-only", PASSWORD)
        self.open_settings(360, language="de")
        expect(self.page.locator("#view .guest")).to_contain_text(re.compile("Gäste dürfen die Musik benutzen"))
        self.screenshot("german")
        self.close_page()

    def test_by_default_everybody_has_all_buttons(self):
        self.restart_with("all")
        self.open_settings(1280)
        for name in SYSTEM:
            expect(self.button(name), name).to_be_visible()
        expect(self.page.locator("#view .guest")).to_have_count(0)
        self.close_page()
