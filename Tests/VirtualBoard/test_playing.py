"""The engine plays through the kernel's ALSA: every sample that arrives is compared."""

import unittest

from virtual_board import shared
from virtual_board.parts import long
from virtual_board.shared import CUT
from virtual_board.sound import Recorder, difference, difference_from_the_end, hardware_parameters
from virtual_board.tonearm import Playback

HIFI = "hw:CARD=HiFi,DEV=0"


def expected_parameters(rate):
    """S32_LE, mapped, 200 ms in four periods."""
    return {"access": "MMAP_INTERLEAVED", "format": "S32_LE", "subformat": "STD", "channels": "2",
            "rate": f"{rate} ({rate}/1)", "period_size": str(rate // 20), "buffer_size": str(rate // 5)}


class Playing(unittest.TestCase):
    def setUp(self):
        self.board, _ = shared.daemon_board()
        self.cd = shared.cd_music()
        self.studio = shared.studio_music()

    def play(self, path):
        playback = Playback(self.board, HIFI, "--volume", "100", f"/data/music/{path}")
        self.addCleanup(playback.stop)
        return playback

    def assert_ended_well(self, playback):
        result = playback.wait()
        self.assertEqual((result.exit_code, result.stderr), (0, ""))

    def assert_same(self, recording, expected):
        self.assertIsNone(difference(recording, expected))

    def test_two_movements_of_16_bit_and_44100_hz_arrive_without_a_gap(self):
        recorder = Recorder(self.board, 44_100)
        playback = self.play("gapless")
        playback.wait_for(event="state", state="playing")
        self.assertEqual(hardware_parameters(self.board), expected_parameters(44_100))
        self.assert_ended_well(playback)
        self.assert_same(recorder.stop(), self.cd.bytes)
        heard = [event["file"] for event in playback.events if event["event"] == "transition"]
        self.assertEqual(heard, ["/data/music/gapless/1.flac", "/data/music/gapless/2.flac", None])

    @long("board-playing", "the daemon's queue of two rates has this rate and these samples")
    def test_24_bit_and_96000_hz_arrive_unchanged(self):
        recorder = Recorder(self.board, 96_000)
        playback = self.play("studio.flac")
        playback.wait_for(event="state", state="playing")
        self.assertEqual(hardware_parameters(self.board), expected_parameters(96_000))
        self.assert_ended_well(playback)
        self.assert_same(recorder.stop(), self.studio.bytes)

    @long("board-playing", "the tests of the pipeline prove it without a card")
    def test_mono_comes_out_of_both_channels_and_joins_stereo_without_a_gap(self):
        # The recorder keeps the card to two channels.
        recorder = Recorder(self.board, 44_100)
        playback = self.play("mono")
        playback.wait_for(event="state", state="playing")
        self.assertEqual(hardware_parameters(self.board), expected_parameters(44_100))
        self.assert_ended_well(playback)
        mono = self.cd.cut(0, CUT).as_mono.followed_by(self.cd.cut(CUT, 2 * CUT)).followed_by(
            self.cd.cut(2 * CUT).as_mono)
        self.assert_same(recorder.stop(), mono.bytes)

    @long("board-playing", "the daemon's queue of two rates proves it in the default run")
    def test_the_card_is_switched_from_44100_to_96000_hz_between_tracks(self):
        first = Recorder(self.board, 44_100)
        second = Recorder(self.board, 96_000, waits=True)
        playback = self.play("switch")
        playback.wait_for(event="transition", file="/data/music/switch/2.flac")
        self.assertEqual(hardware_parameters(self.board), expected_parameters(44_100))
        # In the two seconds of silence at the end: an open recorder would keep the card at its rate.
        playback.wait_for_position("/data/music/switch/2.flac", (self.cd.frames - CUT) / 44_100 + 0.5)
        self.assert_same(first.stop(), self.cd.bytes)

        playback.wait_for(event="transition", file="/data/music/switch/3.flac")
        self.assertEqual(hardware_parameters(self.board), expected_parameters(96_000))
        self.assert_ended_well(playback)
        prelude = shared.studio_prelude()
        # Only the prelude may be missing.
        self.assertIsNone(
            difference_from_the_end(second.stop(), prelude.followed_by(self.studio).bytes, prelude.frames))
