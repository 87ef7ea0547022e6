"""The data partition of the firmware image: full, damaged, reset; what a person reads about it."""

import shutil
import tempfile
import threading
import unittest
from pathlib import Path

from virtual_board.image_board import BLOCK, MIB, ImageBoard, disk
from virtual_board.measures import report
from virtual_board.music import tune, write_flac
from virtual_board.parts import long
from virtual_board.qemu import PATIENCE
from virtual_board.slot_variant import slot_variant, write_program

STATUS = "/proc/asound/HiFi/pcm0p/sub0/status"
RESET_LINE = 6
#: What ten minutes may write to the card: MB, and flushes of its cache.
WRITES = 1, 60
LIGHT_LINE = 7
#: The file in a folder that has its name, for a repair.
FOLDER_NAME = ".tonearm-folder"


def load_drivers_late(root):
    """The drivers come after the check of the data partition. What the kernel calls for a file system without a driver
    does nothing, as BusyBox's modprobe does while another one still loads that driver."""
    write_program(root / "usr/bin/modprobe", "")
    boot = root / "usr/lib/tonearm/boot"
    text = boot.read_text()
    late = text.replace("while read -r line", "(sleep 5 && cat /etc/modules) | while read -r line").replace(
        "done </etc/modules &", "done &")
    assert late.count("sleep 5") == 1 and "done &" in late, "boot loads drivers in another way"
    boot.write_text(late)


def leave_out_engine(root):
    """The light is as the start left it: the engine would give it its own meaning."""
    write_program(root / "usr/lib/tonearm/engine", "exec sleep 100000\n")


