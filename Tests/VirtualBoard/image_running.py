"""The firmware image while it runs: USB sticks (on which nothing is written), USB DACs, the clock, and no way in."""

import hashlib
import os
import shutil
import struct
import tempfile
import time
import unittest
from pathlib import Path

from virtual_board.host import run
from virtual_board.image_board import MIB, ImageBoard
from virtual_board.music import tune, write_flac
from virtual_board.parts import long
from virtual_board.time_server import serve_time

STATUS = "/proc/asound/HiFi/pcm0p/sub0/status"
SECTOR = 512


@long("image-network", "sticks of four file systems, the clock, and no way in")
class Running(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp(prefix="image-sticks-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.music = cls.folder / "content"
        write_flac(cls.music / "Frühling.flac", tune(44_100, 16, seconds=60, seed=7))
        cls.board = ImageBoard()
        cls.addClassCleanup(cls.board.discard)
        cls.board.power_on()
        cls.board.wait_for_engine()

    def fat_stick(self):
        """As one comes out of a shop: one partition with FAT32."""
        stick = self.folder / "fat.img"
        start, size = MIB, 64 * MIB
        with stick.open("wb") as file:
            ends = b"\xfe\xff\xff"
            entry = struct.pack("<B3sB3sII", 0, ends, 0x0C, ends, start // SECTOR, size // SECTOR)
            file.write(bytes(446) + entry + bytes(48) + b"\x55\xaa")
            file.truncate(start + size)
        place = f"{stick}@@{start}"
        run(["mformat", "-i", place, "-F", "-v", "MY MUSIC", "-T", str(size // SECTOR), "-h", "64",
             "-s", "32", "-H", str(start // SECTOR), "::"], check=True)
        run(["mcopy", "-i", place, *self.music.iterdir(), "::/"], check=True,
            env=os.environ | {"LC_ALL": "C.UTF-8"})
        return stick

    def ext4_stick(self):
        """Without partitions, and pulled out of another machine: its journal wants to be replayed."""
        stick = self.folder / "ext4.img"
        run(["/sbin/mke2fs", "-q", "-t", "ext4", "-L", "MY_MUSIC", "-d", self.music, stick, "32M"],
            check=True, capture_output=True)
        run(["/sbin/debugfs", "-w", "-R", "feature needs_recovery", stick], check=True, capture_output=True)
        return stick

    def empty_stick(self, kind, *command):
        stick = self.folder / f"{kind}.img"
        with stick.open("wb") as file:
            file.truncate(64 * MIB)
        run([*command, stick], check=True, capture_output=True)
        return stick

    def test_nothing_listens_and_nobody_can_log_in(self):
        self.board.wait_until("ip address | grep -q 10.0.2.15")
        # Wi-Fi's is 200: the cable comes first.
        self.board.wait_until("ip route | grep -q '^default .* metric 100'")
        # Ports 6600, for clients of MPD, and 80, for browsers, are the only ones.
        ways = self.board.ways_in()
        self.assertEqual([way for way in ways if ":19C8 " not in way and ":0050 " not in way], [])

    def test_a_clock_that_begins_in_1970_is_set(self):
        serve_time(self)
        # This machine is the time server that ntpd.conf names.
        # An hour after its beginning: Linux refuses a time before its own start.
        result = self.board.run_script("(cat /etc/hosts; echo 10.0.2.2 pool.ntp.org) >/tmp/hosts && "
                                       "mount --bind /tmp/hosts /etc/hosts && date -s '1970-01-01 01:00'; killall ntpd")
        self.assertIn("1970", result.stdout)
        self.board.wait_until('[ "$(date +%s)" -gt 100000000 ]')
        seconds = int(self.board.run("date", "+%s").stdout)
        self.assertLess(abs(seconds - time.time()), 600)

    def test_a_usb_dac_has_the_id_that_profiles_name(self):
        self.board.plug_sound_card()
        self.board.wait_until("[ -e /proc/asound/USBDAC ]")
        self.board.unplug_sound_card()
        self.board.wait_until("[ ! -e /proc/asound/USBDAC ]")

    def test_music_on_a_stick_plays_until_it_is_pulled_out(self):
        sticks = [self.fat_stick(), self.ext4_stick()]
        before = [hashlib.sha256(stick.read_bytes()).digest() for stick in sticks]
        board = self.board
        board.plug_stick("first", sticks[0])
        board.wait_until("[ -e /media/MY_MUSIC/Frühling.flac ]")
        mounts = board.run("grep", "/media/", "/proc/mounts").stdout.split()
        self.assertEqual(mounts[:3], ["/dev/sda1", "/run/media/MY_MUSIC", "vfat"])
        self.assertLessEqual({"ro", "nosuid", "nodev", "noexec"}, set(mounts[3].split(",")))
        # The first music that this board sees.
        board.wait_until("[ -e /data/system/queue-filled ]")
        board.wait_until(f"grep -q RUNNING {STATUS}")
        # A second one with the same name has its own place: the name goes on with the end of its UUID.
        board.plug_stick("second", sticks[1])
        board.wait_until("[ -e /media/MY_MUSIC-*/Frühling.flac ]")

        board.unplug_stick("first")
        board.wait_until(f"[ ! -e /media/MY_MUSIC ] && ! grep -q RUNNING {STATUS}")
        self.assertEqual(board.ask("status")["count"], 1)
        board.plug_stick("first", sticks[0])
        board.wait_until(f"grep -q RUNNING {STATUS}")
        board.unplug_stick("first")
        board.unplug_stick("second")
        board.wait_until("! grep -q /media/ /proc/mounts")
        self.assertEqual(board.run("ls", "/media/").stdout, "")
        self.assertEqual([hashlib.sha256(stick.read_bytes()).digest() for stick in sticks], before)

    def test_music_on_sticks_with_exfat_and_ntfs_plays(self):
        board = self.board
        # What fills an empty queue would fill it from these sticks too.
        board.run("touch", "/data/system/queue-filled")
        shutil.copytree(self.music, board.share / "content", dirs_exist_ok=True)
        for kind, *command in (("exfat", "/sbin/mkfs.exfat"), ("ntfs3", "/sbin/mkntfs", "--force", "--quick")):
            # A second stick with the same label would have another name.
            name = f"MY_{kind}"
            with self.subTest(kind):
                stick = self.empty_stick(kind, *command, "-L", name)
                board.plug_stick(kind, stick)
                board.wait_until(f"grep -q '/run/media/{name} ' /proc/mounts")
                # No program of this machine writes such a file system without mounting it: the board's kernel does.
                result = board.run_script(f"umount /media/{name} && rmdir /run/media/{name} && mkdir -p /tmp/stick && "
                                          f"mount -t {kind} -o iocharset=utf8 /dev/sd? /tmp/stick && "
                                          "cp /host/content/* /tmp/stick/ && umount /tmp/stick")
                self.assertEqual((result.exit_code, result.stderr), (0, ""))
                board.unplug_stick(kind)
                board.wait_until(f"[ ! -e /media/{name} ]")
                before = hashlib.sha256(stick.read_bytes()).digest()

                board.plug_stick(kind, stick)
                board.wait_until(f"[ -e /media/{name}/Frühling.flac ]")
                mounts = board.run("grep", "/media/", "/proc/mounts").stdout.split()
                self.assertEqual(mounts[1:3], [f"/run/media/{name}", kind])
                self.assertLessEqual({"ro", "nosuid", "nodev", "noexec"}, set(mounts[3].split(",")))
                board.ask("queue", "set", f"/media/{name}", "--play")
                board.wait_until(f"grep -q RUNNING {STATUS}")
                board.unplug_stick(kind)
                board.wait_until("! grep -q /media/ /proc/mounts")
                self.assertEqual(hashlib.sha256(stick.read_bytes()).digest(), before)


if __name__ == "__main__":
    unittest.main()
