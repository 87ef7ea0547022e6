"""Runs programs on the board: the outer half of `board/virtual/init`, which explains the protocol."""

import itertools
import shlex
import threading
import time
from dataclasses import dataclass

from .qemu import PATIENCE, BoardOff, Deadline, close


@dataclass(frozen=True)
class Result:
    """How a program ended. A program that a signal ended has 128 and its number as `exit_code`."""
    exit_code: int
    stdout: str
    stderr: str


class Agent:
    """Takes answers on its own thread; its calls may come from any thread."""

    def __init__(self, stream, share, clock, last_words):
        """`clock` is that of time limits, in seconds; `last_words` returns what explains that one has passed."""
        self._stream = stream
        self._share = share
        self._clock = clock
        self._last_words = last_words
        self._numbers = itertools.count(1)
        self._changed = threading.Condition()
        self._is_ready = False
        self._is_off = False
        self._programs = {}
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def wait_until_ready(self):
        self._wait(lambda: self._is_ready, PATIENCE, "the board has not started")

    def start(self, script):
        """Starts a shell script in the background."""
        name = str(next(self._numbers))
        folder = self._share / name
        folder.mkdir()
        (folder / "command").write_text(script + "\n")
        program = Program(self, script, folder)
        self._programs[name] = program
        try:
            if self._is_off:
                raise BrokenPipeError
            self._stream.write(f"{name}\n".encode())
            self._stream.flush()
        except BrokenPipeError:
            raise BoardOff(f"the board is off; not run: {script}") from None
        return program

    def close(self):
        """After the emulator's end."""
        self._listener.join(PATIENCE)
        close(self._stream)

    def _listen(self):
        try:
            for line in self._stream:
                self._handle(line.decode().split())
        except OSError:
            pass  # Closed: the board is off.
        with self._changed:
            self._is_off = True
            self._changed.notify_all()

    def _handle(self, words):
        with self._changed:
            match words:
                case ["ready"]:
                    self._is_ready = True
                case [name, "started", process]:
                    self._programs[name].process = int(process)
                case [name, "ended", code]:
                    self._programs[name].exit_code = int(code)
            self._changed.notify_all()

    def _wait(self, condition, seconds, problem):
        deadline = self.deadline(seconds)
        with self._changed:
            while not self._changed.wait_for(lambda: condition() or self._is_off, min(1, seconds)):
                if deadline.has_passed:
                    raise TimeoutError(f"{problem} in {seconds} s\n{self._last_words()}")
            if not condition():
                raise BoardOff(f"{problem}: the board went off")

    def deadline(self, seconds=PATIENCE):
        return Deadline(seconds, self._clock)


class Program:
    """A program that runs on the board, or has run."""

    def __init__(self, agent, script, folder):
        self._agent = agent
        self._script = script
        self._folder = folder
        #: On the board; None until it is known.
        self.process = None
        #: None while it runs.
        self.exit_code = None

    @property
    def stdout(self):
        """What it has written so far."""
        return self._output("stdout")

    @property
    def stderr(self):
        return self._output("stderr")

    def wait(self, seconds=PATIENCE):
        """Waits for its end."""
        try:
            self._agent._wait(lambda: self.exit_code is not None, seconds, f"not ended: {self._script}")
        except TimeoutError as problem:
            raise TimeoutError(f"{problem}\nIt wrote: {self.stdout[-2000:]}{self.stderr[-2000:]}") from None
        return Result(self.exit_code, self.stdout, self.stderr)

    def wait_until(self, condition, what):
        """Waits until what it has written fulfils a condition; `what` is for the error's message."""
        deadline = self._agent.deadline()
        while True:
            # Asked before the condition: what a program writes last counts.
            is_last = self.exit_code is not None or deadline.has_passed
            if condition():
                return
            if is_last:
                end = "still runs" if self.exit_code is None else f"ended with {self.exit_code}"
                raise TimeoutError(f"no {what}; it {end}: {self._script}\n{self.stdout[-3000:]}"
                                   f"{self.stderr[-3000:]}\n{self._agent._last_words()}")
            time.sleep(0.01)

    def signal(self, name):
        """Sends it a signal: `TERM`, `STOP` ... Without effect when it has ended. As every background program of a
        shell it starts with `INT` ignored."""
        self._agent._wait(lambda: self.process is not None, PATIENCE, f"not started: {self._script}")
        if self.exit_code is None:
            self._agent.start(f"kill -{name} {self.process}").wait()

    def _output(self, name):
        path = self._folder / name
        return path.read_text(errors="replace") if path.exists() else ""


def script_of(words):
    """A program and its arguments as a script that becomes that program, so that a signal reaches it."""
    return "exec " + shlex.join(str(word) for word in words)
