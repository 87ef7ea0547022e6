"""The scripts that choose and take Debian's packages for an image, by themselves."""

import datetime
import os
import re
import shutil
import tempfile
import unittest
from pathlib import Path

from virtual_board.host import run
from virtual_board.script_root import ROOT

#: Debian's packages, without one of them: `PACKAGE` or `PACKAGE=VERSION`.
CACHE = """#!/bin/sh
for package in "$@"; do :; done
if [ "$1" = search ]; then
    for kernel in $KERNELS; do printf 'linux-image-%s-arm64\nlinux-binary-%s-arm64\n' "$kernel" "$kernel"; done |
        grep -E "$package" | sed 's/$/ - Linux/'
    exit
fi
case $package in "$MISSING"*) exit 100 ;; esac
echo "Version: 1-2"
echo "Size: 3"
echo "SHA256: abc"
"""


class Packages(unittest.TestCase):
    """What of the build runs without Debian's mirror."""

    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="image-scripts-"))
        self.addCleanup(shutil.rmtree, self.folder)
        for name in ("pin", "build", "packages.list", "packages.modules", "packages.non-free",
                     "packages.trixie"):
            self.copy(f"firmware-image/{name}")
        self.copy("tools/lib/common.sh")
        self.copy("Sources/tonearm/Version.swift")
        for name, text in (("firmware-image/lib/apt.sh", "make_image_apt() { :; }\n"),
                           ("firmware-image/boards/test/image.conf", ""), ("tools/setup", "#!/bin/sh\n"),
                           ("build/aarch64/tonearm", ""), ("build/aarch64/tonearm-pictures", ""),
                           ("bin/apt-cache", CACHE)):
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            path.chmod(0o755)
        self.lock = self.folder / "firmware-image/packages.lock"

    def copy(self, name):
        (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, self.folder / name)

    def run_script(self, *words, missing="nothing", kernels=""):
        environment = {"PATH": f"{self.folder}/bin:{os.environ['PATH']}", "MISSING": missing, "KERNELS": kernels,
                       "SOURCE_DATE_EPOCH": "0"}
        return run([self.folder / "firmware-image" / words[0], *words[1:]], capture_output=True, text=True,
                   env=os.environ | environment)

    def test_every_package_gets_a_version(self):
        result = self.run_script("pin")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        lines = self.lock.read_text().splitlines()[1:]
        self.assertIn("busybox-static 1-2 abc 3", lines)
        self.assertTrue(all(line.endswith(" 1-2 abc 3") for line in lines))

    def test_a_missing_package_is_named_and_leaves_the_list_as_it_is(self):
        for missing in ("busybox-static", "linux-image-", "raspi-firmware"):
            with self.subTest(missing):
                self.lock.write_text("before\n")
                result = self.run_script("pin", missing=missing)
                self.assertEqual(result.returncode, 1)
                self.assertIn(f"firmware-image/pin: {missing}", result.stderr)
                self.assertIn("is missing in Debian 12", result.stderr)
                self.assertIn("packages.list, .modules, .non-free or .trixie", result.stderr)
                self.assertEqual(self.lock.read_text(), "before\n")
                self.assertFalse(self.lock.with_suffix(".lock.new").exists())

    def test_the_newest_kernel_of_all_suites_is_taken(self):
        old = re.search(r"^linux-image-(.*)-arm64:", (self.folder / "firmware-image/packages.list").read_text(),
                        re.MULTILINE)[1]
        new = f"{old.partition('+')[0].rpartition('.')[0]}.1000+deb12"
        # Of Debian 13 the newest of all series; of Debian 12, nothing from there.
        of_13 = f"{old.partition('+')[0]}000+deb13"
        result = self.run_script("pin", kernels=f"{new} {old} {old}.1 {of_13} 1000.1.2+deb13 1000.1.3+deb12")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertIn(f"the kernel is now {new}", result.stdout)
        for name in ("trixie", "lock"):
            text = (self.folder / f"firmware-image/packages.{name}").read_text()
            for part in ("modules", "binary", "base"):
                self.assertIn(f"linux-{part}-1000.1.2+deb13-arm64", text)
            self.assertIn("u-boot-rpi@trixie", text)
        for name in ("list", "modules", "lock"):
            text = (self.folder / f"firmware-image/packages.{name}").read_text()
            self.assertIn(f"linux-{'headers' if name == 'modules' else 'image'}-{new}-arm64", text)
            self.assertNotIn(old, text)

    def test_a_list_that_is_behind_for_long_is_refused(self):
        self.run_script("pin")
        lock = self.lock.read_text()
        today = datetime.date.today()
        for days, version, kernels, code in ((14, "0-1", "", 0), (15, "0-1", "", 1), (15, "1-2", "", 0),
                                             (15, "1-2", "6.12.1000+deb12", 1)):
            with self.subTest(days=days, version=version, kernels=kernels):
                written = today - datetime.timedelta(days)
                self.lock.write_text(re.sub(r" on [0-9-]+:", f" on {written}:", lock)
                                     .replace("busybox-static 1-2", f"busybox-static {version}"))
                before = self.lock.read_text()
                result = self.run_script("pin", "--check", kernels=kernels)
                self.assertEqual(result.returncode, code, result.stderr)
                self.assertEqual("busybox-static is 0-1; newest: 1-2" in result.stderr, version == "0-1")
                self.assertEqual(self.lock.read_text(), before)

    def test_a_package_without_a_checksum_is_not_taken(self):
        self.lock.write_text("busybox-static \n")
        result = self.run_script("build", "--board", "test", "--no-build")
        self.assertEqual(result.returncode, 1)
        self.assertIn("busybox-static has no version and checksum in packages.lock", result.stderr)

    def test_packages_that_the_list_has_no_more_are_removed(self):
        self.lock.write_text("busybox-static 1-2 abc 3\nlinux-kbuild-2/amd64 1-2 abc 3\n")
        packages = self.folder / "build/firmware-image/packages"
        for name in ("busybox-static", "linux-kbuild-1", "linux-kbuild-2", "linux-image-1+deb12"):
            (packages / name).mkdir(parents=True)
            (packages / f"{name}.sum").write_text("abc\n")
        self.run_script("build", "--board", "test", "--no-build")
        self.assertEqual(sorted(path.name for path in packages.iterdir()),
                         ["busybox-static", "busybox-static.sum", "linux-kbuild-2", "linux-kbuild-2.sum"])


if __name__ == "__main__":
    unittest.main()
