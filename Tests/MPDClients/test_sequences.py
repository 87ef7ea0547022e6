"""The commands that other clients send, in their order: myMPD, MALP, Cantata, mpDris2, mpdscribble, Home Assistant and
upmpdcli. Each answer is checked line by line."""

from clients_case import ClientCase, with_both
from servers import ALBUM, PICTURED, SONGS, Connection, Refused, fields, quoted

#: The fields without which a client shows nothing, or leaves.
STATUS = ("volume", "repeat", "random", "single", "consume", "playlist", "playlistlength", "state")
PLAYING = (*STATUS, "song", "songid", "time", "elapsed", "duration")
ENTRY = ("file", "Artist", "Album", "Title", "Track", "Time", "duration", "Pos", "Id")
SONG = f"{ALBUM}/02.flac"


class Script:
    """A client: its connection, and the test that its answers are for."""

    def __init__(self, case, server, local=True):
        self.case, self.server = case, server
        self.connection = Connection(server.host if local else ("127.0.0.1", server.port))
        case.addCleanup(self.connection.close)
        case.assertEqual(self.connection.greeting, "OK MPD 0.23.5")

    def ask(self, line, *required):
        """The lines of an answer, which has these fields."""
        self.connection.send(line)
        return self.answer(line, required)

    def answer(self, line, required=()):
        try:
            lines = self.connection.answer()
        except Refused as refused:
            raise AssertionError(f"{self.server.name}: {line}: {refused}") from None
        return self.check(line, lines, required)

    def check(self, line, lines, required):
        found = set()
        for text in lines:
            if isinstance(text, str) and text != "list_OK":
                self.case.assertRegex(text, r"^[A-Za-z_-]+: ?", f"{self.server.name}: {line}")
                found.add(text.split(":", 1)[0])
        self.case.assertEqual(set(required) - found, set(), f"{self.server.name}: {line}: {lines}")
        return lines

    def values(self, line, key):
        """The values of a field in an answer."""
        return [text.split(": ", 1)[1] for text in self.ask(line, key) if text.startswith(f"{key}: ")]

    def refuse(self, line, error):
        """`error` is the line after `ACK`, as a regular expression."""
        with self.case.assertRaises(Refused, msg=f"{self.server.name}: {line}") as caught:
            self.connection.ask(line)
        self.case.assertRegex(str(caught.exception), f"^ACK {error}")

    def list(self, *lines, required=()):
        """A command list. Returns its only answer."""
        self.connection.send("command_list_begin", *lines, "command_list_end")
        return self.answer(lines, required)

    def list_ok(self, *lines, required=()):
        """A command list with an answer for each command."""
        self.connection.send("command_list_ok_begin", *lines, "command_list_end")
        answers, answer = [], []
        for text in self.answer(lines):
            if text == "list_OK":
                answers.append(answer)
                answer = []
            else:
                answer.append(text)
        self.case.assertEqual((len(answers), answer), (len(lines), []))
        for line, lines_of_one, wanted in zip(lines, answers, required):
            self.check(line, lines_of_one, wanted)
        return answers

    def idle(self, line, change, *events):
        """Waits for the events of a change that another client makes. Those of former changes come first."""
        self.connection.send(line)
        self.server.ask(change)
        changed = set()
        while True:
            changed |= {text.split(": ")[1] for text in self.answer(line, ("changed",))}
            if set(events) <= changed:
                return
            self.connection.send(line)

    def noidle(self, line="idle"):
        """Ends a wait in which nothing happened."""
        self.connection.send(line, "noidle")
        self.answer("noidle")

    def whole_picture(self, command, uri):
        """A picture in as many answers as it takes, and the last one, which is empty at its end."""
        picture, size = b"", None
        while size is None or len(picture) < size:
            lines = self.ask(f"{command} {quoted(uri)} {len(picture)}", "size", "binary")
            size = int(next(text for text in lines if text.startswith("size: "))[6:])
            picture += lines[-1]
            self.case.assertGreater(len(lines[-1]), 0)
        self.case.assertEqual(self.ask(f"{command} {quoted(uri)} {size}", "size", "binary")[-1], b"")
        return picture


