"""The connection: restarts of the daemon, the password."""

from page_case import PageCase, at_both_widths, expect

PASSWORD = "Straße 7"


class Connection(PageCase):
    @at_both_widths
    def test_comes_back_after_a_restart_of_the_daemon(self):
        self.speaker.fill_queue("Björk/Homogenic")
        self.go("Queue")
        expect(self.row("Jóga"), "the queue").to_be_visible()
        bar = self.page.get_by_role("alert").first
        self.speaker.stop()
        expect(bar, "the message that there is no connection").to_contain_text("Not connected")
        self.speaker.start()
        expect(bar, "the connection").to_be_hidden()
        self.speaker.fill_queue("Björk/Vespertine")
        expect(self.rows("Queue"), "the queue after the restart").to_have_text(["Hidden Place", "Cocoon", "Undo"])
        self.open_row("Cocoon")
        self.speaker.wait_for_status("playback after the restart", state="playing", index=1)
        # The browser reports interrupted transfers.
        self.mistakes = [mistake for mistake in self.mistakes if "ERR_" not in mistake]

    @at_both_widths
    def test_a_token_of_an_earlier_session_is_replaced(self):
        self.go("Settings")
        self.page.evaluate("server.token = 'old'")
        self.go("Playlists")
        expect(self.page.locator("#view")).to_contain_text("There are no playlists yet.")

    @at_both_widths
    def test_says_that_the_speaker_cannot_be_reached(self):
        self.speaker.fill_queue("Björk/Homogenic")
        self.go("Queue")
        expect(self.row("Jóga"), "the queue").to_be_visible()
        self.page.route("**/api/play", lambda route: route.abort())
        self.open_row("Jóga")
        self.expect_notice("The speaker cannot be reached.")


class Password(PageCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.speaker.restart(password=PASSWORD)
        cls.addClassCleanup(cls.speaker.restart)

    def test_asks_for_the_password(self):
        for width in (360, 1280):
            with self.subTest(width=width):
                self.speaker.reset()
                self.open_page(width, "#/playlists")
                field = self.field("Password")
                expect(field, "the field for the password").to_be_focused()
                field.fill("wrong")
                self.page.keyboard.press("Enter")
                expect(self.page.get_by_text("This password is wrong.")).to_be_visible()
                expect(self.page.get_by_role("navigation")).to_be_hidden()
                field.fill(PASSWORD)
                self.page.keyboard.press("Enter")
                expect(self.page.locator("#view")).to_contain_text("There are no playlists yet.")
                self.page.reload()
                expect(self.page.locator("#view"), "the page after a reload").to_contain_text("There are no playlists")
                self.close_page()

    def test_asks_again_when_the_session_has_ended(self):
        self.speaker.reset()
        self.open_page(360, "#/playlists")
        self.field("Password").fill(PASSWORD)
        self.page.keyboard.press("Enter")
        expect(self.page.locator("#view")).to_contain_text("There are no playlists yet.")
        self.page.context.clear_cookies()
        self.go("Queue")
        expect(self.field("Password"), "the field for the password").to_be_focused()
        self.field("Password").fill(PASSWORD)
        self.page.keyboard.press("Enter")
        expect(self.heading("Queue"), "the page that was asked for").to_be_visible()
        self.close_page()

    def test_says_that_there_were_too_many_attempts(self):
        self.addCleanup(self.speaker.restart, password=PASSWORD)
        self.open_page(360)
        self.field("Password").fill("wrong")
        statuses = []
        # The wait doubles with each wrong password, so that one comes too early at last.
        while 429 not in statuses and len(statuses) < 20:
            with self.page.expect_response("**/api/login") as response:
                self.page.keyboard.press("Enter")
            statuses.append(response.value.status)
        self.assertEqual(statuses[:4] + statuses[-1:], [403] * 4 + [429])
        expect(self.page.get_by_role("alert").filter(has_text="Too many wrong passwords.")).to_be_visible()
        self.close_page()

    def test_logs_in_after_a_restart_of_the_daemon(self):
        self.open_page(360, "#/playlists")
        expect(self.field("Password"), "the field for the password").to_be_focused()
        self.speaker.restart(password=PASSWORD)
        self.field("Password").fill(PASSWORD)
        self.page.keyboard.press("Enter")
        expect(self.page.locator("#view")).to_contain_text("There are no playlists yet.")
        self.close_page()
