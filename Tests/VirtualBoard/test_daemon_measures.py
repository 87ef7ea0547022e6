"""The daemon's use of the board: memory, processor, wake-ups, writes, and time until it plays."""

import re
import tempfile
import unittest
from pathlib import Path

from virtual_board.daemon import Daemon, board_with_daemon
from virtual_board.measures import report
from virtual_board.music import tune, write_flac
from virtual_board.parts import long
from virtual_board.sound import nanoseconds

RATE = 44_100
MEGABYTE = 1 << 20

#: Of a long queue; each may take so many bytes.
ENTRIES = 10_000
ENTRY_LIMIT = 200

#: In seconds, at 500 million instructions a second: from the start of the program to the first sample of a track that
#: is resumed.
START_LIMIT = 0.1

#: With the daemon's buffer and periods: waking up is most of the work of both.
APLAY_OPTIONS = ("-f", "S16_LE", "-c", 2, "-r", RATE, "--buffer-time=200000", "--period-time=50000")

#: Of aplay's processor time, for the decoded file. tools/bench demands 1.8, on a machine with nothing else to do.
PROCESSOR_LIMIT = 3

#: How long something is measured, in seconds.
TIME = 10

#: How often the daemon and aplay take turns at most.
TURNS = 10


class Measures(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.tune = tune(RATE, 16, seconds=20, seed=11)
        with tempfile.TemporaryDirectory() as folder:
            write_flac(Path(folder) / "track.flac", cls.tune)
            (Path(folder) / "track.raw").write_bytes(
                b"".join(sample.to_bytes(2, "little", signed=True) for sample in cls.tune.samples))
            # Logging as it does on every board.
            cls.board = board_with_daemon(Path(folder), {("log", "level"): "notice"})
        cls.addClassCleanup(cls.board.discard)
        cls.board.power_on()
        cls.daemon = Daemon(cls.board)
        cls.daemon.wait_until_ready()
        cls.idle_memory = cls.memory()
        cls.daemon.ask("volume", "100")
        cls.daemon.ask("repeat", "all")
        cls.daemon.ask("queue", "set", "/data/music/track.flac", "--play")
        cls.board.wait_until("grep -q RUNNING /proc/asound/HiFi/pcm0p/sub0/status")
        # The first start of all makes the state, once. All others find it, and play on.
        cls.daemon.restart()

    @classmethod
    def memory(cls, kind="VmRSS"):
        """In bytes."""
        status = cls.board.run("cat", f"/proc/{cls.daemon.process}/status").stdout
        return int(re.search(rf"{kind}:\s+(\d+) kB", status)[1]) << 10

    def play(self):
        self.daemon.ask("queue", "set", "/data/music/track.flac", "--play")
        watch = self.daemon.watch()
        watch.wait_for_position(1)
        watch.stop()

    def check(self, what, value, unit, limit):
        report(what, value, unit, limit)
        self.assertLessEqual(value, limit, what)

    def test_memory(self):
        # More than a third of it is code, and what is not in its order (tools/code-order) takes more.
        self.check("memory with nothing to play", self.idle_memory / MEGABYTE, "MB", 5)
        self.play()
        self.check("memory while it plays", self.memory() / MEGABYTE, "MB", 7)
        self.daemon.ask("pause")
        self.check("memory while it is paused", self.memory() / MEGABYTE, "MB", 7)

    @long("board-daemon", "a queue of ten thousand tracks")
    def test_memory_of_a_long_queue(self):
        # Only listed, never played.
        self.board.run_script(
            "cd /data/music && mkdir -p 'collection/Some Composer' && cd 'collection/Some Composer' && "
            f"for volume in $(seq 0 {ENTRIES // 20 - 1}); do mkdir \"Works, Volume $volume\" && "
            "for number in $(seq 0 19); do >\"Works, Volume $volume/$number - Movement.flac\"; done; done")
        self.daemon.ask("queue", "clear")
        self.daemon.restart()
        self.daemon.wait_until_ready()
        # Without the parts of the program that are needed for the first time.
        before = self.memory("RssAnon")
        self.daemon.ask("queue", "add", "/data/music/collection")
        self.addCleanup(self.daemon.ask, "queue", "clear")
        self.assertEqual(self.daemon.status["count"], ENTRIES)
        # The memory of the search is returned a moment later.
        limit = (before + ENTRIES * ENTRY_LIMIT) >> 10
        held = rf"$(sed -n 's/^RssAnon:[^0-9]*\([0-9]*\) kB/\1/p' /proc/{self.daemon.process}/status)"
        self.board.wait_until(f"[ {held} -le {limit} ]")
        self.check("memory of an entry of the queue", (self.memory("RssAnon") - before) / ENTRIES, "bytes", ENTRY_LIMIT)

    @long("board-daemon", "a minute and more; tools/bench has it too")
    def test_the_processor_s_time_against_aplay(self):
        # In turns, and the least of each: a machine that is busy with something else only adds to it. So a few turns
        # are enough when they are within the limit.
        tonearm, reference = [], []
        while len(tonearm) < TURNS and (len(tonearm) < 3 or min(tonearm) / min(reference) > PROCESSOR_LIMIT):
            self.play()
            tonearm.append(self.processor_time(self.daemon.process))
            self.daemon.ask("stop")
            aplay = self.board.start("aplay", "-q", "-D", "hw:HiFi", *APLAY_OPTIONS, "/data/music/track.raw")
            self.board.wait_until("grep -q RUNNING /proc/asound/HiFi/pcm0p/sub0/status")
            reference.append(self.processor_time(aplay.process))
            aplay.signal("TERM")
            aplay.wait()
        report("processor time of aplay", min(reference) * 100, "%", 100)
        report("processor time while it plays", min(tonearm) * 100, "%", 100)
        self.check("processor time while it plays, of aplay's", min(tonearm) / min(reference), "times", PROCESSOR_LIMIT)

    def processor_time(self, process):
        """Of a process that plays, while it plays: seconds per second."""
        # The hundredths of seconds of all threads, those that have ended among them. Not per frame that the card has
        # taken: its count begins again after an underrun, as a busy machine may cause one.
        read = f"cut -d' ' -f1 /proc/uptime; cut -d' ' -f14,15 /proc/{process}/stat"
        result = self.board.run_script(f"{read}; sleep {TIME}; {read}").stdout
        began, user, system, ended, user_later, system_later = map(float, result.split())
        return (user_later + system_later - user - system) / 100 / (ended - began)

    def test_paused_it_sleeps_and_writes_nothing(self):
        self.play()
        self.daemon.ask("pause")
        # The writes because of the pause are on the disk, and so is what the file system writes some seconds later.
        self.board.run_script("sync; sleep 6; sync; sleep 1")
        process = self.daemon.process
        read = (f"sed -n 's/^voluntary_ctxt_switches:\\t//p' /proc/{process}/task/*/status; echo; "
                f"sed -n 's/^write_bytes: //p' /proc/{process}/io; awk '{{print $7}}' /sys/block/vda/stat")
        result = self.board.run_script(f"{read}; echo; sleep {TIME}; {read}").stdout
        switches, written, switches_later, written_later = (
            [int(word) for word in part.split()] for part in result.split("\n\n"))
        wakes = (sum(switches_later) - sum(switches)) / TIME
        self.check("wake-ups a second while it is paused", wakes, "", 2)
        self.assertEqual(written_later, written, "nothing was written to the disk")


class Start(unittest.TestCase):
    def test_a_resumed_track_begins_at_once(self):
        with tempfile.TemporaryDirectory() as folder:
            write_flac(Path(folder) / "track.flac", tune(RATE, 16, seconds=20, seed=11))
            board = board_with_daemon(Path(folder), {("log", "level"): "notice"})
        self.addCleanup(board.discard)
        board.power_on()
        daemon = Daemon(board)
        daemon.wait_until_ready()
        daemon.ask("volume", "100")
        daemon.ask("repeat", "all")
        daemon.ask("queue", "set", "/data/music/track.flac", "--play")
        board.power_off()
        # By the number of instructions: the result is the same on a busy machine. A command would not wait long enough
        # there: while a write is on its way to a busy disk, the board's idle time passes at once.
        board.power_on(counts=True)
        daemon.wait_until_ready()
        delays = []
        for _ in range(5):
            board.wait_until("grep -q RUNNING /proc/asound/HiFi/pcm0p/sub0/status")
            began = daemon.restart()
            board.wait_until("grep -q RUNNING /proc/asound/HiFi/pcm0p/sub0/status")
            status = board.run("cat", "/proc/asound/HiFi/pcm0p/sub0/status").stdout
            delays.append((nanoseconds(status, "trigger_time") - began) / 1e9)
        # Reading from a disk of a busy machine only adds to it.
        report("from exec to the first sample", min(delays) * 1000, "ms", START_LIMIT * 1000)
        self.assertLessEqual(min(delays), START_LIMIT)
