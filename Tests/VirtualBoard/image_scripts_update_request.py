"""The firmware image's scripts that install an update for a client of the engine, by themselves."""

import os
import unittest

from virtual_board.script_root import ScriptRoot

ADDRESS = "https://updates.example/tonearm.update?key=a%20b&c='d'"
#: The lines of `tonearm update --json`.
STEPS = ("downloading", "checking", "writing", "verifying")


def wanted(address=ADDRESS):
    """What the engine writes."""
    return f"install\naddress={address}\n"


def progress(step, percent):
    return f'{{"event":"progress","step":"{step}","percent":{percent}}}'


class Updating(unittest.TestCase):
    def setUp(self):
        self.root = ScriptRoot(self)
        self.root.program("sleep", "exec /bin/sleep 0.02")
        self.root.program("tonearm", "exit 70")
        (self.root.folder / "run/update").mkdir()
        self.boots()

    def boots(self, *, is_good=True, waiting="", failed=""):
        """The boot state: whether the running slot is good, the version that the next start tries, the slot that did
        not start."""
        self.root.script("slots", f"""case $1 in
            is-good) {"true" if is_good else "false"} ;;
            waiting) echo "{waiting}" ;;
            show) echo "slot=a"; echo "failed={failed}" ;;
            esac""")

    def update_prints(self, *lines, error="", end="exit 0", before=""):
        printed = "\n".join(f"echo '{line}'" for line in lines)
        self.root.program("tonearm", f"""{before}
            printf '%s\\n' "$@" >/run/arguments
            {printed}
            echo "{error}" >&2
            {end}""")

    def state(self):
        return dict(line.split("=", 1) for line in (self.root.read("run/update/state") or "").splitlines())

    def run_update(self):
        self.assertEqual(self.root.run("update").returncode, 0)
        self.assertIsNone(self.root.read("run/update/wanted"))
        return self.state()


class Requests(Updating):
    def take(self, text):
        """The address that is taken, or None."""
        self.root.write("run/update/wanted", text)
        result = self.root.run("update-wanted")
        self.assertFalse((self.root.folder / "run/update/wanted").exists())
        self.assertFalse((self.root.folder / "run/update-wanted").exists())
        self.assertEqual(result.returncode == 0, result.stdout != "")
        return result.stdout.removesuffix("\n") or None

    def test_an_address_is_taken_as_it_is(self):
        for address in (ADDRESS, "http://10.0.2.2:8000/it's.update", "https://a/$(reboot)`;&|\"\\", "https://[::1]/x",
                        "https://" + "x" * 992):
            self.assertEqual(self.take(wanted(address)), address)
        self.assertEqual(self.take(f"install\nother=1\naddress={ADDRESS}\nrubbish\n"), ADDRESS)

    def test_what_is_no_request_is_not_taken(self):
        for text in ("", "install\n", "reboot\naddress=https://a/b\n", "address=https://a/b\ninstall\n",
                     *(wanted(address) for address in (
                         "", "/etc/passwd", "--root", "file:///etc/passwd", "ftp://a/b", "https://", "https://a b",
                         "https://a/\x7f", "https://a/\u00e9", "HTTPS://a/b", "https://" + "x" * 993))):
            with self.subTest(text):
                self.assertIsNone(self.take(text))

    def test_links_and_folders_are_not_followed(self):
        place = self.root.folder / "run/update/wanted"
        self.root.write("data/secret", wanted())
        place.symlink_to(self.root.folder / "data/secret")
        self.assertEqual(self.root.run("update-wanted").returncode, 1)
        self.assertEqual(self.root.read("data/secret"), wanted())
        self.assertFalse(place.is_symlink())
        place.mkdir()
        self.assertEqual(self.root.run("update-wanted").returncode, 1)
        self.assertTrue(place.is_dir())
        # One that the engine has put there in the last moment does not prevent the next request.
        place.rmdir()
        (self.root.folder / "run/update-wanted").mkdir()
        self.assertEqual(self.take(wanted()), ADDRESS)
        place.mkdir()
        # It does not try that again and again.
        self.assertEqual(self.root.run("update").returncode, 0)
        self.assertEqual(self.state()["mode"], "idle")


