"""usage: folders.py SOURCES

Counts the pairs of folders of each module that use each other's types, and compares the numbers with BOUNDS. Such
folders are one folder for a reader: none can be understood, moved or tested without the other one. A file that lies in
the module's folder itself belongs to the pair of `.`.

Also checks that a module of FLOORS uses one folder alone of another module.

Prints each pair of a module that has more of them than its bound, with the types of the rarer direction, and each bound
that is higher than need be. Exit codes: 0 all good, 1 something was found.
"""

import re
import sys
from collections import defaultdict
from pathlib import Path

#: The most pairs of a module; 0 for the others. Lower them, never raise them.
BOUNDS = {
    "Appliance": 2, "Board": 4, "Discovery": 1, "Events": 2, "Fetching": 1, "HTTPServer": 2, "Library": 2, "MPD": 1,
    "Network": 5, "OriginService": 5, "Output": 3, "Pictures": 2, "Platform": 2,
    "Playback": 2, "Player": 1, "Streaming": 3, "tonearm": 10,
}

#: A module, the module below it, and the folder of that one that it may use.
FLOORS = [("Manifests", "Media", "Core")]

COMMENT = re.compile(r"//.*")
LITERAL = re.compile(r'"""[\s\S]*?"""|"(?:\\.|[^"\\\n])*"')
DECLARATION = re.compile(
    r"^(?:@\w+ )*(?:package |public |final |indirect )*(?:struct|class|enum|protocol|typealias) (\w+)", re.MULTILINE)
NAME = re.compile(r"\b[A-Z]\w+")


def main():
    is_good = True
    for module in sorted(path for path in Path(sys.argv[1]).iterdir() if path.is_dir() and path.name != "C"):
        pairs, bound = mutual(uses(module)), BOUNDS.get(module.name, 0)
        if len(pairs) > bound:
            print(f"{module}: {len(pairs)} pairs of folders use each other, at most {bound}:")
            for one, other, types in pairs:
                print(f"    {one} uses {', '.join(sorted(types))} of {other}, which uses it, too")
        elif len(pairs) < bound:
            print(f"tools/lib/folders.py: {module.name} has {len(pairs)} pairs; lower its bound of {bound}")
        is_good = is_good and len(pairs) == bound
    for above, below, floor in FLOORS:
        declared = declarations(contents(Path(sys.argv[1], below)))
        for path, (_, text) in contents(Path(sys.argv[1], above)).items():
            for name in sorted(set(NAME.findall(text))):
                if declared.get(name, floor) != floor:
                    print(f"{path}: {name} is in {declared[name]} of {below}; {above} uses {floor} alone")
                    is_good = False
    return 0 if is_good else 1


def contents(module):
    """The folder and the code of each file of a module, without comments and texts."""
    code = {}
    for path in sorted(module.rglob("*.swift")):
        inside = path.relative_to(module).parts
        text = LITERAL.sub("", COMMENT.sub("", path.read_text(encoding="utf-8")))
        code[path] = (inside[0] if len(inside) > 1 else ".", text)
    return code


def declarations(code):
    """The folder in which each type is declared."""
    declared = {}
    for folder, text in code.values():
        for found in DECLARATION.finditer(text):
            declared.setdefault(found[1], folder)
    return declared


def uses(module):
    """The types of other folders that the folders of a module name: folder -> other folder -> types."""
    code = contents(module)
    declared = declarations(code)
    used = defaultdict(lambda: defaultdict(set))
    for folder, text in code.values():
        for name in set(NAME.findall(text)):
            other = declared.get(name, folder)
            if other != folder:
                used[folder][other].add(name)
    return {folder: dict(others) for folder, others in used.items()}


def mutual(used):
    """The pairs of folders that use each other, with the types of the direction that has fewer."""
    pairs = []
    for one, others in sorted(used.items()):
        for other, types in sorted(others.items()):
            back = used.get(other, {}).get(one)
            if back and one < other:
                pairs.append((one, other, types) if len(types) <= len(back) else (other, one, back))
    return pairs


if __name__ == "__main__":
    sys.exit(main())
