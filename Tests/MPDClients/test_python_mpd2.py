"""python-mpd2: every method of its client that a server of this protocol can answer."""

import threading

import mpd
from clients_case import ClientCase, with_both
from servers import ALBUM, LIMIT, PICTURED, SONGS

SONG = "Loose/untagged.flac"
FILES = [f"{ALBUM}/0{number}.flac" for number in (1, 2, 3)]
#: Not commands of the protocol.
NO_COMMANDS = {"NOOP", "add_command", "connect", "disconnect", "fileno", "idletimeout", "remove_command", "timeout",
               "use_unicode", "command_list_ok_begin", "command_list_end", "noidle"}
#: Unknown to the daemon (docs/mpd.md, "What is missing"), and their arguments.
MISSING = {"addtagid": (1, "artist", "a"), "cleartagid": (1,), "delpartition": ("a",), "listmounts": (),
           "listneighbors": (), "mount": ("a", "b"), "moveoutput": ("a",), "newpartition": ("a",),
           "rangeid": (1, "1:2"), "unmount": ("a",)}
#: Those that Debian's MPD has: it was built without the others.
KNOWN_TO_MPD = set(MISSING) - {"listneighbors"}
#: Unknown to MPD 0.23 as well: the library is newer, or has them from elsewhere.
UNKNOWN = {"outputvolume": (0, 5)}


class Recorder:
    """A client that notes the methods that were used."""

    def __init__(self, server):
        self.used = set()
        self._client = mpd.MPDClient()
        self._client.timeout = self._client.idletimeout = LIMIT
        self._client.connect(server.host)

    def __getattr__(self, name):
        self.used.add(name)
        return getattr(self._client, name)

    def close(self):
        self._client.close()
        self._client.disconnect()


