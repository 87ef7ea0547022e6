"""The firmware image's scripts that install a new version, try it and go back, by themselves."""

import shutil
import unittest
from pathlib import Path

from virtual_board.host import run
from virtual_board.script_root import ScriptRoot


class State(unittest.TestCase):
    def setUp(self):
        self.root = ScriptRoot(self)
        self.write("old")

    def write(self, text):
        self.root.write("data/state/tonearm.db", text)
        self.root.write("data/state/tonearm.db-wal", f"log of {text}")
        self.root.write("data/state/offline/aa/content", text)

    def start(self, *, is_good, failed="", slot="a", misses=""):
        """As a start of the board in slot a, which is good or not; `slot` is what the boot state names."""
        self.root.script("slots", f'case $1 in show) printf "slot={slot}\nfailed={failed}\nmisses={misses}\n" ;; '
                                  f'is-good) {"true" if is_good else "false"} ;; esac')
        self.assertEqual(self.root.run("state").returncode, 0)

    def read(self):
        return [self.root.read(f"data/state/{name}") for name in ("tonearm.db", "tonearm.db-wal", "offline/aa/content")]

    def test_the_state_from_before_comes_back_with_the_older_version(self):
        for _ in range(3):
            self.start(is_good=False)
            self.write("new")
        (self.root.folder / "data/state/tonearm.db-wal").unlink()
        self.start(is_good=True, failed="b")
        self.assertEqual(self.read(), ["old", "log of old", "new"])
        self.write("later")
        self.start(is_good=True, failed="b")
        self.assertEqual(self.read()[0], "later")

    def test_a_power_cut_at_any_moment_leaves_all_of_it_for_the_next_start(self):
        for cut in range(3):
            with self.subTest(cut=cut):
                self.write("old")
                self.start(is_good=False)
                self.write("new")
                (self.root.folder / "run/moves").unlink(missing_ok=True)
                # The power goes before the rename with this number.
                self.root.program("mv", f"""
                    echo >>/run/moves
                    [ $(wc -l </run/moves) -le {cut} ] || kill -9 $PPID
                    exec /bin/mv "$@"
                """)
                with self.assertRaises(AssertionError):
                    self.start(is_good=True, failed="b")
                (self.root.folder / "bin/mv").unlink()
                self.start(is_good=True, failed="b")
                self.assertEqual(self.read(), ["old", "log of old", "new"])
                self.assertEqual(list((self.root.folder / "data/system").glob("state-*")), [])

    def test_a_state_that_cannot_be_brought_back_leaves_what_is_there(self):
        refuse_to_read = 'case $1 in */state-before/*-wal) exit 1 ;; esac\nexec /bin/cat "$@"'
        refuse_to_remove = '[ "$1" != -f ] || exit 1\nexec /bin/rm "$@"'
        for name, script in (("cat", refuse_to_read), ("rm", refuse_to_remove), ("mv", "exit 1")):
            with self.subTest(name):
                self.write("old")
                self.start(is_good=False)
                self.write("new")
                self.root.program(name, script)
                self.start(is_good=True, failed="b")
                (self.root.folder / "bin" / name).unlink()
                self.assertEqual([self.read()[0], self.read()[2]], ["new", "new"])
                self.assertIn("cannot be brought back: the card is damaged.", self.root.read("run/report"))
                # Nor later, over what the player has written since.
                self.start(is_good=True, failed="b")
                self.assertEqual(self.read()[0], "new")
                shutil.rmtree(self.root.folder / "data/system/state-before", ignore_errors=True)

    def test_a_slot_that_stands_in_for_a_damaged_one_says_so(self):
        for damage, state in (("root", {"misses": "3"}), ("kernel", {"slot": "b"})):
            with self.subTest(damage):
                self.start(is_good=False, **state)
                self.assertIn("cannot be started any more: its part of the card is damaged. This is version 1,",
                              self.root.read("run/report"))
                (self.root.folder / "run/report").unlink()
        # There is nothing to go back to.
        self.root.program("cp", "exit 1")
        shutil.rmtree(self.root.folder / "data/system/state-before")
        self.start(is_good=False, misses="3")
        self.assertIsNone(self.root.read("run/restart-wanted"))
        (self.root.folder / "run/report").unlink()
        self.start(is_good=True, failed="b", misses="3")
        self.assertIn("The version in the other slot did not start", self.root.read("run/report"))

    def test_a_copy_without_room_takes_the_reserve(self):
        self.root.write("data/system/reserve", "")
        reserve = self.root.folder / "data/system/reserve"
        self.root.program("cp", f'[ ! -e {reserve} ] || exit 1\nexec /bin/cp "$@"')
        self.start(is_good=False)
        self.assertFalse(reserve.exists())
        self.assertEqual(self.root.read("data/system/state-before/tonearm.db"), "old")
        self.assertIsNone(self.root.read("run/report"))
        self.assertIsNone(self.root.read("run/restart-wanted"))

    def test_without_a_copy_a_version_is_not_tried(self):
        self.root.program("cp", '[ "${2##*/}" != tonearm.db-wal ] || exit 1\nexec /bin/cp "$@"')
        for is_written in (False, True):
            with self.subTest(is_written=is_written):
                self.root.script("slots", f"""
                    echo "slots $*" >>{self.root.folder}/calls
                    case $1 in
                    show) echo "slot=a" && echo "good=b" ;;
                    is-good) false ;;
                    set) {str(is_written).lower()} ;;
                    esac
                """)
                self.root.run("state")
                self.assertIn("slots set slot=b", self.root.calls)
                report = self.root.read("run/report") or ""
                self.assertEqual(report.startswith("The new version was not tried"), is_written)
                # Without a change of the boot state a restart would come back here.
                self.assertEqual((self.root.folder / "run/restart-wanted").exists(), is_written)
                self.assertEqual(list((self.root.folder / "data/system").glob("state-before*")), [])

    def test_a_version_that_failed_is_reported_once_with_what_it_said(self):
        self.root.write("boot/tonearm-report.txt", "Version 0.9 is installed. It starts with the next start.\n")
        self.root.write("boot/tonearm-errors.txt", "The player cannot start\n")
        for has_trial in (True, False):
            with self.subTest(has_trial=has_trial):
                # A kernel that does not start leaves no copy of the state.
                if has_trial:
                    self.start(is_good=False)
                self.assertIsNone(self.root.read("run/report"))
                self.start(is_good=True, failed="b")
                self.assertEqual(self.root.read("run/report"),
                                 "Version 0.9 did not start, or did not run well. This is version 1 again.\n"
                                 "tonearm-errors.txt said:\nThe player cannot start\n")
                (self.root.folder / "run/report").unlink()
        self.root.run("health")
        self.start(is_good=True, failed="b")
        self.assertIsNone(self.root.read("run/report"))

    def test_a_version_from_elsewhere_that_failed_is_reported(self):
        self.start(is_good=True, failed="b")
        self.assertEqual(self.root.read("run/report"),
                         "The new version did not start, or did not run well. This is version 1 again.\n")

    def test_a_version_that_has_proved_itself_keeps_its_state(self):
        self.start(is_good=False)
        self.write("new")
        self.start(is_good=True)
        self.assertEqual(self.read(), ["new", "log of new", "new"])
        self.assertFalse((self.root.folder / "data/system/state-before").exists())


