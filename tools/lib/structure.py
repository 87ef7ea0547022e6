"""usage: structure.py PACKAGE FILE…

Checks the structure of the repository. PACKAGE is what `swift package dump-package` writes; the FILEs are relative to
the working folder.

  - Foundation is imported by modules that are never built as Embedded Swift. The compiler checks all other imports of
    modules against Package.swift (`--explicit-target-dependency-import-check`), whose targets depend on each other in
    one direction.
  - A C library is imported by one module (libc, CLinux, excepted).
  - SQL names a table in the module that creates it, and those of the music index in Library alone. Modules without
    tables do not import Database.
  - Lines of source and Markdown have at most 120 columns, and files of source and scripts at most LINES lines. Tables,
    code and addresses in Markdown may be longer.
  - No comment switches a check off.
  - A comment says why what the compiler does not check is safe between threads.
  - Tests wait and start programs with the deadlines of Tests/Support/TestSupport alone.

Exit codes: 0 all good, 1 something was found.
"""

import json
import re
import sys
from pathlib import Path

C_LIBRARY_OF_ALL = "CLinux"
#: Modules that are never built as Embedded Swift.
FULL_SWIFT = {"Origin", "OriginService"}

#: The tables of the music index, which others reach by the queries of Library (docs/decisions/library.md).
INDEX_SCHEMA = Path("Sources/Library/Index/IndexSchema.swift")
#: Where SQL may name them.
INDEX_OWNERS = ("Sources/Library/", "Tests/LibraryTests/")
#: Has no tables: it opens the state, and hands its thread from one module to the other.
OPENS_STATE = {"tonearm"}
CREATED = re.compile(r"\bCREATE (?:TEMP |VIRTUAL )?TABLE (\w+)")
#: Makes a table whose name is that of its user.
CREATED_BY_CALL = "KeyValueStore.schema("
NAMED = re.compile(r"\b(?:FROM|JOIN|INTO|UPDATE|TABLE|ON|REFERENCES|IGNORE|REPLACE)\s+(?:main\.)?(\w+)")

COLUMNS = 120
LINES = 400
COLUMN_ENDINGS = {".swift", ".c", ".h", ".js", ".py", ".sh", ".modulemap"}
LENGTH_ENDINGS = {".swift", ".c", ".h", ".js", ".py", ".sh"}

#: An address in Markdown does not count towards the columns.
ADDRESS = re.compile(r"\bhttps?://[^\s)>]+")

IMPORT = re.compile(
    r"^\s*(?:@\w+\s+)*(?:(?:public|package|internal|fileprivate|private)\s+)?import\s+"
    r"(?:(?:struct|class|enum|protocol|typealias|func|let|var)\s+)?(\w+)")
#: Built from parts, so that this file does not name what it looks for.
EXCEPTION = re.compile("|".join([
    "swift-format" + "-ignore", "shellcheck" + r"\s+disable", "no" + "qa", r"ruff" + r":\s*(?:disable|ignore)",
    r"fmt" + r":\s*(?:off|skip)", "clang-format" + " off", "type" + r":\s*ignore"]))
#: Where the compiler does not check that threads share a value safely, and the comment that says why it is safe.
UNCHECKED = re.compile(r"^[^/]*(?:@unchecked Sendable|nonisolated\(unsafe\))")
REASON = re.compile(r"//.*(?:[Ss]afe\b|@unchecked)")

#: The code of tests that waits. Programs with a main of their own end when the test that started them kills them.
TEST_CODE = re.compile(r"Tests/(?:\w+Tests|Support/(?:Board|Offline|Output|Player|Program|Queue)TestSupport)/.*\.swift")
#: A wait that may never end, or a start of a program that nobody kills, and what has a deadline.
ENDLESS = [
    (re.compile(pattern), instead) for pattern, instead in [
        (r"(?<![.\w])Process\(\)|\bposix_spawnp?\(|\bwaitpid\(", "TestProcess"),
        (r"\breadDataToEndOfFile\b|\breadToEnd\(\)|\bavailableData\b", "TestProcess.finish() or nextLine()"),
        (r"\bsched_yield\b|\busleep\b|\bnanosleep\b|\bThread\.sleep\b", "waitUntil or expectSoon"),
    ]
]
SEMAPHORE = re.compile(r"\b(\w+)(?:: DispatchSemaphore)? = DispatchSemaphore\(")
SEMAPHORES = re.compile(r"\(([\w, ]+)\) =\s+\((?:DispatchSemaphore\(value: \d+\)(?:, )?)+\)")
CONDITION = re.compile(r"\b(\w+) = (?:NS)?Condition\(\)")
#: Swift Testing's limit also counts the time for which a test that has ended waits for a thread of the pool, in which
#: all other tests wait, too: tests of half a second exceed it. It does not end a test that hangs.
TIME_LIMIT = re.compile(r"\.timeLimit\(")


def main():
    package = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    problems = []
    sources = [Path(name) for name in sys.argv[2:]]
    problems += imports(package, sources)
    problems += tables(sources)
    for path in sources:
        problems += text(path)
        if TEST_CODE.fullmatch(str(path)):
            problems += waits(path)
    for problem in problems:
        print(problem)
    return 1 if problems else 0


