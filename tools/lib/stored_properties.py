"""usage: stored_properties.py [--list | ALLOWED] FILE…

Counts the stored properties of each type in the Swift FILEs below Sources: `let` and `var` without a getter, directly
in the body of a class, struct or actor, and not static. A type with many of them has more than one job.

A plain record is not counted: a struct without private stored properties and without a mutating function.

At most TYPES types have more than MANY stored properties, and no type has more than MOST. The file ALLOWED has what
is still above these bounds, whose numbers may only fall: a line `types N`, and a line `NAME N` for each type. `--list`
prints the types with more than MANY, and the plain records too.

Exit codes: 0 all good, 1 something was found.
"""

import re
import sys
from pathlib import Path

MANY = 12
MOST = 16
TYPES = 10

#: A type, an extension or a stored or computed property, with its attributes and modifiers.
MODIFIERS = r"(?P<modifiers>(?:(?:@\w+(?:\([^()]*\))?|[a-z]+(?:\((?:set|unsafe|unowned)\))?)\s+)*)"
TYPE = re.compile(rf"{MODIFIERS}(?P<kind>class|struct|actor|enum|protocol|extension)\s+(?P<name>[A-Za-z_][\w.]*)")
PROPERTY = re.compile(rf"(?:^|(?<=[\n;}}]))[ \t]*{MODIFIERS}(?:let|var)\s+")
MUTATING = re.compile(r"\bmutating\s+func\b")
OBSERVER = re.compile(r"\s*(?:willSet|didSet)\b")
#: The beginning of what is neither code nor a bracket of code.
COMMENT_OR_STRING = re.compile(r'//|/\*|#*"""|#*"')


class Type:
    """A type's declaration. Extensions of the same name add their functions only."""

    def __init__(self, name, kind, path):
        self.name, self.kind, self.path = name, kind, path
        self.count = 0
        self.has_private = False
        self.is_mutating = False

    @property
    def is_record(self):
        return self.kind == "struct" and not self.has_private and not self.is_mutating


def main():
    lists = sys.argv[1] == "--list"
    lines = [] if lists else Path(sys.argv[1]).read_text(encoding="utf-8").splitlines()
    allowed = {name: int(number) for name, number in map(str.split, lines)}
    types = {}
    for name in sorted(sys.argv[2:]):
        path = Path(name)
        if path.suffix == ".swift" and path.parts[0] == "Sources" and path.parts[1] != "C":
            read(path, types)
    large = sorted((type for type in types.values() if type.count > MANY), key=lambda type: (-type.count, type.name))
    behaving = [type for type in large if not type.is_record]
    if lists:
        for type in large:
            print(f"{type.count:3} {type.name} ({type.path}){', a record' if type.is_record else ''}")
        print(f"{len(behaving)} types with more than {MANY} stored properties, without records")
        return 0
    problems = [
        f"{type.path}: {type.name} has {type.count} stored properties, at most {most}: divide it by its jobs"
        for type in behaving if type.count > (most := allowed.get(type.name, MOST))]
    most = allowed.get("types", TYPES)
    if len(behaving) > most:
        names = ", ".join(f"{type.name} {type.count}" for type in behaving)
        problems.append(f"{len(behaving)} types have more than {MANY} stored properties, at most {most}: {names}")
    for problem in problems:
        print(problem)
    return 1 if problems else 0


def read(path, types):
    """Adds the types of a file, and what its extensions add, to `types`, by module and name."""
    code = without_text(path.read_text(encoding="utf-8"))
    body(code, 0, len(code), path, "", types)


