"""Tonearm on the virtual board."""

import json
from pathlib import Path

from .board import VirtualBoard

BINARY = Path(__file__).parents[3] / "build/aarch64/tonearm"
#: The program that makes small covers, beside it.
PICTURES = {path.name: path for path in [BINARY.with_name("tonearm-pictures")] if path.exists()}


def board_with_tonearm(music=None):
    """A board that is switched off, with the static arm64 engine and a folder of music."""
    return VirtualBoard(programs={"tonearm": BINARY}, music=music)


class Playback:
    """`tonearm play --json` in the background."""

    def __init__(self, board, device, *words):
        """Without a device, on the one that Tonearm chooses."""
        choice = ["--device", device] if device else []
        self.program = board.start("tonearm", "play", *choice, "--json", *words)

    @property
    def events(self):
        """The events so far, as dictionaries."""
        lines = self.program.stdout.splitlines(keepends=True)
        return [json.loads(line) for line in lines if line.endswith("\n")]

    def wait_for(self, after=0, **members):
        """Waits for an event with these members, not among the first `after` ones; the event."""
        return self._wait(lambda event: members.items() <= event.items(), after, members)

    def wait_for_position(self, path, position):
        """Waits until a file is heard from `position`, in seconds, on."""
        def is_there(event):
            return (event["event"], event.get("file")) == ("position", path) and event["position"] >= position

        return self._wait(is_there, 0, f"{position} s of {path}")

    def _wait(self, is_wanted, after, what):
        def first():
            return next((event for event in self.events[after:] if is_wanted(event)), None)

        self.program.wait_until(first, what)
        return first()

    def wait(self):
        """Waits for its end; a `Result`."""
        return self.program.wait()

    def stop(self):
        """Asks it to end; a `Result`. Without effect when it has ended."""
        self.program.signal("TERM")
        return self.wait()
