"""Counts the comments and paragraphs that are not plain, in each part of the project.

    plain_words.py COUNTS FILE…           fails when a part has more than COUNTS says; COUNTS may only be lowered
    plain_words.py --list FILE…           prints each of them: file, line, rule, sentence
    plain_words.py --count FILE…          prints the counts in the form of COUNTS

A block is a run of comment lines in Swift, or a paragraph, a list item or a table cell in Markdown. It is hit when one
of its sentences breaks a rule below. Code in backticks and indented examples do not count.
"""

import re
import sys
from collections import Counter

#: Words in a sentence, at most.
LONGEST = 25

RULES = [
    ("nominal", re.compile(r"^(What|Who|Whoever|Whose|Whom)\b[^?]*$")),
    ("fragment", re.compile(r"^Of (?!course)")),
    ("told", re.compile(r"\b(told|tells)\b")),
    ("behind", re.compile(r"\bbehind\b")),
    ("nobody", re.compile(r"\b(nobody|whoever)\b", re.IGNORECASE)),
    ("goes on", re.compile(r"\b(goes|go|went|gone|going) on\b")),
    ("stands still", re.compile(r"\bstands? still\b")),
    ("kept", re.compile(r"\b(what (is|was|has been|will be) kept|kept (product|content|track)s?)\b", re.IGNORECASE)),
]
#: Elsewhere the word is that of texts, bytes and compression.
OF_STREAMS = ("encoding", re.compile(r"\b[Ee]ncodings?\b"))
HAS_STREAMS = (
    *(f"{part}{module}{ending}" for module in ("Fetching", "Playback", "Account", "Streaming", "Offline", "Player")
      for part, ending in (("Sources/", ""), ("Tests/", "Tests"))),
    "Tests/Support/PlayerTestSupport", "Tests/Support/OfflineTestSupport", "docs")


def part(path):
    """The module, or folder, that a file counts for."""
    names = path.split("/")
    depth = 3 if names[:2] == ["Tests", "Support"] else 2 if names[0] in ("Sources", "Tests") else 1
    return "/".join(names[:depth] if len(names) > depth else names[:1])


def swift_blocks(lines):
    """First line and text of each run of comment lines."""
    start, text = 0, []
    for number, line in enumerate([*lines, ""], 1):
        found = re.match(r"\s*//[/!]?(.*)", line)
        content = found[1] if found else None
        if content is None or content.strip() == "":
            if text:
                yield start, text
            text = []
        elif not content.startswith("     ") and not content.strip().startswith(("MARK:", "swift-", "sourcery")):
            if not text:
                start = number
            text.append(content.strip())


def markdown_blocks(lines):
    """First line and text of each paragraph, list item and table cell."""
    start, text, is_code = 0, [], False
    for number, line in enumerate([*lines, ""], 1):
        if line.startswith("```"):
            is_code = not is_code
        begins = re.match(r"\s*([-*]|\d+\.) ", line)
        if is_code or line.startswith(("```", "    ", "#", "|")) or not line.strip() or begins:
            if text:
                yield start, text
            text = []
        if line.startswith("|") and not is_code:
            for cell in line.strip("| ").split(" | "):
                yield number, [cell]
        elif line.strip() and not is_code and not line.startswith(("```", "    ", "#")):
            if not text:
                start = number
            text.append(re.sub(r"^\s*([-*]|\d+\.) ", "", line).strip())


def sentences(text):
    joined = re.sub(r"`[^`]*`", "code", " ".join(text))
    joined = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", joined)
    # The names of parameters begin sentences of their own.
    joined = re.sub(r"(^|(?<= ))- \w+( \w+)?:", ".", joined)
    for sentence in re.split(r"(?<=[.!?;:])\s+", joined):
        if sentence.strip(" .-*"):
            yield sentence.strip(" -*")


def long_sentence(text):
    joined = re.sub(r"\([^)]*\)", "", re.sub(r"`[^`]*`", "code", " ".join(text)))
    for sentence in re.split(r"(?<=[.!?;:])\s+", joined):
        if len(sentence.split()) > LONGEST:
            return sentence
    return None


def hit(path, text):
    """The first rule that a block breaks and the sentence; None for a plain one."""
    rules = RULES + [OF_STREAMS] if path.startswith(HAS_STREAMS) else RULES
    for sentence in sentences(text):
        for name, pattern in rules:
            if pattern.search(sentence):
                return name, sentence
    sentence = long_sentence(text)
    return ("long", sentence) if sentence else None


def blocks(path):
    with open(path, encoding="utf-8") as file:
        lines = file.read().splitlines()
    return markdown_blocks(lines) if path.endswith(".md") else swift_blocks(lines)


def main(words):
    mode, files = words[0], [path for path in words[1:] if path.endswith((".swift", ".md"))]
    counts, totals = Counter(), Counter()
    for path in files:
        for line, text in blocks(path):
            totals[part(path)] += 1
            found = hit(path, text)
            if found:
                counts[part(path)] += 1
                if mode == "--list":
                    print(f"{path}:{line}: {found[0]}: {found[1]}")
    if mode == "--count":
        for name in sorted(totals):
            print(f"{name} {counts[name]}")
    if mode == "--list":
        share = 100 * counts.total() / max(1, totals.total())
        print(f"{counts.total()} of {totals.total()} blocks, {share:.1f} %")
    if mode.startswith("--"):
        return 0
    with open(mode, encoding="utf-8") as file:
        allowed = {name: int(count) for name, count in (line.split() for line in file if not line.startswith("#"))}
    failed = 0
    for name in sorted(totals):
        if counts[name] > allowed.get(name, 0):
            print(f"{name}: {counts[name]} blocks are not plain, {allowed.get(name, 0)} are allowed: "
                  f"tools/lib/plain_words.py --list {name}/…")
            failed = 1
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
