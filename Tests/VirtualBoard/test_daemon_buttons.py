"""The board's buttons, as in board/virtual/board.conf, and their delays."""

import time
import unittest

from virtual_board import shared
from virtual_board.measures import report_time
from virtual_board.parts import long
from virtual_board.sound import FRAME, Recorder, first_difference

PLAY, NEXT, PREVIOUS, POWER, LOUDER, SOFTER, MODE = range(7)
RATE = 44_100

#: In seconds: from the edge to the act, and from the edge to the change in what is heard (one buffer and 10 ms).
ACT_LIMIT = 0.150
HEARD_LIMIT = 0.210
#: In seconds: what the card's clock, a timer of the kernel, is off by.
CLOCK_ERROR = 0.004
LONG_PRESS = 0.8
POWER_OFF_PRESS = 3


class Buttons(unittest.TestCase):
    def setUp(self):
        self.board, self.daemon = shared.daemon_board()
        self.daemon.ask("queue", "set", "/data/music/album", "--play")
        self.watch = self.daemon.watch()
        self.watch.wait_for("position")

    def tearDown(self):
        self.watch.stop()

    def press(self, line, button, event, bounces=0, held=0, **members):
        """Presses a button until it has an effect, which is returned at once, or after so many seconds as it must be
        `held`. How long that took by the board's clock, and how long the emulator had no processor meanwhile."""
        logged, seen = len(self.daemon.log), len(self.watch.events)
        waiting = self.board.waiting()
        with self.board.holding(line, bounces):
            if held:
                time.sleep(held * 0.9)
                waiting = self.board.waiting()
            at, _ = self.watch.wait_for(event, seen, **members)
            waited = self.board.waiting() - waiting
        delay = (at - self.daemon.edge(button, logged)) / 1e9 - held
        report_time(f"{button}: from the edge to the act", delay, waited, ACT_LIMIT)
        self.assertLess(delay - waited, ACT_LIMIT)

    @property
    def problems(self):
        """The subjects of the daemon's problems."""
        return [problem["subject"] for problem in self.daemon.status["problems"]]

    def release(self, line, button):
        """Releases a button that is stuck, and waits until its problem is resolved, in the log and for clients."""
        logged, seen = len(self.daemon.log), len(self.watch.events)
        self.board.set_line(line, True)
        self.daemon.wait_for("wrote", f"^<5>button {button}: resolved$", logged)
        self.watch.wait_for("problems", seen, problems=[])
        self.assertEqual(self.problems, [])

    def interrupts(self, line):
        """The number of edges that the kernel has received, also of those that it filters."""
        rows = [row.split() for row in self.board.run("cat", "/proc/interrupts").stdout.splitlines()]
        return next(sum(map(int, row[1:-4])) for row in rows if row[-1] == "tonearm" and row[-3] == str(line))

    def test_each_button_is_obeyed_at_once(self):
        for name, line, button, event, members in [
            ("pause", PLAY, "play", "state", {"state": "paused"}),
            ("play", PLAY, "play", "state", {"state": "playing"}),
            ("next", NEXT, "next", "queue", {"index": 1}),
            ("previous", PREVIOUS, "previous", "queue", {"index": 0}),
            ("softer", SOFTER, "softer", "volume", {}),
            ("louder", LOUDER, "louder", "volume", {"volume": 100}),
        ]:
            with self.subTest(name):
                self.press(line, button, event, **members)

    def test_a_long_press_a_double_press_and_a_press_are_told_apart(self):
        self.press(MODE, "mode", "state", held=LONG_PRESS, state="paused", device=None)
        self.daemon.ask("play")
        self.board.press(MODE)
        self.board.press(MODE)
        self.watch.wait_for("volume", muted=True)
        self.assertFalse(self.daemon.status["shuffle"])
        self.board.press(MODE)
        self.watch.wait_for("queue", shuffle=True)

    def test_twenty_bounces_are_one_press(self):
        logged, interrupts = len(self.daemon.log), self.interrupts(PLAY)
        # Until the engine has heard some of them: the kernel is not always as fast.
        for presses, state in enumerate(["paused", "playing"] * 5, start=1):
            begin = len(self.daemon.log)
            self.press(PLAY, "play", "state", bounces=20, state=state)
            self.assertEqual(len(self.daemon.find("wrote", "play: press", logged)), presses)
            if len(self.daemon.find("wrote", "play: active", begin)) > 1:
                break
        else:
            # It never hears them where the kernel debounces, as for libgpiod 2.
            self.assertGreater(self.interrupts(PLAY) - interrupts, 2 * presses, "the contact has bounced")
        # Another button's press comes behind all that this one could still have done.
        self.press(NEXT, "next", "queue", index=1)
        self.assertEqual(self.daemon.status["state"], state)
        self.assertEqual(len(self.daemon.find("wrote", "play: press", logged)), presses)

    def test_a_line_that_is_stuck_low_changes_nothing_and_is_reported_once(self):
        self.addCleanup(self.board.set_line, PREVIOUS, True)
        self.board.set_line(PREVIOUS, False)
        self.daemon.wait_for("wrote", "previous: press")
        logged = len(self.daemon.log)
        self.watch.stop()
        self.daemon.restart()
        self.watch = self.daemon.watch()
        before = self.watch.wait_for("position")[1]
        self.assertEqual(self.daemon.status["index"], 0, "it has gone on with the first track")
        self.press(NEXT, "next", "queue", index=1)
        self.press(PLAY, "play", "state", state="paused")
        self.press(SOFTER, "softer", "volume")
        self.assertEqual(before["entry"], self.daemon.ask("queue")["entries"][0]["entry"])
        self.assertEqual(self.daemon.status["index"], 1)
        self.assertEqual(len(self.daemon.find("wrote", "^<4>button previous: stuck: ", logged)), 1)
        self.assertEqual(self.daemon.find("wrote", "previous: press", logged), [])
        self.assertEqual(self.problems, ["button previous"])

        self.release(PREVIOUS, "previous")
        self.press(PREVIOUS, "previous", "queue", index=0)

    @long("board-playing", "a contact that was pressed counts as stuck after half a minute")
    def test_a_contact_that_gets_stuck_is_one_press_and_changes_nothing_else(self):
        self.addCleanup(self.board.set_line, NEXT, True)
        logged = len(self.daemon.log)
        # Paused, so that nothing but a button goes on to another track.
        self.press(PLAY, "play", "state", state="paused")
        self.board.set_line(NEXT, False)
        self.watch.wait_for("queue", index=1)
        self.daemon.wait_for("wrote", "^<4>button next: stuck: ", logged)
        self.assertEqual(self.problems, ["button next"])
        self.press(SOFTER, "softer", "volume")
        self.press(PLAY, "play", "state", state="playing")
        self.assertEqual(self.daemon.status["index"], 1)
        self.assertEqual(len(self.daemon.find("wrote", "next: press", logged)), 1)

        self.release(NEXT, "next")
        self.press(NEXT, "next", "queue", index=2)
        self.assertEqual(len(self.daemon.find("wrote", "^<4>button next: stuck: ", logged)), 1)

    def test_what_is_heard_changes_within_a_buffer(self):
        for name, line, button, event, members in [
            ("volume", SOFTER, "softer", "volume", {}),
            ("next", NEXT, "next", "queue", {"index": 1}),
            ("pause", PLAY, "play", "state", {"state": "paused"}),
        ]:
            with self.subTest(name):
                self.daemon.ask("volume", "100")
                self.daemon.ask("queue", "set", "/data/music/album", "--play")
                recorder = Recorder(self.board, RATE)
                recorder.hear(0.5)
                logged, waiting = len(self.daemon.log), self.board.waiting()
                self.press(line, button, event, **members)
                waited = self.board.waiting() - waiting
                recorder.hear(0.5)
                recording = recorder.stop_with_silence()
                delay = (self.end_of_first_track(recording) - self.daemon.edge(button, logged)) / 1e9
                report_time(f"{name}: from the edge to the change that is heard", delay, waited, HEARD_LIMIT)
                self.assertGreater(delay, -CLOCK_ERROR)
                self.assertLess(delay - waited, HEARD_LIMIT)

    def end_of_first_track(self, recording):
        """When it began to be something else than the first track, by the board's clock."""
        music, track = recording.without_silence, shared.long_tracks()[0].bytes
        begin = track.find(music.samples[:256 * FRAME])
        self.assertGreaterEqual(begin, 0, "the first track is heard")
        return music.moment(first_difference(music, track[begin:]).heard_at)

    def test_the_power_button_turns_the_board_off(self):
        self.board.press(POWER, seconds=1)
        logged = len(self.daemon.log)
        self.assertEqual(self.daemon.find("wrote", "power: long press"), [], "one second is not long")
        with self.board.holding(POWER):
            edge = self.daemon.edge("power", logged)
            time.sleep(POWER_OFF_PRESS * 0.9)
            waiting = self.board.waiting()
            ran = self.daemon.wait_for("wrote", "running power-down", logged)
            waited = self.board.waiting() - waiting
            self.board.wait_until_off()
        delay = (ran.time - edge) / 1e9 - POWER_OFF_PRESS
        report_time("power: from the edge to the act", delay, waited, ACT_LIMIT)
        self.assertLess(delay - waited, ACT_LIMIT)

        self.board.power_on()
        self.daemon.wait_until_ready()
        self.watch = self.daemon.watch()
        self.watch.wait_for("position")
