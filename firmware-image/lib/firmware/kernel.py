"""The kernel of a board: one folder, as Debian 12's package linux-image has it."""

import os
import shutil
from pathlib import Path
from typing import NamedTuple

from . import lists

FIRMWARE = Path(__file__).parents[2]


class Kernel(NamedTuple):
    folder: Path
    #: The packages of the modules, and of the kernel itself.
    modules_package: str
    package: str


def of(settings, cache):
    """That of a board with these settings, from the packages in `cache`."""
    names = [name for name in lists.packages(FIRMWARE / f"packages.{settings.get('debian', 'list')}")
             if name.startswith("linux-")]
    if settings.get("debian") == "trixie":
        return _of_parts(names, cache)
    image = next(name for name in names if name.startswith("linux-image-"))
    return Kernel(cache / "packages" / image, image, image)


def _of_parts(names, cache):
    """Puts the three packages of Debian 13's backports together, by links to their files."""
    packages = {name.split("-")[1]: name for name in names}
    version = packages["modules"].removeprefix("linux-modules-")
    folder = cache / f"kernel-{version}"
    shutil.rmtree(folder, ignore_errors=True)
    target = folder / "lib/modules" / version
    for name in names:
        shutil.copytree(cache / "packages" / name / "usr/lib/modules" / version, target, copy_function=os.link,
                        dirs_exist_ok=True)
    (folder / "boot").mkdir()
    (target / "vmlinuz").rename(folder / f"boot/vmlinuz-{version}")
    (folder / "usr/lib").mkdir(parents=True)
    (target / "dtb").rename(folder / f"usr/lib/linux-image-{version}")
    return Kernel(folder, packages["modules"], packages["binary"])
