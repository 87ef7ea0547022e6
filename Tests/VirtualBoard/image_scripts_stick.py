"""The firmware image's scripts for sticks, and for what is wrong, by themselves."""

import unittest

from virtual_board.script_root import ScriptRoot

#: Says of each medium what its file in `media-properties` has: lines PROPERTY=VALUE.
BLKID = """
for last in "$@"; do :; done
sed -n "s/^$5=//p" "FOLDER/run/media-properties/${last##*/}"
"""


class Stick(unittest.TestCase):
    def setUp(self):
        self.root = ScriptRoot(self)
        self.root.program("blkid", BLKID.replace("FOLDER", str(self.root.folder)))
        self.root.program("dd", "")
        self.root.program("mount", "! grep -q damaged=yes \"" + str(self.root.folder)
                          + "/run/media-properties/${5##*/}\"")
        self.root.program("usleep", "exec /bin/sleep 0.01")

    def plug(self, device, **properties):
        """Plugs a medium in; the folder that it was mounted at, or None."""
        before = set(self.mounted())
        count = self.entered(device)
        self.root.write(f"run/media-properties/{device}",
                        "".join(f"{name}={value}\n" for name, value in properties.items()))
        self.root.run("stick", ACTION="add", MDEV=device)
        self.root.wait_until(lambda: self.entered(device) != count or f"stick-{device}=" in self.problems())
        return next(iter(set(self.mounted()) - before), None)

    def entered(self, device):
        return (self.root.read("kmsg") or "").count(f"/dev/{device} is at")

    def mounted(self):
        folder = self.root.folder / "run/media"
        return [path.name for path in folder.iterdir()] if folder.exists() else []

    def problems(self):
        return self.root.read("run/system/problems") or ""

    def test_the_label_becomes_the_name_in_any_alphabet(self):
        for number, (label, name) in enumerate((
            ("МУЗЫКА", "МУЗЫКА"), ("MY MUSIC", "MY_MUSIC"), ("Zoë’s", "Zoë’s"), (".hidden", "_hidden"), ("a/b", "a_b"),
            ("音楽", "音楽"), ("c\u202ed", "c_d"), ("", "sd8"),
        )):
            with self.subTest(label):
                found = self.plug(f"sd{number + 1}", TYPE="vfat", LABEL=label, UUID=f"000{number}-AB")
                self.assertEqual(found, name)
        self.assertEqual(self.problems(), "")

    def test_two_with_one_label_keep_their_names_whichever_comes_first(self):
        first, second = ({"TYPE": "ext4", "LABEL": "MUSIC", "UUID": uuid} for uuid in ("1234-ABCD", "5678-EF01"))
        self.assertEqual(self.plug("sda1", **first), "MUSIC")
        self.assertEqual(self.plug("sdb1", **second), "MUSIC-5678EF01")
        for name in self.mounted():
            (self.root.folder / "run/media" / name).rmdir()
        self.assertEqual(self.plug("sdc1", **second), "MUSIC-5678EF01")
        self.assertEqual(self.plug("sdd1", **first), "MUSIC")

    def test_what_cannot_be_read_is_a_problem_with_the_way_out_until_it_is_gone(self):
        for properties, text in (
            ({"TYPE": "minix", "LABEL": "OLD"}, 'The stick "OLD" (sda1) has the file system minix, which is not'),
            ({"TYPE": "hfsplus"}, "The stick (sda1) has the file system hfsplus, which is not supported. Format it"),
            ({"TYPE": "vfat", "damaged": "yes"}, "The stick (sda1) cannot be read: its file system (vfat) is damaged."),
            ({}, "The stick (sda1) has no file system that is known. Format it as FAT"),
        ):
            with self.subTest(properties):
                self.assertIsNone(self.plug("sda1", **properties))
                self.assertIn(f"stick-sda1={text}", self.problems())
                self.root.run("stick", ACTION="remove", MDEV="sda1")
                self.assertEqual(self.problems(), "")
        # A disk with a table of partitions.
        self.root.write("run/media-properties/sdb", "PTTYPE=dos\n")
        self.root.run("stick", ACTION="add", MDEV="sdb")
        self.root.wait_until(lambda: sum("PTTYPE" in line for line in self.root.calls) > 1)
        self.assertEqual(self.problems(), "")


class Problem(unittest.TestCase):
    def test_each_name_has_its_lines_and_they_end_by_themselves(self):
        root = ScriptRoot(self)
        root.run("problem", "card", "The card is worn out.")
        root.run("problem", "files", "a: one\nb: two")
        root.run("problem", "card-reader", "other")
        self.assertEqual(root.read("run/system/problems"),
                         "card=The card is worn out.\nfiles=a: one\nfiles=b: two\ncard-reader=other\n")
        root.run("problem", "card")
        root.run("problem", "files", "a: one")
        self.assertEqual(root.read("run/system/problems"), "card-reader=other\nfiles=a: one\n")

    def test_mistakes_are_told_also_where_the_boot_partition_is_full(self):
        root = ScriptRoot(self)
        root.program("tonearm", "")
        root.program("cp", 'case $2 in */boot/*) : >"$2"; exit 1 ;; esac\nexec /bin/cp "$@"')
        root.write("boot/tonearm.conf", "[image]\nname = my kitchen\n")
        root.write("boot/token", "secret")
        root.write("run/report", "The card is full.\n")
        root.run("configuration")
        problems = root.read("run/system/problems")
        self.assertIn("configuration=tonearm.conf:2: name is letters, digits and -\n", problems)
        self.assertIn("files=token: it is not used, because its name should be token.txt.", problems)
        self.assertEqual((root.folder / "run/system/report").read_text(), "The card is full.\n")


if __name__ == "__main__":
    unittest.main()
