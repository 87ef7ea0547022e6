"""usage: merged_constants.py FOLDER

Finds constants that the linker would confuse. Swift 6.3 compiles a function of an Embedded library into each module
that calls it, numbers the function's constant arrays from 0 in each module, and the linker keeps one of each number:
where the order differs, one array is used for another. This compares the arrays in all object files below FOLDER. The
way out for a function that is named: at most one constant array in it, for instance by appending to an empty one.

Exit codes: 0 all are alike, 1 some differ.
"""

import re
import struct
import sys
from pathlib import Path

#: Mangled names of a function's constant arrays: an "outlined variable" and its number.
NAME = re.compile(r"Tv\d*_r$")

SYMBOL_TABLE, RELOCATIONS_WITH_ADDEND, RELOCATIONS = 2, 4, 9


class Object:
    """A relocatable ELF file, little-endian, of 32 or 64 bits."""

    def __init__(self, path):
        self.bytes = path.read_bytes()
        self.wide = self.bytes[4] == 2
        self.word = 8 if self.wide else 4
        header = struct.unpack_from("<HHIQQQIHHHHHH" if self.wide else "<HHIIIIIHHHHHH", self.bytes, 16)
        start, size, count = header[5], header[10], header[11]
        layout = "<IIQQQQIIQQ" if self.wide else "<IIIIIIIIII"
        # Each: name, type, flags, address, offset, size, link, info, alignment, entry size.
        self.sections = [struct.unpack_from(layout, self.bytes, start + size * index) for index in range(count)]
        self.symbols = [self.symbol(table, entry) for table in self.sections if table[1] == SYMBOL_TABLE
                        for entry in self.entries(table)]

    def entries(self, section):
        return range(section[4], section[4] + section[5], section[9])

    def symbol(self, table, entry):
        """Name, section, place in it, size."""
        if self.wide:
            name, _, _, section, value, size = struct.unpack_from("<IBBHQQ", self.bytes, entry)
        else:
            name, value, size, _, _, section = struct.unpack_from("<IIIBBH", self.bytes, entry)
        begin = self.sections[table[6]][4] + name
        return self.bytes[begin:self.bytes.index(b"\0", begin)].decode(), section, value, size

    def relocations(self, number, begin, end):
        """What the linker is to fill in there: where, how, and with what."""
        for section in self.sections:
            if section[1] not in (RELOCATIONS, RELOCATIONS_WITH_ADDEND) or section[7] != number:
                continue
            for entry in self.entries(section):
                place, info = struct.unpack_from("<QQ" if self.wide else "<II", self.bytes, entry)
                if not begin <= place < end:
                    continue
                symbol, kind = (info >> 32, info & 0xFFFFFFFF) if self.wide else (info >> 8, info & 0xFF)
                if section[1] == RELOCATIONS_WITH_ADDEND:
                    extra = struct.unpack_from("<q" if self.wide else "<i", self.bytes, entry + self.word * 2)[0]
                else:
                    extra = struct.unpack_from("<i", self.bytes, self.sections[number][4] + place)[0]
                yield place - begin, kind, self.target(symbol, extra)

    def target(self, symbol, extra):
        """What a relocation leads to: a symbol that all files know, or else the text that lies there."""
        name, section, value, _ = self.symbols[symbol]
        if name and not name.startswith(".L"):
            return name, extra
        if abs(extra) >> 40:
            # A string's: tagged in its highest byte, and 32 bytes too low.
            extra = (extra + 32) & ((1 << 56) - 1)
        begin = self.sections[section][4] + value + extra
        return "", self.bytes[begin:self.bytes.index(b"\0", begin)]

    def constants(self):
        for name, section, value, size in self.symbols:
            if NAME.search(name) and 0 < section < len(self.sections):
                place = self.sections[section][4] + value
                content = bytearray(self.bytes[place:place + size])
                filled = sorted(self.relocations(section, value, value + size))
                for offset, _, _ in filled:
                    content[offset:offset + self.word] = bytes(self.word)
                yield name, (content, filled)


def main(folder):
    seen, different = {}, set()
    for path in sorted(Path(folder).rglob("*.o")):
        for name, content in Object(path).constants():
            if seen.setdefault(name, content) != content:
                different.add(name)
    for name in sorted(different):
        print(f"constant arrays of one name and different content: {name}", file=sys.stderr)
    if not seen:
        print(f"no constant arrays below {folder}: has the compiler changed their names?", file=sys.stderr)
    return 1 if different or not seen else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__.split("\n")[0])
    sys.exit(main(sys.argv[1]))
