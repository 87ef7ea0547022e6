"""The daemon frees the sound device when another program has the focus, and its service manager watches it."""

import unittest

from virtual_board import shared


class Sharing(unittest.TestCase):
    def setUp(self):
        self.board, self.daemon = shared.daemon_board()
        self.daemon.ask("queue", "set", "/data/music/album", "--play")
        self.watch = self.daemon.watch()
        self.watch.wait_for_position(1)

    def tearDown(self):
        self.watch.stop()

    def test_the_device_is_free_as_soon_as_the_focus_is_taken(self):
        taken = self.board.run("aplay", "-q", "-D", "hw:HiFi", "-f", "S16_LE", "-c", "2", "-r", "48000", "/dev/zero")
        self.assertIn("busy", taken.stderr, "it is the daemon's")
        # In one go: the answer itself must mean that the device is free.
        bell = self.board.run_script(
            "tonearm focus none && exec tonearm play --device hw:CARD=HiFi,DEV=0 --json /data/music/bell.flac")
        self.assertEqual((bell.exit_code, bell.stderr), (0, ""))
        self.assertNotIn("stalled", bell.stdout)
        status = self.daemon.status
        self.assertEqual((status["state"], status["focus"], status["device"]), ("stalled", "none", None))

        seen = len(self.watch.events)
        self.daemon.ask("focus", "full")
        _, position = self.watch.wait_for_position(0, seen)
        self.assertGreaterEqual(position["position"], status["position"])
        self.assertLess(position["position"], status["position"] + 3, "it has gone on where it was")
        self.assertEqual(self.daemon.status["state"], "playing")

    def test_a_client_that_leaves_gives_the_focus_back(self):
        holder = self.board.start("tonearm", "focus", "none", "--hold")
        self.watch.wait_for("state", state="stalled", focus="none")
        self.board.wait_until("grep -q closed /proc/asound/HiFi/pcm0p/sub0/status")
        seen = len(self.watch.events)
        holder.signal("KILL")
        self.watch.wait_for("state", seen, focus="full")
        self.watch.wait_for_position(0, seen)

    def test_an_engine_whose_audio_clock_stands_still_is_restarted_and_resumes(self):
        process, logged = self.daemon.process, len(self.daemon.log)
        # Nothing outside can stop the clock: the card's is a timer of the kernel, which runs on when the recorder does
        # not read. So the thread that keeps it is held in its next system call.
        thread = self.board.run_script(f"cd /proc/{process}/task && grep -lx audio */comm | cut -d/ -f1").stdout.strip()
        reached = self.watch.wait_for_position(2)[1]["position"]
        holding = self.board.start(
            "strace", "-o", "/dev/null", "-p", thread, "-e", "inject=all:delay_enter=600000000")
        self.daemon.wait_for("wrote", "nothing was heard", logged)
        self.assertEqual(self.daemon.status["state"], "playing", "it answers, and still means to play")
        self.daemon.wait_for("watchdog", after=logged)
        # It would keep the dead process from going.
        holding.signal("KILL")
        self.daemon.wait_until_ready(logged)
        self.assertNotEqual(self.daemon.process, process)
        resumed = self.daemon.watch().wait_for_position(0)[1]["position"]
        self.assertGreaterEqual(resumed, reached - 10)
        self.assertEqual(self.daemon.status["state"], "playing")