class Library(ClientCase):
    @with_both
    def test_the_whole_interface(self, server):
        client = Recorder(server)
        self.addCleanup(client.close)
        for part in (self.connection, self.library, self.queue, self.playback, self.options, self.playlists,
                     self.stickers, self.messages, self.pictures, self.refusals):
            part(client, server)
        # `kill` would end MPD. `idle` and `close` are below.
        methods = {name for name in dir(mpd.MPDClient) if not name.startswith("_")}
        self.assertEqual(methods - NO_COMMANDS - client.used, {"idle", "close", "kill"})

    def refuses(self, client, code, name, arguments):
        """Whether a command is refused with a code. The library's pattern wants a name in the braces, which an unknown
        command does not have: there the text tells."""
        with self.assertRaises(mpd.CommandError) as caught:
            client._write_command(name, arguments)
            client._read_line()
        if code == mpd.base.FailureResponseCode.UNKNOWN:
            self.assertEqual(str(caught.exception), f'[5@0] {{}} unknown command "{name}"')
        else:
            self.assertEqual(caught.exception.errno, code, name)

    def connection(self, client, server):
        self.assertEqual(client.mpd_version, "0.23.5")
        self.assertGreater(client.fileno(), 0)
        client.ping()
        commands = client.commands()
        self.assertTrue({"status", "idle", "albumart", "readpicture", "sticker", "listplaylists"} <= set(commands))
        self.assertEqual(set(MISSING) & set(commands), set() if server is self.tonearm else KNOWN_TO_MPD)
        self.assertEqual(client.notcommands(), [])
        self.assertIn("http://", client.urlhandlers())
        self.assertTrue({"Artist", "Album", "Title", "Track", "Date", "Disc"} <= set(client.tagtypes()))
        self.assertIn("flac", [name for each in client.decoders() for name in as_list(each.get("suffix", []))])
        self.assertEqual(client.config(), str(server.music))
        self.assertEqual(client.listpartitions(), [{"partition": "default"}])
        client.partition("default")
        output = client.outputs()[0]
        self.assertEqual((output["outputid"], output["outputenabled"]), ("0", "1"))
        for change, state in ((client.disableoutput, "0"), (client.enableoutput, "1"), (client.toggleoutput, "0"),
                              (client.toggleoutput, "1")):
            change(0)
            self.assertEqual(client.outputs()[0]["outputenabled"], state)
        with self.assertRaises(mpd.CommandError) as caught:
            client.password("wrong")
        self.assertEqual(caught.exception.errno, mpd.base.FailureResponseCode.PASSWORD)

    def library(self, client, server):
        self.assertEqual(client.stats()["songs"], str(SONGS))
        self.assertEqual([each["directory"] for each in client.lsinfo()], ["Björk", "Die Ärzte", "Loose", "Various"])
        self.assertEqual([each["file"] for each in client.listall(ALBUM) if "file" in each], FILES)
        self.assertEqual([each["title"] for each in client.listallinfo(ALBUM) if "file" in each],
                         ["Hidden Place", "Cocoon", "Undo"])
        names = {each["file"]: each["size"] for each in client.listfiles(ALBUM)}
        self.assertEqual(names["01.flac"], str((server.music / PICTURED).stat().st_size))
        self.assertEqual(client.readcomments(PICTURED)["title" if server is self.tonearm else "TITLE".lower()],
                         "Hidden Place")
        self.assertEqual([each["file"] for each in client.find("album", "Vespertine")], FILES)
        self.assertEqual([each["file"] for each in client.search("title", "COCOON")], FILES[1:2])
        self.assertEqual(client.find("(Title == \"Undo\")", "window", (0, 1))[0]["time"], "60")
        self.assertEqual(client.count("album", "Vespertine"), {"songs": "3", "playtime": "180"})
        self.assertIn({"artist": "Björk"}, client.list("artist"))
        self.assertEqual(client.list("album", "artist", "Björk"), [{"album": "Homogenic"}, {"album": "Vespertine"}])
        self.assertIn({"date": "1997", "album": "Homogenic"}, client.list("album", "group", "date"))
        for scan in (client.update, client.rescan):
            self.assertGreater(int(scan()), 0)
            server.wait("the end of the scan", lambda: "updating_db" not in client.status())

    def queue(self, client, server):
        client.clear()
        client.add(ALBUM)
        ids = [each["id"] for each in client.playlistinfo()]
        self.assertEqual(len(ids), 3)
        version = client.status()["playlist"]
        added = client.addid(SONG, 1)
        self.assertEqual(client.playlistid(added)[0]["pos"], "1")
        self.assertEqual([each["cpos"] for each in client.plchangesposid(version)], ["1", "2", "3"])
        self.assertEqual([each["pos"] for each in client.plchanges(version)], ["1", "2", "3"])
        client.deleteid(added)
        client.move(0, 2)
        client.moveid(ids[0], 0)
        client.swap(0, 1)
        client.swapid(ids[0], ids[1])
        self.assertEqual([each["id"] for each in client.playlistinfo()], ids)
        self.assertEqual([each["file"] for each in client.playlistinfo((1, 3))], FILES[1:])
        self.assertEqual([each["file"] for each in client.playlistfind("title", "Undo")], FILES[2:])
        self.assertEqual([each["file"] for each in client.playlistsearch("title", "o")], FILES[1:])
        self.assertEqual(client.playlist(), [f"file: {name}" for name in FILES])
        client.prio(7, 1)
        client.prioid(8, ids[2])
        self.assertEqual([each.get("prio") for each in client.playlistinfo()], [None, "7", "8"])
        client.prio(0, (0, 3))
        client.shuffle()
        self.assertEqual({each["id"] for each in client.playlistinfo()}, set(ids))
        client.delete((1,))
        self.assertEqual(client.status()["playlistlength"], "1")
        client.clear()
        client.findadd("artist", "Alpha")
        client.searchadd("artist", "beta")
        self.assertEqual([each["title"] for each in client.playlistinfo()], ["Sun", "Sand"])
        client.command_list_ok_begin()
        client.clear()
        client.add(ALBUM)
        client.status()
        nothing, _, status = client.command_list_end()
        self.assertEqual((nothing, status["playlistlength"]), (None, "3"))

    def playback(self, client, server):
        client.play(1)
        server.wait_for_status(state="play", song=1)
        song, status = client.currentsong(), client.status()
        self.assertEqual((song["title"], song["pos"], song["id"]), ("Cocoon", "1", status["songid"]))
        self.assertEqual(float(status["duration"]), 60)
        client.pause(1)
        server.wait_for_status(state="pause")
        client.pause(0)
        server.wait_for_status(state="play")
        client.next()
        server.wait_for_status(song=2)
        client.previous()
        server.wait_for_status(song=1)
        for seek in (lambda: client.seek(1, 20), lambda: client.seekid(song["id"], 20.5), lambda: client.seekcur(21),
                     lambda: client.seekcur("-1")):
            seek()
            server.wait("the position", lambda: 20 <= float(client.status()["elapsed"]) < 30)
        client.playid(client.playlistinfo()[0]["id"])
        server.wait_for_status(song=0)
        client.setvol(30)
        client.volume("+5")
        self.assertEqual(client.status()["volume"], "35")
        client.clearerror()
        client.stop()
        server.wait_for_status(state="stop")

    def options(self, client, server):
        for name in ("repeat", "random", "single"):
            change = getattr(client, name)
            change(1)
            self.assertEqual(client.status()[name], "1")
            change(0)
            self.assertEqual(client.status()[name], "0")
        client.repeat(0)
        for name in ("consume", "crossfade", "mixrampdb"):
            getattr(client, name)(0)
        client.mixrampdelay("nan")
        client.replay_gain_mode("album")
        self.assertIn(client.replay_gain_status(), ("album", {"replay_gain_mode": "album"}))
        client.replay_gain_mode("off")
        if server is self.tonearm:
            for name in ("consume", "crossfade", "mixrampdb", "mixrampdelay"):
                self.refuses(client, mpd.base.FailureResponseCode.ARG, name, (1,))

    def playlists(self, client, server):
        client.clear()
        client.add(ALBUM)
        client.save("Evening")
        self.assertEqual([each["playlist"] for each in client.listplaylists()], ["Evening"])
        client.playlistadd("Evening", SONG)
        client.playlistmove("Evening", 3, 0)
        client.playlistdelete("Evening", 1)
        self.assertEqual(client.listplaylist("Evening"), [SONG, *FILES[1:]])
        self.assertEqual([each.get("title") for each in client.listplaylistinfo("Evening")], [None, "Cocoon", "Undo"])
        client.rename("Evening", "Night")
        client.searchaddpl("Night", "artist", "alpha")
        client.clear()
        client.load("Night")
        self.assertEqual(client.status()["playlistlength"], "4")
        client.playlistclear("Night")
        self.assertEqual(client.listplaylist("Night"), [])
        client.rm("Night")
        self.assertEqual(client.listplaylists(), [])

    def stickers(self, client, server):
        client.sticker_set("song", SONG, "rating", "a=5")
        self.assertEqual(client.sticker_get("song", SONG, "rating"), "a=5")
        self.assertEqual(client.sticker_list("song", SONG), {"rating": "a=5"})
        self.assertEqual(client.sticker_find("song", "Loose", "rating"), [{"file": SONG, "sticker": "rating=a=5"}])
        client.sticker_delete("song", SONG, "rating")
        self.assertEqual(client.sticker_list("song", SONG), {})

    def messages(self, client, server):
        client.subscribe("news")
        self.assertEqual(client.channels(), ["news"])
        client.sendmessage("news", "a: b")
        self.assertEqual(client.readmessages(), [{"channel": "news", "message": "a: b"}])
        client.unsubscribe("news")
        self.assertEqual(client.channels(), [])

    def pictures(self, client, server):
        self.assertEqual(client.albumart(PICTURED)["binary"], self.both.cover)
        picture = client.readpicture(PICTURED)
        self.assertEqual((picture["binary"], picture["type"]), (self.both.picture, "image/jpeg"))
        self.assertEqual(client.readpicture(FILES[1]), {})
        with self.assertRaises(mpd.CommandError) as caught:
            client.albumart(SONG)
        self.assertEqual(caught.exception.errno, mpd.base.FailureResponseCode.NO_EXIST)

    def refusals(self, client, server):
        # The library names a command of its own time.
        client.used |= {"umount", *MISSING, *UNKNOWN}
        for name, arguments in {**MISSING, **UNKNOWN, "kill": ()}.items():
            if server is self.tonearm or name in UNKNOWN:
                self.refuses(client, mpd.base.FailureResponseCode.UNKNOWN, name, arguments)

    @with_both
    def test_the_idle_loop(self, server):
        """A client waits for changes in a thread, as programs with this library do."""
        listener, actor = mpd.MPDClient(), mpd.MPDClient()
        events, has_all = set(), threading.Event()
        wanted = {"playlist", "player", "mixer", "options", "stored_playlist", "sticker", "output", "message",
                  "subscription", "update"}

        def listen():
            while not has_all.is_set():
                events.update(listener.idle())
                if wanted <= events:
                    has_all.set()

        for client in (listener, actor):
            client.timeout = client.idletimeout = LIMIT
            client.connect("127.0.0.1", server.port)
        listener.subscribe("news")
        thread = threading.Thread(target=listen, daemon=True)
        thread.start()
        actor.add(SONG)
        actor.play()
        actor.setvol(20)
        actor.repeat(1)
        actor.save("Night")
        actor.sticker_set("song", SONG, "a", "b")
        actor.sticker_delete("song", SONG, "a")
        actor.disableoutput(0)
        actor.enableoutput(0)
        actor.sendmessage("news", "x")
        actor.subscribe("other")
        actor.update()
        self.assertTrue(has_all.wait(LIMIT), f"only {events}")
        thread.join(LIMIT)
        # It is still in step.
        self.assertEqual(listener.readmessages(), [{"channel": "news", "message": "x"}])
        for client in (listener, actor):
            client.close()
            client.disconnect()


def as_list(value):
    return value if isinstance(value, list) else [value]
