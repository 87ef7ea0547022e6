"""The firmware image's script that sees when the card cannot be read any more, by itself."""

import unittest

from virtual_board.script_root import ScriptRoot

LIGHT = "sys/class/leds/ACT"
PLAYS = "proc/asound/card0/pcm0p/sub0/status"

SLEEP = """
tries=0
until [ -e /run/card-gone/read ] || [ -e /run/dead ] || [ -e /run/hangs ] || [ $tries -ge 100 ]; do
    /bin/sleep 0.01
    tries=$((tries + 1))
done
/bin/sleep 0.01
"""


class CardGone(unittest.TestCase):
    def setUp(self):
        self.root = ScriptRoot(self)
        self.root.program("modprobe", "")
        self.root.program("busybox", 'shift; exec sh "$@"')
        # Twenty seconds are over when there is an answer, or soon where none comes.
        self.root.program("sleep", SLEEP)
        self.root.program("dd", "[ ! -e /run/hangs ] || exec /bin/sleep 1000\n[ ! -e /run/dead ]")
        self.root.write(f"{LIGHT}/trigger", "none\n")

    def start(self):
        self.root.start(self, "card-gone")
        self.root.wait_until(lambda: self.looks() > 2)

    def looks(self):
        return sum(line.startswith("sleep 20") for line in self.root.calls)

    def wait_for_looks(self, count):
        seen = self.looks()
        self.root.wait_until(lambda: self.looks() >= seen + count or self.restarts())

    def restarts(self):
        return "reboot -n -f" in self.root.calls

    def trigger(self):
        return self.root.read(f"{LIGHT}/trigger").strip()

    def test_a_card_that_can_be_read_changes_nothing(self):
        self.start()
        self.wait_for_looks(12)
        self.assertEqual((self.trigger(), self.root.read("kmsg"), self.restarts()), ("none", None, False))

    def test_one_that_is_gone_is_told_and_the_board_restarts(self):
        for how in ("dead", "hangs"):
            with self.subTest(how):
                self.setUp()
                self.start()
                self.root.write(f"run/{how}", "")
                self.root.wait_until(self.restarts)
                self.assertEqual(self.trigger(), "timer")
                self.assertIn("the card cannot be read any more", self.root.read("kmsg"))
                # From memory: no program of the card starts then.
                self.assertTrue((self.root.folder / "run/card-gone/busybox").exists())

    def test_music_from_elsewhere_plays_on(self):
        self.root.write(PLAYS, "state: RUNNING\n")
        self.start()
        self.root.write("run/dead", "")
        self.root.wait_until(lambda: self.trigger() == "timer")
        self.wait_for_looks(20)
        self.assertFalse(self.restarts())
        self.root.write(PLAYS, "closed\n")
        self.root.wait_until(self.restarts)

    def test_one_that_comes_back_is_told(self):
        self.root.write(PLAYS, "state: RUNNING\n")
        self.start()
        self.root.write("run/dead", "")
        self.root.wait_until(lambda: self.trigger() == "timer")
        (self.root.folder / "run/dead").unlink()
        self.root.wait_until(lambda: self.trigger() == "none")
        self.assertIn("can be read again", self.root.read("kmsg"))


if __name__ == "__main__":
    unittest.main()
