"""An album streams from the origin to the board over TLS, while the network and the clock are what they are at home."""

import tempfile
import unittest
from pathlib import Path

from virtual_board.daemon import Daemon, board_with_daemon
from virtual_board.music import silence, tune, write_album, write_flac
from virtual_board.origin import Origin
from virtual_board.parts import long
from virtual_board.sound import Recorder, difference
from virtual_board.tonearm import Playback

RATE = 44_100
#: Of the button for play and pause in the board's profile.
PLAY_BUTTON = 0


class Streaming(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.album = tune(RATE, 16, seconds=6, seed=21)
        cls.long = tune(RATE, 16, seconds=25, seed=22)
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.music = Path(folder.name)
        write_album(cls.music, cls.album, 77_777, 160_001)
        write_flac(cls.music / "4.flac", cls.long.followed_by(silence(RATE, 16, 1)))

    def start(self, settings=None, clock=None, faults=None, **origin):
        """A board with the daemon of the origin's service, which has the faults of a file; its clock starts at `clock`.
        """
        self.origin = Origin(self.music, *(["--faults", faults] if faults else []), **origin)
        self.addCleanup(self.origin.stop)
        self.board = board_with_daemon(
            settings={("service", "url"): self.origin.address, ("network", "ca-file"): "/data/origin.pem",
                      ("audio", "fades"): "off", **(settings or {})},
            files={"origin.pem": self.origin.certificate})
        self.addCleanup(self.board.discard)
        self.board.power_on(clock=clock)
        self.daemon = Daemon(self.board)
        self.daemon.wait_until_ready()
        self.daemon.ask("volume", "100")
        self.watch = self.daemon.watch()

    def play(self, *numbers):
        self.daemon.ask("queue", "set", *(f"tonearm:track/{number}" for number in numbers), "--play")

    def assert_heard(self, recorder, signal):
        """That every frame was heard once and in order, whatever the pauses. In the music no frame is silent. The
        number of silent frames."""
        recording = recorder.stop()
        self.assertIsNone(difference(recording, signal.bytes, pauses=True))
        return recording.frames - signal.frames

    def assert_heard_without_a_pause(self, recorder, signal):
        self.assertIsNone(difference(recorder.stop(), signal.bytes))

    def test_an_album_arrives_without_a_gap(self):
        self.start()
        recorder = Recorder(self.board, RATE)
        self.play(1, 2, 3)
        self.watch.wait_for_end()
        self.assert_heard_without_a_pause(recorder, self.album)

    @long("board-playing", "the cable is out for a minute; a default test pulls it while an offline copy plays")
    def test_it_stalls_for_a_minute_and_resumes_at_the_same_frame(self):
        # With a cache the rest of the track would be on the medium.
        self.start({("network", "read-ahead"): "1", ("network", "cache-size"): "0"})
        recorder = Recorder(self.board, RATE)
        self.play(4)
        self.watch.wait_for_position(2)
        self.board.pull_cable()
        pulled = self.board.clock()
        self.watch.wait_for("state", state="stalled")
        # The buttons work meanwhile.
        self.board.press(PLAY_BUTTON)
        seen = len(self.watch.events)
        self.watch.wait_for("state", state="paused")
        self.board.press(PLAY_BUTTON)
        self.watch.wait_for("state", seen, state="stalled")
        self.board.run("sleep", max(1, 60 - (self.board.clock() - pulled) // 1_000_000_000))
        seen = len(self.watch.events)
        plugged = self.board.clock()
        self.board.plug_cable()
        resumed, _ = self.watch.wait_for("state", seen, state="playing")
        self.assertLess((resumed - plugged) / 1e9, 2 + self.board.waiting())
        self.watch.wait_for("state", seen, state="stopped")
        self.assertGreater(self.assert_heard(recorder, self.long), 20 * RATE, "it was silent while it stalled")

    @long("board-playing", "half a minute of music; offline copies prove it in the default run")
    def test_what_was_fetched_ahead_covers_a_missing_cable(self):
        self.start()
        recorder = Recorder(self.board, RATE)
        self.play(4)
        self.watch.wait_for_position(0.5)
        # Until nearly all of its 26 seconds have arrived.
        deadline = self.board.deadline()
        while (status := self.daemon.status)["position"] + status["buffered"] < 24:
            self.assertFalse(deadline.has_passed, f"the music has not arrived: {status}\n{self.board.last_words()}")
            self.assertLess(status["position"], 10, "the music arrives too slowly")
        seen = len(self.watch.events)
        self.board.pull_cable()
        self.watch.wait_for_position(status["position"] + 15)
        self.board.plug_cable()
        self.watch.wait_for_end()
        self.assert_heard_without_a_pause(recorder, self.long)
        self.assertNotIn("stalled", [event.get("state") for _, event in self.watch.events[seen:]])

    @long("board-playing", "twice the length of its music")
    def test_a_line_of_half_the_rate_of_the_music_stalls_it_once_at_most(self):
        music = tune(RATE, 16, seconds=8, seed=23)
        path = self.music / "5.flac"
        write_flac(path, music)
        self.addCleanup(path.unlink)
        faults = self.music / "faults"
        self.addCleanup(faults.unlink)
        faults.write_text(f"[fault slow]\npath = /v1/content/*\nbytes-per-second = {path.stat().st_size // 8 // 2}\n")
        self.start(faults=faults)
        recorder = Recorder(self.board, RATE)
        self.play(5)
        self.watch.wait_for("state", state="playing")
        seen = len(self.watch.events)
        self.watch.wait_for_end()
        self.assert_heard(recorder, music)
        states = [event.get("state") for _, event in self.watch.events[seen:]]
        self.assertLessEqual(states.count("stalled"), 1)

    @long("board-playing", "another start; the tests of TLS on the host prove it too")
    def test_a_clock_at_1970_does_not_keep_it_from_streaming(self):
        self.start(clock="1970-01-01T00:00:10")
        self.assertIn("1970", self.board.run("date").stdout)
        recorder = Recorder(self.board, RATE)
        self.play(1, 2, 3)
        self.watch.wait_for_end()
        self.assert_heard(recorder, self.album)

    @long("board-playing", "another start; the tests of TLS on the host prove it too")
    def test_an_expired_certificate_is_refused_whatever_the_clock_says(self):
        self.start(clock="2020-01-15T00:00:00", until="20200201")
        playback = Playback(self.board, "null", "--service", self.origin.address, "--ca-file", "/data/origin.pem",
                            "tonearm:track/1")
        result = playback.wait()
        self.assertEqual(result.exit_code, 1)
        self.assertIn("expired", result.stderr)


if __name__ == "__main__":
    unittest.main()
