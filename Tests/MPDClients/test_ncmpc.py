"""ncmpc in a terminal: browser, queue, playback, modes, search, artists, outputs, statistics."""

from clients_case import ClientCase, with_both
from servers import ALBUM, quoted
from terminal import Terminal


class Session(ClientCase):
    def start(self, server):
        terminal = self.enterContext(Terminal("ncmpc", "--host", server.host))
        terminal.wait_for("2:Queue on ", "Volume 50%")
        return terminal

    @with_both
    def test_browse_add_and_play(self, server):
        terminal = self.start(server)
        terminal.press("3")
        terminal.wait_for("[Björk]", "[Die Ärzte]", "[Loose]", "[Various]")
        terminal.press("Enter")
        terminal.wait_for("3:Browse: Björk", "[Homogenic]", "[Vespertine]")
        terminal.press("End", "a")
        terminal.wait_for("Adding 'Björk/Vespertine' to queue")
        terminal.press("2")
        terminal.wait_for("Björk - Hidden Place", "Björk - Cocoon", "Björk - Undo", "1:00")
        terminal.press("Home", "Enter")
        server.wait_for_status(state="play", song=0)
        terminal.wait_for("Playing: Björk - Hidden Place", "/1:00]")
        terminal.press(">")
        server.wait_for_status(song=1)
        terminal.wait_for("Playing: Björk - Cocoon")
        terminal.press("<")
        server.wait_for_status(song=0)
        terminal.wait_for("Playing: Björk - Hidden Place")
        terminal.press("P")
        server.wait_for_status(state="pause")
        terminal.wait_for("[Paused] Björk - Hidden Place")
        # While it is paused only the key moves the position: 1 s each time.
        terminal.press(*["f"] * 20)
        server.wait("the position", lambda: float(server.status()["elapsed"]) >= 15)
        terminal.press("P")
        server.wait_for_status(state="play")
        terminal.press("+", "+")
        terminal.wait_for("Volume 52%")
        terminal.press("-")
        terminal.wait_for("Volume 51%")
        server.wait_for_status(volume=51)
        terminal.press("s")
        server.wait_for_status(state="stop")
        server.ask(f"add {quoted('Various/Summer')}")
        terminal.wait_for("Alpha - Sun", "Beta - Sand")
        terminal.press("End", "d")
        terminal.wait_for("Beta - Sand", without=["Concerto"])
        terminal.press("Home", "C-j")
        server.wait("the moved entry", lambda: "Title: Cocoon" in server.ask("playlistinfo 0"))

    @with_both
    def test_search_artists_outputs_and_statistics(self, server):
        terminal = self.start(server)
        terminal.press("5")
        terminal.wait_for("New search")
        terminal.press("5")
        terminal.wait_for("Search:")
        terminal.type("cocoon")
        terminal.wait_for("Björk - Cocoon")
        terminal.press("a")
        server.wait_for_status(playlistlength=1)
        terminal.press("5")
        terminal.wait_for("Search:")
        terminal.type("artist:alpha album:summer")
        terminal.wait_for("Alpha - Sun", without=["Cocoon"])
        terminal.press("4")
        terminal.wait_for("[Alpha]", "[Beta]", "[Björk]", "[Die Ärzte]")
        terminal.press("End", "Up", "Up", "Enter")
        terminal.wait_for("Homogenic", "Vespertine")
        terminal.press("End", "Up", "Enter")
        terminal.wait_for("Hidden Place", "Cocoon", "Undo")
        terminal.press("8")
        terminal.wait_for("[X]", "Partition: default")
        terminal.press("Enter")
        terminal.wait_for("[ ]")
        server.wait("the output", lambda: "outputenabled: 0" in server.ask("outputs"))
        terminal.press("Enter")
        terminal.wait_for("[X]")
        terminal.press("i")
        terminal.wait_for("Number of songs:       15", "DB playtime:           00:15:00")

    @with_both
    def test_modes_and_playlists(self, server):
        server.ask(f"add {quoted(ALBUM)}")
        terminal = self.start(server)
        for key, text in (("r", "Repeat mode is on"), ("y", "Single mode is on"), ("y", "Single mode is off"),
                          ("z", "Random mode is on"), ("z", "Random mode is off")):
            terminal.press(key)
            terminal.wait_for(text)
        server.wait_for_status(repeat=1, random=0, single=0)
        ours = server is self.tonearm
        terminal.press("C")
        terminal.wait_for("this player has no consume mode" if ours else "Consume mode is on")
        if not ours:
            terminal.press("C")
            terminal.wait_for("Consume mode is off")
        terminal.press("x")
        terminal.wait_for("this player has no crossfade" if ours else "Crossfade")
        if not ours:
            terminal.press("x")
        terminal.press("S")
        terminal.wait_for("Save queue as")
        terminal.type("Evening")
        server.wait("the playlist", lambda: "playlist: Evening" in server.ask("listplaylists"))
        terminal.press("c")
        server.wait_for_status(playlistlength=0)
        terminal.press("3", "End")
        terminal.wait_for("Evening")
        terminal.press("a")
        server.wait_for_status(playlistlength=3)
        terminal.press("d")
        terminal.wait_for("Delete playlist")
        terminal.press("y")
        server.wait("its end", lambda: server.ask("listplaylists") == [])
        terminal.press("C-u")
        terminal.wait_for("Database update")
        terminal.press("q")
        terminal.wait_for_end()
