"""What tools/release has the images built with, and what it says. Its tools only write down how they were called."""

import os
import shutil
import tempfile
import unittest
from pathlib import Path

from firmware import disk, keys
from virtual_board.host import run

ROOT = Path(__file__).parents[2]

#: Stands for firmware-image/build: `--board NAME …`.
BUILD = """
echo "$* key=${TONEARM_UPDATE_KEY:-}" >>"$(dirname "$0")/calls"
[ -z "${TONEARM_UPDATE_KEY:-}" ] || cp "$TONEARM_UPDATE_KEY" "$(dirname "$0")/key" 2>/dev/null
folder=$(dirname "$0")/../build/firmware-image/$2
mkdir -p "$folder/boot"
case $* in *--with-non-free-firmware*) ;; *) echo start.elf >"$folder/boot/MISSING-FIRMWARE.txt" ;; esac
echo image >"$folder/tonearm-$2-1.2.3.img"
echo bill >"$folder/sbom.spdx.json"
echo sizes >"$folder/sizes.txt"
cp "$(dirname "$0")/slot.img" "$folder/slot.img"
"""
#: Stand for the tools that build engines and packages.
CROSS = """
mkdir -p "$(dirname "$0")/../build/aarch64"
for program in tonearm tonearm-pictures; do echo "$program" >"$(dirname "$0")/../build/aarch64/$program"; done
"""
PACKAGE = 'cd "$(dirname "$0")/.." && mkdir -p build/package && echo package >"build/package/$(basename "$0").deb"'


class Release(unittest.TestCase):
    def setUp(self):
        self.root = Path(tempfile.mkdtemp(prefix="image-release-"))
        self.addCleanup(shutil.rmtree, self.root)
        for name in ("tools/lib", "firmware-image/boards/rpi4"):
            (self.root / name).mkdir(parents=True)
        for name in ("tools/release", "tools/lib/common.sh", "firmware-image/test-key.pem"):
            shutil.copy(ROOT / name, self.root / name)
        shutil.copytree(ROOT / "firmware-image/lib", self.root / "firmware-image/lib",
                        ignore=shutil.ignore_patterns("__pycache__"))
        (self.root / "firmware-image/boards/rpi4/image.conf").write_text("")
        (self.root / "firmware-image/slot.img").write_bytes(disk.slot(b"root", b"kernel", b"ramdisk", "1.2.3"))
        for name, script in (("firmware-image/build", BUILD), ("tools/setup", ""), ("tools/cross", CROSS),
                             ("tools/package", PACKAGE), ("tools/package-origin", PACKAGE)):
            (self.root / name).write_text(f"#!/bin/sh\n{script}\n")
            (self.root / name).chmod(0o755)

    def release(self, *words):
        environment = {name: value for name, value in os.environ.items() if not name.startswith("TONEARM_")}
        result = run([self.root / "tools/release", *words], capture_output=True, text=True, env=environment)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout + result.stderr

    def built(self):
        return (self.root / "firmware-image/calls").read_text()

    def files(self):
        return {path.name for path in (self.root / "build/release").iterdir()}

    def test_an_unsigned_release_trusts_no_key(self):
        self.release("--unsigned")
        self.assertIn("key=none", self.built())
        self.assertNotIn("tonearm-rpi4-1.2.3.update", self.files())
        self.assertLessEqual({"tonearm-rpi4-1.2.3.spdx.json", "tonearm-rpi4-1.2.3.sizes.txt"}, self.files())
        self.assertLessEqual({"package.deb", "package-origin.deb"}, self.files())

    def test_a_signed_release_trusts_its_own_key(self):
        key = self.root / "own.pem"
        run(["openssl", "ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", key], check=True,
            capture_output=True)
        self.release("--key", key)
        public = run(["openssl", "pkey", "-in", key, "-pubout"], check=True, capture_output=True).stdout
        self.assertEqual((self.root / "firmware-image/key").read_bytes(), public)
        self.assertIn("tonearm-rpi4-1.2.3.update", self.files())

    def test_what_a_raspberry_pi_needs_is_taken_when_asked_for(self):
        said = self.release("--unsigned", "--with-non-free-firmware", "rpi4")
        self.assertIn("--board rpi4 --no-build --with-non-free-firmware ", self.built())
        self.assertNotIn("do not start", said)

    def test_without_it_the_release_says_what_is_missing(self):
        said = self.release("--unsigned")
        self.assertNotIn("--with-non-free-firmware", self.built())
        self.assertIn("the images for rpi4 do not start by themselves", said)
        self.assertIn("tonearm-rpi4-1.2.3.MISSING-FIRMWARE.txt", self.files())


class Keys(unittest.TestCase):
    def test_an_image_trusts_the_key_that_is_named(self):
        self.assertIsNone(keys.trusted("none"))
        tests = keys.trusted(None)
        self.assertEqual((len(tests), tests[:2]), (130, "04"))
        with tempfile.TemporaryDirectory() as folder:
            private, public = Path(folder) / "key", Path(folder) / "public"
            for curve, is_right in (("prime256v1", True), ("secp384r1", False)):
                run(["openssl", "ecparam", "-name", curve, "-genkey", "-noout", "-out", private], check=True,
                    capture_output=True)
                run(["openssl", "pkey", "-in", private, "-pubout", "-out", public], check=True)
                if is_right:
                    self.assertNotEqual(keys.trusted(str(public)), tests)
                else:
                    with self.assertRaises(ValueError):
                        keys.trusted(str(public))


if __name__ == "__main__":
    unittest.main()
