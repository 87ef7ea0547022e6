"""How many bytes of the engine each part of it takes, by the linker's map, against the table engine-sizes."""

import argparse
import re
import sys
from collections import Counter
from pathlib import Path

#: A line of lld's map: address, load address, size, alignment; then the output section, or eight spaces and the input
#: section, or sixteen and the symbol.
LINE = re.compile(r" *([0-9a-f]+) +[0-9a-f]+ +([0-9a-f]+) +\d+ (( {8}| {16})?)(\S.*)")

#: The module at the start of a name that the compiler made: its length, then its letters.
MODULE = re.compile(r"\$e(\d+)")

#: What is in the file but has no line of its own in the table: parts of less than so many bytes.
SMALL = 4096


def module(symbol):
    """The Swift module that a symbol belongs to."""
    symbol = symbol.removeprefix("symbolic ")
    match = MODULE.match(symbol)
    if match:
        length, rest = int(match[1]), symbol[match.end():]
        return rest[:length] if not rest.startswith("0") else "Swift"
    if symbol.startswith("OUTLINED_FUNCTION"):
        return "pieces that the compiler shares"
    return "Swift" if symbol.startswith(("$e", "swift_")) else "constants"


def part(place):
    """The part that an input section belongs to: `path/libx.a(member):(section)` or `path/File.swift.o:(section)`."""
    archive = re.search(r"([^/]+)\.a\(", place)
    if archive:
        return archive[1]
    section = re.search(r":\((.*)\)$", place)
    if ".swift.o" in place and section:
        symbol = re.search(r"(\$e.*|OUTLINED_FUNCTION.*|swift_.*)$", section[1])
        return module(symbol[1]) if symbol else "constants"
    return "constants" if place.startswith("<internal>") else "our own C"


def sizes(lines):
    """The bytes of each part in the file; what is only memory (.bss) and what is stripped is left out."""
    result, counts = Counter(), False
    for line in lines:
        match = LINE.match(line)
        if not match:
            continue
        address, size, indent, name = int(match[1], 16), int(match[2], 16), len(match[3]), match[5]
        if indent == 0:
            counts = address > 0 and not name.startswith((".bss", ".tbss", ".relro_padding", "__libc_freeres_ptrs"))
        elif indent == 8 and counts and size > 0:
            result[part(name)] += size
    return gathered(result)


def gathered(parts):
    """The same with everything small in one line."""
    small = [name for name, size in parts.items() if size < SMALL]
    rest = sum(parts.pop(name) for name in small)
    if rest:
        parts["what is smaller"] += rest
    return parts


def read_table(path):
    """The lines `BYTES BOUND PART` of the table, as a dictionary from the part to both numbers."""
    table = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            size, bound, name = line.split(maxsplit=2)
            table[name] = int(size), int(bound)
    return table


def report(parts, table):
    """The lines of the report, and what is over its bound or has none."""
    lines, problems = [f"{'part':34} {'bytes':>9} {'released':>9} {'change':>8} {'bound':>9}"], []
    for name, size in [*parts.most_common(), ("all", parts.total())]:
        before, bound = table.get(name, (0, 0))
        lines.append(f"{name:34} {size:9} {before:9} {size - before:+8} {bound:9}")
        if name not in table:
            problems.append(f"{name} has no line in tools/lib/engine-sizes")
        elif size > bound:
            problems.append(f"{name} has {size} bytes, more than {bound}")
    return lines, problems


def main():
    parser = argparse.ArgumentParser(prog="tools/size")
    parser.add_argument("map", type=Path)
    parser.add_argument("table", type=Path)
    parser.add_argument("engine", type=Path)
    parser.add_argument("--quiet", action="store_true")
    arguments = parser.parse_args()
    with arguments.map.open(encoding="utf-8", errors="replace") as lines:
        parts = sizes(lines)
    lines, problems = report(parts, read_table(arguments.table))
    # Headers and the gaps between sections are all that no part has.
    engine = arguments.engine.stat().st_size
    if not 0.99 * engine <= parts.total() <= engine:
        problems.append(f"the map has {parts.total()} of the engine's {engine} bytes: is it of another build?")
    if not arguments.quiet:
        print("\n".join(lines))
    for problem in problems:
        print(f"tools/size: {problem}", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
