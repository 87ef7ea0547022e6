"""The queue: order, removal, and very long ones."""

from page_case import PageCase, at_both_widths, expect

TITLES = ["Hunter", "Jóga", "Unravel", "Bachelorette", "All Neon Like", "5 Years"]
ENTRIES = 100_000


class Queue(PageCase):
    def open_queue(self):
        self.speaker.fill_queue("Björk/Homogenic")
        self.go("Queue")
        self.expect_rows(TITLES)

    def expect_rows(self, titles):
        expect(self.rows("Queue"), f"the queue {titles}").to_have_text(titles)

    def wait_for_queue(self, *numbers):
        files = [f"{number:02}.flac" for number in numbers]
        self.speaker.wait(f"the queue {files}", lambda ask: self.speaker.queue() == files)

    @at_both_widths
    def test_shows_titles_and_plays_an_entry(self):
        self.open_queue()
        self.open_row("Unravel")
        self.speaker.wait_for_status("the third entry", state="playing", index=2)
        current = self.page.locator(".row.current .row-title")
        expect(current, "the current entry").to_have_text("Unravel")

    @at_both_widths
    def test_moves_by_the_arrow_keys(self):
        self.open_queue()
        grip = self.row("Hunter").locator(".grip")
        grip.focus()
        self.page.keyboard.press("ArrowDown")
        self.page.keyboard.press("ArrowDown")
        self.wait_for_queue(2, 3, 1, 4, 5, 6)
        self.expect_rows(["Jóga", "Unravel", "Hunter", "Bachelorette", "All Neon Like", "5 Years"])
        self.assertEqual(self.focused(), "Move Hunter: drag it, or press the arrow keys")
        expect(self.page.locator("#announcement")).to_have_text("Hunter is now 3 of 6.")
        self.page.keyboard.press("ArrowUp")
        self.wait_for_queue(2, 1, 3, 4, 5, 6)

    @at_both_widths
    def test_moves_by_the_menu(self):
        self.open_queue()
        self.choose("Bachelorette", "Move to the top")
        self.wait_for_queue(4, 1, 2, 3, 5, 6)
        self.choose("Bachelorette", "Move down")
        self.wait_for_queue(1, 4, 2, 3, 5, 6)

    @at_both_widths
    def test_moves_by_dragging(self):
        self.open_queue()
        start = self.row("Hunter").locator(".grip").bounding_box()
        end = self.row("Bachelorette").locator(".grip").bounding_box()
        self.page.mouse.move(start["x"] + 20, start["y"] + 20)
        self.page.mouse.down()
        self.page.mouse.move(end["x"] + 20, end["y"] + 20, steps=8)
        self.page.mouse.up()
        self.wait_for_queue(2, 3, 4, 1, 5, 6)
        self.expect_rows(["Jóga", "Unravel", "Bachelorette", "Hunter", "All Neon Like", "5 Years"])

    @at_both_widths
    def test_removes_and_clears(self):
        self.open_queue()
        self.choose("Jóga", "Remove")
        self.wait_for_queue(1, 3, 4, 5, 6)
        self.expect_rows(["Hunter", "Unravel", "Bachelorette", "All Neon Like", "5 Years"])
        self.button("Clear").click()
        self.button("Clear", self.page.get_by_role("dialog")).click()
        self.wait_for_queue()
        expect(self.page.locator("#view")).to_contain_text("The queue is empty.")

    @at_both_widths
    def test_follows_changes_of_other_clients(self):
        self.open_queue()
        self.speaker.fill_queue("Björk/Vespertine")
        self.expect_rows(["Hidden Place", "Cocoon", "Undo"])

    @at_both_widths
    def test_saves_the_queue_as_a_playlist(self):
        self.open_queue()
        for answer in ["saved", "replaced"]:
            self.button("Save as playlist").click()
            self.field("Name").fill("Übung")
            self.page.keyboard.press("Enter")
            if answer == "replaced":
                self.button("Replace").click()
            self.expect_notice("The playlist “Übung” was saved.")
        self.assertEqual(self.speaker.names(), ["Übung"])

    @at_both_widths
    def test_a_queue_of_100000_entries_has_few_rows(self):
        playlist = self.speaker.playlists / "long.m3u8"
        playlist.write_text(f"{self.speaker.music}/Björk/Homogenic/01.flac\n" * ENTRIES)
        self.addCleanup(playlist.unlink, missing_ok=True)
        self.speaker.ask("queue-set", products=[{"path": str(playlist)}])
        self.go("Queue")
        expect(self.page.locator("#view")).to_contain_text("100,000 entries")
        expect(self.row("Hunter").first, "the first page").to_be_visible()
        self.page.evaluate("window.scrollTo(0, document.documentElement.scrollHeight)")
        last = self.page.locator(f".row[aria-posinset='{ENTRIES}'] .row-title")
        expect(last, "the last entry").to_have_text("Hunter")
        self.assertLess(self.page.locator(".row").count(), 50)
        last.locator("xpath=ancestor::*[@role='listitem']").locator(".grip").focus()
        self.page.keyboard.press("ArrowUp")
        expect(self.page.locator("#announcement")).to_have_text(f"Hunter is now {ENTRIES - 1} of {ENTRIES}.")
