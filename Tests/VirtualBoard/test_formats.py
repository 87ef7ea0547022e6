"""What people own on what people have: files of many codecs in one queue, and files of other rates than the card's."""

import math
import tempfile
import unittest
from array import array
from pathlib import Path

from test_usb_card import USB, as_usb_card_plays, recording
from virtual_board import shared
from virtual_board.host import run
from virtual_board.music import Signal, silence, tune, write_flac
from virtual_board.sound import FRAME, Recorder, difference
from virtual_board.tonearm import Playback

RATE = 48_000
#: In Hz, and as a part of full scale.
TONE, LEVEL = 997, 0.5
#: In frames of the card: the tone is measured in such windows.
WINDOW = RATE // 10


def sine(rate, bits, seconds):
    """The tone, on both channels."""
    peak = LEVEL * (1 << (bits - 1))
    frames = (round(peak * math.sin(2 * math.pi * TONE * frame / rate)) for frame in range(round(rate * seconds)))
    return Signal(rate, bits, array("i", [sample for frame in frames for sample in (frame, frame)]))


def level_and_noise(samples):
    """The amplitude of the tone in samples of one channel of the card, and the root mean square of all else."""
    step = 2 * math.pi * TONE / RATE
    sines = [math.sin(step * index) for index in range(len(samples))]
    cosines = [math.cos(step * index) for index in range(len(samples))]
    # The window has nearly whole periods; what is left of the other products is solved for.
    ss, cc = sum(s * s for s in sines), sum(c * c for c in cosines)
    sc = sum(s * c for s, c in zip(sines, cosines))
    xs, xc = sum(x * s for x, s in zip(samples, sines)), sum(x * c for x, c in zip(samples, cosines))
    determinant = ss * cc - sc * sc
    a, b = (xs * cc - xc * sc) / determinant, (xc * ss - xs * sc) / determinant
    rest = sum((x - a * s - b * c) ** 2 for x, s, c in zip(samples, sines, cosines))
    return math.hypot(a, b), math.sqrt(rest / len(samples))


class Formats(unittest.TestCase):
    def setUp(self):
        self.board, _ = shared.daemon_board()
        self.is_plugged = False
        self.addCleanup(self.unplug_card)

    def unplug_card(self):
        """What the USB card played."""
        if self.is_plugged:
            self.is_plugged = False
            return self.board.unplug_sound_card()

    def put(self, folder):
        self.board.run("mkdir", "-p", "/tmp/formats")
        for file in folder.iterdir():
            self.board.put(file.read_bytes(), f"/tmp/formats/{file.name}")

    def test_flac_mp3_opus_aac_and_a_cue_sheet_follow_each_other_without_a_gap(self):
        parts = [tune(RATE, 16, seconds=1 + seed / 1000, seed=seed) for seed in range(21, 26)]
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            for number, part in enumerate(parts[:4], 1):
                write_flac(folder / f"{number}.flac", part)
            for source, target in [("2.flac", "2.mp3"), ("3.flac", "3.opus"), ("4.flac", "4.m4a")]:
                run(["ffmpeg", "-loglevel", "error", "-i", str(folder / source), str(folder / target)], check=True)
                (folder / source).unlink()
            write_flac(folder / "album.flac", parts[4].followed_by(silence(RATE, 16, 1)))
            (folder / "album.cue").write_text(
                'FILE "album.flac" WAVE\n  TRACK 01 AUDIO\n    INDEX 01 00:00:00\n'
                "  TRACK 02 AUDIO\n    INDEX 01 00:00:31\n")
            (folder / "mixed.m3u").write_text("1.flac\n2.mp3\n3.opus\n4.m4a\nalbum.cue\n")
            self.put(folder)
        words = ["--volume", "100", "/tmp/formats/mixed.m3u"]
        # The same engine into a file: what each codec decodes to is compared with other programs elsewhere.
        device = "file:FILE=/tmp/formats/mixed.raw,FORMAT=raw"
        written = self.board.run("tonearm", "play", "--device", device, "--format", "S32_LE", *words)
        self.assertEqual((written.exit_code, written.stderr), (0, ""))
        expected = self.board.fetch("/tmp/formats/mixed.raw")
        end = parts[4].followed_by(silence(RATE, 16, 1))
        self.assertEqual(len(expected) // FRAME, sum(part.frames for part in parts[:4]) + end.frames)
        self.assertTrue(expected.startswith(parts[0].bytes))
        self.assertTrue(expected.endswith(end.bytes))

        recorder = Recorder(self.board, RATE)
        playback = Playback(self.board, "hw:CARD=HiFi,DEV=0", *words)
        self.addCleanup(playback.stop)
        result = playback.wait()
        self.assertEqual((result.exit_code, result.stderr), (0, ""))
        heard = [event["file"] for event in playback.events if event["event"] == "transition"]
        names = ["1.flac", "2.mp3", "3.opus", "4.m4a", "album.cue/track0001", "album.cue/track0002"]
        self.assertEqual(heard, [f"/tmp/formats/{name}" for name in names] + [None])
        self.assertIsNone(difference(recorder.stop(), expected[:-RATE * FRAME]))

    def test_a_card_of_48000_hz_and_16_bit_plays_mono_and_other_rates(self):
        mono = tune(RATE, 16, seconds=1, seed=31)
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            write_flac(folder / "1.flac", mono, channels=1)
            write_flac(folder / "2.flac", sine(44_100, 16, 1))
            write_flac(folder / "3.flac", sine(96_000, 24, 1))
            write_flac(folder / "4.flac", silence(RATE, 16, 1))
            self.put(folder)
        self.board.plug_sound_card()
        self.is_plugged = True
        self.board.wait_until("[ -e /proc/asound/Audio ]")
        playback = Playback(self.board, USB, "--volume", "100",
                            *(f"/tmp/formats/{number}.flac" for number in range(1, 5)))
        self.addCleanup(playback.stop)
        result = playback.wait()
        self.assertEqual((result.exit_code, result.stderr), (0, ""))
        rates = [event["format"]["convertedSampleRate"] for event in playback.events
                 if event["event"] == "transition" and event["file"]]
        self.assertEqual(rates, [None, RATE, RATE, None])

        heard = recording(self.board, self.unplug_card())
        # Another rate is tried before it is converted (docs/decisions/sample-rates.md): the card is closed in between.
        # QEMU's card loses the last packet, a millisecond, when it is closed.
        exact = mono.frames - RATE // 1000
        self.assertIsNone(difference(heard.cut(0, exact), as_usb_card_plays(mono.as_mono), to_the_end=False))
        rest = array("h", heard.samples)[::2][exact:]
        # A window in which the emulator waited for a processor has a gap; most have none.
        windows = [level_and_noise(rest[at:at + WINDOW]) for at in range(0, len(rest) - WINDOW, WINDOW)]
        level = LEVEL * 32_768 * 240 / 255
        good = [noise for found, noise in windows if abs(20 * math.log10(found / level)) < 0.1 and noise < level / 1000]
        self.assertGreater(len(good), len(windows) * 0.6, windows)
        self.assertAlmostEqual(len(rest), 2 * RATE, delta=RATE // 10)
