"""Power cuts at random moments, during the first start and while the firmware image plays."""

import os
import random
import tempfile
import time
import unittest
from pathlib import Path

from virtual_board.image_board import ImageBoard
from virtual_board.music import tune, write_flac
from virtual_board.parts import long

#: How often the power is cut in each test of the long part (tools/image-test --power-cuts).
CUTS = int(os.environ.get("TONEARM_POWER_CUTS") or 20)
SEED = 20_261_121

#: In seconds: longer than a first start takes in the emulator.
FIRST_START = 12


class PowerCuts(unittest.TestCase):
    def setUp(self):
        self.chance = random.Random(SEED)

    def board(self, **options):
        board = ImageBoard(**options)
        self.addCleanup(board.discard)
        return board

    def assert_comes_up(self, board):
        board.power_on(network=False)
        board.wait_for_engine()
        self.assertEqual(board.run("touch", "/data/music/file").exit_code, 0)
        self.assertIn("/dev/vda4", board.run("grep", " /data ", "/proc/mounts").stdout)

    @long("image-cuts", "each cut has a card of its own and two starts")
    def test_during_the_first_start(self):
        for cut in range(CUTS):
            with self.subTest(cut=cut, seed=SEED):
                board = self.board()
                before = board.root_of("a")
                board.power_on_without_agent()
                board.wait_for_console("Starting kernel")
                time.sleep(self.chance.uniform(0, FIRST_START))
                board.cut_power()
                self.assert_comes_up(board)
                board.power_off()
                self.assertEqual(board.check_data()[0], 0)
                self.assertEqual(before, board.root_of("a"))

    @long("image-cuts", "each cut is another start")
    def test_while_playing(self):
        with tempfile.TemporaryDirectory() as folder:
            write_flac(Path(folder) / "1.flac", tune(44_100, 16, seconds=60, seed=6))
            board = self.board(music=folder)
        before = board.root_of("a")
        self.assert_comes_up(board)
        board.ask("queue", "set", "/data/music/1.flac", "--play")
        board.ask("repeat", "all")
        for cut in range(CUTS):
            with self.subTest(cut=cut, seed=SEED):
                time.sleep(self.chance.uniform(0, 6))
                board.cut_power()
                self.assert_comes_up(board)
                board.wait_until("grep -q RUNNING /proc/asound/HiFi/pcm0p/sub0/status")
                self.assertEqual(board.ask("status")["count"], 1)
        board.cut_power()
        self.assertEqual(before, board.root_of("a"))


if __name__ == "__main__":
    unittest.main()
