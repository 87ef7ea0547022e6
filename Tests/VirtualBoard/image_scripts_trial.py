"""How the firmware image's script `health` ends a trial, by itself: the reason is in the boot state."""

import unittest

from virtual_board.script_root import ScriptRoot

PLAYING = """echo '{"state":"playing","entry":1,"position":1.5}'"""
STOPPED = """echo '{"state":"stopped"}'"""


class Trial(unittest.TestCase):
    def setUp(self):
        self.root = ScriptRoot(self)
        self.root.script("slots", f"""
            case $1 in show) ;; is-good) false ;; *) echo "slots $*" >>{self.root.folder}/calls ;; esac
        """)
        self.root.script("guard", "")
        self.root.program("sleep", "exec /bin/sleep 0.01")
        self.root.program("pidof", "echo 1")
        self.root.program("tonearm", STOPPED)
        # In place of the clock: each look takes a second.
        self.root.program("cut", "echo >>/run/seconds\nwc -l </run/seconds")
        self.root.write("run/seconds", "")

    def calls(self):
        self.root.run("health")
        return [line.strip() for line in self.root.calls if line.startswith(("slots ", "reboot"))]

    def test_a_version_that_answers_gets_its_try_back_and_is_good(self):
        self.root.write("etc/health", "8 20\n")
        self.assertEqual(self.calls(), ["slots alive", "slots good"])

    def test_a_failure_is_named(self):
        for ends, tonearm, process, reason in (
                (["78"], STOPPED, "echo 1", "configuration last"), (["2"], STOPPED, "echo 1", "configuration last"),
                (["139"] * 3, STOPPED, "exit 1", "signal-11"), (["134", "1", "1"], STOPPED, "exit 1", "exit-1"),
                ([], "exit 1", "echo 1", "silent"), ([], PLAYING, "echo 1", "still")):
            with self.subTest(reason=reason, ends=ends):
                (self.root.folder / "calls").unlink(missing_ok=True)
                self.root.write("run/seconds", "")
                self.root.write("run/engine-ends", "".join(f"{code}\n" for code in ends))
                self.root.write("etc/health", "8 20\n")
                self.root.program("tonearm", tonearm)
                self.root.program("pidof", process)
                self.assertEqual(self.calls()[-2:], [f"slots fail {reason}", "reboot"])

    def test_one_crash_is_not_the_end(self):
        self.root.write("run/engine-ends", "139\n139\n")
        self.root.write("etc/health", "8 20\n")
        self.assertEqual(self.calls()[-1], "slots good")

    def test_a_trial_ends_within_two_minutes(self):
        self.root.program("tonearm", "exit 1")
        self.calls()
        self.assertLessEqual(len((self.root.read("run/seconds")).splitlines()), 122)


if __name__ == "__main__":
    unittest.main()