def body(code, start, end, path, owner, types):
    """Reads the declarations in code[start:end], which is a file or the body of the type `owner`."""
    plain, position = [], start
    while position < end:
        opening = code.find("{", position, end)
        if opening < 0:
            plain.append(code[position:end])
            break
        closing = matching(code, opening, end)
        found = declared_type(code, max(position, code.rfind("}", start, opening) + 1), opening)
        if found:
            plain.append(code[position:found.start()])
            name = f"{owner}.{found['name']}" if owner else found["name"]
            key = (path.parts[1], name)
            if found["kind"] != "extension" and found["kind"] != "protocol":
                known = types.get(key)
                types[key] = Type(name, found["kind"], path)
                if known:
                    types[key].is_mutating = known.is_mutating
            inner = body(code, opening + 1, closing, path, name, types)
            type = types.setdefault(key, Type(name, "extension", path))
            type.is_mutating |= bool(MUTATING.search(inner))
            if found["kind"] in ("class", "struct", "actor"):
                for count, is_private in properties(inner):
                    type.count += count
                    type.has_private |= is_private
        else:
            observer = OBSERVER.match(code, opening + 1)
            plain.append(code[position:opening] + ("{didSet}" if observer else "{}"))
        position = closing + 1
    return "".join(plain)


def declared_type(code, start, opening):
    """Finds the type whose body begins at `opening`; nil when the brace belongs to something else."""
    last = None
    for found in TYPE.finditer(code, start, opening):
        last = found
    if last is None or re.search(r"[;={}]|\b(?:func|init|var|let|subscript|deinit)\b", code[last.end():opening]):
        return None
    return last


def properties(inner):
    """Yields, for each declaration of stored properties in a body, their number and whether they are private."""
    for found in PROPERTY.finditer(inner):
        modifiers = found["modifiers"].split()
        if "static" in modifiers or "class" in modifiers:
            continue
        depth, count, has_value, is_computed = 0, 1, False, False
        position = found.end()
        if inner[position] == "(":
            closing = inner.index(")", position)
            count = inner.count(",", position, closing) + 1
            position = closing + 1
        while position < len(inner):
            character = inner[position]
            if inner.startswith("->", position):
                position += 2
                continue
            if character in "([<":
                depth += 1
            elif character in ")]>":
                depth -= 1
            elif depth == 0 and character == "=":
                has_value = True
            elif depth == 0 and character == ",":
                count += 1
            elif depth == 0 and character == "{":
                is_computed = not has_value and not inner.startswith("{didSet}", position)
                break
            elif depth <= 0 and character in "\n;" and not inner[:position].rstrip(" ").endswith((":", "=", ",", "->")):
                break
            position += 1
        if not is_computed:
            yield count, any(word.startswith(("private", "fileprivate")) for word in modifiers)


def matching(code, opening, end):
    """Returns the place of the brace that closes the one at `opening`."""
    depth = 0
    for position in range(opening, end):
        if code[position] == "{":
            depth += 1
        elif code[position] == "}":
            depth -= 1
            if depth == 0:
                return position
    return end


def without_text(content):
    """Returns Swift without its comments and the text of its strings. Lines stay."""
    parts, position = [], 0
    while found := COMMENT_OR_STRING.search(content, position):
        parts.append(content[position:found.start()])
        opening = found[0]
        if opening == "//":
            end = content.find("\n", found.end())
            position = len(content) if end < 0 else end
        elif opening == "/*":
            position = end_of_comment(content, found.end())
        else:
            position = end_of_string(content, found.end(), opening)
            parts.append('""')
        parts.append("\n" * content.count("\n", found.start(), position))
    parts.append(content[position:])
    return "".join(parts)


def end_of_comment(content, position):
    """Returns the place after a block comment, which may contain others."""
    depth = 1
    while depth and (found := re.compile(r"/\*|\*/").search(content, position)):
        depth += 1 if found[0] == "/*" else -1
        position = found.end()
    return position if depth == 0 else len(content)


def end_of_string(content, position, opening):
    """Returns the place after a string, with what is interpolated in it."""
    hashes = opening.count("#")
    closing, escape = opening[hashes:] + "#" * hashes, "\\" + "#" * hashes
    while position < len(content):
        if content.startswith(closing, position):
            return position + len(closing)
        if content.startswith(escape + "(", position):
            depth, position = 1, position + len(escape) + 1
            while depth and position < len(content):
                if found := COMMENT_OR_STRING.match(content, position):
                    position = end_of_string(content, found.end(), found[0])
                    continue
                depth += {"(": 1, ")": -1}.get(content[position], 0)
                position += 1
        elif content.startswith(escape, position):
            position += len(escape) + 1
        else:
            position += 1
    return position


if __name__ == "__main__":
    sys.exit(main())
