"""The daemon starts with the board, plays its queue and resumes at its position."""

import unittest

from virtual_board import shared
from virtual_board.parts import long
from virtual_board.shared import CD, CUT, STUDIO
from virtual_board.sound import FRAME, Recorder, difference, difference_from_the_end, hardware_parameters


class Starting(unittest.TestCase):
    def setUp(self):
        self.board, self.daemon = shared.daemon_board()

    def test_a_queue_of_two_rates_arrives_bit_by_bit(self):
        cd, studio = shared.cd_music(), shared.studio_music()
        first = Recorder(self.board, CD)
        second = Recorder(self.board, STUDIO, waits=True)
        self.daemon.ask("queue", "set", "/data/music/switch", "--play")
        watch = self.daemon.watch()
        watch.wait_for_position(0, file="/data/music/switch/2.flac")
        parameters = hardware_parameters(self.board)
        self.assertEqual((parameters["rate"], parameters["format"]), ("44100 (44100/1)", "S32_LE"))
        # In the two seconds of silence at the end: an open recorder would keep the card at its rate.
        watch.wait_for_position((cd.frames - CUT) / CD + 0.3, file="/data/music/switch/2.flac")
        self.assertIsNone(difference(first.stop(), cd.bytes))

        watch.wait_for_position(0, file="/data/music/switch/3.flac")
        self.assertEqual(hardware_parameters(self.board)["rate"], "96000 (96000/1)")
        watch.wait_for_end()
        watch.stop()
        prelude = shared.studio_prelude()
        # Only the prelude may be missing.
        self.assertIsNone(
            difference_from_the_end(second.stop(), prelude.followed_by(studio).bytes, prelude.frames))

    @long("board-daemon", "two starts; the power button and the power cuts prove it in the default run")
    def test_the_board_is_switched_off_and_on_again_and_the_album_goes_on(self):
        self.addCleanup(shared.discard)
        self.daemon.ask("queue", "set", "/data/music/album", "--play")
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
        self.assertEqual((status["state"], status["index"], status["count"]), ("playing", 0, 4))
        self.assertEqual(self.board.run("cat", "/sys/class/net/eth0/carrier").stdout, "0\n")
        recorder.hear(1)
        recording, track = recorder.stop(), shared.long_tracks()[0].bytes
        begin = track.find(recording.samples[:256 * FRAME])
        self.assertGreater(begin, 0)
        self.assertIsNone(difference(recording.cut(0, CD), track[begin:], to_the_end=False))
        return begin / FRAME / CD
