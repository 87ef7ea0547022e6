"""Measured numbers, which are checked and printed."""

import sys

_lines = []


def report(what, value, unit, limit):
    """Prints a measured number and its limit."""
    _print(f"{what}: {value:.1f} {unit} (at most {limit:g})")


def report_time(what, seconds, waited, limit):
    """As `report`, for a time by the board's clock. For `waited` of the seconds the emulator had no processor: they do
    not count (`VirtualBoard.waiting`)."""
    _print(f"{what}: {seconds * 1000:.1f} ms, of which {waited * 1000:.1f} without a processor (at most "
           f"{limit * 1000:g} ms)")


def clear():
    _lines.clear()


def reported():
    """Whether something was printed since `clear`."""
    return bool(_lines)


def _print(line):
    _lines.append(line)
    print(f"\n  {line}", file=sys.stderr, end="", flush=True)
