"""The scripts of the firmware image by themselves, with programs of this machine in place of the board's."""

import unittest

from virtual_board.script_root import ScriptRoot


class Clock(unittest.TestCase):
    #: The time at which the image was made, and a board's clock at its start.
    MADE, START = 1_700_000_000, 20

    def setUp(self):
        self.root = ScriptRoot(self)
        self.root.program("stat", f"echo {self.MADE}")
        self.root.program("date", "cat /run/now")
        self.root.program("sleep", "exec /bin/sleep 0.01")
        self.root.program("ip", "cat /run/routes")
        self.root.write("run/now", f"{self.START}\n")
        self.root.write("run/routes", "")

    def starts(self):
        return [line for line in self.root.calls if line.startswith("ntpd ")]

    def test_it_is_set_as_soon_as_a_server_answers(self):
        # Sets the clock at its third start.
        self.root.program("ntpd", f"""
            count=$(grep -c '^ntpd ' {self.root.folder}/calls)
            [ "$count" -lt 3 ] || echo {self.MADE + 100} >/run/now
            exec /bin/sleep 100000
        """)
        process = self.root.start(self, "clock")
        self.root.wait_until(lambda: self.root.calls.count("ip route") > 2)
        self.assertEqual(self.starts(), [], "without a network")
        self.root.write("run/routes", "default via 10.0.2.2 dev eth0\n")
        self.root.wait_until(lambda: len(self.starts()) == 3)
        self.assertTrue(all(" -s " in line for line in self.starts()))
        # The last one goes on.
        self.root.wait_until(lambda: "the clock is set" in (self.root.read("kmsg") or ""))
        self.assertIsNone(process.poll())
        self.assertEqual(len(self.starts()), 3)


if __name__ == "__main__":
    unittest.main()