def imports(package, sources):
    """Checks which files of Sources import Foundation and C libraries."""
    wrapped = {target["name"] for target in package["targets"] if (target.get("path") or "").startswith("Sources/C/")}
    users = {}
    for path in sources:
        if path.suffix != ".swift" or path.parts[0] != "Sources" or path.parts[1] == "C":
            continue
        module = path.parts[1]
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            found = IMPORT.match(line)
            if not found:
                continue
            name, place = found[1], f"{path}:{number}"
            if name == "Foundation" and module not in FULL_SWIFT:
                yield f"{place}: {module} is built as Embedded Swift, which has no Foundation"
            if name in wrapped - {C_LIBRARY_OF_ALL}:
                users.setdefault(name, {}).setdefault(module, place)
    for name, where in users.items():
        if len(where) > 1:
            yield f"{name}: one module wraps a C library; it is imported at {' and '.join(where.values())}"


def tables(sources):
    """Checks which modules import Database, and where SQL names tables."""
    contents = {path: path.read_text(encoding="utf-8") for path in sources
                if path.suffix == ".swift" and path.parts[0] in ("Sources", "Tests")}
    owners = {}
    for path, content in contents.items():
        if path.parts[0] == "Sources":
            for name in CREATED.findall(content) + [""] * content.count(CREATED_BY_CALL):
                owners.setdefault(name, set()).add(path.parts[1])
    index = set(CREATED.findall(contents.get(INDEX_SCHEMA, "")))
    if not index:
        yield f"{INDEX_SCHEMA}: creates no table, so that nothing can be checked"
    with_tables = set().union(*owners.values()) | OPENS_STATE
    for path, content in contents.items():
        is_source, module = path.parts[0] == "Sources", path.parts[1]
        own = set() if is_source else set(CREATED.findall(content))
        for found in NAMED.finditer(content):
            name, place = found[1], f"{path}:{content.count(chr(10), 0, found.start(1)) + 1}"
            if name in index and not str(path).startswith(INDEX_OWNERS) and name not in own:
                yield f"{place}: names the table {name} of the music index; use the queries of Library"
            elif name not in index and is_source and module not in owners.get(name, {module}):
                yield f"{place}: names the table {name} of {' and '.join(sorted(owners[name]))}"
        if is_source and module not in with_tables and re.search(r"^import Database$", content, re.MULTILINE):
            yield f"{path}: {module} imports Database, and has no tables"


def text(path):
    """Checks the columns, the length and the comments of one file."""
    try:
        content = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return
    lines = content.splitlines()
    is_script = not path.suffix and content.startswith("#!")
    if path.suffix == ".md":
        yield from long_prose(path, lines)
    if (path.suffix in LENGTH_ENDINGS or is_script) and len(lines) > LINES:
        yield f"{path}: {len(lines)} lines, at most {LINES}"
    if path.suffix not in COLUMN_ENDINGS and not is_script:
        return
    for number, line in enumerate(lines, 1):
        if len(line) > COLUMNS:
            yield f"{path}:{number}: {len(line)} columns, at most {COLUMNS}"
        if EXCEPTION.search(line):
            yield f"{path}:{number}: switches a check off: change the code, or the rule for all files"
        # The reason stands right above, in a comment of up to three lines.
        is_unchecked = path.suffix == ".swift" and UNCHECKED.search(line)
        if is_unchecked and not any(REASON.search(above) for above in lines[max(0, number - 4) : number - 1]):
            yield f"{path}:{number}: a comment above must say why it is safe between threads"


def long_prose(path, lines):
    """Checks the columns of Markdown outside of tables, code and addresses."""
    is_fenced, is_indented, is_after_blank = False, False, True
    for number, line in enumerate(lines, 1):
        if line.lstrip().startswith("```"):
            is_fenced = not is_fenced
        is_blank = not line.strip()
        # Indented text is code only at the beginning of a block; elsewhere it continues a list item.
        is_indented = line.startswith("    ") and (is_indented or is_after_blank) or is_indented and is_blank
        is_after_blank = is_blank
        if is_fenced or is_indented or line.startswith("|"):
            continue
        columns = len(ADDRESS.sub("", line))
        if columns > COLUMNS:
            yield f"{path}:{number}: {columns} columns, at most {COLUMNS}"


def waits(path):
    """Looks for waits of tests without a deadline."""
    content = path.read_text(encoding="utf-8")
    rules = list(ENDLESS)
    names = set(SEMAPHORE.findall(content))
    for group in SEMAPHORES.findall(content):
        names |= {name.strip() for name in group.split(",")}
    if names:
        rules.append((re.compile(rf"\b(?:{'|'.join(names)})\.wait\(\)"), "wait(for:) or waitOrEndRun"))
    if conditions := set(CONDITION.findall(content)):
        rules.append((re.compile(rf"\b(?:{'|'.join(conditions)})\.wait(?:\(\)|\s*\{{)"), "waitOrEndRun, or a limit"))
    for number, line in enumerate(content.splitlines(), 1):
        code = line.split("//")[0]
        for pattern, instead in rules:
            if pattern.search(code):
                yield f"{path}:{number}: may wait for ever; use {instead} of Tests/Support/TestSupport"
        if TIME_LIMIT.search(code):
            yield f"{path}:{number}: .timeLimit fails tests that wait for a thread; give each wait a Deadline"


if __name__ == "__main__":
    sys.exit(main())
