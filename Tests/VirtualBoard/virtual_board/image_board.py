"""The firmware image on the virtual board: started by U-Boot from its own partitions, and nothing beside them."""

import json
import os
import shutil
import struct
import subprocess
import time
from pathlib import Path

from firmware import bundle, disk, uboot

from . import qemu
from .board import BUTTON_LINES, VirtualBoard
from .host import run
from .qemu import BoardOff, Deadline, Monitor, Pins
from .sound import nanoseconds

ROOT = Path(__file__).parents[3]
IMAGE = ROOT / "build/firmware-image/virtual"
PACKAGES = ROOT / "build/board/packages"

MIB = disk.MIB

#: Of the data partition's file system.
BLOCK = 4096

#: Programs of Debian that the image does not have and the tests use: they run from the shared folder.
TOOLS = ("usr/bin/arecord", "usr/bin/aplay")


def signed_bundle(slot, board, version, key):
    """An update bundle as tools/release makes it; `slot` holds all bytes of a slot, `key` is a file."""
    return bundle.make(slot, board, version, key)


class ImageBoard(VirtualBoard):
    """A board with a card that the image was written to. It begins switched off; the card survives power cuts.

        with ImageBoard() as board:
            board.write_file("tonearm.conf", "[image]\\nname = kitchen\\n")
            board.power_on()
    """

    # Looking all the time would take most of what the emulator can do.
    _pause = 50_000

    def __init__(self, card_megabytes=512, music=None):
        """- card_megabytes: the size of the card.
        - music: a folder for /data/music of a card that has been used before. Without one, this is a first boot.
        """
        self._prepare()
        self.card = self.folder / "card.img"
        image = next(IMAGE.glob("tonearm-virtual-*.img"))
        run(["cp", "--sparse=always", image, self.card], check=True)
        os.truncate(self.card, card_megabytes * MIB)
        self._data_disk = self.card
        self._faults = []
        #: A file in place of the emulator's own device tree.
        self.tree = None
        if music is not None:
            self._write_data(music)

    # The card, while the board is off

    def read(self, start, size):
        with self.card.open("rb") as card:
            card.seek(start)
            return card.read(size)

    def write(self, start, content):
        with self.card.open("r+b") as card:
            card.seek(start)
            card.write(content)

    def refuse(self, kind, start=None, size=BLOCK):
        """From the next start on the card refuses to "read" or "write" the blocks there; without `start`, all of it."""
        places = [None] if start is None else range(start, start + size, BLOCK)
        self._faults += [(kind, place) for place in places]

    def data_partition(self):
        """Start and size in bytes, as the partition table has them."""
        start, size = struct.unpack("<II", self.read(446 + 3 * 16 + 8, 8))
        return start * disk.SECTOR, size * disk.SECTOR

    def write_file(self, name, content):
        """Writes a file of the boot partition, as a person does on their computer; `content` is text or bytes."""
        path = self.folder / "file"
        if isinstance(content, str):
            content = content.encode()
        path.write_bytes(content)
        self._mtools("mcopy", "-o", path, f"::/{name}")

    def remove_file(self, name):
        self._mtools("mdel", f"::/{name}")

    def make_folder(self, name):
        """Makes a folder of the boot partition."""
        self._mtools("mmd", f"::/{name}")

    def read_file(self, name):
        """A file of the boot partition; None when there is none."""
        result = self._mtools("mtype", f"::/{name}", check=False)
        return result.stdout if result.returncode == 0 else None

    def files(self):
        """The names in the boot partition."""
        return self._mtools("mdir", "-b", "::/").stdout.replace("::/", "").split()

    def root_of(self, slot):
        """All bytes of a slot, "a" or "b"."""
        part = disk.SLOT_A if slot == "a" else disk.SLOT_B
        return self.read(part.start, part.size)

    def write_slot(self, slot, content):
        part = disk.SLOT_A if slot == "a" else disk.SLOT_B
        self.write(part.start, content)

    @property
    def state(self):
        """The boot state that holds, as a dictionary; None when neither copy is whole."""
        copies = []
        for place in disk.STATES:
            text = self.read(place, uboot.STATE_SIZE)
            lines = text[4:].split(b"\0\0", 1)[0].decode(errors="replace").split("\0")
            pairs = dict(line.split("=", 1) for line in lines if "=" in line)
            if uboot.environment(pairs, uboot.STATE_SIZE) == text:
                copies.append(pairs)
        return max(copies, key=lambda pairs: int(pairs["seq"], 16), default=None)

    def check_data(self):
        """What fsck has to say about the data partition, without changing it: its exit code and its words."""
        start, size = self.data_partition()
        copy = self.folder / "data.check"
        copy.write_bytes(self.read(start, size))
        result = run(["/sbin/e2fsck", "-f", "-n", copy], capture_output=True, text=True)
        copy.unlink()
        return result.returncode, result.stdout

    def data_block(self, inode):
        """Where the first block of a file of the data partition is on the card: 2 is the root directory, 8 the
        journal."""
        start, _ = self.data_partition()
        result = run(["/sbin/debugfs", "-R", f"bmap <{inode}> 0", f"{self.card}?offset={start}"], capture_output=True,
                     text=True, check=True)
        return start + int(result.stdout) * BLOCK

    def data_was_unmounted(self):
        """Whether the data partition has nothing to replay: the feature `needs_recovery` of ext4 is not set."""
        start, _ = self.data_partition()
        features, = struct.unpack("<I", self.read(start + 1024 + 0x60, 4))
        return not features & 4

    # On

    def power_off(self):
        """Turns the board off as a button does."""
        self._agent.start("exec poweroff")
        self.wait_until_off()

    def power_on_without_agent(self, counts=False):
        """Starts the board and does not wait for it: it may never come up. With `counts` its clock counts instructions,
        and passes over the time in which it has nothing to do (`qemu.start`)."""
        self._counts = counts
        self._boots += 1
        self._boot = self.folder / str(self._boots)
        self.share.mkdir(parents=True)
        self._qemu = self._start_machine()
        self._monitor = self._connect(Monitor, "qmp")
        self._pins = self._connect(Pins, "qtest", qemu.find_chip(self._monitor))
        # Otherwise all buttons are held, and the one for a factory reset among them.
        for line in BUTTON_LINES:
            self._pins.set(line, True)

    def wait_until_starting(self):
        """Waits until another thread has switched the board on and its pins can be set."""
        deadline = Deadline()
        while self._pins is None or self._qemu is None:
            if deadline.has_passed:
                raise TimeoutError(f"the board was not switched on in {deadline.seconds} s")
            time.sleep(0.01)

    def wait_for_console(self, text):
        """Waits until the kernel or U-Boot has written this on the serial port."""
        deadline = self.deadline()
        while text not in self.console:
            if self._qemu.poll() is not None:
                raise BoardOff(f"the board went off before it wrote {text!r}\n{self.console[-3000:]}")
            if deadline.has_passed:
                raise TimeoutError(f"no {text!r} on the console in {deadline.seconds} s\n{self.console[-3000:]}")
            time.sleep(0.01)

    @property
    def console(self):
        path = self._boot / "console.log"
        return path.read_text(errors="replace") if path.exists() else ""

    def boot_times(self):
        """Seconds of the kernel's clock by the names of /run/boot-times."""
        lines = self.run("cat", "/run/boot-times").stdout.splitlines()
        return {name: float(at) for name, at in (line.split() for line in lines)}

    def log(self):
        return self.run("dmesg").stdout

    def install_tools(self):
        """Makes `arecord` and its like run from the shared folder, since the board was switched on."""
        target = self.share / "tools"
        target.mkdir()
        for name in TOOLS:
            shutil.copy(PACKAGES / name, target)
        shutil.copy((PACKAGES / "usr/lib/aarch64-linux-gnu/libasound.so.2").resolve(), target / "libasound.so.2")
        shutil.copytree(PACKAGES / "usr/share/alsa", target / "alsa")

    def start_script(self, script):
        return super().start_script(
            "export LD_LIBRARY_PATH=/host/tools ALSA_CONFIG_PATH=/host/tools/alsa/alsa.conf PATH=$PATH:/host/tools\n"
            + script)

    def ask(self, *words):
        """Runs a command of tonearm; its reply."""
        result = self.run("tonearm", *words, "--json")
        if result.exit_code != 0:
            raise RuntimeError(f"tonearm {' '.join(words)}: {result.stderr.strip()}")
        return json.loads(result.stdout.splitlines()[-1])

    def wait_for_engine(self):
        self.wait_until("tonearm status >/dev/null 2>&1")

    def first_sample(self):
        """When the card `HiFi` began to play, in seconds of the kernel's clock; it must be playing."""
        return nanoseconds(self.run("cat", "/proc/asound/HiFi/pcm0p/sub0/status").stdout, "trigger_time") / 1e9

    def memory(self):
        """What all programs and the files in memory take, in MB: a shared page is divided among those that share it."""
        text = self.run_script("cat /proc/[0-9]*/smaps_rollup 2>/dev/null | grep ^Pss:; du -sk /run /tmp").stdout
        lines = [line.split() for line in text.splitlines()]
        return sum(int(words[1] if words[0] == "Pss:" else words[0]) for words in lines) / 1000

    def ways_in(self):
        """How somebody could get in: ports with a listener, programs for a login, shells of users. None is right."""
        script = ("sed 's/^/port /' /proc/net/tcp /proc/net/tcp6 | awk '$5 == \"0A\"'; ps | grep -E '[l]ogin|[g]etty'; "
                  "cut -d: -f7 /etc/passwd | grep -v '^/bin/false$'")
        return self.run_script(script).stdout.splitlines()

    # Inside

    def _start_machine(self):
        card = self.card
        if self._faults:
            rules = self.folder / "faults"
            # A rule for a sector holds for each request with this sector in it. Linux asks for whole blocks.
            rules.write_text("".join(
                f'[inject-error]\nevent = "none"\niotype = "{kind}"\nerrno = "5"\n'
                + ("" if place is None else f'sector = "{place // disk.SECTOR}"\n') for kind, place in self._faults))
            card = f"blkdebug:{rules}:{card}"
        return qemu.start_image(self._boot, IMAGE / "u-boot.bin", IMAGE / "flash.img", card, self._counts, self.tree)

    def _write_data(self, music):
        content = self.folder / "content"
        shutil.copytree(music, content / "music")
        # Its queue was filled long ago, and is not again (/usr/lib/tonearm/music).
        (content / "system").mkdir()
        (content / "system/queue-filled").touch()
        start = disk.DATA.start
        size = self.card.stat().st_size - start
        file = self.folder / "data.ext4"
        run(["/sbin/mke2fs", "-q", "-t", "ext4", "-b", "4096", "-E", "root_owner=0:0", "-d", content, file,
             f"{size // MIB}M"], check=True, capture_output=True)
        self.write(start, file.read_bytes())
        self.write(446 + 3 * 16 + 12, struct.pack("<I", size // disk.SECTOR))
        shutil.rmtree(content)
        file.unlink()

    def _mtools(self, program, *words, check=True):
        return run([program, "-i", f"{self.card}@@{disk.BOOT.start}", *map(str, words)], check=check,
                   capture_output=True, text=True, stdin=subprocess.DEVNULL)
