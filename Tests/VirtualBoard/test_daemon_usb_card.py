"""The daemon's sound card is plugged in, unplugged and plugged in again."""

import tempfile
import time
import unittest
from array import array
from pathlib import Path

from test_usb_card import RATE, as_usb_card_plays, recording, resumption
from virtual_board.daemon import Daemon, board_with_daemon
from virtual_board.measures import report
from virtual_board.music import CHANNELS, silence, tune, write_flac
from virtual_board.parts import long
from virtual_board.sound import difference

#: In frames: 5 ms (docs/playback.md, 7).
FADE = RATE // 200
#: In seconds: from the plug to the music.
BACK_LIMIT = 2


class DaemonUsbCard(unittest.TestCase):
    def setUp(self):
        self.tune = tune(RATE, 16, seconds=10, seed=4)
        with tempfile.TemporaryDirectory() as folder:
            write_flac(Path(folder) / "track.flac", self.tune.followed_by(silence(RATE, 16, 1)))
            self.board = board_with_daemon(Path(folder), {("audio", "device"): "hw:CARD=Audio,DEV=0"})
        self.addCleanup(self.board.discard)
        self.board.power_on()
        self.daemon = Daemon(self.board)
        self.daemon.wait_until_ready()

    def plug_and_wait(self, name, watch):
        """Plugs the card in and waits until it plays; the event."""
        seen = len(watch.events)
        self.board.plug_sound_card()
        plugged = self.board.fair_clock()
        _, playing = watch.wait_until(
            lambda it: it.get("event") == "state" and it["state"] == "playing" and it["device"], "music", seen)
        delay = self.board.fair_clock() - plugged
        report(f"{name}: from the plug to the music", delay * 1000, "ms", BACK_LIMIT * 1000)
        self.assertLess(delay, BACK_LIMIT)
        return playing

    def test_it_waits_for_the_card_and_goes_on_where_it_was(self):
        self.daemon.ask("volume", "100")
        watch = self.daemon.watch()
        self.daemon.ask("queue", "set", "/data/music/track.flac", "--play")
        watch.wait_until(lambda it: it.get("problems"), "problem")
        status = self.daemon.status
        self.assertEqual(status["state"], "stalled")
        self.assertEqual(status["problems"][0]["subject"], "device")

        self.plug_and_wait("absent at boot", watch)
        watch.wait_for_position(2)
        seen = len(watch.events)
        before = recording(self.board, self.board.unplug_sound_card())
        _, stalled = watch.wait_for("state", seen, state="stalled")
        playing = self.plug_and_wait("pulled out in mid-track", watch)
        self.assertLess(playing["position"] - stalled["position"], 0.2)
        self.assertEqual(self.daemon.status["problems"], [])

        watch.wait_for("state", seen, state="stopped")
        after = recording(self.board, self.board.unplug_sound_card())
        whole = as_usb_card_plays(self.tune)
        # Nothing but the beginning was heard before.
        self.assertIsNone(difference(before, whole, to_the_end=False))
        resumed = resumption(after, self.tune)
        self.assertIsNotNone(resumed, "and nothing but the end afterwards, behind a fade-in")
        self.assertAlmostEqual(resumed / RATE, stalled["position"], delta=0.001)

    @long("board-playing", "the tests of the audio thread have every frame of both devices")
    def test_another_device_is_chosen_while_it_plays(self):
        self.daemon.ask("config", "set", "audio.device", "hw:CARD=HiFi,DEV=0")
        self.daemon.ask("volume", "100")
        watch = self.daemon.watch()
        self.daemon.ask("queue", "set", "/data/music/track.flac", "--play")
        watch.wait_for_position(1)
        self.board.plug_sound_card()
        self.board.wait_until("[ -e /proc/asound/Audio ]")
        seen = len(watch.events)
        self.assertTrue(self.daemon.ask("config", "unset", "audio.device")["inForce"])
        deadline = self.board.deadline()
        while not ((device := self.daemon.status["device"]) and device["name"].startswith("hw:CARD=Audio")):
            self.assertFalse(deadline.has_passed, f"the other device; it is {device}")
        watch.wait_for("state", seen, state="stopped")
        rest = array("h", recording(self.board, self.board.unplug_sound_card()).samples)
        whole = array("h", as_usb_card_plays(self.tune))
        self.assertGreater(len(whole) - len(rest), CHANNELS * RATE, "the first second was heard on the first device")
        faded = CHANNELS * FADE
        self.assertEqual(rest[faded:], whole[len(whole) - len(rest) + faded:], "the rest, behind a fade-in")

    @long("board-playing", "two starts; the other test plugs the card in after a start as well")
    def test_a_board_that_starts_without_its_card_resumes_once_it_is_plugged_in(self):
        self.board.plug_sound_card()
        self.daemon.ask("queue", "set", "/data/music/track.flac", "--play")
        watch = self.daemon.watch()
        watch.wait_for_position(1)
        began = time.monotonic()
        reached = self.daemon.status["position"]
        self.board.power_off()
        # It plays until it is told to end, which comes late on a busy machine.
        latest = reached + time.monotonic() - began
        self.board.power_on()
        self.daemon.wait_until_ready()
        watch = self.daemon.watch()
        self.daemon.wait_for("said", "STATUS=stalled")
        resumed = self.plug_and_wait("absent at a later boot", watch)["position"]
        self.assertGreater(resumed, reached - 1)
        self.assertLess(resumed, latest + 1)
