"""The connection: restarts of the daemon, connections that die, many tabs, the password."""

import signal

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


    def test_a_request_without_an_answer_has_a_time_limit(self):
        self.speaker.reset()
        self.speaker.fill_queue("Björk/Homogenic")
        self.open_page(360, "#/queue")
        expect(self.row("Jóga"), "the queue").to_be_visible()
        # The connection of this request has died.
        self.page.route("**/api/play", lambda route: None)
        self.page.evaluate("patience.usual = 300")
        self.open_row("Jóga")
        self.expect_notice("The speaker cannot be reached.")
        self.page.unroute("**/api/play")
        self.page.evaluate("patience.usual = 30000")
        self.open_row("Jóga")
        self.speaker.wait_for_status("playback", state="playing")

    def test_a_stream_that_says_nothing_is_opened_again(self):
        self.speaker.reset()
        self.open_page(360, "#/", script=WITHOUT_WORKERS)
        bar = self.page.get_by_role("alert").first
        expect(self.page.locator("#player"), "the player").to_be_visible()
        self.speaker.daemon.send_signal(signal.SIGSTOP)
        self.addCleanup(self.speaker.daemon.send_signal, signal.SIGCONT)
        self.page.evaluate("silence.limit = 1000; events.own.watch()")
        expect(bar, "the message that there is no connection").to_contain_text("Not connected")
        self.page.evaluate("silence.limit = 40000")
        self.speaker.daemon.send_signal(signal.SIGCONT)
        expect(bar, "the connection").to_be_hidden()


#: As Chrome on Android is.
WITHOUT_WORKERS = "delete window.SharedWorker"
#: A browser has six connections to a server.
TABS = 8


class Tabs(PageCase):
    def setUp(self):
        self.speaker.reset()
        self.speaker.fill_queue("Björk/Homogenic")

    def open_tab(self):
        """Opens another tab of the same browser."""
        tab = self.page.context.new_page()
        tab.goto(f"{self.speaker.address}/#/queue")
        return tab

    def expect_queue(self, tab):
        expect(tab.locator("#view").get_by_text("Jóga"), "the queue").to_be_visible()

    def set_hidden(self, tab, is_hidden):
        """What a browser does when another tab comes in front."""
        tab.evaluate("""isHidden => {
            Object.defineProperty(document, "hidden", { value: isHidden, configurable: true });
            document.dispatchEvent(new Event("visibilitychange"));
        }""", is_hidden)

    def wait_for_volume(self, tab, percent):
        tab.wait_for_function("percent => player.volume === percent", arg=percent)

    def test_more_tabs_than_connections_have_one_stream(self):
        self.open_page(1280, "#/queue")
        tabs = [self.page] + [self.open_tab() for _ in range(TABS)]
        for tab in tabs:
            self.expect_queue(tab)
        self.assertEqual([tab.evaluate("events.own === null") for tab in tabs], [True] * len(tabs))
        tabs[-1].evaluate("request('volume', { percent: 17 })")
        for tab in tabs:
            self.wait_for_volume(tab, 17)
        # The worker goes on without the tab that has started it.
        tabs.pop(0).close()
        tabs[0].evaluate("request('volume', { percent: 18 })")
        for tab in tabs:
            self.wait_for_volume(tab, 18)

    def test_tabs_that_nobody_sees_have_no_stream_and_come_back(self):
        for script in ("", WITHOUT_WORKERS):
            with self.subTest(script=script):
                self.open_page(1280, "#/queue", script=script)
                tabs = [self.page]
                self.expect_queue(self.page)
                for _ in range(TABS):
                    self.set_hidden(tabs[-1], True)
                    tabs.append(self.open_tab())
                    self.expect_queue(tabs[-1])
                tabs[-1].evaluate("request('volume', { percent: 19 })")
                self.wait_for_volume(tabs[-1], 19)
                self.assertNotIn(19, [tab.evaluate("player.volume") for tab in tabs[:-1]])
                self.set_hidden(tabs[0], False)
                self.wait_for_volume(tabs[0], 19)
                tabs[0].evaluate("request('volume', { percent: 20 })")
                self.wait_for_volume(tabs[0], 20)
                self.page.context.close()

    def test_a_worker_that_does_not_start_is_not_needed(self):
        worker = self.speaker.folder / "page/events.js"
        text = worker.read_text()
        self.addCleanup(worker.write_text, text)
        for broken in ("throw new Error();", None):
            with self.subTest(worker=broken):
                if broken is None:
                    worker.unlink()
                else:
                    worker.write_text(broken)
                self.open_page(1280, "#/queue")
                self.expect_queue(self.page)
                self.assertTrue(self.page.evaluate("events.own !== null"))
                self.page.context.close()


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

    def test_a_logout_in_another_tab_asks_for_the_password(self):
        self.speaker.reset()
        self.open_page(360, "#/playlists")
        self.field("Password").fill(PASSWORD)
        self.page.keyboard.press("Enter")
        expect(self.page.locator("#view")).to_contain_text("There are no playlists yet.")
        self.page.context.new_page().goto(f"{self.speaker.address}/manifest.webmanifest")
        self.page.context.pages[-1].evaluate("""async () => {
            const { token } = await (await fetch("/api/session")).json();
            await fetch("/api/logout", { method: "POST", body: "{}",
              headers: { "Content-Type": "application/json", "Tonearm-Token": token } });
        }""")
        expect(self.field("Password"), "the field for the password").to_be_focused()

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
