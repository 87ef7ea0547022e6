"""A phone's session through MPD's protocol: browse, queue, play, skip, volume, a power cut, reconnect."""

import shlex
import tempfile
import unittest
from pathlib import Path

from virtual_board.daemon import Daemon, board_with_daemon
from virtual_board.host import run
from virtual_board.music import tune, write_flac

RATE = 44_100
TRACKS = 3


class Phone(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as name:
            for number in range(1, TRACKS + 1):
                file = Path(name) / f"Album/{number}.flac"
                write_flac(file, tune(RATE, 16, seconds=20, seed=number))
                tags = ["ARTIST=Band", "ALBUM=Album", f"TITLE=Part {number}", f"TRACKNUMBER={number}"]
                run(["metaflac", *(f"--set-tag={tag}" for tag in tags), str(file)], check=True)
            cls.board = board_with_daemon(
                Path(name), {("library", "folders"): "/data/music", ("mpd", "address"): "any"})
        cls.addClassCleanup(cls.board.discard)
        cls.board.power_on()
        cls.daemon = Daemon(cls.board)
        cls.daemon.wait_until_ready()

    def ask(self, *commands):
        """Sends commands over a connection of its own; the lines of all answers."""
        text = "".join(f"{command}\n" for command in (*commands, "close"))
        result = self.board.run("sh", "-c", f"printf %s {shlex.quote(text)} | nc 127.0.0.1 6600")
        lines = result.stdout.splitlines()
        self.assertEqual(lines[0], "OK MPD 0.23.5")
        for line in lines:
            self.assertFalse(line.startswith("ACK"), f"{commands}: {line}")
        return lines[1:]

    def value(self, key, command="status"):
        found = [line for line in self.ask(command) if line.startswith(f"{key}: ")]
        return found[0].removeprefix(f"{key}: ") if found else None

    def wait_for(self, key, value, command="status"):
        deadline = self.board.deadline()
        while (found := self.value(key, command)) != value:
            self.assertFalse(deadline.has_passed, f"{key} of {command} is {found}, not {value}")

    def test_a_session(self):
        self.wait_for("songs", str(TRACKS), "stats")
        self.assertIn("directory: Album", self.ask("lsinfo"))
        self.assertIn("Album: Album", self.ask("list album group albumartist"))
        found = self.ask('search "(title contains \'part\')"')
        self.assertEqual([line for line in found if line.startswith("file: ")],
                         [f"file: Album/{number}.flac" for number in range(1, TRACKS + 1)])
        self.ask("command_list_begin", "clear", "add Album", "play 0", "command_list_end")
        self.wait_for("state", "play")
        self.ask("next")
        self.wait_for("song", "1")
        self.ask("setvol 20")
        self.wait_for("volume", "20")
        self.ask("pause 1")
        self.wait_for("state", "pause")
        self.assertIn("Title: Part 2", self.ask("currentsong"))
        version = int(self.value("playlist"))
        # Its answer comes when all changes are on the medium.
        self.daemon.ask("repeat", "all")

        self.board.cut_power()
        self.board.power_on()
        self.daemon.wait_until_ready()
        self.assertEqual(self.value("playlistlength"), str(TRACKS))
        self.assertGreater(int(self.value("playlist")), version)
        self.wait_for("songs", str(TRACKS), "stats")
        self.assertIn("Title: Part 2", self.ask("currentsong"))
        self.ask("play")
        self.wait_for("state", "play")
