"""The two slots of the firmware image: switching, counting, falling back."""

import functools
import shutil
import tempfile
import unittest
from pathlib import Path

from virtual_board.image_board import IMAGE, ImageBoard, disk
from virtual_board.music import tune, write_flac
from virtual_board.parts import long
from virtual_board.slot_variant import slot_variant, write_program


def quick_to_prove(root):
    """The engine has to be healthy for 3 s, and has 20 s to become so."""
    (root / "etc/health").write_text("3 20\n")


def without_engine(root):
    (root / "etc/health").write_text("3 8\n")
    (root / "usr/bin/tonearm").unlink()


def hangs(root):
    """The kernel's second program stops before anything else."""
    write_program(root / "usr/bin/init", "exec sleep 1000000\n")


def hangs_later(root):
    """The services never begin, and `boot` does not look after that."""
    write_program(root / "usr/lib/tonearm/data", "exec sleep 1000000\n")
    boot = root / "usr/lib/tonearm/boot"
    text = boot.read_text().replace("sleep 120 &&", "sleep 1000000 &&")
    assert "sleep 1000000" in text, "boot waits in another way"
    boot.write_text(text)


@functools.cache
def variant(change):
    return slot_variant(change)


class Slots(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp(prefix="image-slot-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.music = cls.folder / "music"
        write_flac(cls.music / "1.flac", tune(44_100, 16, seconds=60, seed=9))

    @property
    def good(self):
        return variant(quick_to_prove)

    @property
    def sick(self):
        return variant(without_engine)

    def board(self, slot_b, **options):
        """A board on which the second slot is to be tried at the next start."""
        board = ImageBoard(**options)
        self.addCleanup(board.discard)
        board.write_slot("b", slot_b)
        board.power_on(network=False)
        self.assertEqual(self.running(board), "a")
        board.run("/usr/lib/tonearm/slots", "try")
        board.power_off()
        self.assertEqual((board.state["slot"], board.state["good"], board.state["tries"]), ("b", "a", "3"))
        return board

    def running(self, board):
        return board.run_script(". /run/disk; echo $slot").stdout.strip()

    def restart_until_fallback(self, board, **options):
        """Starts the board until it runs the first slot again; how often the second one was tried."""
        tries = 0
        while tries < 10:
            board.power_on_without_agent(**options)
            board.wait_for_console("Starting kernel")
            if board.state["slot"] == "a":
                board.wait_for_agent()
                return tries
            tries += 1
            # The slot restarts the board, which ends the emulator.
            board.wait_until_off()
        self.fail("the second slot is tried again and again")

    def test_a_slot_that_is_not_healthy_at_its_last_start_is_left(self):
        board = ImageBoard()
        self.addCleanup(board.discard)
        board.write_slot("b", self.sick)
        board.write(disk.STATES[0], disk.state(9, slot="b", tries="1"))
        self.assertEqual(self.restart_until_fallback(board), 1)
        self.assertEqual(self.running(board), "a")
        self.assertEqual(board.state["failed"], "b")

    @long("image-starting", "two starts; a default test has an update that becomes the good one")
    def test_a_healthy_slot_becomes_the_good_one(self):
        board = self.board(self.good, music=self.music)
        board.power_on(network=False)
        self.assertEqual(self.running(board), "b")
        # While music plays, it has to move on.
        board.wait_for_engine()
        board.ask("repeat", "all")
        board.ask("queue", "set", "/data/music", "--play")
        board.wait_until("/usr/lib/tonearm/slots is-good")
        self.assertIn('"playing"', board.run("tonearm", "status", "--json").stdout)
        # From now on the watchdog is fed.
        board.wait_until("grep -q watchdog.*63 /proc/$(cat /run/guard.pid)/cmdline")
        board.power_off()
        self.assertEqual((board.state["slot"], board.state["good"], board.state["tries"]), ("b", "b", "0"))

    @long("image-starting", "five starts; a default test has the last of the three")
    def test_a_slot_that_is_never_healthy_is_left_after_three_starts(self):
        board = self.board(self.sick)
        self.assertEqual(self.restart_until_fallback(board), 3)
        self.assertEqual(self.running(board), "a")
        self.assertEqual(board.state["failed"], "b")
        board.wait_until("dmesg | grep -q 'slot b did not start'")
        board.power_off()
        self.assertIn("The new version did not start, or did not run well: its player ended by itself",
                      board.read_file("tonearm-report.txt"))

    @long("image-starting", "waits for the watchdog twice")
    def test_a_slot_that_hangs_is_left(self):
        self.assert_watchdog_ends(hangs)

    @long("image-starting", "waits for the watchdog twice")
    def test_a_slot_that_hangs_before_its_services_is_left(self):
        self.assert_watchdog_ends(hangs_later)

    def assert_watchdog_ends(self, change):
        """Nobody pulls the plug: the watchdog restarts the board, which ends the emulator."""
        board = ImageBoard()
        self.addCleanup(board.discard)
        board.write_slot("b", slot_variant(change))
        board.write(disk.STATES[0], disk.state(9, slot="b", tries="2"))
        # In the time of the board these are minutes.
        self.assertEqual(self.restart_until_fallback(board, counts=True), 2)
        self.assertEqual(board.state["failed"], "b")
        self.assertEqual(self.running(board), "a")

    @long("image-starting", "four starts")
    def test_a_good_slot_that_is_damaged_gives_way_to_the_other(self):
        board = ImageBoard()
        self.addCleanup(board.discard)
        board.write_slot("b", self.good)
        board.write(disk.SLOT_A.start, bytes(4096))
        for misses in ("1", "2", "3"):
            board.power_on_without_agent(counts=True)
            board.wait_until_off()
            self.assertEqual((board.state["good"], board.state["misses"]), ("a", misses))
        board.power_on(network=False)
        self.assertEqual(self.running(board), "b")
        board.wait_until("/usr/lib/tonearm/slots is-good")
        board.power_off()
        self.assertEqual((board.state["slot"], board.state["good"], board.state.get("misses")), ("b", "b", None))
        report = board.read_file("tonearm-report.txt")
        self.assertIn("The version that ran before cannot be started any more", report)
        self.assertIn("This is version 0.9", report)

    @long("image-starting", "nine starts")
    def test_with_both_slots_damaged_the_board_keeps_restarting(self):
        board = ImageBoard()
        self.addCleanup(board.discard)
        board.write_slot("b", bytes(disk.HEADER) + self.good[disk.HEADER:])
        board.write(disk.SLOT_A.start, bytes(4096))
        slots = []
        for _ in range(8):
            board.power_on_without_agent(counts=True)
            board.wait_for_console("Starting kernel")
            slots.append(board.state["slot"])
            board.wait_until_off()
        # The third start of slot a names b. The fourth one waits a minute, and has b tried once more.
        self.assertEqual("".join(slots), "aaabbbab")
        self.assertEqual((board.state["good"], board.state["misses"]), ("a", "4"))
        # A new card, or one whose slot is whole again, starts at once.
        board.write_slot("a", (IMAGE / "slot.img").read_bytes())
        board.write(disk.STATES[0], disk.state(0x99, misses="4", failed="b"))
        board.power_on(network=False)
        self.assertEqual(self.running(board), "a")
        board.wait_until("! /usr/lib/tonearm/slots show | grep -q misses")

    @long("image-starting", "four starts")
    def test_a_slot_without_a_root_is_left(self):
        board = ImageBoard()
        self.addCleanup(board.discard)
        board.write_slot("b", bytes(disk.HEADER) + self.good[disk.HEADER:])
        board.write(disk.STATES[0], disk.state(9, slot="b", tries="3"))
        self.assertEqual(self.restart_until_fallback(board), 3)
        self.assertEqual(self.running(board), "a")

    @long("image-starting", "two starts")
    def test_a_damaged_kernel_is_not_started(self):
        place = disk.HEADER + 512 + 5_000_000
        board = self.board(self.good[:place] + bytes([self.good[place] ^ 1]) + self.good[place + 1:])
        board.power_on(network=False)
        self.assertEqual(self.running(board), "a")
        self.assertIn("Bad Data CRC", board.console)

    @long("image-starting", "four starts")
    def test_with_one_damaged_copy_of_the_state_the_other_holds(self):
        for damaged, slot in (("newer", "a"), ("older", "b")):
            with self.subTest(damaged=damaged):
                board = self.board(self.good)
                places = sorted(disk.STATES, key=lambda place: b"slot=b" in board.read(place, 512))
                place = places[-1 if damaged == "newer" else 0]
                board.write(place + 100, b"torn")
                board.power_on(network=False)
                self.assertEqual(self.running(board), slot)
                board.cut_power()

    @long("image-starting", "two starts")
    def test_without_any_state_the_first_slot_starts(self):
        board = self.board(self.good)
        for place in disk.STATES:
            board.write(place, bytes(512))
        board.power_on(network=False)
        self.assertEqual(self.running(board), "a")


if __name__ == "__main__":
    unittest.main()
