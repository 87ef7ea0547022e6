"""The network comes and goes: the music continues, and status and light show the state."""

import re
import unittest

from virtual_board import shared


class Network(unittest.TestCase):
    def setUp(self):
        self.board, self.daemon = shared.daemon_board()
        self.board.run_script("[ -e /sys/kernel/debug/gpio ] || mount -t debugfs debugfs /sys/kernel/debug")

    def light(self):
        """The levels that the light's line has within two seconds."""
        sample = "grep -w out /sys/kernel/debug/gpio; sleep 0.1; " * 20
        return set(re.findall(r" out +(hi|lo)", self.board.run_script(sample).stdout))

    def test_pulling_the_cable_is_told_and_shown(self):
        logged = len(self.daemon.log)
        self.daemon.ask("queue", "set", "/data/music/album", "--play")
        watch = self.daemon.watch()
        self.addCleanup(watch.stop)
        watch.wait_for_position(1)
        self.addCleanup(self.board.plug_cable)
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
        self.assertEqual(self.daemon.find("wrote", "^<3>", logged), [], "no errors")
