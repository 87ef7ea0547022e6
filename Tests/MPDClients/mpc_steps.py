"""The subcommands of mpc's manual, in an order in which each has something to do, and their output."""

from typing import NamedTuple


class Step(NamedTuple):
    """Words for mpc, and what it prints: lines, in which `*` is any text, or the reason of a refusal.

    `mpd` is the same of MPD where it differs, and `why` the reason for the difference (docs/mpd.md).
    """
    words: str
    printed: object
    mpd: object = None
    why: str = ""


class Refusal(str):
    """The text of an error, with which mpc ends."""


def modes(volume=50, repeat="off", random="off", single="off", consume="off"):
    """The line about modes, in which every word is followed by blanks up to the next column."""
    return (f"volume:{volume:3}%   repeat: {repeat:5} random: {random:5} single: {single:5} consume: {consume:3}")


def playing(title, place, elapsed="0:0*", state="playing", **values):
    """What mpc prints about an entry of 60 s."""
    return [title, f"{f'[{state}]':9} #{place}   {elapsed}/1:00 (*%)", modes(**values)]


ALPHA, BETA = "Alpha - Sun", "Beta - Sand"
FIRST, SECOND, THIRD = "Björk - Hidden Place", "Björk - Cocoon", "Björk - Undo"
UNKNOWN = "as an MPD that was built without it"

BROWSING = [
    Step("ls", ["Björk", "Die Ärzte", "Loose", "Various"]),
    Step("ls Björk", ["Björk/Homogenic", "Björk/Vespertine"]),
    Step("ls Björk/Vespertine", [f"Björk/Vespertine/0{number}.flac" for number in (1, 2, 3)]),
    Step("ls nothing", Refusal("No such directory")),
    Step("listall 'Die Ärzte'", ["Die Ärzte/Geräusch/01.flac", "Die Ärzte/Geräusch/02.flac"]),
    Step("-f %title% listall Björk/Vespertine", ["Hidden Place", "Cocoon", "Undo"]),
    Step("list artist", ["", "Alpha", "Beta", "Björk", "Die Ärzte", "The Long Name Philharmonic Orchestra"]),
    Step("list album artist Björk", ["Homogenic", "Vespertine"]),
    Step("list album group date", ["", "    ", "1997", "    Homogenic", "2001", "    Vespertine", "2003",
                                   "    Geräusch", "2012", "    Summer Hits"]),
    Step("list nothing", Refusal('Unknown tag "nothing"; supported tags are: *')),
    Step("search title un", ["Björk/Homogenic/01.flac", "Björk/Homogenic/03.flac", "Björk/Vespertine/03.flac",
                             "Various/Summer/01.flac"]),
    Step("search title UN artist alpha", ["Various/Summer/01.flac"]),
    Step("search bjork", Refusal("arguments must be pairs of search types and queries")),
    Step("""search '((artist == "Björk") AND (date == "1997") AND (title contains "un"))'""",
         ["Björk/Homogenic/01.flac", "Björk/Homogenic/03.flac"]),
    Step("find title Hunter", ["Björk/Homogenic/01.flac"]),
    Step("find title hunter", []),
    Step("search artist bjork", ["Björk/Homogenic/0*.flac"] * 6 + ["Björk/Vespertine/0*.flac"] * 3, [],
         "MPD does not ignore accents"),
    Step("stats", ["Artists:      5", "Albums:       4", "Songs:       15", "", "Play Time:    *", "Uptime:       *",
                   "DB Updated:   *", "DB Play Time: 0 days, 0:1*"]),
    Step("version", ["mpd version: 0.23.5"]),
]

