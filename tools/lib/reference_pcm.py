"""Music for tools/test-binaries, and what must reach the sound device when it is played.

    reference_pcm.py make DIR                        writes the recordings as WAV files
    reference_pcm.py compare FORMAT BITS FILE RAW…   compares FILE with what `flac -d` gave, widened to FORMAT
    reference_pcm.py near FILE RAW…                  compares FILE with what another decoder gave, both in S32_LE: no
                                                     sample may be off by more than one step of 16 bits
"""

import array
import sys
import wave
from pathlib import Path

# Name, bits, rate, channels, and the frames of each file cut from one continuous signal. The lengths are prime, so that
# no boundary falls on a block, a period or a page.
RECORDINGS = [
    ("movements", 16, 44_100, 2, [50_021, 60_013]),
    ("high-resolution", 24, 96_000, 2, [70_001]),
    ("mono", 16, 44_100, 1, [40_009]),
]


def signal(frames, channels, bits):
    """A different slow triangle in each channel with noise on it, near full scale: deterministic and never constant."""
    full = 1 << (bits - 1)
    state = 1
    for frame in range(frames):
        for channel in range(channels):
            state = (state * 1_103_515_245 + 12_345) % (1 << 31)
            period = 331 + 47 * channel
            triangle = abs(frame % (2 * period) - period) * 2 - period
            yield triangle * (full - full // 8) // period + (state >> 8) % (full // 8)


def make(directory):
    for name, bits, rate, channels, lengths in RECORDINGS:
        samples = signal(sum(lengths), channels, bits)
        folder = Path(directory, name)
        folder.mkdir(parents=True)
        for number, length in enumerate(lengths, 1):
            data = b"".join(next(samples).to_bytes(bits // 8, "little", signed=True) for _ in range(length * channels))
            with wave.open(str(folder / f"{number:02}.wav"), "wb") as file:
                file.setnchannels(channels)
                file.setsampwidth(bits // 8)
                file.setframerate(rate)
                file.writeframes(data)


def widened(raw, width, device_format):
    """Packed little-endian samples of `width` bytes as the device wants them; never a format with fewer bits."""
    container, used = {"S16_LE": (2, 2), "S24_3LE": (3, 3), "S24_LE": (4, 3), "S32_LE": (4, 4)}[device_format]
    out = bytearray(len(raw) // width * container)
    for byte in range(width):
        out[used - width + byte :: container] = raw[byte::width]
    for byte in range(used, container):
        # S24_LE lies in the lower three bytes of four: the uppermost is the sign.
        out[byte::container] = raw[width - 1 :: width].translate(bytes(255 * (value >> 7) for value in range(256)))
    return bytes(out)


def compare(device_format, bits, played, decoded):
    expected = b"".join(widened(Path(name).read_bytes(), bits // 8, device_format) for name in decoded)
    actual = Path(played).read_bytes()
    if actual == expected:
        print(f"{len(actual)} bytes equal")
        return 0
    differing = next((at for at, pair in enumerate(zip(actual, expected)) if pair[0] != pair[1]), None)
    where = "" if differing is None else f"; the first difference is at byte {differing}"
    print(f"{len(actual)} bytes played, {len(expected)} expected{where}")
    return 1


def near(played, decoded):
    actual = array.array("i", Path(played).read_bytes())
    expected = array.array("i", b"".join(Path(name).read_bytes() for name in decoded))
    if len(actual) != len(expected):
        print(f"{len(actual)} samples played, {len(expected)} expected")
        return 1
    largest = max(abs(one - other) for one, other in zip(actual, expected))
    print(f"{len(actual)} samples, at most {largest / 65_536:.3f} steps of 16 bits apart")
    return 0 if largest <= 65_536 else 1


if sys.argv[1] == "make":
    make(sys.argv[2])
elif sys.argv[1] == "near":
    sys.exit(near(sys.argv[2], sys.argv[3:]))
else:
    sys.exit(compare(sys.argv[2], int(sys.argv[3]), sys.argv[4], sys.argv[5:]))
