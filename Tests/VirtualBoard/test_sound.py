"""The rule by which recordings are compared, without a board."""

import unittest
from array import array

from virtual_board.music import tune
from virtual_board.sound import (
    FRAME,
    Recording,
    difference,
    difference_across_pause,
    difference_from_the_end,
    first_difference,
    waited_between,
)

RATE = 1000


def frames(first, end):
    """Music of which each frame is another one, and none is silent; its zeros are at the beginnings of frames."""
    return b"".join(b"\0\0\0" + number.to_bytes(FRAME - 3, "big") for number in range(first + 1, end + 1))


def silence(count):
    return bytes(count * FRAME)


MUSIC = frames(0, 1000)


def heard(*parts, waited=0.0, buffer=0):
    return Recording(b"".join(parts), RATE, lambda first, count: waited, buffer=buffer)


class Comparison(unittest.TestCase):
    def test_the_same_frames_are_the_same(self):
        self.assertIsNone(difference(heard(MUSIC), MUSIC))

    def test_silence_is_excused_when_the_emulator_waited_as_long(self):
        for name, recording, is_same in [
            ("no wait", heard(frames(0, 400), silence(50), frames(400, 1000)), False),
            ("a shorter wait", heard(frames(0, 400), silence(50), frames(400, 1000), waited=0.049), False),
            ("a wait of that length", heard(frames(0, 400), silence(50), frames(400, 1000), waited=0.05), True),
            ("twice", heard(frames(0, 9), silence(50), frames(9, 10), silence(1), frames(10, 1000), waited=1), True),
        ]:
            with self.subTest(name):
                self.assertEqual(difference(recording, MUSIC) is None, is_same)

    def test_what_a_player_does_by_itself_is_never_excused(self):
        for name, parts in {
            "a frame is lost": (frames(0, 400), frames(401, 1000)),
            "a frame is lost in a silence": (frames(0, 400), silence(50), frames(401, 1000)),
            "a silence replaces frames": (frames(0, 400), silence(50), frames(450, 1000)),
            "a frame is repeated": (frames(0, 400), frames(399, 1000)),
            "a frame is repeated behind a silence": (frames(0, 400), silence(50), frames(399, 1000)),
            "another frame": (frames(0, 400), b"another ", frames(400, 1000)),
            "frames are swapped": (frames(0, 400), frames(401, 402), frames(400, 401), frames(402, 1000)),
            "a part of a frame of silence": (frames(0, 400), bytes(4), frames(400, 1000)),
            "more than whole frames of silence": (frames(0, 400), bytes(50 * FRAME + 4), frames(400, 1000)),
            "the end is missing": (frames(0, 999),),
            "more than the music": (frames(0, 1001),),
            "silence behind the end": (frames(0, 1000), silence(50)),
            "nothing": (),
        }.items():
            with self.subTest(name):
                self.assertIsNotNone(difference(heard(*parts, waited=1000), MUSIC))

    def test_the_buffer_again_is_excused_when_the_emulator_waited_as_long(self):
        # A buffer of 100 frames, of which 30 are silent already when the card begins to play it again.
        again = silence(30), frames(330, 400), silence(30), frames(330, 350)
        for name, parts, waited, is_same in [
            ("a wait of that length", (frames(0, 400), *again, frames(400, 1000)), 0.15, True),
            ("a shorter wait", (frames(0, 400), *again, frames(400, 1000)), 0.149, False),
            ("no wait", (frames(0, 400), *again, frames(400, 1000)), 0, False),
            ("a frame is lost", (frames(0, 400), *again, frames(401, 1000)), 9, False),
            ("more than the buffer", (frames(0, 400), frames(299, 400), frames(400, 1000)), 9, False),
            ("frames of another place", (frames(0, 400), frames(310, 330), frames(400, 1000)), 9, False),
        ]:
            with self.subTest(name):
                recording = heard(*parts, waited=waited, buffer=100)
                self.assertEqual(difference(recording, MUSIC) is None, is_same)

    def test_music_fades_in_only_behind_excused_frames(self):
        # Over 5 frames at this rate.
        music = tune(RATE, 16, seconds=1, seed=1)
        loud = array("i", music.bytes[400 * FRAME:405 * FRAME])
        faded = array("i", [round(sample * (index // 2 + 1) / 6) for index, sample in enumerate(loud)]).tobytes()
        too_loud = array("i", [round(sample * (index // 2 + 1) / 5) for index, sample in enumerate(loud)]).tobytes()
        before, after = music.bytes[:400 * FRAME], music.bytes[405 * FRAME:]
        for name, parts, waited, is_same in [
            ("behind silence", (before, silence(50), faded, after), 0.05, True),
            ("without a wait", (before, silence(50), faded, after), 0, False),
            ("behind nothing", (before, faded, after), 9, False),
            ("another fade", (before, silence(50), too_loud, after), 9, False),
            ("frames lost in the fade", (before, silence(50), faded, after[FRAME:]), 9, False),
        ]:
            with self.subTest(name):
                self.assertEqual(difference(heard(*parts, waited=waited), music.bytes) is None, is_same)

    def test_pauses_need_no_excuse_where_a_test_expects_them(self):
        pause = frames(0, 400), silence(50), frames(400, 1000)
        self.assertIsNone(difference(heard(*pause), MUSIC, pauses=True))
        again = frames(0, 400), silence(50), frames(350, 380), frames(400, 1000)
        self.assertIsNotNone(difference(heard(*again, buffer=100), MUSIC, pauses=True))
        self.assertIsNone(difference(heard(*again, buffer=100, waited=0.03), MUSIC, pauses=True))
        lost = frames(0, 400), silence(50), frames(401, 1000)
        self.assertIsNotNone(difference(heard(*lost, waited=9), MUSIC, pauses=True))

    def test_silence_of_the_music_itself_needs_no_excuse(self):
        music = frames(0, 400) + silence(50) + frames(400, 1000)
        self.assertIsNone(difference(heard(music), music))
        self.assertIsNotNone(difference(heard(MUSIC, waited=1000), music))
        longer = frames(0, 400), silence(60), frames(400, 1000)
        self.assertIsNotNone(difference(heard(*longer), music))
        self.assertIsNone(difference(heard(*longer, waited=0.01), music))

    def test_a_difference_has_its_place_and_its_silence(self):
        found = first_difference(heard(frames(0, 400), silence(50), frames(400, 700), frames(701, 1000), waited=0.06),
                                 MUSIC)
        self.assertEqual((found.heard_at, found.expected_at), (750, 700))
        silent = difference(heard(frames(0, 400), silence(50), frames(400, 1000), waited=0.02), MUSIC)
        self.assertIn("the emulator waited 0.020 s", silent)

    def test_music_may_end_early_only_where_a_test_says_so(self):
        self.assertIsNotNone(difference(heard(frames(0, 600)), MUSIC))
        self.assertIsNone(difference(heard(frames(0, 600)), MUSIC, to_the_end=False))
        self.assertIsNotNone(difference(heard(frames(0, 600), frames(601, 700)), MUSIC, to_the_end=False))

    def test_music_may_begin_late_only_where_a_test_says_so(self):
        late = heard(frames(300, 400), silence(50), frames(400, 1000), waited=1)
        self.assertIsNotNone(difference(late, MUSIC))
        self.assertIsNone(difference_from_the_end(late, MUSIC, 300))
        self.assertIsNotNone(difference_from_the_end(late, MUSIC, 299))
        self.assertIsNotNone(difference_from_the_end(heard(frames(300, 999)), MUSIC, 300))

    def test_a_pause_repeats_a_few_frames_at_most(self):
        for name, parts, is_same in [
            ("none", (frames(0, 500), silence(99), frames(500, 1000)), True),
            ("a few", (frames(0, 500), silence(99), frames(495, 1000)), True),
            ("too many", (frames(0, 500), silence(99), frames(480, 1000)), False),
            ("one is lost", (frames(0, 500), silence(99), frames(501, 1000)), False),
            ("a few, and one is lost", (frames(0, 500), silence(99), frames(495, 600), frames(601, 1000)), False),
            ("no pause", (MUSIC,), False),
            ("two", (frames(0, 500), silence(99), frames(500, 600), silence(99), frames(600, 1000)), False),
        ]:
            with self.subTest(name):
                self.assertEqual(difference_across_pause(heard(*parts), MUSIC, 10) is None, is_same)
        waits = frames(0, 100), silence(200), frames(100, 500), silence(99), frames(495, 1000)
        self.assertIsNone(difference_across_pause(heard(*waits, waited=0.2), MUSIC, 10))
        self.assertIsNotNone(difference_across_pause(heard(*waits, waited=0.05), MUSIC, 10))

    def test_silence_at_the_ends_is_cut_off_and_places_stay(self):
        asked = []
        recording = Recording(silence(100) + frames(0, 10) + silence(5) + frames(10, 20) + silence(7), RATE,
                              lambda first, count: asked.append((first, count)) or 1, began=2_000_000_000)
        music = recording.without_silence
        self.assertEqual((music.frames, music.began), (25, 2_100_000_000))
        self.assertIsNone(difference(music, frames(0, 20)))
        self.assertEqual(asked, [(110, 5)])


class Waiting(unittest.TestCase):
    def test_the_waits_of_all_threads_in_a_time_count(self):
        samples = [(10, {"a": 5.0, "b": 1.0}), (11, {"a": 5.1, "b": 1.0}), (12, {"a": 5.1, "b": 1.4}),
                   (13, {"a": 5.2, "b": 1.4, "new": 0.3})]
        for begin, end, waited in [(10, 11, 0.1), (11, 12, 0.4), (10, 12, 0.5), (10.5, 10.6, 0.1), (12, 13, 0.4),
                                   (0, 99, 0.9), (0, 10, 0.0)]:
            with self.subTest(begin=begin, end=end):
                self.assertAlmostEqual(waited_between(samples, begin, end), waited)


if __name__ == "__main__":
    unittest.main()
