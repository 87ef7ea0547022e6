"""The samples that a sound device received."""

import itertools
import re

FRAME = 8  # bytes: two channels of S32_LE


class Recorder:
    """Listens to the card `HiFi` from its other side, from its creation to `stop`.

    An open recorder keeps the player to its own rate and format (S32_LE): a player that wants to open the card
    otherwise cannot. So a recorder is opened with what is expected; or, with `waits`, as soon as a player has opened
    the card at that rate, which may lose the beginning. The kernel's loop damages the last milliseconds before a device
    is closed: what is to be compared needs a second of silence behind it.
    """

    _numbers = itertools.count(1)

    def __init__(self, board, rate, waits=False):
        self._board = board
        self._rate = rate
        self._path = f"/tmp/recording-{next(self._numbers)}"
        state = "/proc/asound/HiFi/pcm%s/sub0/%s"
        wait = f"until grep -q '^rate: {rate} ' {state % ('0p', 'hw_params')}; do usleep 5000; done" if waits else ""
        # Room for two seconds in which the board does not get to writing the file.
        self._program = board.start_script(
            f"{wait}\nexec arecord -q -D hw:HiFi,1 -f S32_LE -c 2 -r {rate} -t raw "
            f"--buffer-time=2000000 --period-time=50000 {self._path}")
        if not waits:
            board.wait_until(f"grep -q RUNNING {state % ('1c', 'status')}")

    def hear(self, seconds):
        """Waits until it has heard so much more."""
        size = f"$(stat -c %s {self._path})"
        bytes_more = round(seconds * self._rate) * FRAME
        self._board.run_script(f"end=$(({size} + {bytes_more}))\nwhile [ {size} -lt $end ]; do usleep 10000; done")

    def stop(self):
        """Ends it. What it heard, without the silence before and after."""
        return without_silence(self.stop_with_silence()[0])

    def stop_with_silence(self):
        """Ends it. All that it heard, and a function from a frame of that to the time when it was heard, in nanoseconds
        of the board's monotonic clock."""
        began = nanoseconds(self._board.run("cat", "/proc/asound/HiFi/pcm1c/sub0/status").stdout, "trigger_time")
        self._program.signal("TERM")
        problems = self._program.wait().stderr
        assert "overrun" not in problems, problems
        return self._board.fetch(self._path), lambda frame: began + frame * 1_000_000_000 // self._rate


def nanoseconds(status, name):
    """A time of a status file under /proc/asound."""
    seconds, rest = re.search(rf"^{name} *: (\d+)\.(\d{{9}})", status, re.MULTILINE).groups()
    return int(seconds) * 1_000_000_000 + int(rest)


def without_silence(samples, frame=FRAME):
    """Cuts off the frames of zeros at both ends; `frame` is their size in bytes."""
    first = (len(samples) - len(samples.lstrip(b"\0"))) // frame * frame
    end = -(-len(samples.rstrip(b"\0")) // frame) * frame
    return samples[first:end]


def difference(heard, expected):
    """Where the heard samples begin to differ, for a person; None when they are equal."""
    if heard == expected:
        return None
    shorter = min(len(heard), len(expected))
    offsets = (i for i in range(0, shorter, FRAME) if heard[i:i + FRAME] != expected[i:i + FRAME])
    frame = next(offsets, shorter) // FRAME
    here = heard[frame * FRAME:][:FRAME].hex(" ", 4)
    there = expected[frame * FRAME:][:FRAME].hex(" ", 4)
    return (f"{len(heard) // FRAME} frames instead of {len(expected) // FRAME}; from frame {frame} on: "
            f"{here or 'nothing'} instead of {there or 'nothing'}")


def difference_across_pause(heard, expected, repeated):
    """The same for music without a silent frame that was paused once. Up to `repeated` frames may be heard twice: those
    that the card plays between the question for its position and its stop, when the emulator waits for a processor."""
    frames = [heard[at:at + FRAME] for at in range(0, len(heard), FRAME)]
    runs = [b"".join(run) for is_heard, run in itertools.groupby(frames, any) if is_heard]
    if len(runs) != 2:
        return f"{len(runs)} pieces of music instead of 2"
    first, second = runs
    again = (len(first) + len(second) - len(expected)) // FRAME
    if not 0 <= again <= repeated:
        return f"{again} frames are heard twice, not 0 to {repeated}"
    return difference(first, expected[:len(first)]) or difference(second, expected[-len(second):])


def hardware_parameters(board, card="HiFi"):
    """What a card's player has really set, as a dictionary of words; empty while it is not open."""
    text = board.run("cat", f"/proc/asound/{card}/pcm0p/sub0/hw_params").stdout
    return dict(line.split(": ", 1) for line in text.splitlines() if ": " in line)
