"""The image of the Raspberry Pi 3 on QEMU's model of it, as far as that goes: U-Boot, kernel, root, data partition. The
model has no I2S, and its GPIO inputs are always low."""

import os
import shutil
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

from virtual_board.image_board import MIB, ROOT, disk
from virtual_board.qemu import PATIENCE

CACHE = ROOT / "build/firmware-image"
CONSOLE = "console=ttyS1,115200 ignore_loglevel"


class RaspberryPi3(unittest.TestCase):
    def test_it_starts_up_to_its_services(self):
        folder = Path(tempfile.mkdtemp(prefix="raspberry-"))
        self.addCleanup(shutil.rmtree, folder)
        card = folder / "card.img"
        image = next((CACHE / "rpi3").glob("tonearm-rpi3-*.img"))
        subprocess.run(["cp", "--sparse=always", image, card], check=True)
        # QEMU wants the size of a card to be a power of two.
        os.truncate(card, 512 * MIB)
        subprocess.run(["mcopy", "-o", "-i", f"{card}@@{disk.BOOT.start}", "-", "::/tonearm.conf"], check=True,
                       input=b"[image]\nserial-console = yes\n")
        with card.open("r+b") as file:
            for number, place in enumerate(disk.STATES, 1):
                file.seek(place)
                file.write(disk.state(number, console=CONSOLE))
        trees = next(CACHE.glob("packages/linux-image-*/usr/lib/linux-image-*/broadcom"))
        log = folder / "console.log"
        board = subprocess.Popen(
            ["qemu-system-aarch64", "-M", "raspi3b", "-display", "none", "-no-reboot", "-monitor", "none",
             "-serial", "null", "-serial", f"file:{log}", "-drive", f"file={card},if=sd,format=raw",
             "-kernel", CACHE / "packages/u-boot-rpi/usr/lib/u-boot/rpi_3/u-boot.bin",
             "-dtb", trees / "bcm2837-rpi-3-b.dtb"])
        self.addCleanup(board.wait)
        self.addCleanup(board.kill)
        for text in ("RPI 3 Model B", "Starting kernel", "Run /init as init process", "mmcblk0: p1 p2 p3 p4",
                     "tonearm-data: made the data partition", "mounted filesystem"):
            with self.subTest(text=text):
                self.wait_for(log, text, board)

    def wait_for(self, log, text, board):
        deadline = time.monotonic() + PATIENCE
        while text not in (log.read_text(errors="replace") if log.exists() else ""):
            self.assertIsNone(board.poll(), "the emulator has ended")
            self.assertLess(time.monotonic(), deadline, f"no {text!r} on the console")
            time.sleep(0.05)


if __name__ == "__main__":
    unittest.main()