PLAYING = [
    Step("", [modes()]),
    Step("current", []),
    Step("queued", []),
    Step("next", Refusal("Not playing")),
    Step("seek 0:10", Refusal("Not playing")),
    Step("crop", Refusal("A playlist longer than 1 song in length is required to crop.")),
    Step("add Björk/Vespertine", []),
    Step("crop", Refusal("You need to be playing to crop the playlist")),
    Step("add nothing", Refusal("error adding nothing: No such directory")),
    Step("playlist", [FIRST, SECOND, THIRD]),
    Step("-f '%position% %id% %file% %time%' playlist",
         [f"{number} * Björk/Vespertine/0{number}.flac 1:00" for number in (1, 2, 3)]),
    Step("play 2", playing(SECOND, "2/3")),
    Step("play 99", Refusal("Bad song index")),
    Step("current", [SECOND]),
    Step("queued", [THIRD]),
    Step("-f '[%artist% by %album%]|%file%' current", ["Björk by Vespertine"]),
    Step("pause", playing(SECOND, "2/3", state="paused")),
    Step("pause", playing(SECOND, "2/3", state="paused")),
    Step("toggle", playing(SECOND, "2/3")),
    Step("pause-if-playing", playing(SECOND, "2/3", state="paused")),
    Step("pause-if-playing", Refusal("")),
    Step("play", playing(SECOND, "2/3")),
    Step("next", playing(THIRD, "3/3")),
    Step("prev", playing(SECOND, "2/3")),
    Step("cdprev", playing(FIRST, "1/3")),
    Step("seek 0:10", playing(FIRST, "1/3", "0:1*")),
    Step("seek +10", playing(FIRST, "1/3", "0:2*")),
    Step("cdprev", playing(FIRST, "1/3")),
    Step("seek 50%", playing(FIRST, "1/3", "0:3*")),
    Step("seek -25%", playing(FIRST, "1/3", "0:1*")),
    Step("seek -0:05", playing(FIRST, "1/3", "0:1*")),
    Step("seekthrough 0:10", playing(FIRST, "1/3", "0:2*")),
    Step("seekthrough +1:10", playing(SECOND, "2/3", "0:3*")),
    Step("seekthrough -0:40", playing(FIRST, "1/3", "0:5*")),
    Step("status '%state% %songpos% %length% %totaltime% %percenttime% %volume% %repeat% %kbitrate%'",
         ["playing 1 3 1:00 *% * off *"]),
    Step("stop", [modes()]),
    Step("toggle", playing(FIRST, "1/3")),
    Step("clear", [modes()]),
]

QUEUE = [
    Step("add Björk/Vespertine", []),
    Step("move 1 3", []),
    Step("playlist", [SECOND, THIRD, FIRST]),
    Step("mv 3 1", []),
    Step("playlist", [FIRST, SECOND, THIRD]),
    Step("move 1 99", Refusal("Number too large: 98")),
    Step("play 1", playing(FIRST, "1/3")),
    Step("insert Loose/untagged.flac", []),
    Step("playlist", [FIRST, "Loose/untagged.flac", SECOND, THIRD]),
    Step("del 2", []),
    Step("del 99", Refusal("song number does not exist: 99")),
    Step("prio 5 2", []),
    Step("-f %prio% playlist", ["0", "5", "0"]),
    Step("prio 0 2", []),
    Step("prio 256 2", Refusal("*")),
    Step("shuffle", ["*", "[playing] *", modes()]),
    Step("crop", []),
    Step("playlist", [FIRST]),
    Step("add Björk/Vespertine/02.flac Björk/Vespertine/03.flac", []),
    Step("del 2-3", []),
    Step("playlist", [FIRST]),
    Step("clear", [modes()]),
    Step("searchadd artist alpha", []),
    Step("findadd artist Beta", []),
    Step("findadd artist beta", []),
    Step("searchplay title sand", playing(BETA, "2/2")),
    Step("searchplay title nothing", Refusal("*")),
    Step("playlist", [ALPHA, BETA]),
]

PLAYLISTS = [
    Step("add Various/Summer/01.flac Various/Summer/02.flac", []),
    Step("save Evening", []),
    Step("save Evening", Refusal("Playlist already exists")),
    Step("save ../evening", Refusal("Bad playlist name"), Refusal("*"), "the text of the error"),
    Step("lsplaylists", ["Evening"]),
    Step("playlist Evening", [ALPHA, BETA]),
    Step("-f %file% playlist Evening", ["Various/Summer/01.flac", "Various/Summer/02.flac"]),
    Step("clear", [modes()]),
    Step("load Evening", ["loading: Evening"]),
    Step("--range=0:1 load Evening", ["loading: Evening"]),
    Step("playlist", [ALPHA, BETA, ALPHA]),
    Step("load nothing", Refusal("No such playlist")),
    Step("playlist nothing", Refusal("No such playlist")),
    Step("rm Evening", []),
    Step("rm Evening", Refusal("No such playlist")),
    Step("lsplaylists", []),
]

