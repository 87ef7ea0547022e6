"""Makes an image:

    python3 -m firmware.build BOARD CACHE OUTPUT ENGINE VERSION [NON-FREE]

CACHE/packages has a folder of unpacked files for each package. OUTPUT gets `disk.img`, `slot.img`, `root.squashfs`,
`sbom.spdx.json`, `sizes.txt` and, for the emulator, `u-boot.bin` and `flash.img`. SOURCE_DATE_EPOCH is the time of all
files.
"""

import gzip
import hashlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from virtual_board.cpio import Archive

from . import bill, dacs, disk, kernel, keys, lists, uboot
from .tree import Modules, Tree

FIRMWARE = Path(__file__).parents[2]
ROOT = FIRMWARE.parent

EPOCH = int(os.environ["SOURCE_DATE_EPOCH"])

#: For U-Boot: no key stops the start (0 would look for one).
NO_WAIT = {"bootdelay": "-2"}
#: Where U-Boot finds the copy of boot.scr, when the boot partition does not have it: first sector and number.
SCRIPT_SECTORS = f"{disk.BOOT_SCRIPT // disk.SECTOR:#x} {disk.BOOT_SCRIPT_SIZE // disk.SECTOR:#x}"
#: The serial port neither stops the start nor shows it. `boot.cmd` brings back the output.
SILENT = {"stdin": "nulldev", "stdout": "nulldev", "stderr": "nulldev"}


