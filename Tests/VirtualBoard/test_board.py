"""The virtual board itself: what later tests rely on."""

import time
import unittest

from virtual_board import BoardOff, VirtualBoard
from virtual_board.parts import long

MILLISECOND = 1_000_000  # in nanoseconds


@long("board-daemon", "the emulator itself: every other test relies on it and would fail")
class Board(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.board = VirtualBoard()
        cls.addClassCleanup(cls.board.discard)
        cls.board.power_on()

    def test_a_program_runs_with_its_output_and_exit_code(self):
        result = self.board.run_script("echo out; echo err >&2; exit 3")
        self.assertEqual((result.exit_code, result.stdout, result.stderr), (3, "out\n", "err\n"))

    def test_programs_run_side_by_side_and_take_signals(self):
        waiting = self.board.start("sleep", "100")
        self.assertEqual(self.board.run("echo", "a 'quoted' word").stdout, "a 'quoted' word\n")
        waiting.signal("TERM")
        self.assertEqual(waiting.wait().exit_code, 128 + 15)

    def test_files_go_in_and_out_unchanged(self):
        content = bytes(range(256)) * 1000
        self.board.put(content, "/tmp/file")
        self.assertEqual(self.board.fetch("/tmp/file"), content)
        with self.assertRaises(OSError):
            self.board.fetch("/tmp/absent")

    def watch_line_2(self):
        """gpiomon, and what it has seen as pairs of "0" (falls) or "1" (rises) and the kernel's time in nanoseconds."""
        watch = self.board.start("gpiomon", "--line-buffered", "--format=%e %s %n", "gpiochip0", "2")
        self.addCleanup(watch.signal, "TERM")
        self.board.wait_until("gpioinfo gpiochip0 | grep -q 'line *2:.*gpiomon'")

        def edges():
            # gpiomon does not pad the nanoseconds with zeros, so they are added to the seconds as numbers.
            fields = [line.split() for line in watch.stdout.splitlines()]
            return [(kind, int(seconds) * 1_000_000_000 + int(rest)) for kind, seconds, rest in fields]

        return watch, edges

    def test_a_button_press_is_two_edges(self):
        watch, edges = self.watch_line_2()
        before = self.board.clock()
        self.board.press(2)
        watch.wait_until(lambda: len(edges()) == 2, "two edges")
        (pressed, down), (released, up) = edges()
        self.assertEqual((pressed, released), ("0", "1"))
        self.assertGreater(down, before)
        self.assertGreaterEqual(up - down, 50 * MILLISECOND, "pressed for 100 ms")

    def test_a_contact_that_bounces_ends_up_released(self):
        watch, edges = self.watch_line_2()
        self.board.press(2, bounces=10)

        def is_released():
            """Of the bounces the kernel may see any; the press behind them lasts."""
            (kinds, times) = zip(*edges()[-2:]) if len(edges()) > 1 else ((), ())
            return kinds == ("0", "1") and times[1] - times[0] >= 50 * MILLISECOND

        watch.wait_until(is_released, "release")
        self.assertLessEqual(len(edges()), 22)

    def test_a_pulled_cable_has_no_carrier(self):
        carrier = "[ $(cat /sys/class/net/eth0/carrier) = %d ]"
        self.board.pull_cable()
        self.board.wait_until(carrier % 0)
        self.board.plug_cable()
        self.board.wait_until(carrier % 1)

    def test_a_usb_sound_card_comes_and_goes(self):
        self.board.plug_sound_card()
        self.board.wait_until("[ -e /proc/asound/Audio ]")
        self.board.unplug_sound_card()
        self.board.wait_until("[ ! -e /proc/asound/Audio ]")


@long("board-daemon", "the emulator itself: every other test relies on it and would fail")
class Power(unittest.TestCase):
    def test_what_reached_the_disk_survives_a_cut_and_the_rest_survives_a_clean_end(self):
        with VirtualBoard() as board:
            board.power_on()
            board.run_script("echo kept >synced; sync; echo lost >written")
            running = board.start("sleep", "100")
            board.cut_power()
            with self.assertRaises(BoardOff):
                running.wait()
            with self.assertRaises(BoardOff):
                board.run("true")

            board.power_on()
            self.assertEqual(board.fetch("/data/synced"), b"kept\n")
            with self.assertRaises(OSError):
                board.fetch("/data/written")
            board.run_script("echo kept >written")
            board.power_off()

            board.power_on()
            self.assertEqual(board.fetch("/data/written"), b"kept\n")
            self.assertNotIn("recovery", board.run_script("dmesg | grep EXT4").stdout, "the disk was unmounted")

    def test_it_is_up_in_seconds(self):
        with VirtualBoard() as board:
            begin = time.monotonic()
            board.power_on()
            board.run("true")
            self.assertLess(board.fair_clock() - begin, 20)
