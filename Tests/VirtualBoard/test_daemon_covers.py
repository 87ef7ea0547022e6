"""A browser scrolls through a hundred albums with large covers: the music plays on, and small covers come soon."""

import os
import re
import tempfile
import unittest
from pathlib import Path

from virtual_board.daemon import Daemon, board_with_daemon
from virtual_board.host import run
from virtual_board.measures import report
from virtual_board.music import silence, tune, write_flac
from virtual_board.parts import long
from virtual_board.sound import Recorder, difference

RATE = 44_100
ALBUMS = 100
#: Of a cover's sides, in pixels.
SIDE, SMALL, OTHER = 3000, 160, 64
#: In seconds, at 500 million instructions a second: for a small cover that has to be made, and for one that is kept.
FIRST_LIMIT, LATER_LIMIT = 0.15, 0.005
#: In bytes, of the daemon.
MEMORY_LIMIT = 1 << 20


def board_with_covers(music):
    """A board whose disk has the albums, with one track in a folder of its own.

    Each cover is another file to the daemon. The medium has them once: what is measured is not the medium.
    """
    with tempfile.TemporaryDirectory() as name:
        write_flac(Path(name) / "track.flac", music.followed_by(silence(RATE, 16, 1)))
        cover = Path(name) / "1/cover.jpg"
        cover.parent.mkdir()
        run(["ffmpeg", "-v", "error", "-f", "lavfi", "-i", f"testsrc2=size={SIDE}x{SIDE},noise=alls=8",
             "-frames:v", "1", "-q:v", "6", str(cover)], check=True)
        for number in range(2, ALBUMS + 1):
            (Path(name) / str(number)).mkdir()
            os.link(cover, Path(name) / f"{number}/cover.jpg")
        board = board_with_daemon(
            Path(name), {("library", "folders"): "/data/music", ("web", "address"): "any", ("audio", "fades"): "off",
                         ("log", "level"): "notice"})
    return board


@long("board-daemon", "a hundred covers of nine million pixels")
class Covers(unittest.TestCase):
    def start(self, music, **options):
        self.board = board_with_covers(music)
        self.addCleanup(self.board.discard)
        self.board.power_on(**options)
        self.daemon = Daemon(self.board)
        self.daemon.wait_until_ready()
        self.board.run_script(
            f"for number in $(seq 1 {ALBUMS}); do "
            "printf 'GET /api/cover?path=/data/music/%s&size=SIDE HTTP/1.1\\r\\nHost: board\\r\\n' $number; "
            f"[ $number = {ALBUMS} ] && printf 'Connection: close\\r\\n'; printf '\\r\\n'; done >/tmp/requests")

    def scroll(self, side=SMALL):
        """All covers over one connection; the seconds for each of them."""
        # The client's end stays open, as that of a browser.
        result = self.board.run_script(
            f"rm -f /tmp/open; mkfifo /tmp/open; exec 3<>/tmp/open; sed s/=SIDE/={side}/ /tmp/requests >&3; "
            "read began rest </proc/uptime; nc 127.0.0.1 8080 <&3 >/tmp/answers; read ended rest "
            "</proc/uptime; echo $began $ended; grep -a -o 'HTTP/1.1 [0-9]*' /tmp/answers | sort | uniq -c; "
            f"grep -a -c '^Tonearm-Width: {side}' /tmp/answers", 600)
        times, *answers, small = result.stdout.splitlines()
        self.assertEqual([line.split() for line in answers], [[str(ALBUMS), "HTTP/1.1", "200"]])
        self.assertEqual(small, str(ALBUMS))
        began, ended = map(float, times.split())
        return (ended - began) / ALBUMS

    def memory(self):
        status = self.board.run("cat", f"/proc/{self.daemon.process}/status").stdout
        return int(re.search(r"RssAnon:\s+(\d+) kB", status)[1]) << 10

    def test_the_music_plays_on_and_the_daemon_stays_as_small(self):
        music = tune(RATE, 16, seconds=60, seed=31)
        self.start(music)
        # For the code that is used for the first time.
        self.scroll()
        self.daemon.ask("volume", "100")
        watch = self.daemon.watch()
        recorder = Recorder(self.board, RATE)
        self.daemon.ask("queue", "set", "/data/music/track.flac", "--play")
        watch.wait_for_position(2)
        before = self.memory()
        self.scroll()
        self.scroll()
        growth = self.memory() - before
        watch.wait_for_end()
        self.assertIsNone(difference(recorder.stop(), music.bytes))
        report("more memory after two scrolls", growth / (1 << 20), "MB", MEMORY_LIMIT >> 20)
        self.assertLessEqual(growth, MEMORY_LIMIT)
        # The program ends by itself.
        self.board.wait_until("! pidof tonearm-pictures >/dev/null")

    def test_small_covers_come_soon(self):
        self.start(tune(RATE, 16, seconds=2, seed=32), counts="waits")
        # What is read from the medium is in memory then.
        self.scroll(OTHER)
        first, later = self.scroll(), min(self.scroll() for _ in range(3))
        report("a small cover that is made", first * 1000, "ms", FIRST_LIMIT * 1000)
        report("a small cover that is kept", later * 1000, "ms", LATER_LIMIT * 1000)
        self.assertLessEqual(first, FIRST_LIMIT)
        self.assertLessEqual(later, LATER_LIMIT)