@long("image-data", "one or more starts each; the tests of the scripts have the decisions")
class Data(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp(prefix="image-music-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        write_flac(cls.folder / "1.flac", tune(44_100, 16, seconds=20, seed=6))

    def new_board(self, **options):
        board = ImageBoard(**options)
        self.addCleanup(board.discard)
        return board

    def board(self, **options):
        board = self.new_board(**options)
        board.power_on(network=False)
        board.wait_for_engine()
        return board

    def restart(self, board, **options):
        board.power_on(network=False, **options)
        board.wait_for_engine()

    def assert_plays(self, board):
        board.ask("queue", "set", "/data/music", "--play")
        board.wait_until(f"grep -q RUNNING {STATUS}")

    def test_a_full_card_plays(self):
        # Large enough for the reserve that /usr/lib/tonearm/data sets aside.
        board = self.board(music=self.folder, card_megabytes=320)
        board.run_script("dd if=/dev/zero of=/data/music/filler bs=1M; sync")
        self.assertEqual(board.run_script("df /data | tail -n 1 | tr -s ' ' | cut -d' ' -f4").stdout, "0\n")
        board.power_off()
        self.restart(board)
        board.run("tonearm", "queue", "set", "/data/music/1.flac", "--play")
        board.wait_until(f"grep -q RUNNING {STATUS}")
        board.wait_until("tonearm status | grep -q 'The card is full'")
        # `card` looks each minute.
        board.run_script("rm /data/music/filler; /usr/lib/tonearm/room")
        board.wait_until("! tonearm status | grep -q 'The card is full'")

    def writes(self, board, seconds):
        """What is written to the card in this time of the board: MB, and how often the card has to finish writing."""
        script = f"show() {{ cat /sys/block/${{disk##*/}}/stat; }}; . /run/disk; sync; show; sleep {seconds}; show"
        result = board.run_script(script, seconds=20 * PATIENCE)
        before, after = ([int(word) for word in line.split()] for line in result.stdout.splitlines())
        # Documentation/admin-guide/iostats.rst of Linux: field 7 has sectors written, field 16 flushes.
        return (after[6] - before[6]) * disk.SECTOR / 1e6, after[15] - before[15]

    def test_little_is_written_to_the_card(self):
        with tempfile.TemporaryDirectory() as folder:
            for number in range(3):
                write_flac(Path(folder) / f"{number}.flac", tune(44_100, 16, seconds=240, seed=number))
            # A card that was just made: what mke2fs has put off is for the first minutes.
            board = self.new_board(music=folder)
        board.power_on(network=False, counts=True)
        board.wait_for_engine()
        board.ask("queue", "set", "/data/music", "--play")
        board.wait_until(f"grep -q RUNNING {STATUS}")
        for what in ("playing", "idle"):
            if what == "idle":
                board.ask("pause")
            found = self.writes(board, 600)
            for value, unit, limit in zip(found, ("MB", "flushes"), WRITES, strict=True):
                report(f"written in ten minutes, {what}", value, unit, limit)
                self.assertLessEqual(value, limit, f"{what}: {unit}")
            self.assertEqual(board.ask("status")["state"], "playing" if what == "playing" else "paused")

    def test_a_lost_superblock_is_repaired_and_reported(self):
        board = self.new_board(music=self.folder)
        start, _ = board.data_partition()
        board.write(start, b"\xa5" * 4096)
        self.restart(board)
        self.assert_plays(board)
        board.power_off()
        self.assertIn("repaired", board.read_file("tonearm-report.txt"))
        self.assertEqual(board.check_data()[0], 0)

    def test_it_is_unmounted_whatever_uses_it(self):
        board = self.board(music=self.folder)
        self.assert_plays(board)
        self.assertFalse(board.data_was_unmounted())
        board.start_script("cd /data/music && exec 5>open && trap '' TERM && while true; do sleep 100; done")
        board.wait_until("[ -e /data/music/open ]")
        board.power_off()
        self.assertTrue(board.data_was_unmounted())
        # A DAC on the header: the board restarts in the middle of its start.
        board.write_file("tonearm.conf", "[image]\ndac = pcm5102a\n")
        board.power_on_without_agent()
        board.wait_until_off()
        self.assertEqual(board.state["overlay"], "pcm5102a")
        self.assertTrue(board.data_was_unmounted())
        self.assertNotIn("can't unmount", board.console)

    def test_it_waits_for_the_driver_of_its_file_system(self):
        board = self.new_board(music=self.folder)
        board.write_slot("a", slot_variant(load_drivers_late))
        board.power_on(network=False)
        self.assertIn("/dev/vda4", board.run("grep", " /data ", "/proc/mounts").stdout)

    def test_a_destroyed_file_system_stays_until_a_person_asks(self):
        board = self.board()
        board.power_off()
        start, size = board.data_partition()
        board.write(start, b"\xa5" * size)
        self.restart(board)
        self.assertIn("tmpfs", board.run("grep", " /data ", "/proc/mounts").stdout)
        board.power_off()
        self.assertIn("factory-reset", board.read_file("tonearm-report.txt"))
        self.assertEqual(board.read(start, size).count(0xa5), size)
        board.write_file("factory-reset", "")
        self.restart(board)
        board.run_script("echo works >/data/music/file; sync")
        board.power_off()
        self.assertIn("Factory reset", board.read_file("tonearm-report.txt"))
        self.restart(board)
        self.assertEqual(board.run("cat", "/data/music/file").stdout, "works\n")

    def test_an_erased_block_loses_no_music(self):
        # An erase block of a card, with the superblock, the group descriptors, and the inode of the root. The megabyte
        # has the first inodes too, which nothing brings back: the music has later ones.
        for size, inodes in ((64 << 10, 0), (MIB, 4000)):
            with self.subTest(size):
                board = self.board()
                board.run_script(f"mkdir /data/state/many && cd /data/state/many && seq {inodes} | xargs -r touch")
                self.copy_music(board)
                start, _ = board.data_partition()
                board.write(start, bytes(size))
                self.restart(board)
                self.assert_plays(board)
                board.power_off()
                self.assertIn("repaired", board.read_file("tonearm-report.txt"))
                self.assertEqual(board.check_data()[0], 0)

    def copy_music(self, board):
        """Fills the data partition as a board does, and switches it off."""
        shutil.copy(self.folder / "1.flac", board.share)
        board.run_script("mkdir /data/music/Album && cp /host/1.flac /data/music/Album && sync")
        board.power_off()

    def test_what_cannot_be_read_is_not_erased(self):
        for what in ("first block", "first megabyte", "group descriptors", "journal", "root directory"):
            with self.subTest(what):
                board = self.board()
                self.copy_music(board)
                start, _ = board.data_partition()
                place, size = {"first block": (start, 64 << 10), "first megabyte": (start, MIB),
                               "group descriptors": (start + BLOCK, BLOCK), "journal": (board.data_block(8), 64 << 10),
                               "root directory": (board.data_block(2), BLOCK)}[what]
                before = board.read(start, 64 * MIB)
                board.refuse("read", place, size)
                self.restart(board)
                data = board.run("grep", " /data ", "/proc/mounts").stdout
                if "tmpfs" in data:
                    self.assertIn("system storage", [problem["subject"] for problem in board.ask("status")["problems"]])
                    # It is noticed behind the mount that a root cannot be read, which writes the superblock's times.
                    kept = BLOCK if what == "root directory" else 0
                    self.assertEqual(before[kept:], board.read(start, 64 * MIB)[kept:])
                else:
                    self.assert_plays(board)
                board.cut_power()

    def test_a_card_that_takes_no_writes_plays(self):
        for cut in (False, True):
            with self.subTest(cut=cut):
                board = self.board()
                self.copy_music(board)
                if cut:
                    self.restart(board)
                    self.assert_plays(board)
                    board.cut_power()
                board.refuse("write")
                self.restart(board)
                self.assert_plays(board)
                # One of both, though the queue cannot be saved either.
                subjects = [problem["subject"] for problem in board.ask("status")["problems"]]
                self.assertEqual([subject for subject in subjects if "storage" in subject], ["system storage"])
                self.assertIn("Copy your music", board.run("cat", "/run/problems/storage").stdout)
                board.cut_power()

    def test_a_card_that_fails_while_it_plays_plays_on(self):
        board = self.board(music=self.folder)
        self.assert_plays(board)
        board.run_script("cd /; echo broken >/sys/fs/ext4/vda4/trigger_fs_error")
        # From elsewhere: the board unmounts /data.
        board.wait_until("cd / && grep -q ' /data ext4 ro' /proc/mounts && tonearm status >/dev/null 2>&1")
        self.assert_plays(board)
        board.wait_until("tonearm status --json | grep -q '\"subject\":\"system storage\"'")
        board.power_off()
        self.assertIn("Copy your music", board.read_file("tonearm-report.txt"))

    def test_a_card_that_is_gone_restarts_the_board(self):
        board = self.new_board(music=self.folder)
        # Minutes pass without anything to do.
        board.power_on(network=False, counts=True)
        board.wait_for_engine()
        board.wait_until("[ -e /run/card-gone/read ]")
        board.start_script(". /run/disk; device=$(readlink -f /sys/block/${disk##*/}/device); "
                           "echo ${device##*/} >/sys/bus/virtio/drivers/virtio_blk/unbind")
        board.wait_until_off()
        self.restart(board)
        self.assert_plays(board)

    def test_a_destroyed_boot_partition_is_made_anew(self):
        # On a Raspberry Pi its boot ROM needs the partition; there a damaged boot.scr is as far as it goes.
        board = self.board(music=self.folder)
        board.power_off()
        board.write_file("tonearm.conf", "[image]\nname = kitchen\n")
        self.restart(board)
        board.power_off()
        begin = disk.BOOT.start
        # With mformat's numbers: one sector, two FATs of 128, 32 for the root directory.
        for what, place, size in (("boot sector", begin, 512), ("FATs", begin + 512, 256 * 512),
                                  ("root directory", begin + 257 * 512, 32 * 512), ("all", begin, MIB)):
            for byte in (0, 0xa5):
                with self.subTest(what, byte=byte):
                    board.write(place, bytes([byte]) * size)
                    self.restart(board)
                    self.assertEqual(board.run("hostname").stdout, "kitchen\n")
                    self.assert_plays(board)
                    board.power_off()
                    self.assertIn("boot.scr", board.files())
                    self.assertIn("tonearm.conf", board.read_file("tonearm-report.txt"))

    def test_a_copy_on_a_larger_card_grows(self):
        self.assert_grows(lambda board: None)

    def test_it_grows_also_after_a_power_cut_in_between(self):
        # As the initial file system leaves the partition table.
        self.assert_grows(lambda board: board.write(
            506, ((900 * MIB - board.data_partition()[0]) // disk.SECTOR).to_bytes(4, "little")))

    def assert_grows(self, cut):
        board = self.board(music=self.folder)
        board.power_off()
        with board.card.open("r+b") as card:
            card.truncate(900 * MIB)
        cut(board)
        self.restart(board)
        self.assertGreater(int(board.run_script("df -m /data | tail -n 1 | tr -s ' ' | cut -d' ' -f2").stdout), 600)
        self.assert_plays(board)
        board.power_off()
        self.assertEqual(board.check_data()[0], 0)

    def test_a_file_on_the_boot_partition_resets(self):
        board = self.new_board(music=self.folder)
        board.write_file("factory-reset.txt", "")
        self.restart(board)
        self.assert_is_new(board)
        board.power_off()
        # Once is enough.
        self.assertNotIn("factory-reset.txt", board.files())
        self.assertIn("Factory reset", board.read_file("tonearm-report.txt"))

    def test_the_light_is_on_during_a_reset(self):
        board = self.new_board(music=self.folder)
        board.write_slot("a", slot_variant(leave_out_engine))
        board.power_on(network=False)
        self.assertFalse(board.line(LIGHT_LINE))
        board.power_off()
        board.write_file("factory-reset", "")
        board.power_on(network=False)
        self.assertTrue(board.line(LIGHT_LINE))

    def test_a_button_held_at_power_on_resets(self):
        board = self.new_board(music=self.folder)
        self.assertTrue(self.restart_with_button(board, release=True), "no light")
        self.assert_is_new(board)

    def test_a_line_that_never_comes_back_erases_nothing(self):
        board = self.new_board(music=self.folder)
        self.restart_with_button(board, release=False)
        self.assertEqual(board.run("ls", "-A", "/data/music").stdout, f"{FOLDER_NAME}\n1.flac\n")
        board.power_off()
        self.assertIn("stuck", board.read_file("tonearm-report.txt"))

    def restart_with_button(self, board, release):
        """Switches the board on with the reset button held, and lets go of it when the board says so. Returns whether
        the light was on then."""
        lights = []

        def let_go():
            board.wait_for_console("let go of the button")
            lights.append(board.line(LIGHT_LINE))
            board.set_line(RESET_LINE, True)

        person = threading.Thread(target=let_go, daemon=True)
        starter = threading.Thread(target=self.restart, args=(board,), kwargs={"held": (RESET_LINE,)}, daemon=True)
        starter.start()
        if release:
            board.wait_until_starting()
            person.start()
            person.join(3 * PATIENCE)
        starter.join(3 * PATIENCE)
        self.assertFalse(starter.is_alive(), f"the board has not started\n{board.last_words()}")
        return lights == [True]

    def assert_is_new(self, board):
        self.assertEqual(board.run("ls", "-A", "/data/music").stdout, f"{FOLDER_NAME}\n")
        self.assertEqual(board.ask("status")["count"], 0)


if __name__ == "__main__":
    unittest.main()
