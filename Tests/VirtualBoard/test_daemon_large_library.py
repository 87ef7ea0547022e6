"""The memory of the daemon with a large library, a queue, and clients of MPD that browse in it."""

import re
import shlex
import tempfile
import unittest

from virtual_board.daemon import Daemon, board_with_daemon
from virtual_board.large_library import DISK_MEGABYTES, LargeLibrary
from virtual_board.measures import report
from virtual_board.parts import long

#: In bytes.
MEMORY_LIMIT = 12 << 20
#: A folder of the library with so many tracks.
FOLDER, ENTRIES = "0/000", 1000
#: The numbers of clients, and the commands of each one that browses.
IDLE, BROWSING = 2, 3
COMMANDS = ("listallinfo", 'search any "the"', 'search any "077777"', "playlistinfo")
#: In seconds, for an answer of 40 MB, or a look at all files.
PATIENCE = 600


@long("board-daemon", "a library of 100,000 tracks")
class LargeLibraryMemory(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory(prefix="library-") as folder:
            library = LargeLibrary(folder)
            settings = {("library", "folders"): "none", ("mpd", "address"): "any", ("log", "level"): "notice"}
            cls.board = board_with_daemon(library.music, settings, disk_megabytes=DISK_MEGABYTES)
            cls.addClassCleanup(cls.board.discard)
            index = library.index(cls.board.data_disk)
        cls.tracks = library.tracks
        cls.board.power_on()
        cls.daemon = Daemon(cls.board)
        cls.daemon.wait_until_ready()
        # The files get the path that they have in the index.
        cls.board.run("mkdir", "-p", library.music.parent)
        cls.board.run("ln", "-s", "/data/music", library.music)
        cls.board.put(index, "/data/state/library.db")
        cls.board.run("sed", "-i", f"s|^folders = .*|folders = {library.music}|", "/data/tonearm.conf")
        cls.daemon.restart()

    def status(self, kind):
        """A number of the daemon's memory, in bytes."""
        text = self.board.run("cat", f"/proc/{self.daemon.process}/status").stdout
        return int(re.search(rf"{kind}:\s+(\d+) kB", text)[1]) << 10

    def ask(self, *commands):
        """The lines of the answers of MPD's protocol to commands of one connection."""
        text = "".join(f"{command}\n" for command in (*commands, "close"))
        lines = self.board.run("sh", "-c", f"printf %s {shlex.quote(text)} | nc 127.0.0.1 6600").stdout.splitlines()
        for line in lines:
            self.assertFalse(line.startswith("ACK"), f"{commands}: {line}")
        return lines

    def wait_until(self, condition):
        """As that of the board, which asks so often that the questions would take longer than the work."""
        self.board.run_script(f"until {condition}; do sleep 1; done", PATIENCE)

    def wait_for_scan(self):
        """Waits until all files were looked at."""
        self.wait_until("tonearm library status --json | grep -q '\"scanning\":false.*\"scans\":[1-9]'")
        self.assertEqual(self.daemon.ask("library", "status")["tracks"], self.tracks)

    def connect(self, name):
        """Connects a client that sends what comes out of a pipe, and notes the ends of its answers."""
        self.board.run("mkfifo", f"/tmp/{name}")
        # One process keeps the pipe open for as long as the board is on.
        self.board.start("sh", "-c", f"sleep 100000 >/tmp/{name}")
        self.board.start("sh", "-c", f"nc 127.0.0.1 6600 </tmp/{name} | "
                         f"awk '/^(OK|ACK)/ {{ print >>\"/tmp/{name}-answers\"; close(\"/tmp/{name}-answers\") }}'")
        self.wait_for_answers(name, 1)

    def send(self, name, *commands):
        self.board.run("sh", "-c", f"printf '%s\\n' {shlex.join(commands)} >/tmp/{name}")

    def wait_for_answers(self, name, count):
        """Waits until it has so many lines: the greeting, and an end of each answer."""
        self.wait_until(f"[ $(cat /tmp/{name}-answers 2>/dev/null | wc -l) -ge {count} ]")

    def test_memory(self):
        self.wait_for_scan()
        report("memory with 100,000 tracks after the scan", self.status("VmRSS") / (1 << 20), "MB", MEMORY_LIMIT >> 20)
        self.ask("clear", f"add {FOLDER}")
        self.assertIn(f"playlistlength: {ENTRIES}", self.ask("status"))
        clients = [f"client-{number}" for number in range(IDLE + BROWSING)]
        browsers = clients[IDLE:]
        for name in clients:
            self.connect(name)
            self.send(name, "idle")
        # From now on the kernel's own high-water mark.
        self.board.run("sh", "-c", f"echo 5 >/proc/{self.daemon.process}/clear_refs")
        for place, command in enumerate(COMMANDS):
            for name in browsers:
                # The others wait for changes: after a minute of silence they would be disconnected.
                self.send(name, "noidle", command, "idle")
                self.wait_for_answers(name, 2 * place + 3)
        for name in browsers:
            self.assertNotIn("ACK", self.board.run("cat", f"/tmp/{name}-answers").stdout)
        resident, most = self.status("VmRSS"), self.status("VmHWM")
        report("memory with 100,000 tracks, 1,000 entries and five clients", resident / (1 << 20), "MB",
               MEMORY_LIMIT >> 20)
        report("the most of it while they browse", most / (1 << 20), "MB", MEMORY_LIMIT >> 20)
        self.assertLessEqual(most, MEMORY_LIMIT)