class Guard(unittest.TestCase):
    def setUp(self):
        self.root = ScriptRoot(self)
        # As BusyBox's: to feed it, and to stop it when it is asked to end.
        self.root.program("watchdog", "trap 'kill $!; exit' TERM\n/bin/sleep 1000 &\nwait")
        self.addCleanup(self.stop)
        self.root.write("run/guard.pid", "")

    def stop(self):
        process = (self.root.read("run/guard.pid") or "").strip()
        if process:
            run(["kill", process], check=False)

    @staticmethod
    def is_running(process):
        path = Path(f"/proc/{process}/status")
        return process != "" and path.exists() and "State:\tZ" not in path.read_text()

    def guard(self, word, *, is_good=True):
        """The seconds until the watchdog restarts the board, and the pause between two meals."""
        self.root.script("slots", "true" if is_good else "false")
        before = self.root.read("run/guard.pid")
        count = len(self.root.calls)
        self.assertEqual(self.root.run("guard", word).returncode, 0)
        self.root.wait_until(lambda: any(line.startswith("watchdog ") for line in self.root.calls[count:]))
        self.assertNotEqual(self.root.read("run/guard.pid"), before)
        self.assertFalse(self.is_running(before.strip()), "two of them")
        words = next(line for line in self.root.calls[count:] if line.startswith("watchdog ")).split()
        return int(words[words.index("-T") + 1]), int(words[words.index("-t") + 1])

    def test_only_a_slot_that_has_proved_itself_is_fed(self):
        trial, pause = self.guard("start", is_good=False)
        self.assertGreater(pause, trial)
        for word in ("proved", "start"):
            limit, pause = self.guard(word)
            self.assertLess(pause, limit / 2)
        end, pause = self.guard("shutdown")
        self.assertGreater(pause, end)
        # Of the Raspberry Pi: the kernel feeds the chip every 8 s, and the driver sets it to the seconds modulo 16.
        for seconds in (trial, limit, end):
            self.assertEqual(seconds % 16, 15)

    def test_without_a_watchdog_it_does_nothing(self):
        (self.root.folder / "run/guard.pid").unlink()
        self.assertEqual(self.root.run("guard", "start").returncode, 0)
        self.assertEqual(self.root.calls, [])


