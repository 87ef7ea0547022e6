"""The system calls of the audio thread while it plays."""

import re
import unittest

from virtual_board import shared
from virtual_board.tonearm import Playback

TRACK = "/data/music/gapless/1.flac"

#: Waiting, the sound card, the clock, and taking note of a wake-up. Nothing that allocates, locks or logs.
ALLOWED = re.compile(r"(ioctl|poll|ppoll|clock_gettime)\(|read\(\d+, .*, 8\) += 8$")


class AudioThread(unittest.TestCase):
    def test_it_waits_and_moves_samples_and_does_nothing_else(self):
        board, _ = shared.daemon_board()
        # Often enough not to end before the trace does; it sees how one track passes into the next.
        playback = Playback(board, "hw:CARD=HiFi,DEV=0", *[TRACK] * 30)
        self.addCleanup(playback.stop)
        playback.wait_for(event="state", state="playing")
        thread = board.run_script(
            f"cd /proc/{playback.program.process}/task && grep -lx audio */comm | cut -d/ -f1").stdout.strip()
        self.assertTrue(thread.isdecimal(), "there is one thread named audio")
        trace = board.start("strace", "-o", "/tmp/trace", "-p", thread)
        trace.wait_until(lambda: "attached" in trace.stderr, "strace attached")
        playback.wait_for(event="transition", after=len(playback.events))
        trace.signal("TERM")
        trace.wait()
        calls = [line for line in board.fetch("/tmp/trace").decode().splitlines() if re.match(r"\w+\(", line)]
        self.assertGreater(len(calls), 20)
        self.assertEqual([call for call in calls if not ALLOWED.match(call)], [])
