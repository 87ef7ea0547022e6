"""Browsing and searching the library, and playing from it."""

import re

from page_case import PageCase, at_both_widths, expect

HOMOGENIC = ["1. Hunter", "2. Jóga", "3. Unravel", "4. Bachelorette", "5. All Neon Like", "6. 5 Years"]


class Music(PageCase):
    def open_list(self, name):
        self.go("Music")
        self.page.locator("#view").get_by_role("link", name=name, exact=True).click()
        expect(self.heading(name), f"the list {name}").to_be_visible()

    def expect_rows(self, label, titles):
        expect(self.rows(label), f"the list {label}: {titles}").to_have_text(titles)

    def wait_for_queue(self, *files):
        self.speaker.wait(f"the queue {files}", lambda ask: self.speaker.queue() == list(files))

    @at_both_widths
    def test_from_an_artist_to_an_album_to_playback(self):
        self.open_list("Artists")
        self.expect_rows("Artists", ["Björk", "Die Ärzte", "Various Artists"])
        self.open_row("Björk")
        self.expect_rows("Björk", ["Homogenic", "Vespertine"])
        self.open_row("Homogenic")
        self.expect_rows("Homogenic", HOMOGENIC)
        expect(self.page.locator(".album-cover"), "the cover").to_be_visible()
        self.open_row("Unravel")
        self.speaker.wait_for_status("the third track", state="playing", index=2, count=6, title="Unravel")

    @at_both_widths
    def test_the_back_button_leads_back(self):
        self.open_list("Albums")
        self.open_row("Homogenic")
        expect(self.heading("Homogenic")).to_be_focused()
        self.page.go_back()
        expect(self.heading("Albums")).to_be_visible()
        self.page.go_back()
        expect(self.heading("Music")).to_be_visible()

    @at_both_widths
    def test_an_album_plays_next_or_at_the_end(self):
        self.speaker.fill_queue("Björk/Vespertine", play=True)
        self.open_list("Albums")
        self.choose("Geräusch", "Add to the queue")
        self.expect_notice("2 tracks were added.")
        self.choose("Geräusch", "Play next")
        self.wait_for_queue("01.flac", "01.flac", "02.flac", "02.flac", "03.flac", "01.flac", "02.flac")
        self.choose("Summer Hits", "Play now")
        self.speaker.wait_for_status("the album", state="playing", count=3, title="Sun")

    @at_both_widths
    def test_an_artist_plays_with_all_albums(self):
        self.open_list("Artists")
        self.choose("Björk", "Play now")
        self.speaker.wait_for_status("the artist's albums", state="playing", count=9)

    @at_both_widths
    def test_genres_and_recent_albums(self):
        self.open_list("Genres")
        self.expect_rows("Genres", ["Electronic", "Pop", "Rock"])
        self.open_row("Rock")
        self.expect_rows("Rock", ["Geräusch"])
        self.open_list("Recently added")
        expect(self.rows("Recently added")).to_have_count(4)

    @at_both_widths
    def test_folders(self):
        self.open_list("Folders")
        self.open_row(str(self.speaker.music))
        self.expect_rows("Folders", ["Björk", "Die Ärzte", "Loose", "Various"])
        self.open_row("Die Ärzte")
        self.expect_rows("Folders", ["Geräusch"])
        self.open_row("Geräusch")
        self.expect_rows("Tracks", ["Schöne Grüße", "Übermäßig fröhlich"])
        self.open_row("Übermäßig fröhlich")
        self.speaker.wait_for_status("the second track", state="playing", index=1, count=2)

    @at_both_widths
    def test_a_favourite_is_made_and_listed(self):
        self.open_list("Albums")
        self.open_row("Homogenic")
        self.choose("2. Jóga", "Make it a favourite")
        expect(self.row("Jóga").locator(".row-detail"), "the heart").to_contain_text("♥")
        self.open_list("Favourites")
        self.expect_rows("Favourites", ["Jóga"])
        self.choose("Jóga", "No longer a favourite")
        expect(self.page.locator("#view")).to_contain_text("Nothing here yet.")

    @at_both_widths
    def test_history_and_recently_played(self):
        self.speaker.fill_queue("Loose", play=True)
        self.speaker.wait_for_status("playback", state="playing")
        self.speaker.ask("seek", position=28)
        self.speaker.wait("the play in the history", lambda ask: ask("library-list", list="history")["count"] > 0
                          and ask("library-list", list="played")["count"] > 0)
        for name in ["History", "Recently played"]:
            self.open_list(name)
            expect(self.row("untagged").first, f"the track in {name}").to_be_visible()

    @at_both_widths
    def test_searches_while_typing(self):
        self.go("Music")
        field = self.page.get_by_role("searchbox", name="Search")
        field.press_sequentially("bjork", delay=20)
        self.expect_rows("Artists", ["Björk"])
        self.expect_rows("Albums", ["Homogenic", "Vespertine"])
        expect(self.rows("Tracks")).to_have_count(9)
        field.press_sequentially(" joga", delay=20)
        self.expect_rows("Tracks", ["Jóga"])
        expect(field, "the focus in the field").to_be_focused()
        expect(self.page).to_have_url(re.compile("#/search/bjork%20joga$"))
        self.open_row("Jóga")
        self.speaker.wait_for_status("the found track", state="playing", title="Jóga", count=1)
        field.fill("nothing like that")
        expect(self.page.locator("#view")).to_contain_text("Nothing was found.")
        field.fill("!")
        expect(self.page.locator("#view")).to_contain_text("Nothing was found.")
        self.page.go_back()
        expect(self.page.get_by_role("link", name="Artists", exact=True), "the menu").to_be_visible()

    @at_both_widths
    def test_the_newest_search_wins(self):
        self.go("Music")
        # The answer to the first words is held back until the second one was shown.
        held = []

        def hold(route):
            if "homogenic" in route.request.post_data:
                held.append(route)
            else:
                route.continue_()

        self.page.route("**/api/library-search", hold)
        field = self.page.get_by_role("searchbox", name="Search")
        with self.page.expect_request("**/api/library-search"):
            field.fill("homogenic")
        field.fill("vespertine")
        self.expect_rows("Albums", ["Vespertine"])
        with self.page.expect_response("**/api/library-search"):
            held[0].continue_()
        self.expect_rows("Albums", ["Vespertine"])