class Health(unittest.TestCase):
    def test_a_good_slot_that_came_up_forgets_its_misses(self):
        for misses, calls in (("2", ["set misses="]), ("", [])):
            with self.subTest(misses=misses):
                root = ScriptRoot(self)
                root.script("slots", f"""
                    case $1 in
                    show) echo "misses={misses}" ;;
                    set) echo "$*" >>{root.folder}/calls ;;
                    esac
                """)
                self.assertEqual(root.run("health").returncode, 0)
                self.assertEqual([line for line in root.calls if line.startswith("set ")], calls)

    def test_a_slot_is_good_only_when_that_is_written(self):
        for is_written in (True, False):
            with self.subTest(is_written=is_written):
                root = ScriptRoot(self)
                root.program("pidof", "echo 1")
                root.program("tonearm", """echo '{"state":"stopped"}'""")
                root.program("sleep", "exec /bin/sleep 0.01")
                root.write("etc/health", "1 60\n")
                root.script("slots", f"case $1 in is-good) false ;; good) {str(is_written).lower()} ;; esac")
                root.script("guard", f'echo "guard $*" >>{root.folder}/calls')
                root.run("health")
                # On a worn card it plays on, too.
                self.assertIn("guard proved", root.calls)
                self.assertEqual("slot a is good" in root.read("kmsg"), is_written)
                self.assertEqual("it stays on trial" in root.read("kmsg"), not is_written)
                self.assertNotIn("reboot", [line.strip() for line in root.calls])


class Download(unittest.TestCase):
    def test_what_a_power_cut_left_of_it_is_removed_before_the_card_is_called_full(self):
        root = ScriptRoot(self)
        place = root.folder / "data/system/update.download"
        root.write("data/system/update.download", "half a bundle")
        root.write("sys/class/block/data/size", "80\n")
        for name, script in (("dd", "echo data"), ("hexdump", "echo 10"), ("e2fsck", ""), ("fallocate", ""),
                             ("df", f"[ -e {place} ] && echo 1 2 3 0 || echo 1 2 3 20000")):
            root.program(name, script)
        self.assertEqual(root.run("data").returncode, 0)
        self.assertFalse(place.exists())
        self.assertIsNone(root.read("run/report"))


class CardUpdate(unittest.TestCase):
    def setUp(self):
        self.root = ScriptRoot(self)
        self.root.program("tonearm", "")
        self.root.write("run/update-file", "new.update\n")
        self.root.write("boot/new.update", "a bundle")

    def test_the_board_restarts_once_the_bundle_is_gone(self):
        self.root.run("card-update")
        self.assertIn("reboot", [line.strip() for line in self.root.calls])

    def test_a_bundle_that_cannot_be_removed_is_not_installed_again_and_again(self):
        self.root.program("rm", "exit 1")
        self.root.run("card-update")
        self.assertTrue(any(line.startswith("tonearm update ") for line in self.root.calls))
        self.assertNotIn("reboot", [line.strip() for line in self.root.calls])

    def update_ends(self, code, error="", message=""):
        """Has the update of the bundle end so; the files on the boot partition afterwards, and the report."""
        event = f'{{"event":"error","code":"{error}","message":"{message}"}}' if error else ""
        self.root.program("tonearm", f"""
            echo '{{"event":"progress","step":"checking","percent":0}}'
            echo '{event}'
            echo 'tonearm: {message}' >&2
            exit {code}
        """)
        self.root.run("card-update")
        self.assertFalse((self.root.folder / "run/boot-held").exists())
        self.assertNotIn("reboot", [line.strip() for line in self.root.calls])
        names = {path.name for path in (self.root.folder / "boot").iterdir()}
        return names - {"tonearm-report.txt"}, self.root.read("boot/tonearm-report.txt")

    def test_what_was_installed_is_reported(self):
        self.root.program("tonearm", """echo '{"event":"done","version":"0.9"}'""")
        self.root.run("card-update")
        self.assertEqual(self.root.read("boot/tonearm-report.txt"),
                         "Version 0.9 is installed. It starts with the next start of the board.\n")
        self.assertIsNone(self.root.read("boot/new.update"))

    def test_a_bundle_that_is_refused_is_put_aside(self):
        place = self.root.folder / "boot/new.update"
        self.assertEqual(self.update_ends(1, "damaged", f"{place} is damaged."),
                         ({"new.update-refused"}, "new.update is damaged.\n"))

    def test_switching_off_meanwhile_leaves_the_bundle_for_the_next_start(self):
        for code in (137, 143):
            self.assertEqual(self.update_ends(code), ({"new.update"}, None))

    def test_what_is_not_the_fault_of_the_bundle_leaves_it_for_the_next_start(self):
        for error in ("running", "onTrial", "unwritable"):
            with self.subTest(error):
                self.assertEqual(self.update_ends(1, error, "It is so."),
                                 ({"new.update"}, "It is so.\nThe next start of the board tries new.update again.\n"))


if __name__ == "__main__":
    unittest.main()
