"""What lies in the images, without starting them: sizes, the same bytes twice, overlays, bills of materials."""

import gzip
import hashlib
import json
import os
import re
import resource
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from firmware import dacs, disk, lists
from virtual_board.host import BUILD_LIMIT, run
from virtual_board.image_board import IMAGE, ROOT
from virtual_board.measures import report
from virtual_board.parts import long

CACHE = ROOT / "build/firmware-image"
OVERLAYS = sorted((ROOT / "board/overlays").glob("*.dts"))
#: Of all boards where HATs fit.
TREES = sorted({tree.removesuffix(".dtb") for path in (ROOT / "firmware-image/boards").glob("*/image.conf")
                if "dac-bus" in (settings := lists.settings(path)) for tree in settings["device-trees"].split()})

DTSCHEMA = ROOT / "build/dtschema/bin"
BINDINGS = ("sound", "regulator", "i2c")
#: The binding of the PCM5102A is a text that no program reads (sound/pcm5102a.txt); those of clocks are not read here,
#: and our own are comments in firmware-image/modules.
TEXT_ONLY = {f"{node}: failed to match any schema with compatible: ['{name}']" for node, name in (
    ("/dac-codec", "ti,pcm5102a"), ("/clock-dac", "fixed-clock"), ("/sound-dac", "tonearm,wm8804-card"),
    ("/sound-dac", "tonearm,pcm512x-card"), ("/oscillators-dac", "tonearm,pcm512x-oscillators"),
    ("/sound-dac", "tonearm,tas5711-card"), ("/sound-dac", "tonearm,da7213-card"))}
#: No binding has the type of a property in a node of ours.
OWN_PROPERTY = re.compile(r"\S+ \(tonearm,[^)]*\): \S+: .* is not of type ")

#: In bytes.
ROOT_LIMIT, IMAGE_LIMIT = 36_000_000, 40_000_000
#: In seconds of processors, so that it holds on a busy machine too.
PROCESSOR_LIMIT = 180


