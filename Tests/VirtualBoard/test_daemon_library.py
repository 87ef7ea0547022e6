"""The library of the daemon: the music of the disk is found, played and counted, also after a power cut."""

import re
import tempfile
import unittest
from pathlib import Path

from virtual_board.daemon import Daemon, board_with_daemon
from virtual_board.host import run
from virtual_board.measures import report
from virtual_board.music import tune, write_flac

RATE = 44_100
TRACKS = 12
#: In bytes, of the daemon with a library while it plays.
MEMORY_LIMIT = 12 << 20


class Library(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as name:
            for number in range(1, TRACKS + 1):
                file = Path(name) / f"Bj\u00f6rk/{number:02}.flac"
                write_flac(file, tune(RATE, 16, seconds=1, seed=number))
                tags = ["ARTIST=Bj\u00f6rk", "ALBUM=Homogenic", f"TITLE=Part {number}", f"TRACKNUMBER={number}"]
                run(["metaflac", *(f"--set-tag={tag}" for tag in tags), str(file)], check=True)
            cls.board = board_with_daemon(Path(name), {("library", "folders"): "/data/music:/media"})
        cls.addClassCleanup(cls.board.discard)
        cls.board.power_on()
        cls.daemon = Daemon(cls.board)
        cls.daemon.wait_until_ready()

    def scan(self):
        """Waits until all folders were looked at."""
        before = self.daemon.ask("library", "status")["scans"]
        self.daemon.ask("library", "scan")
        deadline = self.board.deadline()
        while (status := self.daemon.ask("library", "status"))["scans"] == before or status["scanning"]:
            self.assertFalse(deadline.has_passed, f"the scan does not end: {status}")
        return status

    def found(self, *words):
        return self.daemon.ask("library", "search", *words)["entries"]

    def test_what_is_found_is_played_and_counted_also_after_a_power_cut(self):
        status = self.scan()
        self.assertEqual((status["tracks"], status["albums"]), (TRACKS, 1))
        found = self.found("part 7 BJORK")
        self.assertEqual([entry["title"] for entry in found], ["Part 7"])
        watch = self.daemon.watch()
        self.daemon.ask("queue", "set", found[0]["path"], "--play")
        watch.wait_for_end()
        watch.stop()
        played = "tonearm library list played --json | grep -q '\"plays\":1'"
        self.board.wait_until(played)
        memory = self.board.run("cat", f"/proc/{self.daemon.process}/status").stdout
        size = int(re.search(r"VmRSS:\s+(\d+) kB", memory)[1]) << 10
        report("memory with a library", size / (1 << 20), "MB", MEMORY_LIMIT >> 20)
        self.assertLessEqual(size, MEMORY_LIMIT)

        self.board.cut_power()
        self.board.power_on()
        self.daemon.wait_until_ready()
        self.scan()
        self.assertEqual([entry["title"] for entry in self.found("part", "7")], ["Part 7"])
        self.board.wait_until(played)
