"""The daemon starts with the board, plays its queue and resumes at its position."""

import tempfile
import unittest
from pathlib import Path

from virtual_board.daemon import Daemon, board_with_daemon
from virtual_board.music import silence, tune, write_flac
from virtual_board.sound import FRAME, Recorder, difference, hardware_parameters

CD, STUDIO = 44_100, 96_000


class Starting(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.long = tune(CD, 16, seconds=20, seed=11)
        cls.cd = tune(CD, 16, seconds=4, seed=1)
        cls.studio = tune(STUDIO, 24, seconds=3, seed=2)
        # What the recorder may miss while it opens the card after the player.
        cls.prelude = tune(STUDIO, 24, seconds=3, seed=3)
        cut = 77_777  # in no proportion to a block of the encoder, a period or a buffer
        with tempfile.TemporaryDirectory() as folder:
            music = Path(folder)
            write_flac(music / "long/1.flac", cls.long)
            write_flac(music / "long/2.flac", cls.long)
            write_flac(music / "switch/1.flac", cls.cd.cut(0, cut))
            write_flac(music / "switch/2.flac", cls.cd.cut(cut).followed_by(silence(CD, 16, 2)))
            write_flac(music / "switch/3.flac", cls.prelude.followed_by(cls.studio).followed_by(silence(STUDIO, 24, 1)))
            cls.board = board_with_daemon(music)
        cls.addClassCleanup(cls.board.discard)
        cls.board.power_on(network=False)
        cls.daemon = Daemon(cls.board)
        cls.daemon.wait_until_ready()
        cls.daemon.ask("volume", "100")

    def assert_same(self, heard, expected):
        self.assertIsNone(difference(heard, expected))

    def test_a_queue_of_two_rates_arrives_bit_by_bit(self):
        first = Recorder(self.board, CD)
        second = Recorder(self.board, STUDIO, waits=True)
        self.daemon.ask("queue", "set", "/data/music/switch", "--play")
        watch = self.daemon.watch()
        watch.wait_for_position(0, file="/data/music/switch/2.flac")
        parameters = hardware_parameters(self.board)
        self.assertEqual((parameters["rate"], parameters["format"]), ("44100 (44100/1)", "S32_LE"))
        # In the two seconds of silence at the end: an open recorder would keep the card at its rate.
        watch.wait_for_position((self.cd.frames - 77_777) / CD + 0.3, file="/data/music/switch/2.flac")
        self.assert_same(first.stop(), self.cd.bytes)

        watch.wait_for_position(0, file="/data/music/switch/3.flac")
        self.assertEqual(hardware_parameters(self.board)["rate"], "96000 (96000/1)")
        watch.wait_for_end()
        watch.stop()
        heard, whole = second.stop(), self.prelude.followed_by(self.studio).bytes
        self.assertGreaterEqual(len(heard), len(self.studio.bytes), "only the prelude may be missing")
        self.assert_same(heard, whole[-len(heard):])

    def test_the_board_is_switched_off_and_on_again_and_the_album_goes_on(self):
        self.daemon.ask("queue", "set", "/data/music/long", "--play")
        before = self.play_up_to(3)
        self.board.power_off()
        heard_from = self.start_and_listen()
        # The power button's way: not a moment is lost, and nothing but the shutting down was played meanwhile.
        self.assertGreaterEqual(heard_from, before)

        before = self.play_up_to(heard_from + 4)
        self.board.cut_power()
        self.assertGreaterEqual(self.start_and_listen(), before - 10)

    def play_up_to(self, position):
        """Where it is heard then."""
        watch = self.daemon.watch()
        return watch.wait_for_position(position)[1]["position"]

    def start_and_listen(self):
        """Switches the board on. From where on, in seconds, the recorder has heard the album."""
        self.board.power_on(network=False)
        recorder = Recorder(self.board, CD, waits=True)
        self.daemon.wait_until_ready()
        status = self.daemon.status
        self.assertEqual((status["state"], status["index"], status["count"]), ("playing", 0, 2))
        self.assertEqual(self.board.run("cat", "/sys/class/net/eth0/carrier").stdout, "0\n")
        recorder.hear(1)
        heard, track = recorder.stop(), self.long.bytes
        begin = track.find(heard[:256 * FRAME])
        self.assertGreater(begin, 0)
        whole = heard[:CD * FRAME]
        self.assert_same(whole, track[begin:begin + len(whole)])
        return begin / FRAME / CD
