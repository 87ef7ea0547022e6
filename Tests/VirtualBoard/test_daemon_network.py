"""The network comes and goes: the music continues, and status and light show the state."""

import re
import tempfile
import unittest
from pathlib import Path

from virtual_board.daemon import Daemon, board_with_daemon
from virtual_board.music import tune, write_flac


class Network(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            write_flac(Path(folder) / "track.flac", tune(44_100, 16, seconds=20, seed=11))
            cls.board = board_with_daemon(Path(folder))
        cls.addClassCleanup(cls.board.discard)
        cls.board.power_on()
        cls.board.run("mount", "-t", "debugfs", "debugfs", "/sys/kernel/debug")
        cls.daemon = Daemon(cls.board)
        cls.daemon.wait_until_ready()

    def light(self):
        """The levels that the light's line has within two seconds."""
        sample = "grep -w out /sys/kernel/debug/gpio; sleep 0.1; " * 20
        return set(re.findall(r" out +(hi|lo)", self.board.run_script(sample).stdout))

    def test_pulling_the_cable_is_told_and_shown(self):
        self.daemon.ask("repeat", "all")
        self.daemon.ask("queue", "set", "/data/music/track.flac", "--play")
        watch = self.daemon.watch()
        self.addCleanup(watch.stop)
        watch.wait_for_position(1)
        self.assertEqual(self.daemon.status["network"], "online")
        self.assertEqual(self.light(), {"hi"})
        for _ in range(2):
            seen = len(watch.events)
            self.board.pull_cable()
            watch.wait_for("state", seen, network="offline", state="playing")
            self.assertEqual(self.light(), {"hi", "lo"}, "it flashes slowly")
            seen = len(watch.events)
            self.board.plug_cable()
            watch.wait_for("state", seen, network="online", state="playing")
            self.assertEqual(self.light(), {"hi"})
        self.assertEqual(self.daemon.find("wrote", "^<3>"), [], "no errors")
