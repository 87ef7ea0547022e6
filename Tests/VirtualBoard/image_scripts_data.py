"""The firmware image's script that checks the data partition, by itself, on file systems of this machine."""

import shutil
import tempfile
import unittest
from pathlib import Path

from virtual_board.host import run
from virtual_board.script_root import ScriptRoot

BLOCK = 4096
#: Three groups of blocks, so one copy of the superblock.
SIZE = 320 << 20
GROUP = 32768 * BLOCK
#: Of a partition that can be written, a line of run/mounted; few writes for the card's sake.
MOUNTED = "ext4 errors=remount-ro,commit=300,noinit_itable"

#: Stands for mount(8): what debugfs can read can be mounted. Each mounted file system is a line of run/mounted.
MOUNT = """
case "$*" in
*ext4*) ;;
*remount*) exit ;;
*) echo "$*" >>/run/mounted && exit ;;
esac
options=${4#*nodev,}
[ ! -e /run/no-writing ] || case $options in ro,*) ;; *) exit 32 ;; esac
copy=
case $options in *,sb=*) copy="-b 4096 -s $((${options##*sb=} / 4))" ;; esac
case $options in ro,*) place=/music ;; *) place=/ ;; esac
! debugfs -c $copy -R "ls $place" "$5" 2>&1 | grep -q -i -E "error|not found|not open|magic|corrupt" || exit 32
echo "ext4 $options" >>/run/mounted
"""

#: Stands for `slots`: the variables of the boot state are lines of run/state.
SLOTS = """
case $1 in
show) cat /run/state ;;
set) [ ! -e /run/no-state ] && echo "$2" >/run/state ;;
esac
"""


