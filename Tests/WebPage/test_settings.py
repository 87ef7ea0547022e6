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
        field = self.field("Music folders")
        self.assertEqual(field.evaluate("field => field.tagName"), "OUTPUT")
        expect(field).to_have_accessible_description("It can only be set in the configuration file.")

    @at_both_widths
    def test_chooses_the_sound_device(self):
        self.go("Settings")
        field = self.field("Sound device")
        own = self.value("audio.device")
        expect(field, "the device of the configuration file").to_have_value(own)
        field.select_option("automatic")
        self.wait_for_value("audio.device", "auto")
        expect(field).to_have_value("auto")
        self.button("Use the file’s value: Sound device").click()
        self.wait_for_value("audio.device", own)
        expect(field).to_have_value(own)

    @at_both_widths
    def test_offers_the_devices_of_the_machine(self):
        # A machine for tests has no sound card. The reply is that of docs/control.md, with further devices.
        device = {"rates": None, "sampleFormats": None, "minimumChannels": None, "maximumChannels": None, "busy": False,
                  "error": None}
        cards = [
            {"id": "DAC", "index": 0, "name": "USB DAC", "mixerControls": [], "devices": [
                {**device, "device": "hw:CARD=DAC,DEV=0", "name": "USB Audio", "busy": True},
                {**device, "device": "hw:CARD=DAC,DEV=1", "name": "USB Audio #1"}]},
            {"id": "HDMI", "index": 1, "name": "Screen", "mixerControls": [], "devices": [
                {**device, "device": "hw:CARD=HDMI,DEV=0", "name": "HDMI", "error": "no screen is connected"}]},
        ]
        self.page.route("**/api/devices", lambda route: route.fulfill(json={"ok": True, "cards": cards}))
        self.go("Settings")
        field = self.field("Sound device")
        expect(field.locator("option"), "the devices").to_have_text([
            "automatic", self.value("audio.device"), "USB DAC – hw:CARD=DAC,DEV=0 (in use)",
            "USB DAC – hw:CARD=DAC,DEV=1", "Screen – hw:CARD=HDMI,DEV=0 (not usable)"])
        field.select_option("USB DAC – hw:CARD=DAC,DEV=1")
        self.wait_for_value("audio.device", "hw:CARD=DAC,DEV=1")
        expect(field.locator("option"), "each device once").to_have_count(4)
        expect(field).to_have_value("hw:CARD=DAC,DEV=1")

    @at_both_widths
    def test_follows_changes_of_other_clients(self):
        self.go("Settings")
        field = self.field("Same loudness")
        expect(field).to_have_value("off")
        self.speaker.ask("config-set", key="audio.normalization", value="track")
        expect(field).to_have_value("track")

    @at_both_widths
    def test_power_off_and_restarts_ask_first(self):
        commands = self.speaker.folder / "commands"
        commands.unlink(missing_ok=True)
        self.go("Settings")
        self.button("Power off").click()
        self.button("Cancel").click()
        expect(self.button("Power off"), "the focus after the question").to_be_focused()
        for name, word in [("Restart the network", "network"), ("Restart", "restart"), ("Power off", "off")]:
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
