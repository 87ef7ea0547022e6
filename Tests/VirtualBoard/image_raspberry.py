"""The image of the Raspberry Pi 3 on QEMU's model of it, as far as that goes: U-Boot, overlays, kernel, root, data
partition. The model has no I2S, and its GPIO inputs are always low."""

import os
import re
import shutil
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

from virtual_board.host import run
from virtual_board.image_board import MIB, ROOT, disk
from virtual_board.parts import long
from virtual_board.qemu import PATIENCE, Deadline, QTest, connect
from virtual_board.slot_variant import slot_variant, write_program

CACHE = ROOT / "build/firmware-image"
IMAGE = CACHE / "rpi3"
#: A start of the watchdog restarts QEMU's model at once.
NO_WATCHDOG = "tonearm.watchdog=no"
CONSOLE = f"console=ttyS1,115200 ignore_loglevel {NO_WATCHDOG}"

#: The board's own service: says what the kernel got from U-Boot, and which drivers there are. The first is loaded by
#: the service `devices`, because its DAC is in the device tree.
SAY_CARD = """
exec >/dev/console
echo "card: $(cat /proc/device-tree/sound-dac/simple-audio-card,name)"
until [ -e /sys/bus/i2c/drivers/pcm512x ]; do usleep 100000; done
until [ -e /sys/bus/platform/drivers/reg-fixed-voltage/regulator-dac ]; do usleep 100000; done
echo "driver: supply of the DAC"
for compatible in @COMPATIBLES@; do
    modprobe "of:NdacT(null)C$compatible" && echo "loaded: $compatible"
done
for path in @DRIVERS@; do [ ! -e /sys/bus/$path ] || echo "driver: $path"; done
echo "light: $(cat /sys/class/leds/ACT/trigger)"
exec sleep 100000
"""
CARD = "card: snd_rpi_hifiberry_"
#: The drivers of the DACs, below /sys/bus.
DRIVERS = ("platform/drivers/pcm5102a-codec", "i2c/drivers/pcm512x", "platform/drivers/max98357a",
           "i2c/drivers/wm8804", "i2c/drivers/wm8960", "i2c/drivers/tas571x", "i2c/drivers/da7213",
           "platform/drivers/tonearm-wm8804-card", "platform/drivers/tonearm-pcm512x-card",
           "platform/drivers/tonearm-pcm512x-oscillators", "platform/drivers/tonearm-tas5711-card",
           "platform/drivers/tonearm-da7213-card")

#: In seconds: the model is slower than the virtual board.
LIMIT = 3 * PATIENCE

#: The level of GPIO 0 to 31 (BCM2835 ARM Peripherals, 6.1). The light of a Zero 2 W is at 29; those of the Pi 3 are
#: behind its firmware, which the model does not have.
LEVELS = 0x3f20_0034
LIGHT = 29


def compatibles():
    """What the device tree calls the DACs and our own cards, from our overlays."""
    sources = sorted((ROOT / "board/overlays").glob("*.dts"))
    names = (re.findall(r'\tdac: [^}]*compatible = "([^"]*)"|compatible = "(tonearm,[^"]*)"', source.read_text())
             for source in sources)
    return sorted({dac or card for found in names for dac, card in found})


