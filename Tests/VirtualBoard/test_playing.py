"""The engine plays through the kernel's ALSA: every sample that arrives is compared."""

import tempfile
import unittest
from pathlib import Path

from virtual_board.music import silence, tune, write_flac
from virtual_board.sound import Recorder, difference, hardware_parameters
from virtual_board.tonearm import Playback, board_with_tonearm

HIFI = "hw:CARD=HiFi,DEV=0"


def expected_parameters(rate):
    """S32_LE, mapped, 200 ms in four periods."""
    return {"access": "MMAP_INTERLEAVED", "format": "S32_LE", "subformat": "STD", "channels": "2",
            "rate": f"{rate} ({rate}/1)", "period_size": str(rate // 20), "buffer_size": str(rate // 5)}


class Playing(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cd = tune(44_100, 16, seconds=4, seed=1)
        cls.studio = tune(96_000, 24, seconds=3, seed=2)
        # What the recorder may miss while it opens the card after the player.
        cls.prelude = tune(96_000, 24, seconds=3, seed=3)
        cut = 77_777  # in no proportion to a block of the encoder, a period or a buffer
        with tempfile.TemporaryDirectory() as folder:
            music = Path(folder)
            write_flac(music / "gapless/1.flac", cls.cd.cut(0, cut))
            write_flac(music / "gapless/2.flac", cls.cd.cut(cut).followed_by(silence(44_100, 16, 1)))
            write_flac(music / "studio.flac", cls.studio.followed_by(silence(96_000, 24, 1)))
            write_flac(music / "switch/1.flac", cls.cd.cut(0, cut))
            write_flac(music / "switch/2.flac", cls.cd.cut(cut).followed_by(silence(44_100, 16, 2)))
            write_flac(music / "switch/3.flac", cls.prelude.followed_by(cls.studio).followed_by(silence(96_000, 24, 1)))
            write_flac(music / "mono/1.flac", cls.cd.cut(0, cut), channels=1)
            write_flac(music / "mono/2.flac", cls.cd.cut(cut, 2 * cut))
            write_flac(music / "mono/3.flac", cls.cd.cut(2 * cut).followed_by(silence(44_100, 16, 1)), channels=1)
            cls.mono = cls.cd.cut(0, cut).as_mono.followed_by(cls.cd.cut(cut, 2 * cut)).followed_by(
                cls.cd.cut(2 * cut).as_mono)
            cls.board = board_with_tonearm(music)
        cls.addClassCleanup(cls.board.discard)
        cls.board.power_on()

    def play(self, path):
        playback = Playback(self.board, HIFI, "--volume", "100", f"/data/music/{path}")
        self.addCleanup(playback.stop)
        return playback

    def assert_ended_well(self, playback):
        result = playback.wait()
        self.assertEqual((result.exit_code, result.stderr), (0, ""))

    def assert_same(self, heard, expected):
        self.assertIsNone(difference(heard, expected))

    def test_two_movements_of_16_bit_and_44100_hz_arrive_without_a_gap(self):
        recorder = Recorder(self.board, 44_100)
        playback = self.play("gapless")
        playback.wait_for(event="state", state="playing")
        self.assertEqual(hardware_parameters(self.board), expected_parameters(44_100))
        self.assert_ended_well(playback)
        self.assert_same(recorder.stop(), self.cd.bytes)
        heard = [event["file"] for event in playback.events if event["event"] == "transition"]
        self.assertEqual(heard, ["/data/music/gapless/1.flac", "/data/music/gapless/2.flac", None])

    def test_24_bit_and_96000_hz_arrive_unchanged(self):
        recorder = Recorder(self.board, 96_000)
        playback = self.play("studio.flac")
        playback.wait_for(event="state", state="playing")
        self.assertEqual(hardware_parameters(self.board), expected_parameters(96_000))
        self.assert_ended_well(playback)
        self.assert_same(recorder.stop(), self.studio.bytes)

    def test_mono_comes_out_of_both_channels_and_joins_stereo_without_a_gap(self):
        # The recorder keeps the card to two channels.
        recorder = Recorder(self.board, 44_100)
        playback = self.play("mono")
        playback.wait_for(event="state", state="playing")
        self.assertEqual(hardware_parameters(self.board), expected_parameters(44_100))
        self.assert_ended_well(playback)
        self.assert_same(recorder.stop(), self.mono.bytes)

    def test_the_card_is_switched_from_44100_to_96000_hz_between_tracks(self):
        first = Recorder(self.board, 44_100)
        second = Recorder(self.board, 96_000, waits=True)
        playback = self.play("switch")
        playback.wait_for(event="transition", file="/data/music/switch/2.flac")
        self.assertEqual(hardware_parameters(self.board), expected_parameters(44_100))
        # In the two seconds of silence at the end: an open recorder would keep the card at its rate.
        playback.wait_for_position("/data/music/switch/2.flac", (self.cd.frames - 77_777) / 44_100 + 0.5)
        self.assert_same(first.stop(), self.cd.bytes)

        playback.wait_for(event="transition", file="/data/music/switch/3.flac")
        self.assertEqual(hardware_parameters(self.board), expected_parameters(96_000))
        self.assert_ended_well(playback)
        heard, whole = second.stop(), self.prelude.followed_by(self.studio).bytes
        self.assertGreaterEqual(len(heard), len(self.studio.bytes), "only the prelude may be missing")
        self.assert_same(heard, whole[-len(heard):])