def processor_seconds():
    """What the processes that this one has started, and that have ended, have taken."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


class Files(unittest.TestCase):
    def test_the_image_is_small(self):
        root = (IMAGE / "root.squashfs").stat().st_size
        report("root file system", root / 1e6, "MB", ROOT_LIMIT / 1e6)
        self.assertLessEqual(root, ROOT_LIMIT)
        with next(IMAGE.glob("tonearm-virtual-*.img")).open("rb") as image:
            compressed = len(gzip.compress(image.read(), 6))
        report("compressed image", compressed / 1e6, "MB", IMAGE_LIMIT / 1e6)
        self.assertLessEqual(compressed, IMAGE_LIMIT)

    @long("image-boards", "builds the image again")
    def test_the_same_inputs_give_the_same_bytes(self):
        version = next(IMAGE.glob("tonearm-virtual-*.img")).stem.rpartition("-")[2]
        # U-Boot's header has the time: firmware-image/lib/firmware/uboot.py.
        epoch = int.from_bytes((IMAGE / "boot/boot.scr").read_bytes()[8:12], "big")
        environment = os.environ | {
            "PYTHONPATH": f"{ROOT / 'firmware-image/lib'}:{ROOT / 'Tests/VirtualBoard'}",
            "SOURCE_DATE_EPOCH": str(epoch), "TZ": "Asia/Tokyo",
        }
        before = processor_seconds()
        with tempfile.TemporaryDirectory() as folder:
            run(["python3", "-m", "firmware.build", "virtual", CACHE, Path(folder) / "out",
                 ROOT / "build/aarch64/tonearm", version],
                check=True, env=environment, umask=0o077, stdout=subprocess.DEVNULL,
                timeout=BUILD_LIMIT)
            seconds = processor_seconds() - before
            self.assertEqual(self.sums(Path(folder) / "out"), self.sums(IMAGE), "as firmware-image/build made it")
        report("processor time of a build", seconds, "s", PROCESSOR_LIMIT)
        self.assertLessEqual(seconds, PROCESSOR_LIMIT)

    @staticmethod
    def sums(folder):
        """The checksum of each file; the image itself has got its name."""
        sums = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir() if path.is_file()}
        return {re.sub(r"^tonearm-.*\.img$", "disk.img", name): value for name, value in sums.items()}

    def test_a_release_is_not_signed_with_the_key_of_the_tests(self):
        result = run([ROOT / "tools/release", "--key", ROOT / "firmware-image/test-key.pem", "virtual"],
                     capture_output=True, text=True)
        self.assertEqual(result.returncode, 1)
        self.assertIn("the key of the tests", result.stderr)

    def test_the_bill_of_materials_names_every_package(self):
        document = json.loads((IMAGE / "sbom.spdx.json").read_text())
        names = {package["name"] for package in document["packages"]}
        expected = {"tonearm", "tonearm-pictures", "busybox-static", "wpasupplicant", "libssl3", "u-boot-qemu"}
        self.assertLessEqual(expected, names)
        for package in document["packages"]:
            self.assertTrue(package["versionInfo"] and package["licenseComments"], package["name"])

    def test_the_bill_of_materials_names_modules_of_our_own(self):
        packages = json.loads((CACHE / "rpi3/sbom.spdx.json").read_text())["packages"]
        self.assertEqual([package["licenseDeclared"] for package in packages
                          if package["name"] == "tonearm-kernel-modules"], ["GPL-2.0-only"])

    def test_overlays_fit_debians_device_trees(self):
        self.assertEqual(len(TREES), 7)
        cards = {row["overlay"]: dacs.words(row, "card")[0] for row in dacs.sections(ROOT / "board/dacs").values()
                 if "overlay" in row}
        trees = next(CACHE.glob("packages/linux-image-*/usr/lib/linux-image-*/broadcom"))
        with tempfile.TemporaryDirectory() as folder:
            for source in OVERLAYS:
                overlay = Path(folder) / f"{source.stem}.dtbo"
                result = run(["dtc", "-@", "-I", "dts", "-O", "dtb", "-o", overlay, source],
                             capture_output=True, text=True)
                self.assertEqual((result.returncode, result.stderr), (0, ""), source.name)
                for tree in TREES:
                    with self.subTest(overlay=source.stem, tree=tree):
                        whole = Path(folder) / "whole.dtb"
                        run(["fdtoverlay", "-i", trees / f"{tree}.dtb", "-o", whole, overlay], check=True)
                        name = (self.property(whole, "/sound-dac", "simple-audio-card,name") or
                                self.property(whole, "/sound-dac", "model"))
                        # ALSA takes the letters and digits of a name, at most 15 of them, for the card's id.
                        self.assertEqual(re.sub("[^A-Za-z0-9]", "", name)[:15], cards[source.stem])
                        pins = "/soc/gpio@7e200000/pcm-gpio18"
                        self.assertEqual(self.property(whole, "/soc/i2s@7e203000", "pinctrl-0"),
                                         self.property(whole, pins, "phandle"))
                        self.assertEqual(self.property(whole, pins, "brcm,pins"), "18 19 20 21")

    @staticmethod
    def property(tree, node, name):
        """A property's value; nothing where the node has none."""
        return run(["fdtget", tree, node, name], capture_output=True, text=True).stdout.strip()

    def test_the_picture_of_a_display_has_memory(self):
        """Without one HDMI has no sound. docs/firmware-image.md has the table; its pictures have 2 bytes a pixel."""
        table = (ROOT / "docs/firmware-image.md").read_text()
        kept = {}
        for boards, width, height, size in re.findall(
                r"^\| ([^|]+) \| [^|]+ \| (\d+) × (\d+): [^|]+ \| (\d+) MB \|$", table, re.MULTILINE):
            # The rest is for the buffers of sound and USB.
            self.assertLessEqual(2 * int(width) * int(height) + 8_000_000, int(size) << 20, boards)
            kept |= dict.fromkeys(re.findall("`([^`]+)`", boards), f"cma={size}M")
        for path in (ROOT / "firmware-image/boards").glob("*/image.conf"):
            with self.subTest(path.parent.name):
                modules = {words[1] for line in (path.parent / "modules").read_text().splitlines()
                           if (words := line.split()) and words[0] in ("start", "also")}
                arguments = [word for word in lists.settings(path).get("arguments", "").split() if "cma" in word]
                self.assertEqual(arguments, [kept[path.parent.name]] if "vc4" in modules else [])
        self.assertIn(f" {kept['rpi3']} ".encode(), (CACHE / "rpi3/boot/boot.scr").read_bytes())

    def test_no_key_stops_u_boot(self):
        for path, size, silent in ((IMAGE / "flash.img", 0x40000, False),
                                   (CACHE / "rpi3/boot/uboot.env", 0x4000, True)):
            with self.subTest(path.name), path.open("rb") as file:
                pairs = dict(line.split("=", 1) for line in file.read(size)[4:].split(b"\0\0")[0].decode().split("\0"))
                self.assertEqual(pairs["bootdelay"], "-2")
                self.assertEqual([pairs.get(name) for name in ("stdin", "stdout", "stderr")],
                                 ["nulldev" if silent else None] * 3)
        # Built with the device that swallows everything, and with the console's device from the environment.
        configuration = gzip.decompress(
            next(CACHE.glob("packages/u-boot-rpi/usr/share/doc/u-boot-rpi/configs/config.rpi_3.gz")).read_bytes())
        for option in (b"CONFIG_SYS_DEVICE_NULLDEV=y", b"CONFIG_SYS_CONSOLE_IS_IN_ENV=y"):
            self.assertIn(option, configuration.splitlines())

    @long("image-boards", "builds three images and downloads packages")
    def test_a_raspberry_pi_gets_its_firmware_when_asked(self):
        # The file for this very board came with the package of backports.
        for board, wifi in (("rpi4", "brcmfmac43455-sdio.raspberrypi,4-model-b"),
                            ("rpi-zero2w", "brcmfmac43430-sdio.raspberrypi,model-zero-2-w"),
                            ("rpi5", "brcmfmac43455-sdio.raspberrypi,5-model-b")):
            with self.subTest(board), tempfile.TemporaryDirectory() as folder:
                image = Path(folder) / "image"
                run([ROOT / "firmware-image/build", "--board", board, "--with-non-free-firmware", "--no-build",
                     "--out", image], check=True, capture_output=True, timeout=BUILD_LIMIT)
                self.check_firmware(image, board, wifi)
                compressed = len(gzip.compress(image.read_bytes(), 6))
                report(f"compressed image of {board} with firmware", compressed / 1e6, "MB", IMAGE_LIMIT / 1e6)
                self.assertLessEqual(compressed, IMAGE_LIMIT)

    def check_firmware(self, image, board, wifi):
        settings = lists.settings(ROOT / f"firmware-image/boards/{board}/image.conf")
        starts = settings.get("gpu-firmware", "").split()
        for name in starts:
            written = run(["mtype", "-i", f"{image}@@{disk.BOOT.start}", f"::/{name}"], check=True,
                          capture_output=True).stdout
            file = CACHE / "packages/raspi-firmware/usr/lib/raspi-firmware" / name
            self.assertTrue(written == file.read_bytes(), name)
        root = image.with_name("root.squashfs")
        with image.open("rb") as file:
            file.seek(disk.SLOT_A.start)
            root.write_bytes(file.read(disk.HEADER))
        for name, least in ((f"{wifi.split('.')[0]}.bin", 100_000), (f"{wifi}.txt", 500)):
            content = run(["unsquashfs", "-cat", root, f"usr/lib/firmware/brcm/{name}"], check=True,
                          capture_output=True).stdout
            self.assertGreater(len(content), least, name)
        built = CACHE / board
        self.assertFalse((built / "boot/MISSING-FIRMWARE.txt").exists())
        names = {package["name"] for package in json.loads((built / "sbom.spdx.json").read_text())["packages"]}
        self.assertLessEqual({"firmware-brcm80211", *(["raspi-firmware"] if starts else [])}, names)

    def test_a_usb_dac_has_the_id_that_profiles_name(self):
        cards = {dacs.sections(ROOT / "board/usb-dac/board.conf")["sound"]["card"]}
        options = (ROOT / "firmware-image/root/etc/modprobe.d/sound.conf").read_text()
        self.assertEqual({re.search(r"^options snd-usb-audio id=(\S+)$", options, re.MULTILINE)[1]}, cards)

    def test_the_modules_beside_debians_fit_the_kernel(self):
        version = next(CACHE.glob("packages/linux-image-*/lib/modules/*")).name
        for name in ("snd-soc-pcm512x", "snd-soc-pcm512x-i2c", "snd-soc-tas571x", "snd-soc-da7213",
                     "tonearm-wm8804-card", "tonearm-pcm512x-card", "tonearm-tas5711-card", "tonearm-da7213-card"):
            module = CACHE / f"modules/{name}.ko"
            command = ["/sbin/modinfo", "-F", "vermagic", module]
            magic = run(command, check=True, capture_output=True, text=True).stdout
            self.assertEqual(magic.split()[0], version)
            # The path of the build would differ from machine to machine.
            content = module.read_bytes()
            self.assertNotIn(str(CACHE).encode(), content)
            self.assertNotIn(b".new/module/", content)

    @long("image-boards", "reads the bindings of the kernel")
    def test_overlays_follow_the_bindings(self):
        trees = next(CACHE.glob("packages/linux-image-*/usr/lib/linux-image-*/broadcom"))
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            bare = {tree: trees / f"{tree}.dtb" for tree in TREES}
            whole = {}
            for source in OVERLAYS:
                overlay = folder / f"{source.stem}.dtbo"
                run(["dtc", "-@", "-I", "dts", "-O", "dtb", "-o", overlay, source], check=True)
                for tree in TREES:
                    merged = whole[tree, source.stem] = folder / f"{tree}-{source.stem}.dtb"
                    run(["fdtoverlay", "-i", bare[tree], "-o", merged, overlay], check=True)
            mistaken = folder / "mistaken.dtb"
            shutil.copyfile(whole[TREES[0], "pcm512x"], mistaken)
            command = ["fdtput", "-t", "s", mistaken, "/sound-dac", "simple-audio-card,format", "i3s"]
            run(command, check=True)
            complaints = self.complaints(self.schema(folder), [*bare.values(), *whole.values(), mistaken])
            for (tree, overlay), path in whole.items():
                with self.subTest(overlay=overlay, tree=tree):
                    new = complaints[path] - complaints[bare[tree]] - TEXT_ONLY
                    self.assertEqual({text for text in new if not OWN_PROPERTY.match(text)}, set())
            self.assertTrue(any("i3s" in text for text in complaints[mistaken]), "a mistake is not seen")

    def schema(self, folder):
        """The kernel's bindings, as far as the overlays may touch them, in the form of dt-validate."""
        archive = next(CACHE.glob("packages/linux-source-*/usr/src/linux-source-*.tar.xz"))
        bindings = "Documentation/devicetree/bindings"
        run(["tar", "--extract", "--file", archive, "--directory", folder, "--strip-components=1",
             "--wildcards", *(f"linux-source-*/{bindings}/{part}/*" for part in BINDINGS)], check=True,
            timeout=BUILD_LIMIT)
        schema = folder / "schema.json"
        folders = [folder / bindings / part for part in BINDINGS]
        run([DTSCHEMA / "dt-mk-schema", "-j", "-o", schema, *folders], check=True, capture_output=True,
            timeout=BUILD_LIMIT)
        return schema

    def complaints(self, schema, trees):
        """What dt-validate says of each device tree: one process, because reading the schema takes longer than that."""
        result = run([DTSCHEMA / "dt-validate", "-m", "-s", schema, *trees], capture_output=True, text=True,
                     timeout=BUILD_LIMIT)
        complaints = {tree: set() for tree in trees}
        for line in (result.stdout + result.stderr).splitlines():
            tree = next((tree for tree in trees if line.startswith(f"{tree}: ")), None)
            if tree:
                complaints[tree].add(line.removeprefix(f"{tree}: "))
        return complaints


if __name__ == "__main__":
    unittest.main()
