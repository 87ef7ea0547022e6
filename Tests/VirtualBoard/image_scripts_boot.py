"""The firmware image's script that mounts the boot partition and repairs it, by itself."""

import unittest

from firmware import disk, uboot
from virtual_board.script_root import ScriptRoot

SCRIPT = uboot.image(b"what U-Boot does", uboot.SCRIPT, "Tonearm", time=1)
SKELETON = b"a whole FAT".ljust(512) + b"\xf8\xff"

#: A partition can be mounted when it begins like one; what is there is the folder itself.
MOUNT = """
case "$*" in
*remount*) ;;
*) [ "$(head -c 11 /run/partition)" = "a whole FAT" ] || exit 32
   echo "part /boot vfat" >>/proc/mounts ;;
esac
"""


class BootPartition(unittest.TestCase):
    def setUp(self):
        self.root = ScriptRoot(self)
        folder = self.root.folder
        self.root.write("run/disk", f"disk={folder}/disk\nslot=a\nboot={folder}/run/partition\ndata=/dev/data\n")
        with (folder / "disk").open("wb") as file:
            file.seek(disk.BOOT_SCRIPT)
            file.write(SCRIPT)
            file.truncate(disk.BOOT.start)
        skeleton = folder / "skeleton"
        skeleton.write_bytes(SKELETON)
        text = (folder / "usr/lib/tonearm/boot-partition").read_text()
        self.root.script("boot-partition", text.replace("/usr/share/tonearm/boot.fat", str(skeleton)))
        self.root.write("proc/mounts", "")
        self.root.program("mount", MOUNT)
        self.root.program("umount", "echo >/proc/mounts")
        self.root.program("fsck.fat", "")
        self.partition = folder / "run/partition"
        self.partition.write_bytes(SKELETON + b" of a card")
        (folder / "boot/boot.scr").write_bytes(SCRIPT)
        self.root.write("boot/tonearm.conf", "[image]\nname = mine\n")
        self.root.write("data/system/tonearm.conf", "[image]\nname = before\n")

    def attach(self):
        """What is reported after an `attach` and a `settings`."""
        for word in ("attach", "settings"):
            result = self.root.run("boot-partition", word)
            self.assertEqual((result.returncode, result.stderr), (0, ""))
        return self.root.read("run/report") or ""

    def has_checked(self):
        return any(line.startswith("fsck.fat") for line in self.root.calls)

    def test_a_whole_one_is_not_checked(self):
        self.assertEqual(self.attach(), "")
        self.assertFalse(self.has_checked())

    def test_a_damaged_script_is_written_again(self):
        script = self.root.folder / "boot/boot.scr"
        for damaged in (None, b"", SCRIPT[:-1]):
            script.unlink()
            if damaged is not None:
                script.write_bytes(damaged)
            self.assertIn("has been written again", self.attach())
            self.assertEqual(script.read_bytes(), SCRIPT)
        self.assertTrue(self.has_checked())
        self.assertIn("mine", self.root.read("boot/tonearm.conf"))
        self.assertIsNotNone(self.root.read("run/boot-repaired"))

    def test_one_that_cannot_be_repaired_is_made_anew_with_the_last_settings(self):
        self.root.write("run/partition", "\0" * 100)
        (self.root.folder / "boot/boot.scr").unlink()
        (self.root.folder / "boot/tonearm.conf").unlink()
        self.assertIn("made anew", self.attach())
        self.assertTrue((self.root.folder / "run/partition").read_bytes().startswith(SKELETON))
        self.assertEqual((self.root.folder / "boot/boot.scr").read_bytes(), SCRIPT)
        self.assertIn("before", self.root.read("boot/tonearm.conf"))

    def test_tables_without_their_beginning_are_made_anew_with_what_can_be_read(self):
        self.partition.write_bytes(SKELETON[:512] + bytes(100))
        (self.root.folder / "boot/boot.scr").write_bytes(b"")
        self.assertIn("made anew", self.attach())
        self.assertTrue(self.partition.read_bytes().startswith(SKELETON))
        self.assertIn("mine", self.root.read("boot/tonearm.conf"))

    def test_it_is_not_made_anew_after_a_read_error_nor_without_a_copy(self):
        self.root.write("run/partition", "\0" * 100)
        self.root.program("dd", 'case "$*" in *of=/dev/null*) exit 1 ;; esac\nexec /bin/dd "$@"')
        for is_there in (True, False):
            if not is_there:
                (self.root.folder / "bin/dd").unlink()
                (self.root.folder / "disk").write_bytes(bytes(disk.BOOT.start))
            self.assertEqual(self.attach(), "")
            self.assertEqual(self.root.read("run/partition"), "\0" * 100)
            self.assertIsNotNone(self.root.read("run/boot-missing"))

    def test_a_card_without_a_copy_keeps_its_script(self):
        (self.root.folder / "disk").write_bytes(bytes(disk.BOOT.start))
        (self.root.folder / "boot/boot.scr").write_bytes(b"of another version")
        self.assertEqual(self.attach(), "")
        self.assertEqual((self.root.folder / "boot/boot.scr").read_bytes(), b"of another version")


if __name__ == "__main__":
    unittest.main()
