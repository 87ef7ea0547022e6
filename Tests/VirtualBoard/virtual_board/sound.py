"""The samples that a sound device received, and whether they are the right ones.

The rule for all comparisons: every frame of the music is heard once and in order, and no other frame. One thing is
excused. While the emulator has no processor of this machine, the card's clock runs on, and the player cannot fill the
card's buffer. Then the card plays silence, or the buffer again, and after that the music goes on with the next frame;
it fades in where the player has noticed (docs/playback.md, 7.3).
Such frames are excused when the emulator waited for a processor at least as long, in the same moments. Lost frames,
frames in another order and any other frames never are, and without that wait neither are silence and repetitions.
"""

import bisect
import itertools
import re
import threading
import time
from array import array
from collections.abc import Callable
from dataclasses import dataclass, replace

FRAME = 8  # bytes: two channels of S32_LE

#: In steps of 32 bits: three of 24 bits, for dither and rounding.
FADE_ERROR = 3 << 8
#: In seconds: what the clocks of the board and of this machine are compared with, and a wait is counted late by.
SLACK = 0.25


@dataclass(frozen=True)
class Recording:
    """What a device heard, and how long the emulator waited for a processor meanwhile."""
    samples: bytes
    rate: int
    #: For a first frame and a number of frames: how many seconds the emulator waited around them.
    waited: Callable[[int, int], float] = lambda first, count: 0
    #: The size of a frame in bytes.
    frame: int = FRAME
    #: The size of the card's buffer in frames, which it may play again; 0 when it cannot.
    buffer: int = 0
    #: The time when the first frame was heard, in nanoseconds of the board's monotonic clock.
    began: int = 0

    @property
    def frames(self):
        return len(self.samples) // self.frame

    def moment(self, frame):
        """When a frame was heard, in nanoseconds of the board's monotonic clock."""
        return self.began + frame * 1_000_000_000 // self.rate

    def cut(self, first, end=None):
        """The frames from `first` up to `end`."""
        stop = None if end is None else end * self.frame
        return replace(self, samples=self.samples[first * self.frame:stop], began=self.moment(first),
                       waited=lambda other, count: self.waited(first + other, count))

    @property
    def without_silence(self):
        """The same without the silence before and after."""
        first = (len(self.samples) - len(self.samples.lstrip(b"\0"))) // self.frame
        end = -(-len(self.samples.rstrip(b"\0")) // self.frame)
        return self.cut(first, end)

    @property
    def sounds(self):
        """All frames that are not silent, as bytes."""
        frames = (self.samples[at:at + self.frame] for at in range(0, len(self.samples), self.frame))
        return b"".join(frame for frame in frames if any(frame))


@dataclass(frozen=True)
class Difference:
    """Where a recording is not what was expected, in frames of both."""
    heard_at: int
    expected_at: int
    text: str


def first_difference(recording, expected, to_the_end=True, pauses=False):
    """The first `Difference` that is not excused; None when there is none. Without `to_the_end` the recording may end
    earlier than what was expected. With `pauses` silence needs no excuse."""
    return _align(recording, expected, to_the_end, pauses)[1]


def difference(recording, expected, to_the_end=True, pauses=False):
    """As `first_difference`; its text, for a person."""
    found = first_difference(recording, expected, to_the_end, pauses)
    return found and found.text


def difference_from_the_end(recording, expected, latest):
    """As `difference`, for a recording that may have missed the beginning, up to the frame `latest`."""
    begin = _begin(recording, expected)
    if begin is None or begin > latest:
        return f"the recording begins at frame {begin}, not at {latest} or before"
    return difference(recording, expected[begin * recording.frame:])


def difference_across_pause(recording, expected, repeated):
    """As `difference`, for music without a silent frame that was paused once. Up to `repeated` frames may be heard
    twice: those that the card plays between the question for its position and its stop, when the emulator waits for a
    processor."""
    pauses = _silences(recording)
    if not pauses:
        return "there was no pause"
    problems = [_difference_across(recording, expected, repeated, *pause)
                for pause in sorted(pauses, key=lambda pause: pause[0] - pause[1])]
    return problems[0] if all(problems) else None


def _difference_across(recording, expected, repeated, first, end):
    before, after = recording.cut(0, first), recording.cut(end)
    heard, problem = _align(before, expected, to_the_end=False)
    if problem:
        return problem.text
    begin = _begin(after, expected)
    if begin is None or not 0 <= heard - begin <= repeated:
        return f"after a pause at frame {heard} the music goes on at {begin}, at most {repeated} frames before"
    return difference(after, expected[begin * recording.frame:])


def _align(recording, expected, to_the_end=True, pauses=False):
    """How many frames of what was expected were heard, and the first `Difference`, or None."""
    heard, frame = recording.samples, recording.frame
    at = done = 0
    while True:
        same = _equal_bytes(heard, at, expected, done) // frame * frame
        at, done = at + same, done + same
        if at == len(heard) and (done == len(expected) or not to_the_end):
            return done // frame, None
        added, repeated = (0, 0) if at == len(heard) or done == len(expected) else _added_frames(recording, at)
        seconds = (repeated if pauses else added) / recording.rate
        waited = recording.waited(at // frame, added) if seconds else 0
        if not added or seconds > waited:
            return done // frame, _difference(recording, expected, at // frame, done // frame, added, waited)
        at += added * frame
        faded = _faded_frames(recording, at, expected, done)
        at, done = at + faded * frame, done + faded * frame


def _faded_frames(recording, at, expected, done):
    """How many frames from a place on, in bytes, are the next ones of what was expected, fading in over 5 ms; 0 when
    they are something else. Frame n of N has the part (n + 1) / (N + 1), but for the lowest bits."""
    count = recording.rate // 200
    heard, music = recording.samples[at:at + count * FRAME], expected[done:done + count * FRAME]
    if recording.frame != FRAME or len(heard) != len(music) or len(heard) % FRAME:
        return 0
    for index, (one, other) in enumerate(zip(array("i", heard), array("i", music))):
        if abs(one - other * (index // 2 + 1) / (count + 1)) > FADE_ERROR:
            return 0
    return len(heard) // FRAME


def _added_frames(recording, at):
    """How many frames from a place on, in bytes, are silent or what was heard one buffer before; how many are the
    latter."""
    heard, frame, back = recording.samples, recording.frame, recording.buffer * recording.frame
    silent = bytes(frame)
    repeated, begin = 0, at
    while len(one := heard[at:at + frame]) == frame:
        if one != silent:
            if not 0 < back <= at or one != heard[at - back:at - back + frame]:
                break
            repeated += 1
        at += frame
    return (at - begin) // frame, repeated


def _begin(recording, expected):
    """The frame of what was expected that a recording begins with; None when there is none."""
    frame = recording.frame
    place = expected.find(recording.samples[:64 * frame]) if recording.samples else -1
    return place // frame if place >= 0 and place % frame == 0 else None


def _silences(recording):
    """First frame and end of each silence between two frames of music."""
    frames = (recording.samples[at:at + recording.frame] for at in range(0, len(recording.samples), recording.frame))
    place, silences = 0, []
    for is_heard, run in itertools.groupby(frames, any):
        first, place = place, place + len(list(run))
        if not is_heard and first > 0 and place < recording.frames:
            silences.append((first, place))
    return silences


def _equal_bytes(heard, at, expected, done):
    """How many bytes are the same in both, from a place in each on."""
    length = min(len(heard) - at, len(expected) - done)
    for offset in range(0, length, 1 << 16):
        size = min(1 << 16, length - offset)
        pair = heard[at + offset:][:size], expected[done + offset:][:size]
        if pair[0] != pair[1]:
            return offset + next(index for index, (a, b) in enumerate(zip(*pair)) if a != b)
    return length


def _difference(recording, expected, heard_at, expected_at, added, waited):
    frame = recording.frame
    here = recording.samples[heard_at * frame:][:frame].hex(" ", frame // 2)
    there = expected[expected_at * frame:][:frame].hex(" ", frame // 2)
    text = (f"{recording.frames} frames instead of {len(expected) // frame}; from frame {heard_at} on, in place of "
            f"{expected_at}: {here or 'nothing'} instead of {there or 'nothing'}")
    if added:
        text += (f"; for {added / recording.rate:.3f} s it was silent or the card's buffer was heard again, while the "
                 f"emulator waited {waited:.3f} s for a processor")
    return Difference(heard_at, expected_at, text)


class Waits:
    """Notes all the time, on its own thread, how long the emulator of a board has waited for a processor."""

    #: In seconds, between two looks.
    _PAUSE = 0.02

    def __init__(self, board):
        self._board = board
        self._ends = threading.Event()
        #: Pairs of this machine's monotonic clock and what each thread of the emulator has waited, in seconds.
        self.samples = [(time.monotonic(), board.waits())]
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def _watch(self):
        while not self._ends.wait(self._PAUSE) and (waits := self._board.waits()):
            self.samples.append((time.monotonic(), waits))

    def stop(self):
        """Ends it; a function from two times of the board's monotonic clock, in seconds, to the seconds waited."""
        before = time.monotonic()
        board_time = self._board.clock() / 1e9
        after = time.monotonic()
        self._ends.set()
        self._thread.join(1)
        self.samples.append((time.monotonic(), self._board.waits()))
        ahead = (before + after) / 2 - board_time
        # The board may have read its clock at any moment in between.
        slack = SLACK + (after - before) / 2
        return lambda begin, end: waited_between(self.samples, begin + ahead - slack, end + ahead + slack)


def waited_between(samples, begin, end):
    """The seconds that the emulator's threads have waited from `begin` to `end`, all together: they wait for each
    other, so that their waits follow each other."""
    times = [time for time, _ in samples]
    earlier = samples[max(0, bisect.bisect_right(times, begin) - 1)][1]
    later = samples[min(len(samples) - 1, bisect.bisect_left(times, end))][1]
    return sum(seconds - earlier.get(thread, 0) for thread, seconds in later.items())


class Recorder:
    """Listens to the card `HiFi`, or to another loop, from its other side, from its creation to `stop`.

    An open recorder keeps the player to its own rate and format (S32_LE): a player that wants to open the card
    otherwise cannot. So a recorder is opened with what is expected; or, with `waits`, as soon as a player has opened
    the card at that rate, which may lose the beginning. The kernel's loop damages the last milliseconds before a device
    is closed: what is to be compared needs a second of silence behind it.
    """

    _numbers = itertools.count(1)

    def __init__(self, board, rate, waits=False, buffer=0.2, card="HiFi", sample_format="S32_LE"):
        """- buffer: that of the player, in seconds."""
        self._capture = f"/proc/asound/{card}/pcm1c/sub0/status"
        self._board = board
        self._buffer = round(rate * buffer)
        self._rate = rate
        self._path = f"/tmp/recording-{next(self._numbers)}"
        played = f"/proc/asound/{card}/pcm0p/sub0/hw_params"
        wait = f"until grep -q '^rate: {rate} ' {played}; do usleep 5000; done" if waits else ""
        # Room for two seconds in which the board does not get to writing the file.
        self._program = board.start_script(
            f"{wait}\nexec arecord -q -D hw:{card},1 -f {sample_format} -c 2 -r {rate} -t raw "
            f"--buffer-time=2000000 --period-time=50000 {self._path}")
        self._waits = Waits(board)
        if not waits:
            board.wait_until(f"grep -q RUNNING {self._capture}")

    def hear(self, seconds):
        """Waits until it has heard so much more."""
        size = f"$(stat -c %s {self._path})"
        bytes_more = round(seconds * self._rate) * FRAME
        self._board.run_script(f"end=$(({size} + {bytes_more}))\nwhile [ {size} -lt $end ]; do usleep 10000; done")

    def stop(self):
        """Ends it. The `Recording` without the silence before and after."""
        return self.stop_with_silence().without_silence

    def stop_with_silence(self):
        """Ends it. The `Recording` of all that it heard."""
        began = nanoseconds(self._board.run("cat", self._capture).stdout, "trigger_time")
        self._program.signal("TERM")
        problems = self._program.wait().stderr
        assert "overrun" not in problems, problems
        samples, waited = self._board.fetch(self._path), self._waits.stop()

        def waited_around(first, count):
            heard = began / 1e9 + first / self._rate
            # What is in the buffer when a wait begins is heard first.
            return waited(heard - self._buffer / self._rate, heard + count / self._rate)

        return Recording(samples, self._rate, waited_around, buffer=self._buffer, began=began)


def nanoseconds(status, name):
    """A time of a status file under /proc/asound."""
    seconds, rest = re.search(rf"^{name} *: (\d+)\.(\d{{9}})", status, re.MULTILINE).groups()
    return int(seconds) * 1_000_000_000 + int(rest)


def hardware_parameters(board, card="HiFi"):
    """What a card's player has really set, as a dictionary of words; empty while it is not open."""
    text = board.run("cat", f"/proc/asound/{card}/pcm0p/sub0/hw_params").stdout
    return dict(line.split(": ", 1) for line in text.splitlines() if ": " in line)