REPEATS = "one entry repeats: there is no single mode without repeat"
OPTIONS = [
    Step("add Björk/Vespertine", []),
    Step("volume 30", [modes(30)]),
    Step("volume +5", [modes(35)]),
    Step("volume -2", [modes(33)]),
    Step("volume", ["volume: 33%"]),
    Step("volume 50", [modes()]),
    Step("repeat", [modes(repeat="on")]),
    Step("repeat off", [modes()]),
    Step("repeat on", [modes(repeat="on")]),
    Step("random", [modes(repeat="on", random="on")]),
    Step("random off", [modes(repeat="on")]),
    Step("single", [modes(repeat="on", single="on")]),
    Step("single off", [modes(repeat="on")]),
    Step("repeat off", [modes()]),
    Step("single on", [modes(repeat="on", single="on")], [modes(single="on")], REPEATS),
    Step("repeat off", [modes()], [modes(single="on")], REPEATS),
    Step("single off", [modes()]),
    Step("single once", Refusal("this player has no single oneshot"), [modes(single="once")], "there is none"),
    Step("single off", [modes()]),
    Step("consume", Refusal("this player has no consume mode"), [modes(consume="on")], "there is none"),
    Step("consume off", [modes()]),
    Step("consume on", Refusal("this player has no consume mode"), [modes(consume="on")], "there is none"),
    Step("consume off", [modes()]),
    Step("crossfade", ["crossfade: 0"]),
    Step("crossfade 5", Refusal("this player has no crossfade"), [], "there is none"),
    Step("crossfade 0", []),
    Step("mixrampdb", ["mixrampdb: 0.000000"]),
    Step("mixrampdb -17", Refusal("this player has no mixramp"), [], "there is none"),
    Step("mixrampdb 0", []),
    Step("mixrampdelay", ["mixrampdelay: -1.000000"]),
    Step("mixrampdelay 5", Refusal("this player has no mixramp"), [], "there is none"),
    Step("mixrampdelay -1", []),
    Step("replaygain", ["replay_gain_mode: off"]),
    Step("replaygain album", []),
    Step("replaygain", ["replay_gain_mode: album"]),
    Step("replaygain track", []),
    Step("replaygain", ["replay_gain_mode: track"]),
    Step("replaygain auto", []),
    Step("replaygain", ["replay_gain_mode: album"], ["replay_gain_mode: auto"], "there is no automatic mode"),
    Step("replaygain loud", Refusal("*")),
    Step("replaygain off", []),
    Step("clearerror", [modes()]),
]

OUTPUT = "Output 1 (OUTPUT) is {}abled"
OUTPUTS = [
    Step("outputs", [OUTPUT.format("en")]),
    Step("disable 1", [OUTPUT.format("dis")]),
    Step("outputs", [OUTPUT.format("dis")]),
    Step("enable 1", [OUTPUT.format("en")]),
    Step("disable OUTPUT", [OUTPUT.format("dis")]),
    Step("enable only OUTPUT", [OUTPUT.format("en")]),
    Step("toggleoutput 1", [OUTPUT.format("dis")]),
    Step("toggleoutput 1", [OUTPUT.format("en")]),
    Step("disable nothing", []),
    Step("outputset 1 a=b", Refusal('unknown command "outputset"'), Refusal("Unsupported attribute"), UNKNOWN),
]

LIBRARY = [
    Step("--quiet update", []),
    Step("--wait update", [modes()]),
    Step("--wait update Björk", [modes()]),
    Step("--wait rescan", [modes()]),
    Step("--wait rescan Björk", [modes()]),
    Step("sticker Loose/untagged.flac set rating 5", []),
    Step("sticker Loose/untagged.flac set note a=b", []),
    Step("sticker Loose/untagged.flac get rating", ["rating=5"]),
    Step("sticker Loose/untagged.flac list", ["note=a=b", "rating=5"]),
    Step("sticker Loose find rating", ["Loose/untagged.flac: rating=5"]),
    Step("sticker Loose/untagged.flac delete rating", []),
    Step("sticker Loose/untagged.flac get rating", Refusal("no such sticker")),
    Step("sticker Loose/untagged.flac delete note", []),
    Step("sticker nothing get rating", Refusal("No such song"), Refusal("*"), "the text of the error"),
    Step("channels", []),
    Step("sendmessage nobody hello", Refusal("nobody is subscribed to this channel")),
    Step("listneighbors", Refusal('unknown command "listneighbors"'), Refusal("No neighbor plugin configured"),
         UNKNOWN),
    Step("mount", Refusal('unknown command "listmounts"'), ["*/music"], UNKNOWN),
    Step("mount a nfs://host/b", Refusal('unknown command "mount"'), Refusal("*"), UNKNOWN),
    Step("unmount a", Refusal('unknown command "unmount"'), Refusal("Not a mount point"), UNKNOWN),
    Step("readpicture Björk/Vespertine/02.flac", [modes()]),
    Step("readpicture nothing", Refusal("No such song")),
    Step("albumart Loose/untagged.flac", Refusal("No file exists")),
]

CHAPTERS = {"browsing": BROWSING, "playing": PLAYING, "the queue": QUEUE, "stored playlists": PLAYLISTS,
            "options": OPTIONS, "outputs": OUTPUTS, "the library": LIBRARY}
