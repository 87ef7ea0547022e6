"""Settings, problems and the system."""

from page_case import PageCase, at_both_widths, expect


class Settings(PageCase):
    def value(self, key):
        return self.speaker.ask("config-get", key=key)["settings"][0]["value"]

    def wait_for_value(self, key, value):
        self.speaker.wait(f"{key} = {value}", lambda ask: self.value(key) == value)

    @at_both_widths
    def test_sets_and_unsets_a_number(self):
        self.go("Settings")
        field = self.field("Highest volume, in percent")
        expect(field).to_have_value("100")
        field.fill("70")
        field.press("Enter")
        self.wait_for_value("audio.maximum-volume", "70 %")
        self.expect_notice("Saved.")
        self.button("Use the file’s value: Highest volume, in percent").click()
        self.wait_for_value("audio.maximum-volume", "100 %")
        expect(field).to_have_value("100")

    @at_both_widths
    def test_sets_a_choice_that_needs_a_restart(self):
        self.go("Settings")
        field = self.field("Where the volume is set")
        expect(field).to_have_accessible_description("A change takes effect at the next start.")
        field.select_option("in software")
        self.wait_for_value("audio.volume-route", "software")
        self.expect_notice("Saved. It takes effect at the next start.")

    @at_both_widths
    def test_says_why_a_value_is_refused(self):
        self.go("Settings")
        field = self.field("Highest volume, in percent")
        field.fill("300")
        field.press("Enter")
        self.expect_notice("Not saved: ")
        self.expect_notice("from 1 % to 100 %")
        expect(field).to_have_attribute("aria-invalid", "true")

    @at_both_widths
    def test_settings_of_the_file_alone_cannot_be_changed(self):
        self.go("Settings")
        for name in ["Sound device", "Music folders"]:
            field = self.field(name)
            self.assertEqual(field.evaluate("field => field.tagName"), "OUTPUT")
            expect(field).to_have_accessible_description("It can only be set in the configuration file.")

    @at_both_widths
    def test_follows_changes_of_other_clients(self):
        self.go("Settings")
        field = self.field("Same loudness")
        expect(field).to_have_value("off")
        self.speaker.ask("config-set", key="audio.normalization", value="track")
        expect(field).to_have_value("track")

    @at_both_widths
    def test_power_off_and_network_restart_ask_first(self):
        commands = self.speaker.folder / "commands"
        commands.unlink(missing_ok=True)
        self.go("Settings")
        self.button("Power off").click()
        self.button("Cancel").click()
        expect(self.button("Power off"), "the focus after the question").to_be_focused()
        for name, word in [("Restart the network", "network"), ("Power off", "off")]:
            self.button(name).click()
            expect(self.page.get_by_role("dialog"), "the question").to_be_visible()
            self.assertFalse(commands.exists() and word in commands.read_text())
            self.button(name, self.page.get_by_role("dialog")).click()
            self.speaker.wait(f"the command {word}",
                              lambda ask, word=word: commands.exists() and word in commands.read_text())

    @at_both_widths
    def test_shows_the_version_and_scans_the_library(self):
        self.go("Settings")
        expect(self.page.locator("#view")).to_contain_text(f"Tonearm {self.speaker.ask('version')['version']}")
        scans = self.speaker.ask("library-status")["scans"]
        self.button("Look for new music").click()
        self.speaker.wait("another scan", lambda ask: ask("library-status")["scans"] > scans)

    @at_both_widths
    def test_shows_problems_in_plain_words(self):
        self.speaker.restart(device="hw:CARD=Missing")
        self.addCleanup(self.speaker.restart)
        self.speaker.fill_queue("Björk/Vespertine", play=True)
        self.speaker.wait("a problem", lambda ask: ask("status")["problems"])
        message = self.speaker.ask("status")["problems"][0]["message"]
        box = self.page.get_by_role("region", name="Problems")
        expect(box, "the problems").to_contain_text("The sound device is missing or busy")
        expect(box, "the daemon's words").to_contain_text(message)
        self.show_player()
        expect(self.page.locator("#waiting"), "why it waits").to_have_text("Waiting for the sound device.")
        expect(box, "the problems on this page").to_be_visible()
        self.speaker.restart()
        expect(box, "no problems").to_be_hidden()
        self.mistakes = [mistake for mistake in self.mistakes if "ERR_" not in mistake]