class Build:
    def __init__(self, board, cache, output, engine, version, non_free):
        self.name = board
        self.board = FIRMWARE / "boards" / board
        self.settings = lists.settings(self.board / "image.conf")
        self.cache = cache
        self.packages = cache / "packages"
        self.output = output
        self.engine = engine
        self.version = version
        self.non_free = non_free
        self.epoch = EPOCH
        self.linux = kernel.of(self.settings, cache)
        # Those of our own are for the kernel of Debian 12.
        self.modules = Modules(self.linux.folder, None if "debian" in self.settings else cache / "modules")
        # The same inputs, the same number.
        self.signature = hashlib.sha256(f"{board} {version}".encode()).hexdigest()[:8]

    def make(self):
        shutil.rmtree(self.output, ignore_errors=True)
        self.output.mkdir(parents=True)
        tree = self.make_root()
        boot = self.boot_partition()
        # What `boot-partition` makes of one that is destroyed. Behind its last file it is empty.
        tree.write("usr/share/tonearm/boot.fat", _without_end(boot), "tonearm-image")
        bill.write(self, tree)
        slot = disk.slot(self.squash(tree), self.kernel(), self.ramdisk(), self.version)
        (self.output / "slot.img").write_bytes(slot)
        disk.write(self.output / "disk.img", self.signature, self.boot_script(), boot, slot)
        if self.settings["uboot"].startswith("u-boot-qemu"):
            self.make_flash()

    # The root file system

    def make_root(self):
        tree = Tree(self.output / "root", self.packages)
        tree.make_folders()
        tree.add_listed(FIRMWARE / "packages.list")
        if self.non_free:
            self.add_wifi_firmware(tree)
        for skeleton in (FIRMWARE / "root", self.board / "root"):
            self.add_skeleton(tree, skeleton)
        tree.add("usr/bin/tonearm", self.engine, "tonearm")
        tree.add("usr/bin/tonearm-pictures", self.engine.with_name("tonearm-pictures"), "tonearm-pictures")
        page = self.output / "page"
        subprocess.run([ROOT / "tools/page", page], check=True)
        for file in sorted(page.iterdir()):
            place = f"usr/share/tonearm/web/{file.name}"
            tree.add(place, file, "tonearm")
            # For browsers, which all take it; pictures are compressed already.
            if file.suffix != ".png":
                tree.write(f"{place}.gz", gzip.compress(file.read_bytes(), mtime=0), "tonearm")
        for applet in " ".join(lists.lines(FIRMWARE / "applets")).split():
            tree.link(f"usr/bin/{applet}", "busybox")
        self.add_certificates(tree)
        for name in ("regulatory.db", "regulatory.db.p7s"):
            (tree.folder / f"usr/lib/firmware/{name}-debian").rename(tree.folder / f"usr/lib/firmware/{name}")
            tree.owner[f"usr/lib/firmware/{name}"] = tree.owner.pop(f"usr/lib/firmware/{name}-debian")
        self.add_board(tree)
        return tree

    def add_skeleton(self, tree, skeleton):
        for path in sorted(skeleton.rglob("*")):
            place = str(path.relative_to(skeleton))
            if path.is_dir():
                (tree.folder / place).mkdir(parents=True, exist_ok=True)
            elif path.name != ".keep":
                tree.add(place, path, "tonearm-image")

    def add_wifi_firmware(self, tree):
        package = "firmware-brcm80211"
        folder = self.packages / package / "lib/firmware/brcm"
        for pattern in self.settings.get("wifi-firmware", "").split():
            files = sorted(folder.glob(pattern))
            if not files:
                raise FileNotFoundError(f"package {package} has no {pattern}")
            for file in files:
                tree.add(f"usr/lib/firmware/brcm/{file.name}", file, package)

    def add_certificates(self, tree):
        """All in one file, as OpenSSL and mbedTLS read them."""
        folder = tree.folder / "usr/share/ca-certificates/mozilla"
        texts = [path.read_text() for path in sorted(folder.glob("*.crt"))]
        shutil.rmtree(tree.folder / "usr/share/ca-certificates")
        for place in [place for place in tree.owner if "ca-certificates/mozilla" in place]:
            del tree.owner[place]
        tree.write("etc/ssl/certs/ca-certificates.crt", "".join(texts), "ca-certificates")
        # Where OpenSSL looks, which checks the web servers of updates.
        (tree.folder / "usr/lib/ssl").mkdir()
        tree.link("usr/lib/ssl/cert.pem", "../../../etc/ssl/certs/ca-certificates.crt")

    def add_board(self, tree):
        rows = [line.split(maxsplit=1) for line in lists.lines(self.board / "modules")]
        wanted = [row[1].split()[0] for row in rows]
        self.modules.add_to(tree, wanted, self.linux.modules_package)
        starting = [row[1] for row in rows if row[0] == "start"]
        # All without parameters at once: a process each takes longer than the modules.
        plain = [line for line in starting if " " not in line]
        lines = [line for line in starting if " " in line] + [f"-a {' '.join(plain)}"]
        tree.write("etc/modules", "".join(f"{line}\n" for line in lines), "tonearm-image")
        tree.add("etc/tonearm/board.conf", ROOT / "board" / self.settings["profile"] / "board.conf", "tonearm-image")
        tree.add("usr/share/tonearm/dacs", ROOT / "board/dacs", "tonearm")
        if "dac-bus" in self.settings:
            self.add_dacs(tree)
        with (tree.folder / "etc/tonearm/appliance.conf").open("a") as file:
            file.write("profile = /run/tonearm/board.conf\n")
        for key in ("reset-button", "status-light", "console", "dac-bus", "no-dac"):
            if key in self.settings:
                tree.write(f"etc/{key}", self.settings[key] + "\n", "tonearm-image")
        # tools/release names a public key in TONEARM_UPDATE_KEY, or that there is none.
        key = keys.trusted(os.environ.get("TONEARM_UPDATE_KEY"))
        if key:
            tree.write("etc/tonearm/update-key", key + "\n", "tonearm-image")
        tree.write("etc/tonearm-release", f"board={self.name}\nversion={self.version}\n", "tonearm-image")

    def add_dacs(self, tree):
        """What a board with HATs needs: their overlays, as an update brings newer ones than the boot partition has, and
        the profiles of some of them."""
        for overlay in sorted(self.overlays().glob("*.dtbo")):
            tree.add(f"usr/share/tonearm/overlays/{overlay.name}", overlay, "tonearm")
        for profile in sorted((ROOT / "board").glob("*/board.conf")):
            if profile.parent.name != "virtual":
                tree.add(f"usr/share/tonearm/boards/{profile.parent.name}/board.conf", profile, "tonearm")

    def squash(self, tree):
        target = self.output / "root.squashfs"
        # Whatever this machine's umask is.
        for path in (tree.folder, *tree.folder.rglob("*")):
            if not path.is_symlink():
                path.chmod(0o755 if path.is_dir() or path.stat().st_mode & 0o100 else 0o644)
        subprocess.run(["mksquashfs", tree.folder, target, "-quiet", "-no-progress", "-noappend", "-all-root",
                        "-no-xattrs", "-comp", "zstd", "-Xcompression-level", "19", "-b", "256K"], check=True,
                       stdout=subprocess.DEVNULL)
        return target.read_bytes()

    # What U-Boot loads

    def kernel(self):
        """The kernel, compressed: kept in the cache, because it takes a while."""
        source = self.linux.folder / f"boot/vmlinuz-{self.modules.version}"
        cached = self.cache / f"{source.name}.gz"
        if not cached.exists():
            part = cached.with_suffix(".new")
            part.write_bytes(gzip.compress(source.read_bytes(), 9, mtime=0))
            part.rename(cached)
        return uboot.image(cached.read_bytes(), uboot.KERNEL, self.modules.version[:31], int(self.settings["load"], 16),
                           uboot.GZIP, EPOCH)

    def ramdisk(self):
        archive = Archive()
        archive.add_character_device("dev/console", 5, 1)
        archive.add_file("init", (FIRMWARE / "initramfs/init").read_bytes(), executable=True)
        archive.add_file("bin/busybox", (self.packages / "busybox-static/bin/busybox").read_bytes(), executable=True)
        # A damaged root is counted in the boot state.
        for name in ("common", "slots"):
            place = f"usr/lib/tonearm/{name}"
            archive.add_file(place, (FIRMWARE / "root" / place).read_bytes())
        rows = [line.split() for line in lists.lines(self.board / "modules")]
        paths = self.modules.in_order([row[1] for row in rows if row[0] == "boot"])
        names = [re.sub(r"\.xz$", "", Path(path).name) for path in paths]
        for name, path in zip(names, paths):
            archive.add_file(f"modules/{name}", self.modules.content(path))
        # Only where no root is found. The order of their names is that of loading.
        for number, path in enumerate(self.modules.in_order([row[1] for row in rows if row[0] == "light"])):
            archive.add_file(f"modules/light/{number}.ko", self.modules.content(path))
        archive.add_file("modules/order", "".join(f"{name}\n" for name in names).encode())
        return uboot.image(gzip.compress(archive.data, 9, mtime=0), uboot.RAMDISK, "initramfs", time=EPOCH)

    def boot_script(self):
        text = (FIRMWARE / "boot/boot.cmd").read_text()
        values = {name.upper(): "0x" + self.settings[name] for name in ("work", "kernel", "ramdisk")}
        values |= {f"STATE{number}": f"{place // disk.SECTOR:#x}" for number, place in enumerate(disk.STATES, 1)}
        values |= {"HEADER": f"{disk.HEADER // disk.SECTOR:#x}", "DISK": self.signature, "FDT": self.settings["fdt"],
                   "ARGUMENTS": self.settings.get("arguments", "")}
        for name, value in values.items():
            text = text.replace(f"@{name}@", value)
        text = "".join(line for line in text.splitlines(keepends=True) if not line.startswith("#"))
        return uboot.image(text.encode(), uboot.SCRIPT, "Tonearm", time=EPOCH)

    # The boot partition

    def boot_partition(self):
        """A FAT file system with what a person sees, and what the boot loader reads."""
        folder = self.output / "boot"
        folder.mkdir()
        (folder / "boot.scr").write_bytes(self.boot_script())
        # Every editor of Windows can read it with these line ends.
        text = (FIRMWARE / "boot/tonearm.conf").read_text()
        (folder / "tonearm.conf").write_text(text, newline="\r\n")
        for path in sorted((self.board / "boot").glob("*")):
            shutil.copyfile(path, folder / path.name)
        self.add_boot_files(folder)
        target = self.output / "boot.fat"
        with target.open("wb") as file:
            file.truncate(disk.BOOT.size)
        sectors = disk.BOOT.size // disk.SECTOR
        subprocess.run(["mformat", "-i", target, "-v", "TONEARM", "-N", self.signature, "-T", str(sectors), "-h", "64",
                        "-s", "32", "-H", str(disk.BOOT.start // disk.SECTOR), "-c", "4", "::"], check=True,
                       env=os.environ | {"TZ": "UTC"})
        for path in sorted(folder.rglob("*")):
            os.utime(path, (EPOCH, EPOCH))
            place = f"::/{path.relative_to(folder)}"
            command = ["mmd", "-i", target, place] if path.is_dir() else ["mcopy", "-m", "-i", target, path, place]
            subprocess.run(command, check=True, env=os.environ | {"TZ": "UTC"})
        return target.read_bytes()

    def add_boot_files(self, folder):
        """What the boot ROM and firmware of a Raspberry Pi want there."""
        package, name = self.settings["uboot"].split()
        if package.startswith("u-boot-qemu"):
            return
        shutil.copyfile(self.packages / package / name, folder / "u-boot.bin")
        work = self.settings["work"]
        commands = ("for devnum in 0 1; do if mmc dev ${devnum}; then setenv devtype mmc; "
                    f"if load mmc ${{devnum}}:1 0x{work} boot.scr; then source 0x{work}; fi; "
                    f"if mmc read 0x{work} {SCRIPT_SECTORS}; then source 0x{work}; fi; fi; done; reset")
        (folder / "uboot.env").write_bytes(uboot.environment(NO_WAIT | SILENT | {"bootcmd": commands}, 0x4000))
        for tree in self.device_trees():
            shutil.copyfile(tree, folder / tree.name)
        if "dac-bus" in self.settings:
            shutil.copytree(self.overlays(), folder / "overlays")
            names = dacs.names_for_people(dacs.sections(ROOT / "board/dacs"))
            (folder / "dacs.txt").write_text(names, newline="\r\n")
        # A Raspberry Pi 5 has its own in a chip.
        firmware = self.settings.get("gpu-firmware", "").split()
        if self.non_free or not firmware:
            for name in firmware:
                shutil.copyfile(self.packages / "raspi-firmware/usr/lib/raspi-firmware" / name, folder / name)
        else:
            text = (FIRMWARE / "boot/missing-firmware.txt").read_text().replace("@FILES@", ", ".join(firmware))
            (folder / "MISSING-FIRMWARE.txt").write_text(text, newline="\r\n")

    def device_trees(self):
        trees = self.linux.folder / f"usr/lib/linux-image-{self.modules.version}/broadcom"
        return [trees / name for name in self.settings["device-trees"].split()]

    def overlays(self):
        """The folder with the overlays of the HATs, made once. Each fits each tree, as U-Boot would leave a tree that
        one does not fit broken."""
        folder = self.output / "overlays"
        if folder.exists():
            return folder
        folder.mkdir()
        sources = sorted((ROOT / "board/overlays").glob("*.dts"))
        wrong = list(dacs.mistakes(dacs.sections(ROOT / "board/dacs"), [source.stem for source in sources]))
        if wrong:
            raise ValueError("board/dacs: " + "; ".join(wrong))
        for source in sources:
            overlay = folder / f"{source.stem}.dtbo"
            subprocess.run(["dtc", "-@", "-I", "dts", "-O", "dtb", "-o", overlay, source], check=True,
                           stderr=subprocess.PIPE)
            for tree in self.device_trees():
                subprocess.run(["fdtoverlay", "-i", tree, "-o", self.output / "whole.dtb", overlay], check=True)
        (self.output / "whole.dtb").unlink()
        return folder

    def make_flash(self):
        """For the emulator: U-Boot, and its environment in the second flash chip."""
        package, name = self.settings["uboot"].split()
        shutil.copyfile(self.packages / package / name, self.output / "u-boot.bin")
        commands = ("virtio scan; setenv devtype virtio; setenv devnum 0; "
                    f"load virtio 0:1 0x{self.settings['work']} boot.scr && source 0x{self.settings['work']}; "
                    f"virtio dev 0; virtio read 0x{self.settings['work']} {SCRIPT_SECTORS} && "
                    f"source 0x{self.settings['work']}; reset")
        with (self.output / "flash.img").open("wb") as flash:
            # Its U-Boot has no silent console (SYS_CONSOLE_IS_IN_ENV), and the serial port is the emulator's screen.
            flash.write(uboot.environment(NO_WAIT | {"bootcmd": commands}, 0x40000))
            flash.truncate(64 << 20)


def _without_end(content):
    """A disk's content without the empty sectors at its end."""
    length = len(content.rstrip(b"\0"))
    return content[:-(-length // disk.SECTOR) * disk.SECTOR]


if __name__ == "__main__":
    board, cache, output, engine, version, *rest = sys.argv[1:]
    Build(board, Path(cache), Path(output), Path(engine), version, bool(rest)).make()
