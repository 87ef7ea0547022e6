"""Offline copies: with a real content service beside the daemon."""

from content_service import Service
from page_case import PageCase, at_both_widths, expect

SERVICE = """
[service]
url = {address}
token-file = {token}
[offline]
free-space = 0
"""


class Kept(PageCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.service = Service(cls.speaker)
        cls.addClassCleanup(cls.service.discard)
        cls.speaker.restart(settings=SERVICE.format(address=cls.service.address, token=cls.service.token))
        cls.addClassCleanup(cls.speaker.restart)

    def open_copies(self):
        self.speaker.ask("offline-remove", all=True)
        self.go("Music")
        self.page.get_by_role("link", name="Offline copies").click()
        expect(self.page.locator("#view"), "no copies").to_contain_text("0 copies")

    def add(self, *ids):
        self.speaker.ask("offline-add", products=[{"path": f"tonearm:track/{number}"} for number in ids])

    def wait_for_copies(self, number):
        self.speaker.wait(f"{number} copies", lambda ask: ask("offline-status")["kept"] == number)

    @at_both_widths
    def test_shows_copies_plays_and_removes_them(self):
        self.open_copies()
        self.add(1, 2)
        self.wait_for_copies(2)
        # A copy whose file has no title of its own has the number of the track.
        titles = [entry["title"] or f"Track {number} of the service"
                  for number, entry in enumerate(self.speaker.ask("offline-items")["entries"], 1)]
        copies = self.rows("Copies")
        expect(copies, "the copies").to_have_text(titles)
        expect(self.page.locator("#view")).to_contain_text("2 copies")
        self.choose(titles[0], "Remove the copy")
        expect(copies, "the other copy").to_have_text([titles[1]])
        self.wait_for_copies(1)
        self.open_row(titles[1])
        self.speaker.wait_for_status("the copy", state="playing", file="tonearm:track/2")
        self.show_player()
        expect(self.page.locator("#cover"), "the cover of the service").to_be_visible()

    @at_both_widths
    def test_pauses_resumes_and_cancels_downloads(self):
        self.open_copies()
        self.service.stop()
        try:
            self.add(3)
            row = self.page.get_by_role("list", name="Downloads").get_by_role("listitem")
            expect(row, "the download").to_have_count(1)
            for button, state in [("Pause all", "paused"), ("Resume all", "waiting")]:
                self.button(button).click()
                expect(row.locator(".row-detail"), f"the state {state}").to_contain_text(state)
            for action, state in [("Pause", "paused"), ("Resume", "waiting")]:
                row.locator("button.round").click()
                self.button(action, self.page.get_by_role("dialog")).click()
                expect(row.locator(".row-detail"), f"the state {state}").to_contain_text(state)
            row.locator("button.round").click()
            self.button("Cancel the download").click()
            expect(row, "the end of the download").to_have_count(0)
        finally:
            self.service.start_again()

    @at_both_widths
    def test_a_favourite_of_the_service_can_be_downloaded(self):
        self.open_copies()
        self.speaker.ask("favourite", path="tonearm:track/2", on=True)
        self.go("Music")
        self.page.get_by_role("link", name="Favourites").click()
        self.choose("Track 2 of the service", "Keep offline")
        self.expect_notice("It will be downloaded.")
        self.wait_for_copies(1)

    @at_both_widths
    def test_settings_of_the_service(self):
        self.go("Settings")
        self.field("Offline mode").select_option("on")
        self.speaker.wait("the offline mode", lambda ask: ask("config-get", key="offline.only")["settings"][0]["value"]
                          == "yes")
        expect(self.field("Quality of the music service")).to_be_visible()

    @at_both_widths
    def test_says_that_a_token_file_cannot_be_logged_out(self):
        self.go("Settings")
        self.button("Log out").click()
        self.button("Log out", self.page.get_by_role("dialog")).click()
        self.expect_notice("Still logged in: the configuration has a file with a token.")