class States(Updating):
    def test_after_a_start_the_state_is_that_of_the_boot_state(self):
        fallback = "The new version did not start, or did not run well. This is version 1 again."
        for boots, state in (
                ({}, {"mode": "idle"}),
                ({"is_good": False}, {"mode": "idle"}),
                ({"waiting": "0.9"}, {"mode": "installed", "version": "0.9"}),
                ({"failed": "b"}, {"mode": "failed", "code": "fellBack", "text": fallback})):
            with self.subTest(boots):
                self.boots(**boots)
                (self.root.folder / "run/update/state").unlink(missing_ok=True)
                self.assertEqual(self.run_update(), {"running": "1"} | state)
        self.assertEqual((self.root.folder / "run/update/state").stat().st_mode & 0o777, 0o644)

    def test_an_update_is_installed(self):
        self.root.write("run/update/wanted", wanted())
        self.update_prints(*(progress(step, 100) for step in STEPS), '{"event":"done","version":"0.9"}')
        # What an update ends with.
        self.boots(waiting="0.9")
        self.assertEqual(self.run_update(), {"running": "1", "mode": "installed", "version": "0.9"})
        self.assertEqual(self.root.read("run/arguments").splitlines(),
                         ["update", "--json", "--for-client", "--config", f"{self.root.folder}/run/engine.conf",
                          ADDRESS])
        self.assertIsNone(self.root.read("run/update.pid"))

    def test_an_error_is_reported_in_its_first_line(self):
        for code, error, text in (
                ("damaged", "/data/system/update.download is damaged or not complete. Copy or download it again.",
                 "The downloaded file is damaged or not complete. Copy or download it again."),
                ("older", "Version 0.1 is older than 1, which runs. Use --force to go back.",
                 "Version 0.1 is older than 1, which runs."),
                ("download", "https://a/b cannot be downloaded: no answer\nsecond line",
                 "https://a/b cannot be downloaded: no answer")):
            with self.subTest(code):
                self.root.write("run/update/wanted", wanted())
                self.update_prints(progress("checking", 0), f'{{"event":"error","code":"{code}","message":"x"}}',
                                   error=f"tonearm: {error}", end="exit 1")
                self.assertEqual(self.run_update(),
                                 {"running": "1", "mode": "failed", "code": code, "text": text, "version": ""})

    def test_a_second_word_for_one_request_changes_nothing(self):
        self.root.write("run/update/wanted", wanted())
        self.update_prints('{"event":"error","code":"download","message":"x"}', end="exit 1")
        state = self.run_update()
        self.assertEqual(state["mode"], "failed")
        self.assertEqual(self.run_update(), state)

    def test_one_that_was_installed_before_still_waits_after_a_failure(self):
        self.boots(waiting="0.9")
        self.root.write("run/update/wanted", wanted())
        self.update_prints('{"event":"error","code":"download","message":"x"}', end="exit 1")
        state = self.run_update()
        self.assertEqual((state["mode"], state["version"]), ("failed", "0.9"))

    def test_one_that_is_ended_from_outside_was_interrupted(self):
        self.root.write("run/update/wanted", wanted())
        self.update_prints(progress("writing", 3), end="kill -TERM $$")
        self.assertEqual(self.run_update()["code"], "interrupted")

    def cancel_a_running_update(self, end):
        """The state after it. `end` is what the program does at the signal, in the shell."""
        self.root.program("usleep", "exec /bin/sleep 0.02")
        self.root.program("tonearm", f"""trap '{end}' TERM
            touch /run/first /data/system/update.download
            while :; do /bin/sleep 0.01; done""")
        self.root.write("run/update/wanted", wanted())
        first = self.root.start(self, "update")
        self.root.wait_until(lambda: self.root.read("run/first") is not None)
        self.root.write("run/update/cancel", "")
        state = self.run_update()
        self.assertEqual(first.wait(60), 0)
        self.assertIsNone(self.root.read("run/update/cancel"))
        self.assertIsNone(self.root.read("run/update.child"))
        self.assertIsNone(self.root.read("data/system/update.download"))
        return state

    def test_a_cancelled_update_ends_and_leaves_the_state_before_it(self):
        self.boots(waiting="0.8")
        self.root.write("run/event", '{"event":"error","code":"cancelled","message":"x"}\n')
        state = self.cancel_a_running_update("cat /run/event; exit 1")
        self.assertEqual(state, {"running": "1", "mode": "installed", "version": "0.8"})

    def test_one_that_cannot_say_so_any_more_is_cancelled_as_well(self):
        self.assertEqual(self.cancel_a_running_update("exit 70"), {"running": "1", "mode": "idle"})

    def test_a_request_to_cancel_without_an_update_does_not_cancel_the_next_one(self):
        for link in (False, True):
            with self.subTest(link=link):
                flag = self.root.folder / "run/update/cancel"
                if link:
                    flag.symlink_to(self.root.folder / "data/nothing")
                else:
                    flag.write_text("")
                self.boots(waiting="0.9")
                self.update_prints('{"event":"done","version":"0.9"}')
                self.root.write("run/update/wanted", wanted())
                self.assertEqual(self.run_update()["mode"], "installed")
                self.assertFalse(flag.is_symlink() or flag.exists())
                self.update_prints(end="kill -TERM $$")
                self.root.write("run/update/wanted", wanted())
                self.assertEqual(self.run_update()["code"], "interrupted")

    def test_a_version_on_trial_and_another_update_come_first(self):
        self.root.write("run/update/wanted", wanted())
        self.boots(is_good=False)
        state = self.run_update()
        self.assertEqual((state["mode"], state["code"]), ("failed", "onTrial"))
        self.boots()
        self.root.write("run/card-update.pid", f"{os.getpid()}\n")
        self.root.write("run/update/wanted", wanted())
        self.assertEqual(self.run_update()["code"], "running")
        self.assertFalse(any(line.startswith("tonearm ") for line in self.root.calls))

    def test_the_progress_is_published_at_most_once_a_second(self):
        # The time at each line of the update.
        self.root.write("run/times", "5\n5\n5\n6\n7\n8\n")
        common = self.root.read("usr/lib/tonearm/common")
        times = f"{self.root.folder}/run/times"
        self.root.write("usr/lib/tonearm/common",
                        f"{common}\nseconds() {{ read -r now <{times}; sed -i 1d {times}; }}\n")
        # Each state, in the order in which they were published.
        self.root.program("mv", 'if [ "$1" = -T ]; then cat "$2" >>/run/states; fi\nexec /bin/mv "$@"')
        self.update_prints(progress("downloading", 0), progress("downloading", 1), progress("downloading", 2),
                           progress("checking", 7), progress("writing", 50), progress("verifying", 100),
                           '{"event":"done","version":"0.9"}')
        self.root.write("run/update/wanted", wanted())
        self.run_update()
        states = [state.split() for state in self.root.read("run/states").split("running=1\n")[1:]]
        self.assertEqual(states, [
            ["mode=downloading"], ["mode=downloading", "done=0", "total=100"],
            ["mode=installing", "done=7", "total=300"], ["mode=installing", "done=150", "total=300"],
            ["mode=installing", "done=300", "total=300"], ["mode=idle"]])

    def test_two_run_one_after_the_other(self):
        self.update_prints('{"event":"done","version":"0.9"}',
                           before="[ -e /run/first ] || { touch /run/first; until [ -e /run/go ]; do "
                                  "/bin/sleep 0.01; done; }")
        self.root.write("run/update/wanted", wanted())
        first = self.root.start(self, "update")
        self.root.wait_until(lambda: self.root.read("run/first") is not None)
        self.root.write("run/update/wanted", wanted("https://second/"))
        second = self.root.start(self, "update")
        self.root.wait_until(lambda: self.root.calls.count("sleep 1") > 2)
        self.assertEqual(sum(line.startswith("tonearm ") for line in self.root.calls), 1)
        self.root.write("run/go", "")
        self.assertEqual((first.wait(60), second.wait(60)), (0, 0))
        self.assertEqual([line.split()[-1] for line in self.root.calls if line.startswith("tonearm ")],
                         [ADDRESS, "https://second/"])
        self.assertIsNone(self.root.read("run/update/wanted"))

    def test_a_link_in_place_of_the_state_is_not_followed(self):
        place = self.root.folder / "run/update/state"
        place.symlink_to(self.root.folder / "data/system")
        self.run_update()
        self.assertFalse(place.is_symlink())
        self.assertEqual(list((self.root.folder / "data/system").iterdir()), [])

    def test_the_engine_has_it_run(self):
        self.root.script("update", f'echo updated >>{self.root.folder}/kmsg')
        os.mkfifo(self.root.folder / "run/requests")
        self.root.start(self, "requests")
        # The line of the image's configuration runs this.
        self.assertIn("\n[update]\nfolder = /run/update\ncommand = request update\n",
                      (self.root.folder / "etc/tonearm/appliance.conf").read_text())
        with (self.root.folder / "run/requests").open("w") as requests:
            requests.write("update\n")
        self.root.wait_until(lambda: "updated" in (self.root.read("kmsg") or ""))


if __name__ == "__main__":
    unittest.main()
