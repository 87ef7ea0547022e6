"""Stored playlists: contents, order, names."""

from page_case import PageCase, at_both_widths, expect


class Playlists(PageCase):
    def make(self, name, *folders):
        products = [{"path": str(self.speaker.music / folder)} for folder in folders]
        self.speaker.ask("playlist-add", name=name, products=products)

    def files(self, name):
        return [entry["title"] for entry in self.speaker.ask("playlist", name=name)["entries"]]

    def open_playlist(self, name):
        self.go("Playlists")
        self.open_row(name)
        expect(self.heading(name), f"the playlist {name}").to_be_visible()

    def expect_rows(self, label, *titles):
        expect(self.rows(label), f"the list {label}: {titles}").to_have_text(list(titles))

    @at_both_widths
    def test_lists_and_plays(self):
        self.make("Evening", "Björk/Vespertine")
        self.open_playlist("Evening")
        self.expect_rows("Evening", "Hidden Place", "Cocoon", "Undo")
        self.open_row("Cocoon")
        self.speaker.wait_for_status("the second entry", state="playing", index=1, count=3, title="Cocoon")
        self.button("Play now", self.page.locator("#view")).click()
        self.speaker.wait_for_status("the playlist", state="playing", index=0, title="Hidden Place")

    @at_both_widths
    def test_renames_and_deletes(self):
        self.make("Evening", "Björk/Vespertine")
        self.go("Playlists")
        self.choose("Evening", "Rename")
        self.field("Name").fill("Nacht / Tag")
        self.button("Save").click()
        expect(self.page.locator("#notice .error"), "the refusal of a slash").to_be_visible()
        self.choose("Evening", "Rename")
        self.field("Name").fill("Nacht & Übung")
        self.button("Save").click()
        self.expect_rows("Playlists", "Nacht & Übung")
        self.choose("Nacht & Übung", "Delete")
        self.button("Delete", self.page.get_by_role("dialog")).click()
        expect(self.page.locator("#view")).to_contain_text("There are no playlists yet.")
        self.assertEqual(self.speaker.names(), [])

    @at_both_widths
    def test_renames_and_deletes_the_open_one(self):
        self.make("Evening", "Björk/Vespertine")
        self.open_playlist("Evening")
        self.button("More …").click()
        self.button("Rename").click()
        self.field("Name").fill("Night")
        self.button("Save").click()
        expect(self.heading("Night"), "the new name").to_be_visible()
        self.expect_rows("Night", "Hidden Place", "Cocoon", "Undo")
        self.button("More …").click()
        self.button("Delete").click()
        self.button("Delete", self.page.get_by_role("dialog")).click()
        expect(self.heading("Playlists")).to_be_visible()

    @at_both_widths
    def test_moves_and_removes_entries(self):
        self.make("Evening", "Björk/Vespertine")
        self.open_playlist("Evening")
        self.row("Hidden Place").locator(".grip").focus()
        self.page.keyboard.press("ArrowDown")
        moved = ["Cocoon", "Hidden Place", "Undo"]
        self.speaker.wait(f"the order {moved}", lambda ask: self.files("Evening") == moved)
        self.expect_rows("Evening", *moved)
        self.choose("Hidden Place", "Remove")
        self.expect_rows("Evening", "Cocoon", "Undo")
        self.assertEqual(self.files("Evening"), ["Cocoon", "Undo"])

    @at_both_widths
    def test_does_not_remove_another_entry_that_came_meanwhile(self):
        self.make("Evening", "Björk/Vespertine")
        self.open_playlist("Evening")
        self.button("More for Cocoon").click()
        self.speaker.ask("playlist-remove", name="Evening", **{"from": 0})
        expect(self.page.locator("#view .row-title"), "the change").to_have_text(["Cocoon", "Undo"])
        self.button("Remove", self.page.get_by_role("dialog")).click()
        self.expect_notice("The list has changed meanwhile. Try again.")
        self.assertEqual(self.files("Evening"), ["Cocoon", "Undo"])

    @at_both_widths
    def test_adds_music_to_a_new_and_to_an_old_one(self):
        self.go("Music")
        self.page.get_by_role("link", name="Albums", exact=True).click()
        self.choose("Geräusch", "Add to a playlist")
        self.button("New playlist").click()
        expect(self.field("Name"), "the album's name").to_have_value("Geräusch")
        self.page.keyboard.press("Enter")
        self.expect_notice("2 tracks were added.")
        self.choose("Vespertine", "Add to a playlist")
        self.button("Geräusch", self.page.get_by_role("dialog")).click()
        self.expect_notice("3 tracks were added.")
        self.assertEqual(len(self.files("Geräusch")), 5)

    @at_both_widths
    def test_follows_changes_of_other_clients(self):
        self.go("Playlists")
        expect(self.page.locator("#view")).to_contain_text("There are no playlists yet.")
        self.make("From elsewhere", "Loose")
        self.expect_rows("Playlists", "From elsewhere")
