"""The table of DAC HATs, `board/dacs`: reading it, what must hold for it and its overlays, and the tables for people.

board/README.md explains the file. The engine reads it, too (`tonearm board dac`).
"""

import re
import sys
from pathlib import Path

#: Keys of every row, of one that plays, and of one that does not.
ALWAYS, PLAYING, SILENT = {"title"}, {"overlay", "card", "note"}, {"unsupported"}
OPTIONAL = {"names", "products", "uuids", "read", "lines"}
AMPLIFIER = {"amplifier-line", "amplifier-active", "amplifier-role", "amplifier-mute-before-start",
             "amplifier-unmute-after-start", "amplifier-mute-before-stop"}
SOUND = {"mixer", "mixer-minimum", "mixer-maximum", "switches", "levels", "settle-at-start", "settle-at-rate-change",
         "high", "low"}

#: Volumes of chips that amplify.
LOUDER = {"DAC", "Digital", "Master"}
#: One read, `ADDRESS/REGISTER=VALUE`; with ! in front, anything but that.
READ = re.compile(r"!?[0-7][0-9a-f]/[0-9a-f]{2}=[0-9a-f]{2}")
#: The HAT's identification, I2C and I2S: every HAT's.
SHARED_LINES = {0, 1, 2, 3, 18, 19, 20, 21}
BEGIN, END = "<!-- Made by tools/dac-table from board/dacs. -->\n", "<!-- The end of what tools/dac-table makes. -->\n"


def sections(path):
    """The sections of a file with the grammar of board.conf, in its order: {title: {key: value}}."""
    found = {}
    for number, line in enumerate(Path(path).read_text().splitlines(), 1):
        line = re.sub(r"(^|\s)[#;].*$", "", line).strip()
        if not line:
            continue
        if line.startswith("["):
            title = line.strip("[]").strip()
            if title in found:
                raise ValueError(f"{path}:{number}: [{title}] is there twice")
            current = found[title] = {}
            continue
        key, sign, value = (part.strip() for part in line.partition("="))
        if not sign or not value or key in current:
            raise ValueError(f"{path}:{number}: {line!r} is no new key with a value")
        current[key] = value
    return found


def words(row, key):
    return [word.strip() for word in row.get(key, "").split(",") if word.strip()]


def names(title, row):
    """All names of a row."""
    return [title, *words(row, "names")]


def used_lines(row):
    """The lines of the HAT that nothing else may take."""
    return {int(line) for key in ("amplifier-line", "high", "low", "lines") for line in words(row, key)} | SHARED_LINES


def profile_lines(path):
    """The lines of a profile's buttons, knobs and lights."""
    return {int(row[key]) for row in sections(path).values() for key in ("line", "line-a", "line-b") if key in row}


def mistakes(rows, overlays):
    """What is wrong in the table. `overlays` are the names of the overlays that there are."""
    seen = {}
    for title, row in rows.items():
        for text in row_mistakes(row):
            yield f"[{title}] {text}"
        for kind, values in (("name", names(title, row)), ("product", row.get("products", "").split(" | ")),
                             ("uuid", words(row, "uuids"))):
            for value in filter(None, values):
                if (kind, value) in seen:
                    yield f"[{title}] {kind} {value!r} is [{seen[kind, value]}]'s"
                seen[kind, value] = title
        if "overlay" in row and row["overlay"] not in overlays:
            yield f"[{title}] there is no board/overlays/{row['overlay']}.dts"
    for name in sorted(set(overlays) - {row.get("overlay") for row in rows.values()}):
        yield f"board/overlays/{name}.dts: no row names it"


