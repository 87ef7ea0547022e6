"""The music of tools/demo, and whether a recording of it is complete.

    demo_album.py make DIR               writes whole.wav, and the two movements cut from it: 1.wav, 2.wav
    demo_album.py compare PLAYED WHOLE   compares two WAV files sample by sample

The tune is the ground of Pachelbel's Canon (1680 or so) and two of its voices, played on plucked strings and a soft
organ. The cut lies in the middle of a bar, where every voice sounds, and on no multiple of a block or period:
inserted or lost frames there are heard.
"""

import array
import math
import sys
import wave
from pathlib import Path

RATE = 44_100
HALF_BAR = 1.0  # seconds
CUT = 10 * RATE + 12_347  # frames

# For each half bar the bass note, the chord over it, and the melody in equal steps, as semitones above A4.
GROUND = [
    (-31, (-19, -15, -12), (9,)),  # D: F#5
    (-36, (-24, -20, -17), (7,)),  # A: E5
    (-34, (-22, -19, -15), (5,)),  # B minor: D5
    (-39, (-27, -24, -20), (4,)),  # F# minor: C#5
    (-38, (-26, -22, -19), (2,)),  # G: B4
    (-31, (-19, -15, -12), (0,)),  # D: A4
    (-38, (-26, -22, -19), (2,)),  # G: B4
    (-36, (-24, -20, -17), (4,)),  # A: C#5
    # The second time the melody runs, and the first one follows it as the canon's other voice.
    (-31, (-19, -15, -12), (5, 9, 12, 10)),
    (-36, (-24, -20, -17), (9, 5, 9, 7)),
    (-34, (-22, -19, -15), (5, 2, 5, 12)),
    (-39, (-27, -24, -20), (10, 14, 12, 10)),
    (-38, (-26, -22, -19), (9, 5, 7, 16)),
    (-31, (-19, -15, -12), (17, 21, 24, 12)),
    (-38, (-26, -22, -19), (14, 10, 12, 9)),
    (-36, (-24, -20, -17), (5, 17, 17, 16)),
]
ENDING = (-31, (-19, -15, -12), (17,))


def tone(semitones, seconds, harmonics, attack, decay, release):
    """One note: its harmonics fade by `decay` per second, the higher ones sooner, as those of a string do."""
    frequency = 440 * 2 ** (semitones / 12)
    frames = int(seconds * RATE)
    note = [0.0] * frames
    for number, level in enumerate(harmonics, 1):
        if frequency * number > 15_000:
            break
        # A rotation by complex multiplication, far cheaper than a sine for each frame.
        angle = 2 * math.pi * frequency * number / RATE
        turn = complex(math.cos(angle), math.sin(angle))
        turn *= math.exp(-decay * number ** 0.7 / RATE)
        phase = complex(0, -level)
        for frame in range(frames):
            note[frame] += phase.real
            phase *= turn
    for frame in range(min(int(attack * RATE), frames)):
        note[frame] *= frame / (attack * RATE)
    fading = min(int(release * RATE), frames)
    for frame in range(fading):
        note[frames - 1 - frame] *= frame / fading
    return note


def render():
    """Both channels, as lists of floats."""
    frames = int((len(GROUND) * HALF_BAR + 4) * RATE)
    left, right = [0.0] * frames, [0.0] * frames
    notes = {}

    def play(at, semitones, seconds, level, pan, *timbre):
        key = (semitones, seconds, timbre)
        if key not in notes:
            notes[key] = tone(semitones, seconds, *timbre)
        note, start = notes[key], int(at * RATE)
        end = min(start + len(note), frames)
        for channel, share in ((left, 1 - pan), (right, pan)):
            share *= level
            channel[start:end] = [old + share * new for old, new in zip(channel[start:end], note)]

    string = ((1, 0.5, 0.33, 0.2, 0.12, 0.08), 0.004, 1.6, 0.05)
    bass = ((1, 0.6, 0.25, 0.1), 0.01, 0.9, 0.08)
    organ = ((1, 0.25, 0.1), 0.12, 0.0, 0.2)
    for index, (root, chord, melody) in enumerate(GROUND):
        at = index * HALF_BAR
        play(at, root, 1.2 * HALF_BAR, 0.55, 0.5, *bass)
        for voice, semitones in enumerate(chord):
            play(at, semitones + 12, 1.15 * HALF_BAR, 0.11, 0.25 + 0.25 * voice, *organ)
        for step, semitones in enumerate(melody):
            play(at + step * HALF_BAR / len(melody), semitones, 1.1 * HALF_BAR, 0.42, 0.6, *string)
        if index >= 8:
            play(at, GROUND[index - 8][2][0], 1.2 * HALF_BAR, 0.3, 0.3, *string)
    root, chord, melody = ENDING
    for semitones, level in [(root, 0.55)] + [(note + 12, 0.2) for note in chord] + [(melody[0], 0.4)]:
        play(len(GROUND) * HALF_BAR, semitones, 3.5, level, 0.5, string[0], 0.01, 1.2, 1.5)
    for channel, delay in ((left, 4_801), (right, 6_007)):
        for start in range(delay, frames, delay):  # in blocks, so that each echo is echoed
            end = min(start + delay, frames)
            echo = channel[start - delay : end - delay]
            channel[start:end] = [old + 0.22 * new for old, new in zip(channel[start:end], echo)]
    return left, right


def write(path, samples):
    with wave.open(str(path), "wb") as file:
        file.setnchannels(2)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes(samples.tobytes())


def make(directory):
    left, right = render()
    scale = 0.5 * 32_767 / max(max(map(abs, left)), max(map(abs, right)))
    samples = array.array("h", bytes(4 * len(left)))
    samples[0::2] = array.array("h", (round(scale * value) for value in left))
    samples[1::2] = array.array("h", (round(scale * value) for value in right))
    if sys.byteorder == "big":
        samples.byteswap()
    folder = Path(directory)
    folder.mkdir(parents=True, exist_ok=True)
    write(folder / "1.wav", samples[: 2 * CUT])
    write(folder / "2.wav", samples[2 * CUT :])
    write(folder / "whole.wav", samples)


def read(path):
    with wave.open(str(path), "rb") as file:
        return file.getparams()[:3], file.readframes(file.getnframes())


def compare(played, whole):
    (played_format, actual), (whole_format, expected) = read(played), read(whole)
    if played_format != whole_format:
        print(f"the format is {played_format}, should be {whole_format}")
        return 1
    if actual == expected:
        print(f"{len(expected) // 4} frames, all equal to the source")
        return 0
    shorter = min(len(actual), len(expected))
    at = next((at for at, pair in enumerate(zip(actual, expected)) if pair[0] != pair[1]), shorter)
    print(f"{len(actual) // 4} frames were played, the source has {len(expected) // 4}; "
          f"the first difference is at {at // 4}")
    return 1


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(sys.argv[2])
    else:
        sys.exit(compare(sys.argv[2], sys.argv[3]))