class Sequences(ClientCase):
    @with_both
    def test_mympd(self, server):
        client = Script(self, server)
        client.list("binarylimit 65536")
        client.list_ok('tagtypes "clear"', 'tagtypes "enable" "Artist" "Album" "AlbumArtist" "Title" "Track" "Genre" '
                       '"Disc" "Date" "ArtistSort" "AlbumArtistSort" "MUSICBRAINZ_ALBUMID"')
        commands = client.values("commands", "command")
        self.assertTrue({"listplaylists", "albumart", "readpicture", "sticker", "getvol", "binarylimit"}
                        <= set(commands))
        client.ask("config", "music_directory")
        self.assertEqual(len(client.values("tagtypes", "tagtype")), 11)
        client.refuse("protocol all", r'\[5@0\] \{\} unknown command "protocol"')
        client.ask(f"add {quoted(ALBUM)}")
        client.ask("playid " + client.values("playlistinfo", "Id")[0])
        server.wait_for_status(state="play")
        client.ask("status", *PLAYING)
        client.ask("currentsong", *ENTRY)
        client.ask("getvol", "volume")
        client.ask("outputs", "outputid", "outputname", "plugin", "outputenabled")
        client.ask("listpartitions", "partition")
        self.assertEqual(client.values('search "((Artist contains \'Björk\') AND (Title contains \'un\'))" sort -Date '
                                       'window 0:100', "Title"), ["Undo", "Hunter", "Unravel"])
        self.assertEqual(client.values('find "(Album == \'Vespertine\')" sort Disc window 0:2', "Title"),
                         ["Hidden Place", "Cocoon"])
        self.assertEqual(client.values('playlistsearch "(any contains \'coco\')"', "Title"), ["Cocoon"])
        # The album cache: all songs in chunks.
        songs = []
        while chunk := client.ask(f'search "(file contains \'\')" window {len(songs)}:{len(songs) + 4}'):
            songs += [text for text in chunk if text.startswith("file: ")]
        self.assertEqual(len(songs), SONGS)
        self.assertEqual(client.whole_picture("albumart", PICTURED), self.both.cover)
        self.assertEqual(client.whole_picture("readpicture", PICTURED), self.both.picture)
        stickers = Script(self, server)
        client.refuse(f'sticker get song {quoted(SONG)} playCount', r"\[50@0\] \{sticker\} no such sticker")
        stickers.idle("idle sticker", f'sticker set song {quoted(SONG)} playCount 1', "sticker")
        client.ask(f'sticker list song {quoted(SONG)}', "sticker")
        client.ask('sticker find song "" playCount', "file", "sticker")
        client.ask(f'sticker delete song {quoted(SONG)} playCount')
        client.idle("idle database stored_playlist playlist player mixer output options update partition sticker",
                    "setvol 20", "mixer")

    @with_both
    def test_malp(self, server):
        client = Script(self, server, local=False)
        commands = client.values("commands", "command")
        self.assertTrue({"idle", "albumart", "readpicture", "listfiles", "searchadd"} <= set(commands))
        tags = [tag.lower() for tag in client.values("tagtypes", "tagtype")]
        first = next(place for place, tag in enumerate(tags) if tag.startswith("musicbrainz"))
        # It stops at the first one of MusicBrainz.
        if server is self.tonearm:
            self.assertTrue({"albumartist", "date", "artistsort", "albumartistsort", "disc"} <= set(tags[:first]))
        client.noidle()
        albums = client.ask("list album group albumartist group albumartistsort group musicbrainz_albumid group date",
                            "Album", "AlbumArtist", "Date")
        self.assertIn("Album: Geräusch", albums)
        client.ask("list albumartist group MUSICBRAINZ_ARTISTID", "AlbumArtist")
        self.assertEqual(client.values('list album artist "Björk" group date', "Album"), ["Homogenic", "Vespertine"])
        self.assertEqual(client.values('list album base "Björk" group albumartist', "Album"),
                         ["Homogenic", "Vespertine"])
        client.ask('find album "Vespertine"', *ENTRY[:-2])
        client.ask('list artist', "Artist")
        client.ask('lsinfo "Björk"', "directory")
        client.ask(f'lsinfo {quoted(ALBUM)}', "file", "Time", "Last-Modified")
        client.ask('searchadd any "cocoon"')
        client.ask(f"playlistfind file {quoted(SONG)}", "Pos", "Id")
        client.list('clear', f'add {quoted(ALBUM)}', "play 0")
        client.ask("status", *PLAYING)
        client.idle("idle", "pause 1", "player")
        client.ask("plchanges 0", *ENTRY)
        self.assertEqual(client.whole_picture("albumart", PICTURED), self.both.cover)
        client.refuse('albumart "Loose/untagged.flac" 0', r"\[50@0\] \{albumart\} No file exists")

    @with_both
    def test_cantata(self, server):
        client, events = Script(self, server), Script(self, server)
        client.ask("replay_gain_status", "replay_gain_mode")
        client.ask("listpartitions", "partition")
        client.ask("status", *STATUS)
        client.ask("stats", "artists", "albums", "songs", "uptime", "playtime", "db_playtime", "db_update")
        client.ask("urlhandlers", "handler")
        client.ask("tagtypes", "tagtype")
        self.assertIn("sticker", client.values("commands", "command"))
        client.ask("playlistinfo")
        client.ask("outputs", "outputid", "outputname", "outputenabled")
        client.ask("list genre", "Genre")
        client.ask("list artist", "Artist")
        folders, files = [""], []
        while folders:
            lines = client.ask(f"lsinfo {quoted(folders.pop())}")
            folders += [text[11:] for text in lines if text.startswith("directory: ")]
            files += [text[6:] for text in lines if text.startswith("file: ")]
        self.assertEqual(len(files), SONGS)
        client.ask("channels")
        # All files at once, and all but one removed by a list, for which others get one event.
        events.connection.send("idle playlist")
        client.list("clear", *(f"add {quoted(name)}" for name in files))
        self.assertEqual(events.answer("idle"), ["changed: playlist"])
        self.assertEqual(fields(client.ask("status"))["playlistlength"], str(SONGS))
        ids = client.values("playlistinfo", "Id")
        client.list(*(f"deleteid {number}" for number in ids[1:]))
        client.ask("plchangesposid 0", "cpos", "Id")
        client.ask("playid " + ids[0])
        client.list(f"prioid 10 {ids[0]}", "single 0")
        client.refuse(f"sticker get song {quoted(SONG)} rating", r"\[50@0\]")
        client.ask(f"sticker set song {quoted(SONG)} rating 8")
        self.assertEqual(client.ask(f"sticker get song {quoted(SONG)} rating"), ["sticker: rating=8"])
        client.ask(f"sticker delete song {quoted(SONG)} rating")
        client.ask('save "Cantata"')
        client.ask("listplaylists", "playlist", "Last-Modified")
        client.ask('listplaylistinfo "Cantata"', "file")
        client.ask('rm "Cantata"')

    @with_both
    def test_mpdris2(self, server):
        client = Script(self, server)
        self.assertTrue({"idle", "single", "urlhandlers"} <= set(client.values("commands", "command")))
        client.ask("urlhandlers", "handler")
        client.ask("status", *STATUS)
        client.ask("currentsong")
        client.noidle()
        client.ask(f"add {quoted(ALBUM)}")
        client.idle("idle", "play 1", "player")
        client.ask("status", *PLAYING)
        client.ask("currentsong", *ENTRY)
        client.noidle()
        for line in ("pause 1", "play", "next", "previous", "seekid {songid} 12.5", "repeat 1", "single 1", "random 1",
                     "random 0", "single 0", "setvol 33", "stop"):
            client.ask(line.format(**server.status()))

    @with_both
    def test_mpdscribble(self, server):
        client = Script(self, server)
        client.ask("subscribe mpdscribble")
        client.list_ok("status", "currentsong", required=(STATUS, ()))
        client.idle("idle message player", "sendmessage mpdscribble love", "message")
        client.ask("readmessages", "channel", "message")
        server.ask(f"add {quoted(ALBUM)}")
        client.idle("idle message player", "play", "player")
        client.list_ok("status", "currentsong", required=(PLAYING, ENTRY))
        client.ask("unsubscribe mpdscribble")

    @with_both
    def test_home_assistant(self, server):
        client = Script(self, server, local=False)
        commands = client.values("commands", "command")
        self.assertTrue({"readpicture", "albumart"} <= set(commands))
        status = fields(client.ask("status", *STATUS))
        self.assertEqual((status["state"], status["repeat"], status["single"], status["random"]),
                         ("stop", "0", "0", "0"))
        client.ask("currentsong")
        client.ask("listplaylists")
        client.ask("clear")
        client.ask(f"add {quoted(ALBUM)}")
        client.ask("play")
        client.ask("status", *PLAYING)
        client.ask("currentsong", *ENTRY)
        client.ask(f"readpicture {quoted(PICTURED)} 0", "size", "type", "binary")
        self.assertEqual(client.ask(f"readpicture {quoted(SONG)} 0"), [])
        client.refuse("albumart Loose/untagged.flac 0", r"\[50@0\]")
        for volume, error in ((105, "Number too large: 105"), (-5, ".*")):
            client.refuse(f"setvol {volume}", rf"\[2@0\] \{{setvol\}} {error}")
        client.ask("setvol 0")
        server.wait_for_status(volume=0)
        client.ask("save Night")
        client.ask("clear")
        client.ask("load Night")
        client.ask("play")
        for line in ("repeat 1", "single 1", "repeat 1", "single 0", "random 1", "random 0", "seekcur 10", "pause 1",
                     "pause 0", "next", "previous", "stop", "clear"):
            client.ask(line)

    @with_both
    def test_upmpdcli(self, server):
        client = Script(self, server)
        client.ask("commands", "command")
        number = int(client.values(f"addid {quoted(SONG)}", "Id")[0])
        client.ask(f"addid {quoted(PICTURED)} 0", "Id")
        if server is self.tonearm:
            client.refuse(f"addtagid {number} artist a", r'\[5@0\] \{\} unknown command "addtagid"')
        client.ask(f"playid {number}")
        server.wait_for_status(state="play", songid=number)
        client.ask("seek 1 20")
        client.ask("setvol 44")
        for line in ("single 0", "consume 0", "random 0", "repeat 0"):
            client.ask(line)
        self.assertRegex(fields(client.ask("status", *PLAYING))["time"], r"^[0-9]+:60$")
        client.ask(f"deleteid {number}")
        client.ask("delete 0:1")
        self.assertEqual(fields(client.ask("status"))["playlistlength"], "0")
