"""ncmpcpp in a terminal: queue, browser, library, search, playlists, outputs, playback and modes."""

from clients_case import ClientCase, with_both
from servers import ALBUM, quoted
from terminal import Terminal


class Session(ClientCase):
    def start(self, server):
        terminal = self.enterContext(Terminal("ncmpcpp", "--host", server.host))
        terminal.wait_for("Playlist", "Volume: 50%")
        return terminal

    @with_both
    def test_browse_add_and_play(self, server):
        terminal = self.start(server)
        terminal.press("2")
        terminal.wait_for("Browse: /", "[Björk]", "[Die Ärzte]", "[Loose]", "[Various]")
        terminal.press("Enter")
        terminal.wait_for("Browse: Björk", "[Homogenic]", "[Vespertine]")
        terminal.press("End", "Space")
        server.wait_for_status(playlistlength=3)
        terminal.press("Up", "Enter")
        terminal.wait_for("Browse: Björk/Homogenic", "Bachelorette", "5 Years")
        terminal.press("1")
        terminal.wait_for("3 items", "Hidden Place", "Cocoon", "Undo", "Vespertine", "1:00")
        terminal.press("Home", "Enter")
        terminal.wait_for("Playing:", "- Hidden Place", "/1:00]")
        server.wait_for_status(state="play", song=0)
        terminal.press(">")
        terminal.wait_for("Playing:", "- Cocoon")
        server.wait_for_status(song=1)
        terminal.press("<")
        terminal.wait_for("Playing:", "- Hidden Place")
        terminal.press("p")
        server.wait_for_status(state="pause")
        # While it is paused only the key moves the position: 1 s each time.
        terminal.press(*["f"] * 20)
        server.wait("the position", lambda: float(server.status()["elapsed"]) >= 15)
        terminal.press(*["b"] * 20)
        server.wait("the position", lambda: float(server.status()["elapsed"]) < 15)
        terminal.press("p")
        server.wait_for_status(state="play")
        terminal.press("+")
        terminal.wait_for("Volume: 52%")
        terminal.press("-", "-")
        terminal.wait_for("Volume: 48%")
        server.wait_for_status(volume=48)
        terminal.press("s")
        server.wait_for_status(state="stop")
        # Others change the queue: the screen follows.
        server.ask(f"add {quoted('Various/Summer')}")
        terminal.wait_for("6 items", "Sand", "Alpha")
        terminal.press("End", "DC")
        terminal.wait_for("5 items", "Sand", without=["Concerto"])

    @with_both
    def test_search_and_library(self, server):
        terminal = self.start(server)
        terminal.press("3")
        terminal.wait_for("Search engine", "Any", "Title")
        terminal.press("Enter")
        terminal.wait_for("Any:")
        terminal.type("cocoon")
        terminal.press("y")
        terminal.wait_for("Found 1 song", "Cocoon")
        terminal.press("End", "Space")
        server.wait_for_status(playlistlength=1)
        terminal.press("4")
        terminal.wait_for("Media library", "Alpha", "Beta", "Björk", "Die Ärzte")
        terminal.press("End", "Up", "Up")
        terminal.wait_for("Homogenic", "Vespertine")
        terminal.press("Right", "End")
        terminal.wait_for("All tracks", "Hidden Place", "Undo")
        terminal.press("Space")
        server.wait_for_status(playlistlength=10)

    @with_both
    def test_playlists_and_outputs(self, server):
        server.ask(f"add {quoted(ALBUM)}")
        terminal = self.start(server)
        terminal.press("S")
        terminal.wait_for("Save playlist as")
        terminal.type("Evening")
        server.wait("the playlist", lambda: "playlist: Evening" in server.ask("listplaylists"))
        terminal.press("c")
        terminal.wait_for("clear")
        terminal.press("y")
        server.wait_for_status(playlistlength=0)
        terminal.press("5")
        terminal.wait_for("Playlist editor", "Evening", "Hidden Place")
        terminal.press("Space")
        server.wait_for_status(playlistlength=3)
        terminal.press("7")
        terminal.wait_for("Outputs")
        terminal.press("Enter")
        server.wait("the output", lambda: "outputenabled: 0" in server.ask("outputs"))
        terminal.press("Enter")
        server.wait("the output", lambda: "outputenabled: 1" in server.ask("outputs"))
        terminal.press("@")
        terminal.wait_for("Version: 0.23", "Songs in database: 15", "Album names: 4")

    @with_both
    def test_modes(self, server):
        server.ask(f"add {quoted(ALBUM)}")
        terminal = self.start(server)
        terminal.press("r")
        terminal.wait_for("Repeat mode is on")
        terminal.press("z")
        terminal.wait_for("Random mode is on")
        terminal.press("z")
        terminal.wait_for("Random mode is off")
        terminal.press("y")
        terminal.wait_for("Single mode is on")
        terminal.press("y")
        terminal.wait_for("Single mode is off")
        server.wait_for_status(repeat=1, random=0, single=0)
        terminal.press("Y")
        terminal.wait_for("Replay gain mode?")
        terminal.press("a")
        terminal.wait_for("Replay gain mode: album")
        ours = server is self.tonearm
        terminal.press("R")
        terminal.wait_for("this player has no consume mode" if ours else "Consume mode is on")
        if not ours:
            terminal.press("R")
        terminal.press("x")
        terminal.wait_for("this player has no crossfade" if ours else "Crossfade set to")
        if not ours:
            terminal.press("x")
        terminal.press("u")
        terminal.wait_for("Database update")
        terminal.press("q")
        terminal.wait_for_end()