def row_mistakes(row):
    keys, needed = set(row), ALWAYS | (SILENT if "unsupported" in row else PLAYING)
    allowed = needed | OPTIONAL | (set() if "unsupported" in row else SOUND | AMPLIFIER)
    yield from (f"lacks {key}" for key in sorted(needed - keys))
    yield from (f"has {key}" for key in sorted(keys - allowed))
    if ("mixer-minimum" in row) != ("mixer-maximum" in row) or ("mixer-maximum" in row and "mixer" not in row):
        yield "needs mixer, mixer-minimum and mixer-maximum together"
    # Their ranges go up to +24 dB, and what is above 0 dB clips.
    if row.get("mixer") in LOUDER and row.get("mixer-maximum") != "0 dB":
        yield "needs mixer-maximum = 0 dB"
    if keys & AMPLIFIER and AMPLIFIER - keys:
        yield f"lacks {', '.join(sorted(AMPLIFIER - keys))}"
    if row.get("amplifier-active", "low") not in ("low", "high") or row.get("amplifier-role", "mute") not in (
            "mute", "enable"):
        yield "has an amplifier that is neither low nor high, mute nor enable"
    lines = [line for key in ("amplifier-line", "high", "low", "lines") for line in words(row, key)]
    if len(set(lines)) < len(lines) or not all(line.isdigit() and 4 <= int(line) <= 27 for line in lines):
        yield f"has a line twice, or one that is not on the header: {', '.join(lines)}"
    if {int(line) for line in lines if line.isdigit()} & SHARED_LINES:
        yield "has a line of I2S"
    for term in re.split(r",| & ", row["read"]) if "read" in row else []:
        if not READ.fullmatch(term.strip()):
            yield f"reads {term.strip()!r}, which is no ADDRESS/REGISTER=VALUE"


def table(rows):
    """The tables for people, in Markdown."""
    lines = ["| name | HATs | overlay | volume | found by | remarks |", "|---|---|---|---|---|---|"]
    for title, row in rows.items():
        if "overlay" not in row:
            continue
        also = "".join(f", `{name}`" for name in words(row, "names"))
        ways = [way for key, way in (("uuids", "EEPROM"), ("products", "EEPROM"), ("read", "I2C")) if key in row]
        volume = f"`{row['mixer']}`" if "mixer" in row else "in software"
        lines.append(f"| `{title}`{also} | {row['title']} | `{row['overlay']}` | {volume} | "
                     f"{', '.join(dict.fromkeys(ways)) or 'its name'} | {row['note']} |")
    lines += ["", "Not supported:", "", "| name | HATs | because |", "|---|---|---|"]
    for title, row in rows.items():
        if "unsupported" in row:
            also = "".join(f", `{name}`" for name in words(row, "names"))
            lines.append(f"| `{title}`{also} | {row['title']} | {row['unsupported']} |")
    return "".join(f"{line}\n" for line in lines)


def names_for_people(rows):
    """The names for `[image] dac`, as a text file."""
    lines = ["# What `dac = NAME` in tonearm.conf may be."]
    lines += [f"{title}: {row['title']}" for title, row in rows.items() if "overlay" in row]
    lines += ["", "# Not supported."]
    lines += [f"{title}: {row['title']}: {row['unsupported']}" for title, row in rows.items() if "unsupported" in row]
    return "".join(f"{line}\n" for line in lines)


def with_table(text, rows):
    """A document with the tables in their place."""
    before, _, rest = text.partition(BEGIN)
    _, mark, after = rest.partition(END)
    if not mark:
        raise ValueError("the place of the tables is missing")
    return f"{before}{BEGIN}\n{table(rows)}\n{END}{after}"


def main(root, *options):
    """Writes the tables anew, or with --check says whether they are old; returns what is wrong."""
    rows = sections(root / "board/dacs")
    document = root / "board/overlays/README.md"
    found = list(mistakes(rows, [path.stem for path in document.parent.glob("*.dts")]))
    text = document.read_text()
    made = with_table(text, rows)
    if made != text and options:
        found.append("board/overlays/README.md is older than board/dacs: run tools/dac-table")
    elif made != text:
        document.write_text(made)
    return found


if __name__ == "__main__":
    wrong = main(Path(sys.argv[1]), *sys.argv[2:])
    sys.exit("\n".join(wrong) if wrong else 0)