@long("image-boards", "the model of the Raspberry Pi is slow")
class RaspberryPi3(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="raspberry-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.card = self.folder / "card.img"
        image = next(IMAGE.glob("tonearm-rpi3-*.img"))
        run(["cp", "--sparse=always", image, self.card], check=True)
        # QEMU wants the size of a card to be a power of two.
        os.truncate(self.card, 512 * MIB)
        self.log = self.folder / "console.log"

        self.write(disk.SLOT_A.start, slot_variant(self.change, image=IMAGE))
        self.write_file("tonearm.conf", "[image]\nserial-console = yes\ndac = pcm512x\n")

    @staticmethod
    def change(root):
        script = SAY_CARD.replace("@COMPATIBLES@", " ".join(compatibles())).replace("@DRIVERS@", " ".join(DRIVERS))
        write_program(root / "usr/lib/tonearm/board", script)
        (root / "etc/console").write_text(f"{CONSOLE}\n")

    def write(self, place, content):
        with self.card.open("r+b") as file:
            file.seek(place)
            file.write(content)

    def write_file(self, name, text):
        """A file of the boot partition."""
        run(["mcopy", "-o", "-i", f"{self.card}@@{disk.BOOT.start}", "-", f"::/{name}"], check=True,
            input=text.encode())

    def choose_dac(self):
        """The boot state after the restart that a new DAC in the configuration brings."""
        for number, place in enumerate(disk.STATES, 1):
            self.write(place, disk.state(number, console=CONSOLE, overlay="pcm512x", data="new"))

    def power_on(self, tree="bcm2837-rpi-3-b"):
        trees = next(CACHE.glob("packages/linux-image-*/usr/lib/linux-image-*/broadcom"))
        self.log.unlink(missing_ok=True)
        board = subprocess.Popen(
            ["qemu-system-aarch64", "-M", "raspi3b", "-display", "none", "-no-reboot", "-monitor", "none",
             "-serial", "null", "-serial", f"file:{self.log}", "-drive", f"file={self.card},if=sd,format=raw",
             "-qtest", f"unix:{self.folder / 'qtest'},server=on,wait=off", "-qtest-log", "/dev/null",
             "-kernel", CACHE / "packages/u-boot-rpi/usr/lib/u-boot/rpi_3/u-boot.bin",
             "-dtb", trees / f"{tree}.dtb"])
        self.addCleanup(board.wait, PATIENCE)
        self.addCleanup(board.kill)
        return board

    def test_it_starts_up_to_its_services_with_a_dac(self):
        self.choose_dac()
        board = self.power_on()
        for text in ("RPI 3 Model B", "Starting kernel", "Run /init as init process", "mmcblk0: p1 p2 p3 p4",
                     "tonearm-data: made the data partition", "mounted filesystem", CARD,
                     "driver: supply of the DAC", *(f"loaded: {name}" for name in compatibles()),
                     *(f"driver: {name}" for name in DRIVERS)):
            with self.subTest(text=text):
                self.wait_for(text, board)
        self.assertNotIn("Hit any key", self.console())

    def test_a_new_dac_in_the_configuration_restarts_it(self):
        for number, place in enumerate(disk.STATES, 1):
            self.write(place, disk.state(number, console=NO_WATCHDOG))
        # The emulator ends instead.
        self.wait_for_end(self.power_on())
        # The serial console was not yet asked for.
        self.assertNotIn("Run /init", self.console())
        self.wait_for(CARD, self.power_on())

    def test_its_light_flashes_while_it_is_reset(self):
        self.choose_dac()
        self.write_file("factory-reset", "")
        board = self.power_on("bcm2837-rpi-zero-2-w")
        changes = self.watch_light(board, lambda _: "is ready" in self.console(), "the data partition is not ready")
        self.assertIn("tonearm-data: Factory reset", self.console())
        self.assertGreaterEqual(changes, 8)
        self.wait_for("light: [none]", board)

    def test_its_light_flashes_while_no_root_can_be_read(self):
        self.write(disk.SLOT_A.start, bytes(MIB))
        # It was not found twice before, and there is no other one: a pause of a minute.
        for number, place in enumerate(disk.STATES, 1):
            self.write(place, disk.state(number, console=CONSOLE, data="made", misses="2"))
        self.watch_light(self.power_on("bcm2837-rpi-zero-2-w"), lambda changes: changes >= 8, "it does not flash")
        self.assertIn("slot a cannot be mounted; restarting", self.console())

    def watch_light(self, board, is_over, why):
        """How often the light of a Zero 2 W changes until `is_over`, which gets this number."""
        pins = QTest(connect(self.folder / "qtest", board))
        self.addCleanup(pins.close)
        changes, level = 0, None
        deadline = Deadline(LIMIT)
        while not is_over(changes):
            self.assertIsNone(board.poll(), f"the emulator has ended\n{self.console()[-3000:]}")
            self.assertFalse(deadline.has_passed, f"{why}: {changes} changes\n{self.console()[-3000:]}")
            before, level = level, pins.read(LEVELS) >> LIGHT & 1
            changes += before is not None and level != before
            time.sleep(0.02)
        return changes

    def wait_for(self, text, board):
        deadline = Deadline(LIMIT)
        while text not in self.console():
            self.assertIsNone(board.poll(), f"the emulator has ended\n{self.console()[-3000:]}")
            self.assertFalse(deadline.has_passed, f"no {text!r} on the console\n{self.console()[-3000:]}")
            time.sleep(0.05)

    def wait_for_end(self, board):
        try:
            board.wait(LIMIT)
        except subprocess.TimeoutExpired:
            self.fail(f"the emulator has not ended in {LIMIT} s\n{self.console()[-3000:]}")

    def console(self):
        return self.log.read_text(errors="replace") if self.log.exists() else ""


if __name__ == "__main__":
    unittest.main()
