"""Files and tags with values that trap where arithmetic is done in 32 bits, for tools/test-binaries.

usage: absurd_audio.py DIR

Writes to DIR, with the program `flac`:
  rate.wav         a header of 8 channels at 2,147,483,647 Hz
  one-sample.flac  a header that claims a single sample, with a second of them behind it
  352800.wav       a tenth of a second at 352.8 kHz
  tags.flac        gains with 19 zeros behind the point, and more
"""

import struct
import subprocess
import sys
import wave
from pathlib import Path

#: In STREAMINFO, behind the file's mark, the block's header and the sizes: rate, channels and bits, and in the last 36
#: bits the number of samples.
SAMPLES_AT = 4 + 4 + 10


def rate(path):
    channels, hertz, bits = 8, (1 << 31) - 1, 16
    data = bytes(channels * bits // 8 * 1000)
    frame = channels * bits // 8
    header = struct.pack("<HHIIHH", 1, channels, hertz, hertz * frame & 0xFFFF_FFFF, frame, bits)
    chunks = b"fmt " + struct.pack("<I", len(header)) + header + b"data" + struct.pack("<I", len(data)) + data
    path.write_bytes(b"RIFF" + struct.pack("<I", 4 + len(chunks)) + b"WAVE" + chunks)


def noise(path, hertz, frames):
    state = 1
    samples = bytearray()
    for _ in range(frames * 2):
        state = (state * 1_103_515_245 + 12_345) % (1 << 31)
        samples += struct.pack("<h", (state >> 16) - (1 << 14))
    with wave.open(str(path), "wb") as file:
        file.setnchannels(2)
        file.setsampwidth(2)
        file.setframerate(hertz)
        file.writeframes(bytes(samples))


def flac(path, *options):
    source = path.with_suffix(".source.wav")
    noise(source, 44_100, 44_100)
    subprocess.run(["flac", "--totally-silent", *options, "-o", path, source], check=True)
    source.unlink()


def one_sample(path):
    flac(path)
    content = bytearray(path.read_bytes())
    (fields,) = struct.unpack_from(">Q", content, SAMPLES_AT)
    struct.pack_into(">Q", content, SAMPLES_AT, fields >> 36 << 36 | 1)
    path.write_bytes(content)


def main(folder):
    folder.mkdir(parents=True)
    rate(folder / "rate.wav")
    one_sample(folder / "one-sample.flac")
    noise(folder / "352800.wav", 352_800, 35_280)
    flac(
        folder / "tags.flac", "-T", f"R128_TRACK_GAIN=0.{'0' * 19}1", "-T", f"R128_ALBUM_GAIN=-0.{'0' * 24}1",
        "-T", f"REPLAYGAIN_TRACK_GAIN=0.{'0' * 24}1 dB", "-T", f"REPLAYGAIN_TRACK_PEAK=0.{'0' * 19}1")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
