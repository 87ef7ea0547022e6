"""Slots of the firmware image that differ from it in a few files."""

import shutil
import subprocess
import tempfile
from pathlib import Path

from .host import BUILD_LIMIT, run
from .image_board import IMAGE, disk, uboot

#: What an update is called that is newer than the image.
NEWER = "0.9"


def slot_variant(change, image=IMAGE, version=NEWER):
    """All bytes of a slot like that of `image`; `change` is called with the folder of its root file system before."""
    with tempfile.TemporaryDirectory(prefix="image-slot-") as folder:
        root = Path(folder) / "root"
        shutil.copytree(image / "root", root, symlinks=True)
        release = root / "etc/tonearm-release"
        board = release.read_text().split()[0]
        release.write_text(f"{board}\nversion={version}\n")
        change(root)
        squashed = Path(folder) / "root.squashfs"
        run(["mksquashfs", root, squashed, "-quiet", "-no-progress", "-all-root", "-comp", "gzip",
             "-Xcompression-level", "1"], check=True, stdout=subprocess.DEVNULL, timeout=BUILD_LIMIT)
        original = (image / "slot.img").read_bytes()[disk.HEADER:]
        return squashed.read_bytes().ljust(disk.HEADER, b"\0") + header(original, version) + original[disk.SECTOR:]


def header(original, version):
    """The header of a slot, with another version."""
    lines = original[4:uboot.STATE_SIZE].split(b"\0\0", 1)[0].decode().split("\0")
    return uboot.environment(dict(line.split("=", 1) for line in lines) | {"slot_version": version}, uboot.STATE_SIZE)


def write_program(path, script):
    """Writes an executable shell script in place of what `path` is, which may be a link."""
    path.unlink()
    path.write_text(f"#!/bin/sh\n{script}")
    path.chmod(0o755)
