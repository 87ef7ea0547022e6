"""Writes Sources/Manifests/Text/TextTables.swift: the characters of Shift-JIS (Windows-932) and GB 2312.

usage: text_tables.py

A character takes three bytes of UTF-8; shorter ones have blanks after them. The codecs are Python's.
"""

from pathlib import Path

FILE = Path(__file__).parents[2] / "Sources/Manifests/Text/TextTables.swift"
#: Rows of Shift-JIS with characters: JIS X 0208, NEC's row 13, and IBM's additions. In the order of TextTables.swift.
JAPANESE = [*range(1, 9), 13, *range(16, 85), *range(115, 120)]
#: Rows of GB 2312 that Shift-JIS does not have in the same order.
CHINESE = [1, 2, 8, *range(16, 88)]
#: Characters of a line.
WIDTH = 94
MISSING = "\N{REPLACEMENT CHARACTER}"


def shift_jis(row, cell):
    lead = 0x81 + (row - 1) // 2
    if lead > 0x9F:
        lead += 0x40
    trail = cell - 1 + (0x40 if row % 2 else 0x9F)
    if row % 2 and trail >= 0x7F:
        trail += 1
    return bytes([lead, trail])


def gb2312(row, cell):
    return bytes([0xA0 + row, 0xA0 + cell])


def cells(rows, code, codec):
    for row in rows:
        line = ""
        for cell in range(1, 95):
            try:
                character = code(row, cell).decode(codec)
            except UnicodeDecodeError:
                character = MISSING
            size = len(character.encode())
            if len(character) != 1 or size > 3 or 0xE000 <= ord(character) < 0xF900:
                character, size = MISSING, 3
            line += character + " " * (3 - size)
        yield line


def literal(lines):
    text = "".join(lines)
    parts = (text[start : start + WIDTH] for start in range(0, len(text), WIDTH))
    return '"""\n        ' + "\\\n        ".join(parts) + '\n        """'


def check():
    """GBK adds to GB 2312 the other characters of Unicode's first block, in its order."""
    known = {gb2312(row, cell).decode("gb2312", "ignore") for row in range(16, 88) for cell in range(1, 95)}
    others = [chr(code) for code in range(0x4E00, 0x9FA6) if chr(code) not in known]
    places = [bytes([lead, trail]) for lead in range(0x81, 0xA1) for trail in range(0x40, 0xFF) if trail != 0x7F]
    places += [bytes([lead, trail]) for lead in range(0xAA, 0xFE) for trail in range(0x40, 0xA1) if trail != 0x7F]
    for place, character in zip(places, others, strict=False):
        if place.decode("gbk") != character:
            raise SystemExit(f"{place.hex()} is {place.decode('gbk')}, not {character}")
    for row in (4, 5, 6, 7):
        for cell in range(1, 95):
            chinese = gb2312(row, cell).decode("gb2312", "ignore")
            if chinese and chinese != shift_jis(row, cell).decode("cp932", "ignore"):
                raise SystemExit(f"row {row}, cell {cell} differs")


def main():
    check()
    FILE.write_text(
        f"""/// Rows of 94 characters of three bytes each, by tools/lib/text_tables.py. Shorter ones have blanks after
/// them, and U+FFFD is none.
enum TextTables {{
    /// Rows 1 to 8, 13, 16 to 84 and 115 to 119 of Shift-JIS, as Windows has it.
    static let japanese: StaticString = {literal(cells(JAPANESE, shift_jis, "cp932"))}

    /// Rows 1, 2, 8 and 16 to 87 of GB 2312. Rows 4 to 7 are those of Shift-JIS, row 3 is that of ASCII.
    static let chinese: StaticString = {literal(cells(CHINESE, gb2312, "gbk"))}
}}
"""
    )


main()
