"""Runs the tests of the board or of the firmware image, and prints the seconds that each took.

    python3 -m virtual_board.runner --pattern PATTERN [--without PATTERN] [--long NAME|list] [-k PATTERN]… [TEST…]

PATTERN says in which files tests are looked for, and in which not. Without TEST and -k, the default tests run, or
those of the long part NAME (`virtual_board.parts`). Each line of a test ends in ok, FAIL, ERROR or skipped: tools/test
counts these lines.
"""

import argparse
import signal
import sys
import time
import traceback
import unittest
from fnmatch import fnmatch

from . import measures, shared
from .parts import PARTS, part_of

#: In seconds: a preparation of a class that takes longer is printed.
NOTEWORTHY = 0.5


class Report(unittest.TestResult):
    """Prints a line for each test when it ends, and at the end why some did not pass."""

    def __init__(self):
        super().__init__()
        self._ended = time.monotonic()
        self._class = None

    def startTest(self, test):
        super().startTest(test)
        if type(test) is not self._class:
            self._class = type(test)
            preparation = time.monotonic() - self._ended
            if preparation > NOTEWORTHY:
                print(f"{unittest.util.strclass(self._class)} is prepared, {preparation:.1f} s", file=sys.stderr)
        self._began = time.monotonic()
        measures.clear()
        print(test, end="", file=sys.stderr, flush=True)
        self._has_failed = False

    def stopTest(self, test):
        super().stopTest(test)
        if self._has_failed:
            shared.discard()
        self._ended = time.monotonic()

    def addSuccess(self, test):
        super().addSuccess(test)
        self._say("ok")

    def addError(self, test, error):
        super().addError(test, error)
        if not isinstance(test, unittest.TestCase):
            # The preparation of a class: no test has begun.
            print(test, end="", file=sys.stderr)
            self._began = self._ended
            shared.discard()
        self._fail("ERROR", error)

    def addFailure(self, test, error):
        super().addFailure(test, error)
        self._fail("FAIL", error)

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        if not isinstance(test, unittest.TestCase):
            print(test, end="", file=sys.stderr)
        self._say(f"skipped {reason!r}")

    def addSubTest(self, test, subtest, error):
        super().addSubTest(test, subtest, error)
        if error is not None and not self._has_failed:
            self._fail("FAIL", error, subtest)

    def _fail(self, verdict, error, where=None):
        self._has_failed = True
        self._say(verdict)
        if where is not None:
            print(f"    {where}", file=sys.stderr)
        text = "".join(traceback.format_exception_only(error[0], error[1])).rstrip()
        print("".join(f"    {line}\n" for line in text.splitlines()[:20]), end="", file=sys.stderr, flush=True)

    def _say(self, verdict):
        separator = "\n  " if measures.reported() else ", "
        print(f"{separator}{time.monotonic() - self._began:.1f} s ... {verdict}", file=sys.stderr, flush=True)

    def print_problems(self):
        for verdict, problems in (("ERROR", self.errors), ("FAIL", self.failures)):
            for test, text in problems:
                print(f"\n{verdict}: {test}\n{text}", file=sys.stderr)


def tests_in(suite):
    """All tests of a suite, in their order."""
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from tests_in(test)
        else:
            yield test


def print_parts(tests):
    marked = [(*part_of(test), test) for test in tests]
    for name, what in PARTS.items():
        members = [(why, test) for part, why, test in marked if part == name]
        if members:
            print(f"{name}: {what}")
            for why, test in members:
                print(f"    {test.id()}: {why}")


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--pattern", required=True)
    parser.add_argument("--without", metavar="PATTERN")
    parser.add_argument("--long", metavar="NAME")
    parser.add_argument("-k", action="append", default=[])
    parser.add_argument("tests", nargs="*")
    return parser.parse_args()


def select(options):
    """The tests to run; None when there is no such part."""
    loader = unittest.TestLoader()
    if options.k:
        loader.testNamePatterns = [pattern if "*" in pattern else f"*{pattern}*" for pattern in options.k]
    if options.tests:
        return list(tests_in(loader.loadTestsFromNames(options.tests)))
    found = [test for test in tests_in(loader.discover(".", options.pattern))
             if not options.without or not fnmatch(f"{type(test).__module__}.py", options.without)]
    broken = [test for test in found if type(test).__module__ == "unittest.loader"]
    if options.k and not options.long:
        return found
    if options.long:
        chosen = [test for test in found if part_of(test)[0] == options.long]
        return broken + chosen if chosen or broken else None
    return [test for test in found if part_of(test)[0] is None]


def main():
    options = arguments()
    if options.long == "list":
        options.long = None
        print_parts(list(tests_in(unittest.TestLoader().discover(".", options.pattern))))
        return 0
    tests = select(options)
    if tests is None:
        print(f"no long part {options.long} here; `--long list` shows them", file=sys.stderr)
        return 2
    report = Report()

    def stop(*_):
        """At a limit of time: the test that runs fails, and its board is removed; the others do not begin."""
        report.stop()
        # Nor does the next sub-test.
        report.failfast = True
        sys.exit("stopped from outside")

    signal.signal(signal.SIGTERM, stop)
    began = time.monotonic()
    try:
        unittest.TestSuite(tests).run(report)
    finally:
        shared.discard()
    report.print_problems()
    bad = len(report.failures) + len(report.errors)
    print(f"\n{report.testsRun} tests in {time.monotonic() - began:.0f} s, {bad} problems", file=sys.stderr)
    return 0 if report.wasSuccessful() and report.testsRun else 1


if __name__ == "__main__":
    sys.exit(main())
