"""The player: what plays, and the buttons and sliders."""

import re

from music import LONG_TITLE
from page_case import PageCase, at_both_widths, expect


class Player(PageCase):
    def play(self, folder):
        self.speaker.fill_queue(folder, play=True)
        self.speaker.wait_for_status("playback", state="playing")
        self.show_player()

    def title(self, text):
        expect(self.page.locator("#title"), f"the title {text}").to_have_text(text)

    @at_both_widths
    def test_shows_the_track_its_format_and_its_cover(self):
        self.play("Björk/Homogenic")
        self.title("Hunter")
        expect(self.page.locator("#artist")).to_have_text("Björk")
        expect(self.page.locator("#album")).to_have_text("Homogenic")
        expect(self.page.locator("#format")).to_have_text("FLAC · 44.1 kHz · 16 bit")
        expect(self.page.locator("#cover"), "the cover").to_be_visible()
        expect(self.page.locator("#duration")).to_have_text("1:00")
        expect(self.page, "the title of the window").to_have_title(re.compile("^Hunter · "))
        expect(self.page.locator("#elapsed"), "the position to advance").to_have_text(re.compile("0:0[2-9]"))

    @at_both_widths
    def test_says_why_the_path_is_not_bit_perfect(self):
        self.play("Björk/Homogenic")
        expect(self.page.locator("#path")).to_contain_text("the volume is set in software")
        self.speaker.ask("volume", percent=100)
        expect(self.page.locator("#path")).to_contain_text("Bit-perfect")

    @at_both_widths
    def test_a_track_without_tags_has_the_name_of_its_file(self):
        self.play("Loose")
        self.title("untagged")
        expect(self.page.locator("#cover"), "no cover").to_be_hidden()

    @at_both_widths
    def test_a_long_title_fits(self):
        self.play("Various/Summer")
        self.speaker.ask("play", index=2)
        self.title(LONG_TITLE)

    @at_both_widths
    def test_pause_and_play(self):
        self.play("Björk/Homogenic")
        player = self.page.get_by_role("region", name="Player", exact=True)
        self.button("Pause", player).click()
        self.speaker.wait_for_status("the pause", state="paused")
        self.button("Play", player).click()
        self.speaker.wait_for_status("playback after the pause", state="playing")
        expect(self.button("Pause", player)).to_be_visible()

    @at_both_widths
    def test_next_and_previous(self):
        self.play("Björk/Homogenic")
        self.button("Next").click()
        self.title("Jóga")
        self.button("Previous").click()
        self.title("Hunter")

    @at_both_widths
    def test_seeks_with_the_slider(self):
        self.play("Björk/Homogenic")
        slider = self.page.get_by_role("slider", name="Position")
        expect(slider, "the slider's end").to_have_attribute("max", "60")
        slider.fill("40")
        self.speaker.wait("the jump to 40 s", lambda ask: 39 < ask("status")["position"] < 55)
        expect(self.page.locator("#elapsed"), "the position").to_have_text(re.compile("0:4[0-9]"))
        expect(slider).to_have_attribute("aria-valuetext", re.compile("^0:[45][0-9] of 1:00$"))

    @at_both_widths
    def test_follows_a_jump_of_another_client(self):
        self.play("Björk/Homogenic")
        self.title("Hunter")
        self.speaker.ask("pause")
        self.speaker.ask("seek", position=31)
        expect(self.page.locator("#elapsed"), "the position").to_have_text("0:31")

    @at_both_widths
    def test_volume_and_mute(self):
        self.play("Björk/Homogenic")
        volume = self.page.get_by_role("slider", name="Volume")
        expect(volume).to_have_value("50")
        volume.fill("30")
        self.speaker.wait_for_status("the volume 30", volume=30)
        self.button("Mute").click()
        self.speaker.wait_for_status("the mute", muted=True)
        expect(self.button("Mute")).to_have_attribute("aria-pressed", "true")
        self.speaker.ask("volume", percent=70)
        expect(volume, "the volume of another client").to_have_value("70")
        expect(self.button("Mute"), "the end of the mute").to_have_attribute("aria-pressed", "false")

    @at_both_widths
    def test_the_slider_ends_at_the_highest_volume(self):
        self.speaker.ask("config-set", key="audio.maximum-volume", value="60 %")
        self.show_player()
        expect(self.page.get_by_role("slider", name="Volume")).to_have_attribute("max", "60")

    @at_both_widths
    def test_shuffle_and_repeat(self):
        self.play("Björk/Homogenic")
        self.button("Shuffle").click()
        self.speaker.wait_for_status("shuffle", shuffle=True)
        expect(self.button("Shuffle")).to_have_attribute("aria-pressed", "true")
        for name, mode in [("Repeat: off", "all"), ("Repeat: all", "one"), ("Repeat: this track", "off")]:
            self.button(name).click()
            self.speaker.wait_for_status(f"repeat {mode}", repeat=mode)

    @at_both_widths
    def test_makes_the_track_a_favourite(self):
        self.play("Björk/Homogenic")
        self.title("Hunter")
        self.button("Favourite").click()
        expect(self.button("Favourite"), "the favourite").to_have_attribute("aria-pressed", "true")
        entries = self.speaker.ask("library-list", list="favourites")["entries"]
        self.assertEqual([entry["title"] for entry in entries], ["Hunter"])
        self.page.reload()
        expect(self.button("Favourite"), "the favourite after a reload").to_have_attribute("aria-pressed", "true")

    @at_both_widths
    def test_screen_readers_hear_of_a_new_track(self):
        self.play("Björk/Homogenic")
        self.title("Hunter")
        self.speaker.ask("next")
        expect(self.page.locator("#announcement[role=status]")).to_have_text("Now playing: Jóga, Björk")

    @at_both_widths
    def test_refuses_to_play_an_empty_queue_in_plain_words(self):
        self.show_player()
        self.title("Nothing is playing")
        self.button("Play", self.page.locator("#player")).click()
        self.expect_notice("The queue is empty.")

    @at_both_widths
    def test_shows_a_track_that_cannot_be_played(self):
        broken = self.speaker.folder / "broken.flac"
        broken.write_bytes(b"fLaC" + bytes(200))
        self.show_player()
        self.title("Nothing is playing")
        self.speaker.ask("queue-set", products=[{"path": str(broken)}], play=True)
        self.expect_notice("broken cannot be played: ")
