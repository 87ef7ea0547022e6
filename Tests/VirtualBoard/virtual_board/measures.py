"""Measured numbers, which are checked and printed."""

import sys


def report(what, value, unit, limit):
    """Prints a measured number and its limit."""
    print(f"\n  {what}: {value:.1f} {unit} (at most {limit:g})", file=sys.stderr, end="", flush=True)


def report_time(what, seconds, waited, limit):
    """As `report`, for a time by the board's clock. For `waited` of the seconds the emulator had no processor: they do
    not count (`VirtualBoard.waiting`)."""
    print(f"\n  {what}: {seconds * 1000:.1f} ms, of which {waited * 1000:.1f} without a processor (at most "
          f"{limit * 1000:g} ms)", file=sys.stderr, end="", flush=True)
