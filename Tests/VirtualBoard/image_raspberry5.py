"""The image of the Raspberry Pi 5, without starting it: QEMU has no model of it. What U-Boot, the kernel and the device
trees need is there."""

import gzip
import re
import struct
import unittest

from firmware import kernel, lists, uboot
from firmware.tree import Modules
from virtual_board.host import run
from virtual_board.image_board import ROOT, disk
from virtual_board.parts import long

CACHE = ROOT / "build/firmware-image"
IMAGE = CACHE / "rpi5"
BOARD = ROOT / "firmware-image/boards/rpi5"
U_BOOT = CACHE / "packages/u-boot-rpi@trixie/usr"
#: What a player does without: displays, cameras, the second source of random numbers, Bluetooth, the power button, I2C.
NOT_NEEDED = {"vc4", "v3d", "rp1_cfe", "pisp_be", "iproc_rng200", "hci_uart", "gpio_keys", "i2c_designware_platform"}
#: What `boot.cmd` and uboot.env use of U-Boot.
OPTIONS = ("CMD_BOOTM", "CMD_ECHO", "CMD_EXPORTENV", "CMD_FDT", "CMD_FS_GENERIC", "CMD_IMPORTENV", "CMD_ITEST",
           "CMD_MMC", "CMD_PART", "CMD_RUN", "CMD_SETEXPR", "CMD_SLEEP", "CMD_SOURCE", "ENV_IS_IN_FAT", "GZIP",
           "HUSH_PARSER", "LEGACY_IMAGE_FORMAT", "MMC_SDHCI_BCMSTB", "SYS_CONSOLE_IS_IN_ENV", "SYS_DEVICE_NULLDEV")


@long("image-boards", "the image is built there alone")
class RaspberryPi5(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.settings = lists.settings(BOARD / "image.conf")
        cls.linux = kernel.of(cls.settings, CACHE)
        version = cls.linux.modules_package.removeprefix("linux-modules-")
        cls.image = (cls.linux.folder / f"boot/vmlinuz-{version}").read_bytes()
        cls.trees = [cls.linux.folder / f"usr/lib/linux-image-{version}/broadcom" / name
                     for name in cls.settings["device-trees"].split()]

    def test_its_u_boot_can_do_what_the_boot_script_wants(self):
        configuration = gzip.decompress((U_BOOT / "share/doc/u-boot-rpi/configs/config.rpi_arm64.gz").read_bytes())
        lines = configuration.decode().splitlines()
        self.assertEqual([option for option in OPTIONS if f"CONFIG_{option}=y" not in lines], [])
        self.assertIn(f"CONFIG_ENV_SIZE={(IMAGE / 'boot/uboot.env').stat().st_size:#x}", lines)
        self.assertIn(b"brcm,bcm2712-sdhci", (IMAGE / "boot/u-boot.bin").read_bytes())

    def test_kernel_and_initramfs_fit_in_memory(self):
        """Of the kernel's header: where its end is in memory (Documentation/arch/arm64/booting.rst)."""
        size, = struct.unpack("<Q", self.image[16:24])
        place = {name: int(self.settings[name], 16) for name in ("load", "work", "kernel", "ramdisk")}
        self.assertLessEqual(place["load"] + size, place["work"])
        header = (IMAGE / "slot.img").read_bytes()[disk.HEADER + 4:disk.HEADER + uboot.STATE_SIZE]
        values = dict(line.split("=", 1) for line in header.split(b"\0\0", 1)[0].decode().split("\0"))
        sectors = int(values["kernel_sectors"], 16)
        self.assertLessEqual(place["kernel"] + sectors * disk.SECTOR, place["ramdisk"])

    def test_the_boot_partition_has_its_own_parts_alone(self):
        names = {path.name for path in (IMAGE / "boot").iterdir()}
        self.assertEqual(names, {"boot.scr", "config.txt", "tonearm.conf", "u-boot.bin", "uboot.env",
                                 *(tree.name for tree in self.trees)})
        for name, origin in (("u-boot.bin", U_BOOT / "lib/u-boot/rpi_arm64/u-boot.bin"), *(
                (tree.name, tree) for tree in self.trees)):
            self.assertTrue((IMAGE / "boot" / name).read_bytes() == origin.read_bytes(), name)
        self.assertIn("Raspberry Pi OS", (IMAGE / "root/etc/no-dac").read_text())
        self.assertFalse((IMAGE / "root/etc/dac-bus").exists())

    def test_every_part_of_the_board_has_its_driver(self):
        """Drivers that the kernel's modules have for the device trees are in the image, but for those without use."""
        Modules(self.linux.folder, None)
        indexed = next(self.linux.folder.glob("lib/modules/*/modules.alias")).read_text()
        aliases = [line.split() for line in indexed.splitlines() if line.startswith("alias of:")]
        there = {path.stem.replace("-", "_") for path in (IMAGE / "root/usr/lib/modules").rglob("*.ko")}
        for tree in self.trees:
            command = ["dtc", "-q", "-I", "dtb", "-O", "dts", tree]
            source = run(command, check=True, capture_output=True, text=True).stdout
            names = {name for text in re.findall(r'compatible = "(.*)";', source)
                     for name in re.split(r'\\0|", "', text)}
            wanted = {module for _, alias, module in aliases if alias.rpartition("C")[2] in names}
            with self.subTest(tree.name):
                # Once HDMI has DMA, it can have sound: then vc4 belongs into the image.
                self.assertNotIn("dmas = ", source)
                self.assertLessEqual({"sdhci_brcmstb", "macb", "dwc3", "pinctrl_rp1"}, wanted)
                self.assertEqual(wanted - there - NOT_NEEDED, set())


if __name__ == "__main__":
    unittest.main()
