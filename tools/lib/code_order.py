"""Which functions of the engine a board runs, in the order of their first run: by what the emulator translated."""

import argparse
import bisect
import re
import shlex
import struct
import tempfile
from pathlib import Path

from virtual_board.daemon import Daemon, board_with_daemon
from virtual_board.host import run
from virtual_board.music import tune, write_flac

#: A line of the emulator's log: an address, and the instruction there.
INSTRUCTION = re.compile(r"0x([0-9a-f]{8,}): +([0-9a-f]{8}) ")
#: The start of a block that the emulator translated, which it does when the block runs first.
BLOCK = "IN:"

#: What most boards play.
ENDINGS = ["flac", "mp3", "m4a"]


class Code:
    """The section .text of an ELF file of 64 bits, and the functions in it."""

    def __init__(self, path):
        self._file = path.read_bytes()
        self.address, self._offset, self.size = self._text()
        listing = run(["llvm-nm", "--numeric-sort", "--print-size", "--defined-only", path],
                      check=True, capture_output=True, text=True).stdout
        words = (line.split() for line in listing.splitlines())
        #: Addresses, sizes and names.
        self._functions = [(int(line[0], 16), int(line[1], 16), line[3]) for line in words
                           if len(line) == 4 and line[2] in "tTwW"]
        self._addresses = [address for address, _, _ in self._functions]

    def has(self, block):
        """Whether these instructions are this program's: another program may lie at the same addresses."""
        return all(self.address <= at < self.address + self.size and self._word(at) == word for at, word in block)

    def function(self, address):
        """The name of the function that an address lies in, or None."""
        start, size, name = self._functions[bisect.bisect_right(self._addresses, address) - 1]
        return name if start <= address < start + size else None

    def _word(self, address):
        return struct.unpack_from("<I", self._file, self._offset + address - self.address)[0]

    def _text(self):
        """Address, offset and size of the largest section that can be executed."""
        start, = struct.unpack_from("<Q", self._file, 0x28)
        count, = struct.unpack_from("<H", self._file, 0x3C)
        headers = [struct.unpack_from("<IIQQQQ", self._file, start + 64 * index) for index in range(count)]
        executable = [header for header in headers if header[2] & 4]
        return max((header[3:6] for header in executable), key=lambda text: text[2])


def blocks(lines):
    """What the emulator translated: lists of addresses and instructions."""
    block = []
    for line in lines:
        if line.startswith(BLOCK):
            if block:
                yield block
            block = []
        elif match := INSTRUCTION.match(line):
            block.append((int(match[1], 16), int(match[2], 16)))
    if block:
        yield block


def order(code, lines):
    """The names of the functions that ran, each once."""
    found = {}
    for block in blocks(lines):
        if code.has(block) and (name := code.function(block[0][0])):
            found.setdefault(name)
    return list(found)


def make_music(folder):
    """An album with a track of each kind."""
    source = folder / "Album/1.flac"
    write_flac(source, tune(44_100, 16, seconds=20, seed=11))
    run(["metaflac", "--set-tag=ARTIST=Band", "--set-tag=ALBUM=Album", "--set-tag=TITLE=Part 1", source], check=True)
    for number, ending in enumerate(ENDINGS[1:], 2):
        run(["ffmpeg", "-v", "error", "-i", source, folder / f"Album/{number}.{ending}"], check=True)


def listen(board):
    """An evening at the board, in a minute: it starts, is asked in each way, plays, and is started again."""
    daemon = Daemon(board)
    daemon.wait_until_ready()
    daemon.ask("volume", "100")
    daemon.ask("repeat", "all")
    watch = daemon.watch()
    daemon.ask("queue", "set", "/data/music/Album", "--play")
    for index in range(len(ENDINGS)):
        after = len(watch.events)
        watch.wait_for_position(1, after)
        if index + 1 < len(ENDINGS):
            daemon.ask("next")
    daemon.ask("volume", "50")
    say(board, 6600, "status\ncurrentsong\nplaylistinfo\nlsinfo\nclose\n")
    for path in "/", "/api/status", "/api/queue":
        say(board, 8080, f"GET {path} HTTP/1.1\r\nHost: board\r\nConnection: close\r\n\r\n")
    daemon.ask("seek", "5")
    daemon.ask("pause")
    daemon.ask("play")
    watch.stop()
    daemon.restart()
    watch = daemon.watch()
    watch.wait_for("position")
    watch.stop()


def say(board, port, text):
    """Sends a text to a server of the board, and waits for the end of its answer."""
    board.run("sh", "-c", f"printf %s {shlex.quote(text)} | nc 127.0.0.1 {port}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("engine", type=Path)
    parser.add_argument("output", type=Path)
    arguments = parser.parse_args()
    code = Code(arguments.engine)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "music").mkdir()
        make_music(folder / "music")
        settings = {("library", "folders"): "/data/music", ("web", "address"): "any", ("mpd", "address"): "any",
                    ("log", "level"): "notice"}
        log = folder / "log"
        with board_with_daemon(folder / "music", settings) as board:
            board.power_on(translations=(log, code.address, code.size))
            listen(board)
        with log.open() as lines:
            names = order(code, lines)
    arguments.output.write_text("".join(f"{name}\n" for name in names))
    print(f"{arguments.output.name}: {len(names)} functions")


if __name__ == "__main__":
    main()
