"""usage: decisions.py [--write]

Compares docs/decisions/README.md with the decision records beside it: a row for each, with its title and the places
that cite it. With --write it writes the rows. A record that nothing cites is a problem: nobody finds it.

Exit codes: 0 the rows are right, 1 they are not.
"""

import re
import subprocess
import sys
from pathlib import Path

FOLDER = Path("docs/decisions")
INDEX = FOLDER / "README.md"
HEAD = "| decision | cited by |\n|---|---|\n"
CITATION = re.compile(r"(?:decisions/|\]\()([a-z0-9-]+\.md)")


def main():
    records = {path.name: path for path in sorted(FOLDER.glob("*.md")) if path != INDEX}
    places = {name: set() for name in records}
    files = subprocess.run(["git", "ls-files", "-z"], stdout=subprocess.PIPE, text=True, check=True).stdout
    for file in filter(None, files.split("\0")):
        path = Path(file)
        # The history says what was, and the records name each other.
        if path.parent == FOLDER or file == "CHANGELOG.md" or not path.is_file():
            continue
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        for name in set(CITATION.findall(text)) & set(records):
            places[name].add(place(path))
    rows = [f"| [{title(path)}]({name}) | {', '.join(sorted(places[name]))} |\n" for name, path in records.items()]
    before = INDEX.read_text(encoding="utf-8")
    introduction = before.split(HEAD)[0]
    after = introduction + HEAD + "".join(rows)
    if "--write" in sys.argv[1:]:
        INDEX.write_text(after, encoding="utf-8")
    problems = [f"{FOLDER / name}: nothing cites it" for name in records if not places[name]]
    if "--write" not in sys.argv[1:] and after != before:
        problems.append(f"{INDEX}: python3 tools/lib/decisions.py --write brings its rows up to date")
    for problem in problems:
        print(problem)
    return 1 if problems else 0


def title(path):
    with path.open(encoding="utf-8") as file:
        return file.readline().lstrip("# ").strip()


def place(path):
    """A module, a document or a folder."""
    if path.parts[0] in ("Sources", "docs", "tools", "package") and len(path.parts) > 1:
        return "/".join(path.parts[1:2]) if path.parts[0] in ("Sources", "docs") else path.parts[0]
    return path.parts[0]


if __name__ == "__main__":
    sys.exit(main())
