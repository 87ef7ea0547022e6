"""What lies in the images, without starting them: sizes, the same bytes twice, overlays, bills of materials."""

import gzip
import hashlib
import json
import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from virtual_board.image_board import IMAGE, ROOT

CACHE = ROOT / "build/firmware-image"
OVERLAYS = sorted((ROOT / "board/overlays").glob("*.dts"))
#: Of each board with a header.
TREES = ("bcm2837-rpi-3-b", "bcm2837-rpi-3-b-plus", "bcm2711-rpi-4-b", "bcm2837-rpi-zero-2-w")

#: In bytes.
ROOT_LIMIT, IMAGE_LIMIT = 36_000_000, 40_000_000


class Files(unittest.TestCase):
    def test_the_image_is_small(self):
        root = (IMAGE / "root.squashfs").stat().st_size
        print(f"root {root / 1e6:.1f} MB (at most {ROOT_LIMIT / 1e6:.0f}) ", end="")
        self.assertLessEqual(root, ROOT_LIMIT)
        with next(IMAGE.glob("tonearm-virtual-*.img")).open("rb") as image:
            compressed = len(gzip.compress(image.read(), 6))
        print(f"image {compressed / 1e6:.1f} MB compressed (at most {IMAGE_LIMIT / 1e6:.0f}) ", end="")
        self.assertLessEqual(compressed, IMAGE_LIMIT)

    def test_the_same_inputs_give_the_same_bytes(self):
        sums = []
        environment = os.environ | {
            "PYTHONPATH": f"{ROOT / 'firmware-image/lib'}:{ROOT / 'Tests/VirtualBoard'}",
            "SOURCE_DATE_EPOCH": "1790000000",
        }
        # As U-Boot's images have a name and a time, and each file system has an identity.
        for zone, mask in (("UTC", 0o022), ("Asia/Tokyo", 0o077)):
            with tempfile.TemporaryDirectory() as folder:
                subprocess.run(
                    ["python3", "-m", "firmware.build", "virtual", CACHE, Path(folder) / "out",
                     ROOT / "build/aarch64/tonearm", "1.2.3"],
                    check=True, env=environment | {"TZ": zone}, umask=mask, stdout=subprocess.DEVNULL)
                sums.append({path.name: hashlib.sha256(path.read_bytes()).hexdigest()
                             for path in (Path(folder) / "out").iterdir() if path.is_file()})
        self.assertEqual(sums[0], sums[1])

    def test_the_bill_of_materials_names_every_package(self):
        document = json.loads((IMAGE / "sbom.spdx.json").read_text())
        names = {package["name"] for package in document["packages"]}
        self.assertLessEqual({"tonearm", "busybox-static", "wpasupplicant", "libssl3", "u-boot-qemu"}, names)
        for package in document["packages"]:
            self.assertTrue(package["versionInfo"] and package["licenseComments"], package["name"])

    def test_overlays_fit_debians_device_trees(self):
        self.assertEqual(len(OVERLAYS), 4)
        trees = next(CACHE.glob("packages/linux-image-*/usr/lib/linux-image-*/broadcom"))
        with tempfile.TemporaryDirectory() as folder:
            for source in OVERLAYS:
                overlay = Path(folder) / f"{source.stem}.dtbo"
                result = subprocess.run(["dtc", "-@", "-I", "dts", "-O", "dtb", "-o", overlay, source],
                                        capture_output=True, text=True)
                self.assertEqual((result.returncode, result.stderr), (0, ""), source.name)
                for tree in TREES:
                    with self.subTest(overlay=source.stem, tree=tree):
                        whole = Path(folder) / "whole.dtb"
                        subprocess.run(["fdtoverlay", "-i", trees / f"{tree}.dtb", "-o", whole, overlay], check=True)
                        name = subprocess.run(["fdtget", whole, "/sound-dac", "simple-audio-card,name"], check=True,
                                              capture_output=True, text=True).stdout.strip()
                        # ALSA takes the letters and digits of a name, at most 15 of them, for the card's id.
                        self.assertEqual(name.replace("_", "")[:15], "sndrpihifiberry")

    def test_the_driver_for_the_pcm512x_fits_the_kernel(self):
        version = next(CACHE.glob("packages/linux-image-*/lib/modules/*")).name
        for name in ("snd-soc-pcm512x", "snd-soc-pcm512x-i2c"):
            module = CACHE / f"modules/{name}.ko"
            command = ["/sbin/modinfo", "-F", "vermagic", module]
            magic = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            self.assertEqual(magic.split()[0], version)

    @unittest.skipUnless(shutil.which("dt-validate"), "dt-validate is not installed (PyPI: dtschema)")
    def test_overlays_follow_the_bindings(self):
        self.skipTest("the bindings are not unpacked")


if __name__ == "__main__":
    unittest.main()
