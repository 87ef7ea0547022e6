"""Tonearm's daemon on the virtual board: `tonearm run` as the board starts it, and the commands that talk to it."""

import json
import re
import time
from typing import NamedTuple

from .board import VirtualBoard
from .tonearm import BINARY, PICTURES

#: Of the file `tonearm.conf`; the edges of buttons are logged at level debug.
SETTINGS = {
    ("audio", "normalization"): "off",
    ("player", "state"): "/data/state",
    ("board", "profile"): "/etc/tonearm/board.conf",
    ("board", "power-off"): "power-down",
    # A scan would run beside what is measured.
    ("library", "folders"): "none",
    ("log", "level"): "debug",
}


def board_with_daemon(music=None, settings=None, files=None, **options):
    """A board that is switched off, with the static arm64 engine as its daemon, and a folder of music.

    settings: by pairs of section and key, besides SETTINGS.
    files: texts under /data, by their names.
    options: others of `VirtualBoard`.
    """
    lines = []
    values = {**SETTINGS, **(settings or {})}
    for section in sorted({section for section, _ in values}):
        lines.append(f"[{section}]")
        lines += [f"{key} = {value}" for (of, key), value in values.items() if of == section]
    return VirtualBoard(
        programs={"tonearm": BINARY, **PICTURES}, music=music,
        files={**(files or {}), "tonearm.conf": "".join(f"{line}\n" for line in lines)}, **options)


class Happening(NamedTuple):
    """What the service manager has noted (board/virtual/service-manager): `time` is in nanoseconds of the board's
    clock; `kind` is `exec`, `said`, `wrote`, `ended` or `watchdog`."""
    time: int
    kind: str
    text: str


class Refused(Exception):
    """A command for the daemon has failed; its text is what it complained of."""


class Daemon:
    """The daemon of a board that is on, since it was switched on."""

    def __init__(self, board):
        self._board = board

    def ask(self, *words):
        """Runs a command of tonearm, as `queue add /data/music`; the reply."""
        result = self._board.run("tonearm", *words, "--json")
        if result.exit_code != 0:
            raise Refused(f"tonearm {' '.join(words)}: {result.stderr.strip()}")
        return json.loads(result.stdout.splitlines()[-1])

    @property
    def status(self):
        return self.ask("status")

    def watch(self):
        """Subscribes to its events; a `Watch`."""
        return Watch(self._board)

    @property
    def log(self):
        """All that has happened to it so far, as `Happening`s."""
        path = self._board.share / "service"
        if not path.exists():
            return []
        lines = path.read_text(errors="replace").splitlines(keepends=True)
        happenings = (line.rstrip("\n").split(" ", 2) for line in lines if line.endswith("\n"))
        return [Happening(int(at), kind, "".join(text)) for at, kind, *text in happenings]

    def find(self, kind, pattern="", after=0):
        """What of a kind has happened with a text that `pattern` is found in, behind the first `after` happenings."""
        return [it for it in self.log[after:] if it.kind == kind and re.search(pattern, it.text)]

    def wait_for(self, kind, pattern="", after=0):
        """Waits until that has happened; the first of it."""
        deadline = self._board.deadline()
        while not (found := self.find(kind, pattern, after)):
            if deadline.has_passed:
                log = "\n".join(map(str, self.log[-40:]))
                raise TimeoutError(f"no {kind} {pattern} in {deadline.seconds} s\n{log}\n{self._board.last_words()}")
            time.sleep(0.01)
        return found[0]

    def wait_until_ready(self, after=0):
        """Waits until it answers; how it said so."""
        return self.wait_for("said", "^READY=1", after)

    @property
    def process(self):
        """Its process, or the last one that it had."""
        return int(self.find("exec")[-1].text)

    def restart(self):
        """Ends it as a service manager does, and waits until it is there again; when its program was started, in
        nanoseconds of the board's clock."""
        before = len(self.log)
        self._board.run("kill", "-TERM", self.process)
        self.wait_until_ready(before)
        return self.find("exec", after=before)[0].time

    def edge(self, button, after=0):
        """The kernel's time for the first edge of a button that pressed it, behind the first `after` happenings."""
        line = self.wait_for("wrote", rf"{button}: active at ", after).text
        seconds, rest = re.search(r"(\d+)\.(\d{6}) s", line).groups()
        return int(seconds) * 1_000_000_000 + int(rest) * 1000


class Watch:
    """The events of the daemon for a client that has subscribed to all of them."""

    def __init__(self, board):
        self._program = board.start("stamp", "tonearm", "status", "--watch", "--json")
        # The first line is the status as it was.
        self._program.wait_until(lambda: self.events, "status")

    @property
    def events(self):
        """All so far: pairs of the time when it came, in nanoseconds of the board's clock, and its members."""
        lines = self._program.stdout.splitlines(keepends=True)
        pairs = (line.split(" ", 1) for line in lines if line.endswith("\n"))
        return [(int(at), json.loads(text)) for at, text in pairs]

    def wait_for(self, event, after=0, **members):
        """Waits for an event with these members, not among the first `after` ones; time and event."""
        return self.wait_until(
            lambda it: it.get("event") == event and members.items() <= it.items(), f"{event} {members}", after)

    def wait_for_position(self, position, after=0, **members):
        """Waits until the entry is heard from `position`, in seconds, on."""
        return self.wait_until(
            lambda it: it.get("event") == "position" and it["position"] >= position and members.items() <= it.items(),
            f"{position} s", after)

    def wait_for_end(self):
        """Waits until the music that began after the subscription has ended. A new queue is an event of its own, and
        may still say `stopped`."""
        self.wait_for("state", state="playing")
        playing = next(index for index, (_, it) in enumerate(self.events) if it.get("state") == "playing")
        self.wait_for("state", playing, state="stopped")

    def wait_until(self, is_wanted, what, after=0):
        def first():
            return next(((at, it) for at, it in self.events[after:] if is_wanted(it)), None)

        self._program.wait_until(first, what)
        return first()

    def stop(self):
        """Ends it, so that the daemon has one client less."""
        self._program.signal("TERM")
        self._program.wait()
