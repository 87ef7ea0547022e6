"""The lists of firmware-image: packages, modules, settings of a board."""

from pathlib import Path
from typing import NamedTuple


class Locked(NamedTuple):
    name: str
    version: str
    sha256: str
    size: int


def lines(path):
    """The lines of a list, without comments."""
    stripped = (line.partition("#")[0].strip() for line in Path(path).read_text().splitlines())
    return [line for line in stripped if line]


def files_of_packages(path):
    """Of a list `PACKAGE: FILE…`: pairs of package and file."""
    pairs = []
    for line in lines(path):
        package, _, files = line.partition(":")
        pairs += [(package, file) for file in files.split()]
    return pairs


def packages(path):
    return [line.partition(":")[0] for line in lines(path)]


def locked(path):
    """The lock file, by the packages' names."""
    rows = (line.split() for line in lines(path))
    return {row[0]: Locked(row[0], row[1], row[2], int(row[3])) for row in rows}


def settings(path):
    """A file of lines `KEY = VALUE`, as a dictionary."""
    pairs = (line.partition("=") for line in lines(path))
    return {key.strip(): value.strip() for key, _, value in pairs}
