"""A USB sound card that comes and goes, and its volume control."""

import re
import tempfile
import unittest
from array import array
from pathlib import Path

from virtual_board.music import silence, tune, write_flac
from virtual_board.sound import without_silence
from virtual_board.tonearm import Playback, board_with_tonearm

RATE = 48_000
FRAME = 4  # bytes: two channels of 16 bit
USB = "hw:CARD=Audio,DEV=0"
TRACK = "/data/music/track.flac"


def as_usb_card_plays(signal):
    """What QEMU's card makes of 16 bit samples when its mixer is at 0 dB, which it takes for 240/255."""
    factor = (1 << 32) * 240 // 255
    return array("h", [sample * factor >> 32 for sample in signal.samples]).tobytes()


def loudest(samples):
    """The greatest amplitude among samples of 16 bit."""
    return max(map(abs, array("h", samples)))


class UsbCard(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.tune = tune(RATE, 16, seconds=8, seed=4)
        with tempfile.TemporaryDirectory() as folder:
            write_flac(Path(folder) / "track.flac", cls.tune.followed_by(silence(RATE, 16, 1)))
            cls.board = board_with_tonearm(Path(folder))
        cls.addClassCleanup(cls.board.discard)
        cls.board.power_on()

    def setUp(self):
        self.is_plugged = False
        self.addCleanup(self.unplug_card)

    def plug_card(self):
        self.board.plug_sound_card()
        self.is_plugged = True
        self.board.wait_until("[ -e /proc/asound/Audio ]")

    def unplug_card(self):
        """What it played."""
        if self.is_plugged:
            self.is_plugged = False
            return self.board.unplug_sound_card()

    def play(self, volume):
        playback = Playback(self.board, USB, "--volume", volume, TRACK)
        self.addCleanup(playback.stop)
        return playback

    def mixer(self):
        """The card's volume in dB."""
        control = self.board.run("amixer", "-D", "hw:Audio", "sget", "Audio Output Volume Control").stdout
        return float(re.search(r"\[(-?[\d.]+)dB\]", control)[1])

    @unittest.skip("the expectation has no fade-in behind a lost card yet (docs/playback.md, 7.3)")
    def test_it_is_unplugged_in_mid_track_and_plugged_in_again(self):
        self.plug_card()
        playback = self.play(volume=100)
        playback.wait_for_position(TRACK, 2)
        before = self.unplug_card()
        stalled = playback.wait_for(event="state", state="stalled")
        seen = len(playback.events)

        self.plug_card()
        plugged = self.board.fair_clock()
        playing = playback.wait_for(event="state", state="playing", after=seen)
        self.assertLess(self.board.fair_clock() - plugged, 2)
        self.assertLess(playing["position"] - stalled["position"], 0.2)
        self.assertEqual(playback.wait().exit_code, 0)
        after = self.unplug_card()

        whole = as_usb_card_plays(self.tune)
        self.assertTrue(whole.startswith(before), "nothing but the track's beginning was heard before")
        rest = without_silence(after, FRAME)
        self.assertTrue(whole.endswith(rest), "and nothing but its end afterwards")
        resumed = (len(whole) - len(rest)) / FRAME / RATE
        self.assertAlmostEqual(resumed, stalled["position"], delta=0.001)
        heard = len(before) / FRAME / RATE
        self.assertAlmostEqual(resumed, heard, delta=0.1, msg="but for what was on its way through the card")

    @unittest.skip("the expectation has the volume curve of before: 50 % is -30 dB on a card now")
    def test_the_volume_is_set_with_the_card_s_own_control(self):
        self.plug_card()
        listing = self.board.run("tonearm", "devices").stdout
        self.assertIn("mixer  Audio Output Volume Control (-127.99 to 8.00 dB, mute)", listing)
        playback = self.play(volume=50)
        playback.wait_for(event="state", state="playing")
        self.assertAlmostEqual(self.mixer(), -18.06, delta=0.54, msg="the card's steps are 0.53 dB")

    def test_a_profile_is_checked_against_the_card_s_control(self):
        self.plug_card()
        profile = "[board]\nname = USB\n[sound]\ncard = Audio\n"
        control = "mixer = Audio Output Volume Control\n"
        for sound, code, verdict in [
            ("", 0, "ok       mixer: Audio Output Volume Control, -127.99 to 8 dB"),
            (control + "mixer-minimum = -60 dB\nmixer-maximum = 0 dB\n", 0,
             "ok       mixer: Audio Output Volume Control, -60 to 0 dB of -127.99 to 8 dB"),
            (control + "mixer-minimum = -60 dB\nmixer-maximum = 12 dB\n", 1,
             "MISSING  mixer: `Audio Output Volume Control` does only -127.99 to 8 dB: "),
            ("mixer = Digital\n", 1,
             "MISSING  mixer: no control `Digital`. Controls with decibels here: Audio Output Volume Control.\n"),
        ]:
            with self.subTest(sound):
                self.board.put((profile + sound).encode(), "/tmp/board.conf")
                check = self.board.run("tonearm", "board", "check", "/tmp/board.conf")
                self.assertIn(verdict, check.stdout)
                self.assertEqual(check.exit_code, code)

    @unittest.skip("the expectation has the volume curve of before: 50 % is -30 dB on a card now")
    def test_a_card_that_is_back_is_never_louder_than_the_volume(self):
        self.plug_card()
        playback = self.play(volume=50)
        playback.wait_for_position(TRACK, 2)
        before = loudest(self.unplug_card())
        playback.wait_for(event="state", state="stalled")
        seen = len(playback.events)
        self.plug_card()
        playback.wait_for(event="state", state="playing", after=seen)
        playback.wait_for_position(TRACK, 4)
        self.assertAlmostEqual(self.mixer(), -18.06, delta=0.54)
        self.assertLessEqual(loudest(self.unplug_card()), before)
