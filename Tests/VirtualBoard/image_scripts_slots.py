"""The firmware image's script that keeps which of the two slots starts, by itself."""

import re
import unittest

from firmware import disk
from virtual_board.script_root import SOURCE, ScriptRoot


class Slots(unittest.TestCase):
    def setUp(self):
        self.root = ScriptRoot(self)
        # BusyBox's shell knows bytes in hexadecimal, this machine's does not.
        text = (SOURCE / "usr/lib/tonearm/slots").read_text().replace("printf %b", "/usr/bin/printf %b")
        self.root.script("slots", text)
        self.disk = self.root.folder / "disk"
        self.disk.touch()
        self.root.write("run/disk", f"disk={self.disk}\nslot=a\n")
        # The last bytes of what gzip(1) writes are checksum and length.
        self.root.program("crc32", "gzip -1 -c | tail -c 8 | od -A n -N 4 -t x4 | tr -d ' '")

    def slots(self, *words):
        result = self.root.run("slots", *words)
        return result.returncode, dict(line.split("=", 1) for line in result.stdout.splitlines())

    def set_copies(self, *copies):
        with self.disk.open("r+b") as file:
            for place, copy in zip(disk.STATES, copies, strict=True):
                file.seek(place)
                file.write(copy)

    def refuse(self, *places):
        """Has the card refuse writes there."""
        tests = " ".join(f'*" seek={place // 512} "*) exit 1 ;;' for place in places)
        self.root.program("dd", f'case " $* " in {tests} esac\nexec /bin/dd "$@"')

    def test_a_copy_that_cannot_be_written_is_left(self):
        for refused in disk.STATES:
            for first in ((1, 2), (2, 1)):
                with self.subTest(refused=refused, first=first):
                    self.set_copies(*(disk.state(number) for number in first))
                    self.refuse(refused)
                    self.assertEqual(self.slots("try"), (0, {}))
                    self.assertEqual(self.slots("show")[1]["slot"], "b")
                    self.assertEqual(self.slots("set", "overlay=one")[0], 0)
                    self.assertEqual(self.slots("set", "overlay=two")[0], 0)
                    self.assertEqual(self.slots("show")[1], {"seq": "5", "slot": "b", "good": "a", "tries": "3",
                                                             "overlay": "two"})

    def test_a_card_that_takes_nothing_is_told(self):
        self.set_copies(disk.state(1), disk.state(2))
        self.refuse(*disk.STATES)
        self.assertNotEqual(self.slots("try")[0], 0)
        self.assertEqual(self.slots("show")[1]["slot"], "a")

    def test_the_first_copy_after_the_loss_of_both_is_one_for_u_boot(self):
        self.set_copies(bytes(512), bytes(512))
        self.assertEqual(self.slots("set", "overlay=one")[0], 0)
        self.assertEqual(self.slots("show")[1], {"seq": "1", "slot": "a", "good": "a", "tries": "0", "overlay": "one"})


    def miss(self):
        """The pause before the next start, and the boot state."""
        result = self.root.run("slots", "miss")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        state = self.slots("show")[1]
        del state["seq"]
        return int(result.stdout), state

    def write_other_slot(self):
        """Slot b as an update leaves it: its header is in front of kernel and initramfs."""
        other = self.root.folder / "other"
        with other.open("wb") as file:
            file.write(disk.slot(b"root", b"kernel", b"ramdisk", "0.9"))
        self.root.write("run/disk", f"disk={self.disk}\nslot=a\nother={other}\n")

    def test_a_good_slot_that_is_damaged_gives_way_to_the_other(self):
        self.write_other_slot()
        self.set_copies(disk.state(1, overlay="one"), disk.state(2, overlay="one"))
        first = {"slot": "a", "good": "a", "tries": "0", "overlay": "one"}
        self.assertEqual(self.miss(), (3, first | {"misses": "1"}))
        self.assertEqual(self.miss(), (3, first | {"misses": "2"}))
        rescue = {"slot": "b", "tries": "3"}
        self.assertEqual(self.miss(), (3, first | {"misses": "3"} | rescue))
        # The other one fails, too: U-Boot takes the good one again. The pauses grow.
        for misses, pause in ((4, 60), (5, 120), (33, 1800), (33, 1800)):
            self.set_copies(disk.state(8, overlay="one", failed="b", misses=str(misses - 1)), bytes(512))
            self.assertEqual(self.miss(), (pause, first | {"misses": str(misses)} | rescue))
        # It works: it is the good one, and a miss of it begins to count again.
        self.root.write("run/disk", self.root.read("run/disk").replace("slot=a", "slot=b"))
        self.assertEqual(self.slots("good")[0], 0)
        self.assertEqual(self.slots("show")[1]["good"], "b")
        self.assertNotIn("misses", self.slots("show")[1])

    def test_the_version_that_the_next_start_tries_is_known(self):
        self.write_other_slot()
        self.set_copies(disk.state(1), disk.state(2))

        def waiting():
            return self.root.run("slots", "waiting").stdout

        self.assertEqual(waiting(), "")
        self.assertEqual(self.slots("try")[0], 0)
        self.assertEqual(waiting(), "0.9\n")
        # While it is written again it has no header, and does not start.
        other = self.root.folder / "other"
        other.write_bytes(other.read_bytes()[:disk.HEADER] + bytes(512))
        self.assertEqual(waiting(), "")
        # It runs, on trial: the other one is the good one.
        self.write_other_slot()
        self.root.write("run/disk", self.root.read("run/disk").replace("slot=a", "slot=b"))
        self.assertEqual(waiting(), "")

    def test_a_damaged_slot_without_another_writes_no_more(self):
        self.root.write("run/disk", f"disk={self.disk}\nslot=a\nother={self.root.folder}/other\n")
        for content in (b"", bytes(disk.HEADER + 512)):
            (self.root.folder / "other").write_bytes(content)
            self.set_copies(disk.state(1), disk.state(2))
            self.miss()
            self.miss()
            before = self.disk.read_bytes()
            self.assertEqual(self.miss()[0], 60)
            self.assertEqual(self.disk.read_bytes(), before)

    def test_a_damaged_slot_on_trial_is_counted_by_u_boot(self):
        self.write_other_slot()
        self.set_copies(disk.state(1), disk.state(2, slot="a", good="b", tries="2"))
        before = self.disk.read_bytes()
        self.assertEqual(self.miss()[0], 3)
        self.assertEqual(self.disk.read_bytes(), before)

    def test_a_card_that_takes_nothing_pauses_longer(self):
        self.write_other_slot()
        self.set_copies(disk.state(1), disk.state(2))
        self.refuse(*disk.STATES)
        self.assertEqual(self.miss()[0], 60)

    def kept_by_u_boot(self):
        """The variables that boot.cmd writes. A command of U-Boot has at most 16 words; with more it does nothing."""
        line, = re.findall(r"env export [^;]*", (SOURCE.parent / "boot/boot.cmd").read_text())
        self.assertLessEqual(len(line.split()), 16)
        return set(line.split()[6:])

    def trial(self, **variables):
        """The boot state of a start of slot a on trial, as U-Boot has left it."""
        self.set_copies(disk.state(1), disk.state(2, **({"slot": "a", "good": "b", "tries": "2"} | variables)))
        (self.root.folder / "run/try-given-back").unlink(missing_ok=True)

    def start_on_trial(self, *words, cut=False):
        """A start as U-Boot counts it, in which the engine answers; then a failure, or the power is cut. False when it
        takes the good slot instead."""
        state = self.slots("show")[1]
        tries = int(state["tries"], 16)
        if tries == 0:
            return False
        written = self.disk.read_bytes()
        for place in disk.STATES:
            lines = written[place + 4:place + 512].rstrip(b"\0").decode().split("\0")
            self.assertLessEqual({line.split("=")[0] for line in lines}, self.kept_by_u_boot())
        state = {name: value for name, value in state.items() if name not in ("seq", "why", "cuts")} | {
            "data": "/".join(state.get(name, "") for name in ("data", "why", "cuts"))}
        self.trial(**state | {"tries": f"{tries - 1:x}"})
        self.assertEqual(self.slots("alive")[0], 0)
        if not cut:
            self.assertEqual(self.slots("fail", *words)[0], 0)
        return True

    def test_power_cuts_of_a_version_that_runs_are_no_failures(self):
        self.trial(tries="3")
        for _ in range(5):
            self.assertTrue(self.start_on_trial(cut=True))
        self.assertEqual(self.slots("show")[1]["tries"], "3")
        self.assertEqual(self.slots("good")[0], 0)
        self.assertEqual(set(self.slots("show")[1]), {"seq", "slot", "good", "tries"})

    def test_failures_count_also_between_power_cuts(self):
        self.trial(tries="3")
        starts = [self.start_on_trial("signal-11", cut=cut) for cut in (True, False, True, False, False)]
        self.assertEqual(starts, [True] * 5)
        self.assertFalse(self.start_on_trial(cut=True))

    def test_a_version_that_hangs_after_it_answered_is_not_tried_for_ever(self):
        self.trial(tries="3")
        starts = 0
        while self.start_on_trial(cut=True):
            starts += 1
            self.assertLess(starts, 20)
        self.assertEqual(starts, 11)

    def test_a_failure_that_another_start_would_not_mend_is_the_last(self):
        self.trial(tries="3")
        self.start_on_trial("configuration", "last")
        self.assertFalse(self.start_on_trial(cut=True))

    def test_a_failure_has_its_reason(self):
        for word, reason in (("configuration", "does not accept the settings"), ("signal-11", "crashed (signal 11)"),
                             ("exit-1", "ended by itself (code 1)"), ("silent", "did not answer"),
                             ("still", "did not move on"), ("start", "did not finish its start")):
            with self.subTest(word):
                self.trial()
                self.assertEqual(self.slots("fail", word)[0], 0)
                self.assertIn(reason, self.root.run("slots", "why").stdout)
        # Of a good slot there is none.
        self.set_copies(disk.state(1), disk.state(2))
        before = self.disk.read_bytes()
        for words in (("fail", "silent"), ("alive",)):
            self.assertEqual(self.slots(*words)[0], 0)
        self.assertEqual(self.disk.read_bytes(), before)
        self.assertEqual(self.root.run("slots", "why").stdout, "")

    def test_an_update_forgets_what_was_kept_for_the_one_before(self):
        self.set_copies(disk.state(1, failed="b"), disk.state(2, failed="b", misses="1"))
        self.root.write("data/system/failure-told", "")
        self.root.write("data/system/state-before/tonearm.db", "older")
        self.assertEqual(self.slots("try")[0], 0)
        self.assertEqual(self.slots("show")[1], {"seq": "3", "slot": "b", "good": "a", "tries": "3"})
        self.assertEqual(list((self.root.folder / "data/system").iterdir()), [])


if __name__ == "__main__":
    unittest.main()
