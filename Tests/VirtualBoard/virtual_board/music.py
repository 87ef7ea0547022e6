"""Music to play: signals that are made here, encoded by the real `flac`."""

import functools
import math
import random
from array import array
from dataclasses import dataclass

from .host import run

CHANNELS = 2


@dataclass(frozen=True)
class Signal:
    """Interleaved stereo samples of `bits` bits."""
    rate: int
    bits: int
    samples: array

    @property
    def frames(self):
        return len(self.samples) // CHANNELS

    @property
    def bytes(self):
        """What a sound device gets in the format S32_LE: each sample in the upper bits."""
        shift = 32 - self.bits
        return array("i", [sample << shift for sample in self.samples]).tobytes()

    def cut(self, first, end=None):
        """The frames from `first` up to `end`."""
        return Signal(self.rate, self.bits, self.samples[first * CHANNELS:None if end is None else end * CHANNELS])

    def followed_by(self, other):
        assert (self.rate, self.bits) == (other.rate, other.bits)
        return Signal(self.rate, self.bits, self.samples + other.samples)

    @property
    def as_mono(self):
        """The left channel on both."""
        return Signal(self.rate, self.bits, array("i", [s for s in self.samples[::CHANNELS] for _ in range(CHANNELS)]))


@functools.cache
def tune(rate, bits, seconds, seed):
    """Two tones and some noise: nothing repeats, and neither the first nor the last frame is silent."""
    noise = random.Random(seed)
    peak = 1 << (bits - 1)
    steps = (2 * math.pi * (220 + seed) / rate, 2 * math.pi * (331 + seed) / rate)
    samples = array("i")
    for frame in range(round(rate * seconds)):
        grain = noise.randrange(1, peak >> 4)
        samples.append(int(peak * 0.4 * math.sin(frame * steps[0])) + grain | 1)
        samples.append(int(peak * 0.4 * math.sin(frame * steps[1])) - grain | 1)
    return Signal(rate, bits, samples)


def silence(rate, bits, seconds):
    return Signal(rate, bits, array("i", bytes(4 * CHANNELS * round(rate * seconds))))


def write_flac(path, signal, channels=CHANNELS):
    """Encodes a signal with `flac`: both channels, or with `channels` 1 the left one."""
    width = signal.bits // 8
    kept = signal.samples[::CHANNELS // channels]
    samples = b"".join(sample.to_bytes(width, "little", signed=True) for sample in kept)
    path.parent.mkdir(parents=True, exist_ok=True)
    run(
        ["flac", "--silent", "--force", "--force-raw-format", "--endian=little", "--sign=signed",
         f"--channels={channels}", f"--bps={signal.bits}", f"--sample-rate={signal.rate}",
         f"--output-name={path}", "-"],
        input=samples, check=True)


def write_album(folder, signal, *cuts):
    """A signal in parts, as 1.flac, 2.flac, …: cut at these frames. Behind the last one is a second of silence, so that
    all of the signal is heard before the device stops."""
    for number, (first, end) in enumerate(zip((0, *cuts), (*cuts, None)), 1):
        part = signal.cut(first, end)
        write_flac(folder / f"{number}.flac",
                   part if end else part.followed_by(silence(signal.rate, signal.bits, 1)))
