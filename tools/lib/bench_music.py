"""The music that tools/bench plays, made anew each time and always the same."""

import math
import os
import random
import struct
import subprocess

RATE = 44100


def make_album(folder, minutes):
    """Synthetic music that is about as hard to compress as real music: voices, their envelopes, and a noise floor."""
    generator = random.Random(1)
    frames = []
    phases = [0.0] * 6
    block = RATE // 4
    for _ in range(minutes * 60 * 4 // 10):  # a tenth is made, and repeated: encoders do not look back that far
        pitches = [generator.choice([55, 82.4, 110, 146.8, 220, 329.6, 440, 587.3, 880]) for _ in phases]
        for index in range(block):
            envelope = math.exp(-3.0 * index / block)
            left = right = 0.0
            for voice, pitch in enumerate(pitches):
                phases[voice] += 2 * math.pi * pitch / RATE
                tone = math.sin(phases[voice]) * envelope
                left += tone * (1.0 - voice * 0.12)
                right += tone * (0.4 + voice * 0.12)
            noise = generator.gauss(0, 60)
            frames.append(struct.pack("<hh", clip(left * 3600 + noise), clip(right * 3600 - noise * 0.7)))
    signal = b"".join(frames) * 10
    album = encode(folder, "album", signal, [len(signal) // 4 // 3 * index for index in range(3)])
    movement = signal[: RATE * 4 * 44]
    cuts = [0] + sorted(generator.sample(range(1, len(movement) // 4), 10))
    return album, encode(folder, "movement", movement, cuts), movement


def encode(folder, name, signal, starts):
    files = []
    ends = starts[1:] + [len(signal) // 4]
    for number, (start, end) in enumerate(zip(starts, ends)):
        path = f"{folder}/{name}-{number:02}.flac"
        subprocess.run(
            ["flac", "-s", "-8", "--force-raw-format", "--endian=little", "--sign=signed", "--channels=2", "--bps=16",
             f"--sample-rate={RATE}", "-T", "REPLAYGAIN_ALBUM_GAIN=-7.30 dB", "-T", "REPLAYGAIN_ALBUM_PEAK=0.98",
             "-o", path, "-"],
            input=signal[start * 4:end * 4], check=True)
        files.append(path)
    return files


def clip(value):
    return max(-32768, min(32767, round(value)))


def high_resolution(folder, rate):
    """Twenty seconds of noise in 24 bits, which no encoder makes small."""
    generator = random.Random(rate)
    second = generator.randbytes(rate * 2 * 3)
    path = f"{folder}/noise-{rate}.flac"
    subprocess.run(
        ["flac", "-s", "-5", "--lax", "--force-raw-format", "--endian=little", "--sign=signed", "--channels=2",
         "--bps=24", f"--sample-rate={rate}", "-o", path, "-"],
        input=second * 20, check=True)
    return [path]


def encode_mp3(file):
    """The file as MP3 of variable bit rate."""
    name = f"{os.path.splitext(file)[0]}.mp3"
    decoded = subprocess.Popen(["flac", "-s", "-d", "-c", file], stdout=subprocess.PIPE)
    subprocess.run(["lame", "--quiet", "-V", "2", "-", name], stdin=decoded.stdout, check=True)
    decoded.stdout.close()
    decoded.wait()
    return name


def encode_ogg(file, ending, encoder):
    """The file in Ogg. oggenc wants the name of its output before that of its input, opusenc after it."""
    name = f"{os.path.splitext(file)[0]}.{ending}"
    decoded = subprocess.Popen(["flac", "-s", "-d", "-c", file], stdout=subprocess.PIPE)
    words = [*encoder, name, "-"] if encoder[-1] == "-o" else [*encoder, name]
    subprocess.run(words, stdin=decoded.stdout, check=True)
    decoded.stdout.close()
    decoded.wait()
    return name


def encode_aac(file):
    """The file as AAC-LC in MP4."""
    name = f"{os.path.splitext(file)[0]}.m4a"
    subprocess.run(["ffmpeg", "-v", "error", "-i", file, "-vn", "-c:a", "aac", "-b:a", "192k", name], check=True)
    return name
