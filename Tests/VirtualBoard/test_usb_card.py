"""A USB sound card that comes and goes, and its volume control."""

import re
import unittest
from array import array

from virtual_board import shared
from virtual_board.music import tune
from virtual_board.parts import long
from virtual_board.sound import Recording, difference
from virtual_board.tonearm import Playback

RATE = 48_000
FRAME = 4  # bytes: two channels of 16 bit
USB = "hw:CARD=Audio,DEV=0"
TRACK = "/data/music/usb.flac"
#: In frames: 5 ms and 20 ms.
FADE, RAMP = RATE // 200, RATE // 50
#: The volume of 100 % as the card's mixer does it: its step below 0 dB is -0.5 dB.
SOFTWARE = 10 ** (-0.5 / 20)
#: In dB: what 50 % of volume means (docs/decisions/one-volume-curve.md), and the steps of the card's mixer.
HALF, STEP = -60 * 50 / 99, 0.54


def as_usb_card_plays(signal):
    """What QEMU's card makes of 16 bit samples when its mixer is at 0 dB, which it takes for 240/255."""
    factor = (1 << 32) * 240 // 255
    return array("h", [sample * factor >> 32 for sample in signal.samples]).tobytes()


def resumption(heard, signal):
    """The frame of a signal at which a card that is back went on, where the `Recording` has the signal to its end; None
    where it has anything else.

    The music fades in (docs/playback.md, 7.3). It has the volume in software until the mixer is set (9.5), then a ramp
    (9.3). Behind that each sample is compared, for at least half of what was heard.
    """
    rest, whole = array("h", heard.samples), array("h", as_usb_card_plays(signal))
    count = len(rest) // 2
    backwards = zip(reversed(rest), reversed(whole))
    changed = count - next((place for place, (a, b) in enumerate(backwards) if a != b), 2 * count) // 2
    if changed > count / 2:
        return None
    # The first faded frames may be silent, and the last ones of the ramp the same as without it.
    for start in range(signal.frames - count, max(-1, signal.frames - count - 4), -1):
        silent = signal.frames - count - start
        head = array("h", bytes(silent * FRAME)) + rest[:2 * changed]
        for ramp in range(len(head) // 2 - RAMP, len(head) // 2 - RAMP + 10):
            if is_resumed(head, signal.cut(start), ramp):
                return start
    return None


def is_resumed(heard, signal, ramp):
    """Whether the card played the beginning of a signal so, with the ramp beginning at a frame. Frame n of N has the
    part (n + 1) / (N + 1) in the fade, and (n + 1) / N of the way in the ramp. What is scaled is dithered by up to 1,
    rounded, and rounded again by the card."""
    for index, sample in enumerate(heard):
        frame = index // 2
        fade = min(1, (frame + 1) / (FADE + 1))
        volume = SOFTWARE + (1 - SOFTWARE) * min(1, max(0, frame - ramp + 1) / RAMP)
        if abs(sample * 255 / 240 - signal.samples[index] * fade * volume) >= 3:
            return False
    return True


def recording(board, samples):
    """Of the samples that a USB card played until it was unplugged."""
    waited = board.waited_while_plugged
    return Recording(samples, RATE, lambda first, count: waited, FRAME).without_silence


def loudest(samples):
    """The greatest amplitude among samples of 16 bit."""
    return max(map(abs, array("h", samples)))


class UsbCard(unittest.TestCase):
    def setUp(self):
        self.board, _ = shared.daemon_board()
        self.tune = tune(RATE, 16, seconds=8, seed=4)
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

    def play(self, volume, device=USB):
        playback = Playback(self.board, device, "--volume", volume, TRACK)
        self.addCleanup(playback.stop)
        return playback

    def mixer(self):
        """The card's volume in dB."""
        control = self.board.run("amixer", "-D", "hw:Audio", "sget", "Audio Output Volume Control").stdout
        return float(re.search(r"\[(-?[\d.]+)dB\]", control)[1])

    def assert_half_volume(self):
        """The card is at the step below what 50 % means: never louder."""
        self.assertLessEqual(self.mixer(), HALF)
        self.assertGreater(self.mixer(), HALF - STEP)

    @long("board-playing", "the test of the daemon's card proves it in the default run")
    def test_it_is_unplugged_in_mid_track_and_plugged_in_again(self):
        self.plug_card()
        playback = self.play(volume=100)
        playback.wait_for_position(TRACK, 2)
        before = recording(self.board, self.unplug_card())
        stalled = playback.wait_for(event="state", state="stalled")
        seen = len(playback.events)

        self.plug_card()
        plugged = self.board.fair_clock()
        playing = playback.wait_for(event="state", state="playing", after=seen)
        self.assertLess(self.board.fair_clock() - plugged, 2)
        self.assertLess(playing["position"] - stalled["position"], 0.2)
        self.assertEqual(playback.wait().exit_code, 0)
        after = recording(self.board, self.unplug_card())

        whole = as_usb_card_plays(self.tune)
        # Nothing but the track's beginning was heard before.
        self.assertIsNone(difference(before, whole, to_the_end=False))
        resumed = resumption(after, self.tune)
        self.assertIsNotNone(resumed, "and nothing but its end afterwards, behind a fade-in")
        resumed /= RATE
        self.assertAlmostEqual(resumed, stalled["position"], delta=0.001)
        heard = len(before.sounds) / FRAME / RATE
        self.assertAlmostEqual(resumed, heard, delta=0.1, msg="but for what was on its way through the card")

    def test_the_volume_is_set_with_the_card_s_own_control_also_where_it_was_chosen_by_its_rank(self):
        self.plug_card()
        listing = self.board.run("tonearm", "devices").stdout
        self.assertIn("rank      1, USB", listing)
        self.assertIn("rank      not chosen by auto", listing)
        self.assertIn("mixer  Audio Output Volume Control (-127.99 to 8.00 dB, mute)", listing)
        playback = self.play(volume=50, device=None)
        playback.wait_for(event="state", state="playing")
        self.assert_half_volume()

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
        self.assert_half_volume()
        self.assertLessEqual(loudest(self.unplug_card()), before)
