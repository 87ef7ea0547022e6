"""The image looks for a DAC HAT by itself: with the device tree, the I2C bus and the restarts of a real start. The bus,
its chips and the card come from the module `tonearm-test-hat`. The emulator's U-Boot knows no overlays: the test adds
that of the boot state to the tree."""

import json
import unittest

from firmware.tree import Modules, Tree
from virtual_board import qemu
from virtual_board.hat import CACHE, ROOT, device_tree
from virtual_board.host import run
from virtual_board.image_board import ImageBoard
from virtual_board.parts import long
from virtual_board.slot_variant import slot_variant

MODULES = ("fixed", "i2c-dev", "snd-soc-wm8804-i2c", "tonearm-wm8804-card", "tonearm-test-hat")
OVERLAYS = ("wm8804", "wm8804-pro")
#: HiFiBerry Digi2 Pro.
HAT = 'hat { vendor = "HiFiBerry"; uuid = "5AF941BB-4DCF-4EAC-82A8-E36E84FCABEF"; product = "Digi2 Pro"; };'


def with_header(root):
    """Makes the image one of a board with a header."""
    package = next(CACHE.glob("packages/linux-image-*/lib")).parent
    Modules(package, CACHE / "modules").add_to(Tree(root, CACHE / "packages"), MODULES, package.name)
    # In place of the driver of a Raspberry Pi's bus.
    (root / "etc/modprobe.d/hat.conf").write_text("alias i2c-bcm2835 tonearm-test-hat\n")
    (root / "etc/dac-bus").write_text("hat-i2c\n")
    folder = root / "usr/share/tonearm/overlays"
    folder.mkdir()
    for name in OVERLAYS:
        run(["dtc", "-@", "-I", "dts", "-O", "dtb", "-o", folder / f"{name}.dtbo",
             ROOT / f"board/overlays/{name}.dts"], check=True, capture_output=True)


@long("image-boards", "two or three starts each; the tests of the scripts have all cases")
class Search(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.slot = slot_variant(with_header)

    def new_board(self, properties="", nodes=""):
        self.properties, self.nodes = properties, nodes
        self.board = ImageBoard()
        self.addCleanup(self.board.discard)
        self.board.write_slot("a", self.slot)

    def make_tree(self):
        overlay = (self.board.state or {}).get("overlay")
        self.board.tree = device_tree(self.board.folder, (*qemu.MACHINE, "-smp", "2"), overlay, self.properties,
                                      self.nodes)

    def assert_restarts(self, overlay, dac):
        self.make_tree()
        self.board.power_on_without_agent()
        self.board.wait_until_off()
        self.assert_state(overlay, dac)

    def assert_stays(self, overlay, dac, text):
        """The board goes on, and says `text` to its clients and in the report."""
        self.make_tree()
        self.board.power_on(network=False)
        self.board.wait_for_engine()
        self.assertIn(text, self.machine_report())
        if overlay:
            self.board.wait_until("[ -e /proc/asound/sndrpihifiberry ]")
        self.board.power_off()
        self.assertIn(text, self.board.read_file("tonearm-report.txt"))
        self.assert_state(overlay, dac)

    def machine_report(self):
        answer = self.board.run("busybox", "wget", "-q", "-O", "-", "--header", "Content-Type: application/json",
                                "--post-data", "{}", "http://127.0.0.1/api/machine")
        return json.loads(answer.stdout)["report"]

    def assert_state(self, overlay, dac):
        state = self.board.state
        self.assertEqual((state.get("overlay", ""), state.get("dac", "")), (overlay, dac))

    def test_a_hat_is_found_by_its_registers(self):
        self.new_board()
        self.assert_restarts("wm8804", "auto:hifiberry-digi:1")
        self.assert_stays("wm8804", "auto:hifiberry-digi:0", "Digi2 Standard, found on I2C (dac = hifiberry-digi)")

    def test_a_hat_is_found_by_its_eeprom(self):
        """Its registers are those of the HAT without oscillators."""
        self.new_board(nodes=HAT)
        self.assert_restarts("wm8804-pro", "auto:hifiberry-digi-pro:1")
        self.assert_stays("wm8804-pro", "auto:hifiberry-digi-pro:0", "found by its EEPROM (dac = hifiberry-digi-pro)")

    def test_without_an_answer_nothing_is_guessed(self):
        self.new_board("is-silent;")
        self.assert_stays("", "", "no HAT was found on the header")

    def test_answers_that_change_with_the_overlay_do_not_restart_it_for_ever(self):
        self.new_board("is-silent-with-overlay;")
        self.assert_restarts("wm8804", "auto:hifiberry-digi:1")
        self.assert_restarts("", "auto::2")
        self.assert_stays("", "auto::2", "what is found on the header changes from start to start")


if __name__ == "__main__":
    unittest.main()
