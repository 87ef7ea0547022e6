"""Updates of the firmware image: signed bundles, what is refused, and a plug that is pulled while one is written."""

import os
import random
import shutil
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

from virtual_board.image_board import IMAGE, ROOT, ImageBoard, disk, signed_bundle

TEST_KEY = ROOT / "firmware-image/test-key.pem"
CUTS = int(os.environ.get("TONEARM_POWER_CUTS") or 20)
UPDATE = "/usr/lib/tonearm/update"


class Update(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp(prefix="image-update-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        root = cls.folder / "root"
        shutil.copytree(IMAGE / "root", root, symlinks=True)
        (root / "etc/health").write_text("3 60\n")
        (root / "etc/tonearm-release").write_text("board=virtual\nversion=0.9\n")
        image = cls.folder / "root.squashfs"
        subprocess.run(["mksquashfs", root, image, "-quiet", "-no-progress", "-all-root", "-comp", "gzip",
                        "-Xcompression-level", "1"], check=True, stdout=subprocess.DEVNULL)
        original = (IMAGE / "slot.img").read_bytes()
        cls.slot = image.read_bytes().ljust(disk.HEADER, b"\0") + original[disk.HEADER:]
        cls.good = signed_bundle(cls.slot, "virtual", "0.9", TEST_KEY)

    def board(self):
        board = ImageBoard()
        self.addCleanup(board.discard)
        board.power_on(network=False)
        return board

    def update(self, board, content, *options):
        (board.share / "bundle").write_bytes(content)
        return board.run(UPDATE, "/host/bundle", *options)

    def running(self, board):
        return board.run("sed", "-n", "s/^version=//p", "/etc/tonearm-release").stdout.strip()

    def test_a_signed_bundle_is_installed(self):
        board = self.board()
        board.wait_for_engine()
        before = board.run("pidof", "tonearm").stdout
        result = self.update(board, self.good)
        self.assertEqual((result.exit_code, result.stderr), (0, ""))
        self.assertEqual(board.run("pidof", "tonearm").stdout, before, "the engine goes on")
        board.power_off()
        board.power_on(network=False)
        self.assertEqual(self.running(board), "0.9")
        board.wait_until("/usr/lib/tonearm/slots show | grep -qx good=b")
        # The other way round, older and forced.
        older = signed_bundle(self.slot, "virtual", "0.8.9", TEST_KEY)
        self.assertIn("is older than 0.9", self.update(board, older).stderr)
        self.assertEqual(self.update(board, older, "--force").exit_code, 0)
        board.power_off()
        self.assertEqual((board.state["slot"], board.state["good"]), ("a", "b"))

    def test_what_is_wrong_is_refused_before_anything_is_written(self):
        board = self.board()
        before = board.root_of("b")
        stranger = self.folder / "stranger.pem"
        subprocess.run(["openssl", "ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", stranger], check=True,
                       capture_output=True)
        manifest = 64 + 30
        middle = len(self.good) // 2
        cases = {
            "another key": (signed_bundle(self.slot, "virtual", "0.9", stranger), "signature"),
            "a changed manifest": (self.changed(manifest), "signature"),
            "a changed piece": (self.changed(middle), "damaged or not complete"),
            "cut off": (self.good[:middle], "damaged or not complete"),
            "cut off in the manifest": (self.good[:500], "signature"),
            "almost empty": (self.good[:10], "too short"),
            "another board": (signed_bundle(self.slot, "rpi3", "0.9", TEST_KEY), "for the board rpi3"),
            "an older version": (signed_bundle(self.slot, "virtual", "0.0.9", TEST_KEY), "older"),
        }
        for name, (content, reason) in cases.items():
            with self.subTest(name):
                result = self.update(board, content)
                self.assertEqual(result.exit_code, 1)
                self.assertIn(reason, result.stderr)
        board.power_off()
        self.assertEqual(before, board.root_of("b"))
        self.assertEqual((board.state["slot"], board.state["good"]), ("a", "a"))

    def changed(self, place):
        return self.good[:place] + bytes([self.good[place] ^ 1]) + self.good[place + 1:]

    def test_a_plug_pulled_while_it_is_written(self):
        chance = random.Random(20_261_121)
        board = self.board()
        (board.share / "bundle").write_bytes(self.good)
        began = time.monotonic()
        self.assertEqual(board.run(UPDATE, "/host/bundle").exit_code, 0)
        seconds = time.monotonic() - began
        for cut in range(CUTS):
            with self.subTest(cut=cut):
                board.discard()
                board = self.board()
                (board.share / "bundle").write_bytes(self.good)
                board.start(UPDATE, "/host/bundle")
                time.sleep(chance.uniform(0, seconds))
                board.cut_power()
                wanted = "0.9" if board.state["slot"] == "b" else "0.1.0"
                board.power_on(network=False)
                self.assertEqual(self.running(board), wanted)


if __name__ == "__main__":
    unittest.main()