class Data(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = Path(tempfile.mkdtemp(prefix="image-data-"))
        cls.addClassCleanup(shutil.rmtree, folder)
        for number in range(10):
            path = folder / f"content/music/Album {number}/1.flac"
            path.parent.mkdir(parents=True)
            path.write_bytes(bytes([number]) * 20_000)
        cls.in_use = folder / "in-use"
        run(["mke2fs", "-q", "-F", "-t", "ext4", "-b", str(BLOCK), "-d", folder / "content", cls.in_use,
             f"{SIZE >> 20}M"], check=True)

    def setUp(self):
        self.root = ScriptRoot(self)
        self.partition = self.root.folder / "partition"
        with self.partition.open("wb") as file:
            file.truncate(SIZE)
        self.root.write("run/disk", f"disk=/dev/disk\nslot=a\nboot=/dev/boot\ndata={self.partition}\ngrown=\n")
        self.root.write("sys/class/block/partition/size", f"{SIZE // 512}\n")
        self.root.write("run/state", "data=made\n")
        self.root.program("mount", MOUNT)
        self.root.program("fallocate", "")
        self.root.program("modprobe", "")
        # The host may have no ext4.
        self.root.program("grep", '[ "$*" != "-q ext4 /proc/filesystems" ] || exit 0\nexec /bin/grep "$@"')
        self.root.script("slots", SLOTS)

    def fill(self):
        """The file system of a card that was in use."""
        run(["cp", "--sparse=always", self.in_use, self.partition], check=True)

    def write(self, place, content):
        with self.partition.open("r+b") as file:
            file.seek(place)
            file.write(content)

    def debug(self, request):
        return run(["debugfs", "-R", request, self.partition], capture_output=True, text=True).stdout

    def start(self):
        """A start of the board: what was mounted, the report, and the problem that lasts."""
        for name in ("mounted", "report"):
            (self.root.folder / "run" / name).unlink(missing_ok=True)
        result = self.root.run("data")
        self.assertEqual(result.stderr, "")
        return self.root.read("run/mounted") or "", self.root.read("run/report") or "", \
            self.root.read("run/problems/storage")

    def beginning(self):
        with self.partition.open("rb") as file:
            return file.read(1 << 20)

    def made(self):
        return [line for line in self.root.calls if line.startswith("mke2fs ")]

    def assert_has_music(self):
        self.assertIn("Album 7", self.debug("ls /music"))
        target = self.root.folder / "1.flac"
        self.debug(f'dump "/music/Album 7/1.flac" {target}')
        self.assertEqual(target.read_bytes(), bytes([7]) * 20_000)

    def damage(self, what, byte):
        """Fills a part of the file system with a byte."""
        place, size = {"first block": (0, 65_536), "superblock": (1024, 1024), "group descriptors": (BLOCK, BLOCK),
                       "journal": (int(self.debug("bmap <8> 0")) * BLOCK, 16 * BLOCK)}[what]
        self.write(place, bytes([byte]) * size)

    def destroy(self):
        """Nothing of a file system is left."""
        for place in (0, GROUP):
            self.write(place, b"\xa5" * (1 << 20))

    def test_damage_is_repaired_and_nothing_is_made_anew(self):
        self.root.program("mke2fs", "")
        for what in ("first block", "superblock", "group descriptors", "journal"):
            for byte in (0, 0xa5, 0xff):
                marks = ("data=made",)
                if (what, byte) == ("first block", 0):
                    # Also of a card that lost its boot state, and of one that came with music.
                    marks = ("data=made", "slot=a", "data=new")
                for mark in marks:
                    with self.subTest(what, byte=byte, mark=mark):
                        self.fill()
                        self.root.write("run/state", f"{mark}\n")
                        self.damage(what, byte)
                        mounted, report, problem = self.start()
                        self.assertEqual((mounted, problem), (f"{MOUNTED}\n", None))
                        # Without its journal nothing of the files is lost.
                        self.assertEqual("repaired" in report, what != "journal")
                        self.assert_has_music()
                        check = run(["e2fsck", "-fn", self.partition], capture_output=True)
                        self.assertEqual(check.returncode, 0, check.stdout)
                        self.assertEqual(self.root.read("run/state"), "data=made\n")
        self.assertEqual(self.made(), [])

    def test_what_cannot_be_repaired_is_left_for_a_person(self):
        self.root.program("mke2fs", "")
        self.destroy()
        before = self.beginning()
        for mark in ("data=made", "slot=a", "data=new"):
            with self.subTest(mark):
                self.root.write("run/state", f"{mark}\n")
                mounted, report, problem = self.start()
                self.assertIn("tmpfs", mounted)
                self.assertIn("Nothing was erased", problem)
                self.assertIn("put an empty file factory-reset on the partition TONEARM", report)
                self.assertEqual(self.root.read("run/state"), f"{mark}\n")
        self.assertEqual(self.beginning(), before)
        self.assertEqual(self.made(), [])

    def test_zeros_are_a_new_partition_only_where_the_boot_state_says_so(self):
        for mark, mounted in (("slot=a", "tmpfs"), ("data=made", "tmpfs"), ("data=new", MOUNTED)):
            with self.subTest(mark):
                self.root.write("run/state", f"{mark}\n")
                self.assertIn(mounted, self.start()[0])
                self.assertEqual(self.root.read("run/state"), "data=made\n" if "new" in mark else f"{mark}\n")
        self.assertIsNone(self.root.read("run/problems/storage"))

    def test_an_image_on_a_used_card_begins_anew(self):
        self.fill()
        self.write(0, bytes(8 << 20))
        self.root.write("run/state", "data=new\n")
        self.root.write("run/disk", self.root.read("run/disk").replace("grown=", "grown=yes"))
        self.assertEqual(self.start(), (f"{MOUNTED}\n", "", None))
        self.assertNotIn("music", self.debug("ls /"))

    def test_an_erasure_that_was_interrupted_goes_on(self):
        uuid = "6d1f4c0e-57a5-4b7c-9d3c-2a5b8c9e0f11"
        for word, told in (("make", ""), ("reset", "Factory reset: the data partition is empty.\n")):
            with self.subTest(word):
                # Power loss before mke2fs has written a superblock.
                self.fill()
                self.root.write("run/state", f"data={word}-{uuid}\n")
                self.assertEqual(self.start(), (f"{MOUNTED}\n", told, None))
                self.assertNotIn("music", self.debug("ls /"))
                self.assertIn(uuid, self.debug("stats -h"))
                # Power loss after it, and before the boot state: music that came since then stays, whatever is damaged.
                self.root.write("run/state", f"data={word}-{uuid}\n")
                self.write(0, bytes(65_536))
                self.root.program("mke2fs", "")
                self.assertIn("repaired", self.start()[1])
                self.assertEqual(self.made(), [])
                (self.root.folder / "bin/mke2fs").unlink()

    def test_a_reset_is_told_and_needs_a_boot_state_that_can_be_written(self):
        self.fill()
        self.root.write("boot/factory-reset", "")
        self.root.write("run/no-state", "")
        self.assertIn("The factory reset was not finished", self.start()[1])
        self.assert_has_music()
        (self.root.folder / "run/no-state").unlink()
        self.root.write("boot/factory-reset", "")
        told = "Factory reset: the data partition is empty.\n"
        self.assertEqual(self.start(), (f"{MOUNTED}\n", told, None))
        self.assertIsNone(self.root.read("boot/factory-reset"))
        self.assertEqual(self.root.read("run/state"), "data=made\n")
        self.assertNotIn("music", self.debug("ls /"))

    def refuse_reading(self):
        """Has a block of the file system be one that cannot be read."""
        self.root.program("e2fsck", """
            case "$*" in *" -y "*) exec /sbin/e2fsck "$@" ;; esac
            echo "Error reading block 5 (Input/output error) while reading inode and block bitmaps.  Ignore error? no"
            exit 4
        """)

    def test_after_a_read_error_it_is_mounted_read_only_and_not_repaired(self):
        self.fill()
        before = self.beginning()
        self.refuse_reading()
        for copy in (False, True):
            with self.subTest(copy=copy):
                if copy:
                    self.write(1024, bytes(1024))
                    before = self.beginning()
                mounted, report, problem = self.start()
                self.assertEqual(mounted.splitlines()[0], "ext4 ro,noload" + (",sb=131072" if copy else ""))
                self.assertIn("parts of it cannot be read", problem)
                self.assertEqual(self.beginning(), before)
        self.assertFalse(any(" -y " in line for line in self.root.calls))

    def test_it_is_repaired_where_nothing_can_be_used_otherwise(self):
        self.fill()
        self.refuse_reading()
        (self.root.folder / "data/music").rmdir()
        mounted, report, problem = self.start()
        self.assertEqual(mounted.splitlines()[-1], MOUNTED)
        self.assertIn("repaired", report)
        self.assertIsNone(problem)

    def test_a_card_that_takes_no_writes_plays(self):
        self.fill()
        self.root.write("run/no-writing", "")
        self.root.write("data/system/tonearm.conf", "[image]\n")
        self.root.write("data/system/reserve", "much")
        # Clean, and after a power cut, when its journal cannot be replayed.
        for clean in (True, False):
            with self.subTest(clean=clean):
                shutil.rmtree(self.root.folder / "run/data-system", ignore_errors=True)
                if not clean:
                    self.root.program("e2fsck", "echo 'e2fsck: Error writing block 3 (Input/output error)'; exit 8")
                    self.root.program("dd", 'case "$*" in *fsync*) exit 1 ;; esac\nexec /bin/dd "$@"')
                mounted, report, problem = self.start()
                self.assertEqual(mounted.splitlines()[0], "ext4 ro,noload")
                self.assertIn("--bind", mounted.splitlines()[1])
                self.assertIn("Copy your music", problem)
                self.assertEqual(report, problem)
                self.assertEqual(self.root.read("run/data-system/tonearm.conf"), "[image]\n")
                self.assertIsNone(self.root.read("run/data-system/reserve"))
                self.assert_has_music()

    def test_after_a_failure_it_is_only_mounted(self):
        self.fill()
        self.root.program("e2fsck", "")
        result = self.root.run("data", "failed")
        self.assertEqual(result.stderr, "")
        self.assertEqual(self.root.read("run/mounted").splitlines()[0], "ext4 ro,noload")
        self.assertIn("has failed while the player ran", self.root.read("run/problems/storage"))
        self.assertFalse(any(line.startswith("e2fsck") for line in self.root.calls))

    def test_folders_that_lost_their_names_come_back(self):
        self.fill()
        self.root.program("e2fsck", 'case "$*" in *" -y "*) ;; *) exit 4 ;; esac')
        found = "data/lost+found"
        (self.root.folder / "data/music").rmdir()
        self.root.write(f"{found}/#12/.tonearm-folder", "music\n")
        self.root.write(f"{found}/#12/Album/1.flac", "one")
        self.root.write(f"{found}/#13/.tonearm-folder", "system\n")
        self.root.write(f"{found}/#14/2.flac", "two")
        self.root.write(f"{found}/#15", "a secret")
        (self.root.folder / found / "#15").chmod(0o600)
        self.assertIn("repaired", self.start()[1])
        self.assertEqual(self.root.read("data/music/Album/1.flac"), "one")
        self.assertEqual(sorted(path.read_text() for path in self.root.folder.glob("data/music/recovered/*/#*/*")),
                         ["system\n", "two"])
        self.assertEqual(self.root.read(f"{found}/#15"), "a secret")


class Room(unittest.TestCase):
    """Whether the data partition is full."""

    def setUp(self):
        self.root = ScriptRoot(self)
        self.reserve = self.root.folder / "data/system/reserve"
        # The room without the reserve, which is taken from it.
        self.root.program("df", """
            room=$(cat /run/room)
            [ ! -e /data/system/reserve ] || room=$((room - 16384))
            echo "/dev/data 1000000 0 $((room > 0 ? room : 0)) 0% data"
        """)
        self.root.program("fallocate", 'echo >"$3"')

    def look(self, kilobytes):
        """With so much room; whether the person is told."""
        self.root.write("run/room", f"{kilobytes}\n")
        result = self.root.run("room")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        told = "full=The card is full" in (self.root.read("run/system/problems") or "")
        self.assertEqual(told, self.root.read("run/problems/full") is not None)
        return told

    def test_a_full_card_is_a_problem_until_there_is_room(self):
        for kilobytes, is_full, has_reserve in (
                (1_000_000, False, True), (40_000, False, True), (18_000, True, False), (5, True, False),
                (16_000, True, False), (30_000, True, False), (40_000, False, False), (18_000, True, False),
                (1_000_000, False, True)):
            with self.subTest(kilobytes):
                self.assertEqual((self.look(kilobytes), self.reserve.exists()), (is_full, has_reserve))
        self.assertEqual(self.root.read("run/report").count("The card is full"), 2)

    def test_a_card_that_cannot_be_written_has_another_problem(self):
        self.root.write("run/problems/storage", "worn out\n")
        self.assertFalse(self.look(0))


class Card(unittest.TestCase):
    """What fails while the player runs."""

    def setUp(self):
        self.root = ScriptRoot(self)
        self.root.program("sleep", '[ "$1" != 10 ] || exec /bin/sleep 0.01\nexec /bin/sleep 100000')
        self.root.write("boot/tonearm-report.txt", "Earlier\n")

    def test_an_error_that_the_kernel_has_met_is_told_and_the_partition_mounted_again(self):
        self.root.script("data", "echo \"data $*\" >>/run/order; mkdir -p /run/problems\n"
                                 "echo 'worn out' >/run/problems/storage")
        self.root.script("room", "echo room >>/run/looks")
        self.root.program("umount", 'echo "umount ${1##*/}" >>/run/order')
        self.root.program("killall", 'echo "killall $2" >>/run/order')
        self.root.program("pidof", "exit 1")
        self.root.write("sys/fs/ext4/data/errors_count", "3\n")
        self.root.start(self, "card")
        self.root.wait_until(lambda: (self.root.read("run/looks") or "").count("room") > 1)
        self.assertGreaterEqual(self.root.calls.count("sleep 10"), 12)
        self.assertIsNone(self.root.read("run/problems/storage"))
        self.root.write("sys/fs/ext4/data/errors_count", "4\n")
        self.root.wait_until(lambda: "sleep 2147483647" in self.root.calls)
        self.assertEqual(self.root.read("run/order").splitlines(), [
            "killall -TERM", "killall -KILL", "umount data", "data failed", "umount boot"])
        self.assertEqual(self.root.read("boot/tonearm-report.txt"), "Earlier\nworn out\n")
        self.assertIsNone(self.root.read("run/data-fails"))

    def test_what_was_told_at_the_start_is_not_told_again(self):
        self.root.write("run/problems/storage", "worn out\n")
        self.root.start(self, "card")
        self.root.wait_until(lambda: "sleep 2147483647" in self.root.calls)
        self.assertEqual(self.root.read("boot/tonearm-report.txt"), "Earlier\n")


if __name__ == "__main__":
    unittest.main()
