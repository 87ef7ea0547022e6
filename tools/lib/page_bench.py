"""The row of tools/bench about the page. It needs Chromium, and the engine for aarch64."""

import re
import subprocess
import sys

from playing_bench import result


def measure(root):
    """The row, as `result` makes it."""
    measured = subprocess.run(
        [f"{root}/tools/page-test", "--first-paint"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    found = re.search(r"^median: first paint ([\d.]+) s, (.*)$", measured.stdout, re.MULTILINE)
    if not found:
        print(measured.stdout[-4000:], file=sys.stderr)
        sys.exit("tools/bench: the page was not measured; the last words are above")
    return result("page-first-paint", float(found[1]), f"{found[1]} s; {found[2]}", 1, "<= 1 s")
