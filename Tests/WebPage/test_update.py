"""Updates: the test plays the system, with the files that it has in the images."""

import os
import re

from page_case import SIZES, PageCase, at_both_widths, expect

ADDRESS = "https://updates.example/tonearm-rpi4.update"
IDLE = "running=0.1.0\nmode=idle\n"


class Updates(PageCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.folder = cls.speaker.folder / "update"
        cls.folder.mkdir()
        cls.settings = f"[update]\nfolder = {cls.folder}\naddress = {ADDRESS}"
        cls.speaker.restart(settings=cls.settings)
        cls.addClassCleanup(cls.speaker.restart)

    def setUp(self):
        for file in self.folder.iterdir():
            file.unlink()
        self.report(IDLE)

    def report(self, state):
        """Replaces the state as a whole, as the system does."""
        (self.folder / "new").write_text(state)
        os.rename(self.folder / "new", self.folder / "state")

    def begin(self, state):
        """Takes the request, and reports. Returns the lines of the request."""
        lines = (self.folder / "wanted").read_text().splitlines()
        os.rename(self.folder / "wanted", self.folder / "begun")
        self.report(state)
        return lines

    def part(self):
        return self.page.locator("#view .updates")

    def line(self, text):
        return self.part().get_by_text(text, exact=True)

    def open_view(self):
        self.go("Settings")
        expect(self.line("Version 0.1.0 runs."), "the version").to_be_visible()

    def progress(self):
        return self.page.get_by_role("progressbar", name="Progress of the update")

    @at_both_widths
    def test_installs_the_update_of_the_configuration_and_restarts_into_it(self):
        self.setUp()
        self.open_view()
        expect(self.field("Address of the update")).to_have_value(ADDRESS)
        expect(self.progress()).to_have_count(0)
        self.button("Install the update").click()
        expect(self.line("The update begins in a moment."), "the wait").to_be_visible()
        expect(self.field("Address of the update")).to_be_hidden()
        self.assertEqual(self.begin("running=0.1.0\nmode=downloading\n"), ["install", f"address={ADDRESS}"])
        expect(self.line("The update is downloaded. The music plays on."), "the download").to_be_visible()
        # The server has not told the length.
        self.assertIsNone(self.progress().get_attribute("value"))
        self.report("running=0.1.0\nmode=downloading\ndone=25\ntotal=100\n")
        expect(self.progress(), "the progress").to_have_attribute("value", "0.25")
        self.report("running=0.1.0\nmode=installing\ndone=150\ntotal=300\n")
        expect(self.line("The update is installed. The music plays on."), "the installation").to_be_visible()
        expect(self.progress(), "the progress").to_have_attribute("value", "0.5")
        self.report("running=0.1.0\nmode=installed\nversion=0.9\n")
        expect(self.line("Version 0.9 is installed. It starts with the next restart."), "the end").to_be_visible()
        expect(self.progress()).to_have_count(0)
        self.button("Restart with version 0.9").click()
        dialog = self.page.get_by_role("dialog")
        expect(dialog, "the question").to_contain_text("Restart the speaker with version 0.9?")
        self.button("Restart with version 0.9", dialog).click()
        expect(self.line("The speaker restarts. In about a minute this page shows its version.")).to_be_visible()
        expect(self.page.locator("#view h3").filter(has_text="Update"), "the focus").to_be_focused()
        self.speaker.stop()
        expect(self.page.locator("#offline"), "the lost connection").to_be_visible()
        self.report("running=0.9\nmode=idle\n")
        self.speaker.start(settings=self.settings)
        expect(self.line("Version 0.9 runs."), "the new version").to_be_visible()
        expect(self.line("The update has worked: version 0.9 runs."), "the success").to_be_visible()
        self.assertIn("restart", (self.speaker.folder / "commands").read_text())

    @at_both_widths
    def test_cancels_an_update(self):
        self.setUp()
        self.report("running=0.1.0\nmode=downloading\ndone=25\ntotal=100\n")
        self.open_view()
        expect(self.line("The update is downloaded. The music plays on."), "the download").to_be_visible()
        self.button("Cancel the update").click()
        self.expect_notice("The update was cancelled.")
        self.assertTrue((self.folder / "cancel").exists())
        self.report(IDLE)
        expect(self.button("Install the update"), "the form").to_be_visible()
        expect(self.button("Cancel the update")).to_be_hidden()

    @at_both_widths
    def test_says_when_the_new_version_did_not_run_well(self):
        self.setUp()
        self.report("running=0.1.0\nmode=installed\nversion=0.9\n")
        self.open_view()
        self.button("Restart with version 0.9").click()
        self.button("Restart with version 0.9", self.page.get_by_role("dialog")).click()
        expect(self.line("The speaker restarts. In about a minute this page shows its version.")).to_be_visible()
        self.speaker.stop()
        self.report("running=0.1.0\nmode=failed\ncode=fellBack\ntext=x\n")
        self.speaker.start(settings=self.settings)
        expect(self.page.get_by_role("alert").get_by_text(
            "The new version did not run well. The speaker is back at version 0.1.0.")).to_be_visible()

    @at_both_widths
    def test_says_why_it_has_failed(self):
        self.setUp()
        self.report("running=0.1.0\nmode=failed\ncode=damaged\ntext=x\nversion=0.8\n")
        self.open_view()
        problem = self.page.locator("#view .updates").get_by_role("alert")
        expect(problem).to_have_text("The file is damaged or not complete. Try again.")
        # What was installed before.
        expect(self.button("Restart with version 0.8")).to_be_visible()
        self.field("Address of the update").fill("http://nas.local/other.update")
        self.button("Install the update").click()
        expect(self.line("The update begins in a moment.")).to_be_visible()
        expect(problem, "the old problem").to_have_text("")
        self.assertEqual(self.begin("running=0.1.0\nmode=failed\ncode=notSwitched\ntext=No such luck.\n"),
                         ["install", "address=http://nas.local/other.update"])
        expect(problem).to_have_text("The update has failed: No such luck.")
        expect(self.field("Address of the update")).to_have_value("http://nas.local/other.update")

    @at_both_widths
    def test_needs_an_address_on_the_web(self):
        self.setUp()
        self.open_view()
        for text in ("", "ftp://nas.local/x", "tonearm.update"):
            self.field("Address of the update").fill(text)
            self.button("Install the update").click()
            self.assertFalse(self.field("Address of the update").evaluate("field => field.checkValidity()"))
        self.assertFalse((self.folder / "wanted").exists())
        # Another page was faster.
        self.field("Address of the update").fill("https://a/b")
        self.report("running=0.1.0\nmode=installing\n")
        self.button("Install the update").click()
        self.expect_notice("An update runs already.")

    @at_both_widths
    def test_needs_the_keyboard_alone(self):
        self.setUp()
        self.open_view()
        self.tab_to("Address of the update")
        self.page.keyboard.press("Enter")
        expect(self.line("The update begins in a moment.")).to_be_visible()
        expect(self.page.locator("#view h3").filter(has_text="Update"), "the focus").to_be_focused()
        self.begin("running=0.1.0\nmode=installed\nversion=0.9\n")
        expect(self.button("Restart with version 0.9")).to_be_visible()
        self.tab_to("Restart with version 0.9")

    def test_is_for_everyone(self):
        states = {
            "": "Es läuft Version 0.1.0.", "mode=downloading\ndone=30\ntotal=100": "wird heruntergeladen",
            "mode=downloading": "wird heruntergeladen", "mode=installing\ndone=1\ntotal=3": "wird installiert",
            "mode=installed\nversion=0.9": "Mit Version 0.9 neu starten",
            "mode=failed\ncode=download\ntext=x": "konnte nicht geladen werden: x",
        }
        for width in SIZES:
            for scheme in ["light", "dark"]:
                with self.subTest(width=width, scheme=scheme):
                    self.setUp()
                    self.open_page(width, "#settings", language="de", scheme=scheme)
                    for state, sign in states.items():
                        self.report(f"running=0.1.0\n{state}\n")
                        self.page.reload()
                        expect(self.part(), "the part").to_contain_text(re.compile(re.escape(sign)))
                        self.expect_no_violation(sign)
                        if folder := os.environ.get("TONEARM_SCREENSHOTS"):
                            self.part().scroll_into_view_if_needed()
                            name = f"{width}-{scheme}-{list(states).index(state)}.png"
                            self.page.screenshot(path=f"{folder}/{name}")
                    self.close_page()


class WithoutUpdates(PageCase):
    @at_both_widths
    def test_is_absent(self):
        self.go("Settings")
        expect(self.button("Look for new music")).to_be_visible()
        expect(self.field("Music folders")).to_be_visible()
        expect(self.page.locator("#view .updates")).to_be_hidden()
