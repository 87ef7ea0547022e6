"""The image of the Raspberry Pi 3 on QEMU's model of it, as far as that goes: U-Boot, overlays, kernel, root, data
partition. The model has no I2S, and its GPIO inputs are always low."""

import os
import shutil
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

from virtual_board.image_board import MIB, ROOT, disk
from virtual_board.qemu import PATIENCE
from virtual_board.slot_variant import slot_variant, write_program

CACHE = ROOT / "build/firmware-image"
IMAGE = CACHE / "rpi3"
CONSOLE = "console=ttyS1,115200 ignore_loglevel"

#: The board's own service: says what the kernel got from U-Boot.
SAY_CARD = """
echo "card: $(cat /proc/device-tree/sound-dac/simple-audio-card,name)" >/dev/console
exec sleep 100000
"""
CARD = "card: snd_rpi_hifiberry_dac"


class RaspberryPi3(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="raspberry-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.card = self.folder / "card.img"
        image = next(IMAGE.glob("tonearm-rpi3-*.img"))
        subprocess.run(["cp", "--sparse=always", image, self.card], check=True)
        # QEMU wants the size of a card to be a power of two.
        os.truncate(self.card, 512 * MIB)
        self.log = self.folder / "console.log"

        self.write(disk.SLOT_A.start, slot_variant(self.change, image=IMAGE))
        text = b"[image]\nserial-console = yes\ndac = pcm5102a\n"
        subprocess.run(["mcopy", "-o", "-i", f"{self.card}@@{disk.BOOT.start}", "-", "::/tonearm.conf"], check=True,
                       input=text)

    @staticmethod
    def change(root):
        write_program(root / "usr/lib/tonearm/board", SAY_CARD)
        (root / "etc/console").write_text(f"{CONSOLE}\n")

    def write(self, place, content):
        with self.card.open("r+b") as file:
            file.seek(place)
            file.write(content)

    def power_on(self):
        trees = next(CACHE.glob("packages/linux-image-*/usr/lib/linux-image-*/broadcom"))
        self.log.unlink(missing_ok=True)
        board = subprocess.Popen(
            ["qemu-system-aarch64", "-M", "raspi3b", "-display", "none", "-no-reboot", "-monitor", "none",
             "-serial", "null", "-serial", f"file:{self.log}", "-drive", f"file={self.card},if=sd,format=raw",
             "-kernel", CACHE / "packages/u-boot-rpi/usr/lib/u-boot/rpi_3/u-boot.bin",
             "-dtb", trees / "bcm2837-rpi-3-b.dtb"])
        self.addCleanup(board.wait)
        self.addCleanup(board.kill)
        return board

    def test_it_starts_up_to_its_services_with_a_dac(self):
        for number, place in enumerate(disk.STATES, 1):
            self.write(place, disk.state(number, console=CONSOLE, overlay="pcm5102a"))
        board = self.power_on()
        for text in ("RPI 3 Model B", "Starting kernel", "Run /init as init process", "mmcblk0: p1 p2 p3 p4",
                     "tonearm-data: made the data partition", "mounted filesystem", CARD):
            with self.subTest(text=text):
                self.wait_for(text, board)

    def test_a_new_dac_in_the_configuration_restarts_it(self):
        # The emulator ends instead.
        self.power_on().wait(PATIENCE)
        self.wait_for(CARD, self.power_on())

    def wait_for(self, text, board):
        deadline = time.monotonic() + PATIENCE
        while text not in self.console():
            self.assertIsNone(board.poll(), f"the emulator has ended\n{self.console()[-3000:]}")
            self.assertLess(time.monotonic(), deadline, f"no {text!r} on the console\n{self.console()[-3000:]}")
            time.sleep(0.05)

    def console(self):
        return self.log.read_text(errors="replace") if self.log.exists() else ""


if __name__ == "__main__":
    unittest.main()
