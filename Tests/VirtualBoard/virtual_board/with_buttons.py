"""Runs an emulator of the board in this terminal, with all its buttons let go:

    python3 -m virtual_board.with_buttons COMMAND…

The inputs of the GPIO chip are low at first, which means that every button is held.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from . import qemu
from .board import BUTTON_LINES
from .qemu import BoardOff, Monitor, Pins


def run(command, folder):
    """The exit code of the emulator."""
    sockets = []
    for name in ("qmp", "qtest"):
        sockets += [f"-{name}", f"unix:{folder / name},server=on,wait=off"]
    with subprocess.Popen([*command, *sockets, "-qtest-log", "/dev/null"]) as board:
        try:
            monitor = Monitor(qemu.connect(folder / "qmp", board))
            pins = Pins(qemu.connect(folder / "qtest", board), qemu.find_chip(monitor))
            for line in BUTTON_LINES:
                pins.set(line, True)
            board.wait()
        except BoardOff:
            board.wait()
        return board.returncode


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="board-") as sockets_folder:
        sys.exit(run(sys.argv[1:], Path(sockets_folder)))
