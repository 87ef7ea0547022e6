"""A library of 100,000 tracks for a board: the files on its data disk, and their index, made on this machine."""

import os
import re
import sqlite3
import subprocess
import sys
from pathlib import Path

from .host import BUILD_LIMIT, run

REPOSITORY = Path(__file__).parents[3]
#: Scans a folder into an index, as `Meter library`.
METER = REPOSITORY / ".build/debug/Meter"

sys.path.append(str(REPOSITORY / "tools/lib"))

#: Large enough for the files and two copies of the index. mke2fs gives a disk of less than 512 MB small blocks, and a
#: number for each 4 KiB.
DISK_MEGABYTES = 500


class LargeLibrary:
    """The files in a folder of this machine, and what the board needs to know them without reading one.

    On the board the files lie in /data/music, and have to be reached by the path that they have here.
    """

    def __init__(self, folder):
        from library_bench import FILES, make_files

        self.tracks = FILES
        self.music = Path(folder) / "music"
        self._index = Path(folder) / "library.db"
        make_files(self.music, folder)
        for part, _, names in os.walk(self.music):
            for name in names:
                # mke2fs copies whole seconds.
                os.utime(f"{part}/{name}", (1_600_000_000, 1_600_000_000))
        run([METER, "library", self._index, self.music], check=True, stdout=subprocess.DEVNULL, timeout=BUILD_LIMIT)

    def index(self, disk):
        """The bytes of the index, with the numbers that the files have on a data disk that was made of them."""
        database = sqlite3.connect(self._index)
        folders = database.execute("SELECT id, path FROM folder").fetchall()
        commands = "".join(f"ls -p /music{path.removeprefix(str(self.music))}\n" for _, path in folders)
        listed = run(["/sbin/debugfs", "-f", "-", disk], input=commands, text=True, check=True,
                     stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
        listings = listed.split("debugfs: ls -p ")[1:]
        assert len(listings) == len(folders), f"{len(listings)} of {len(folders)} folders"
        for (number, _), listing in zip(folders, listings):
            # /NUMBER/MODE/OWNER/GROUP/NAME/SIZE/
            files = re.findall(r"^/(\d+)/100\d+/\d+/\d+/([^/]+)/", listing, re.MULTILINE)
            database.executemany("UPDATE track SET inode = ? WHERE folder = ? AND file = ?",
                                 [(int(inode), number, name) for inode, name in files])
        database.commit()
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        database.close()
        return self._index.read_bytes()
