"""The scripts of the firmware image by themselves, with programs of this machine in place of the board's."""

import os
import shutil
import unittest

from firmware import disk
from virtual_board.script_root import SOURCE, ScriptRoot


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


class Engine(unittest.TestCase):
    def setUp(self):
        self.root = ScriptRoot(self)
        self.root.program("sleep", "exec /bin/sleep 0.01")
        # As the kernel has it: a message without a level has that of a warning, <12>.
        self.root.program("dmesg", f"sed 's/^<3>/<11>/; /^</!s/^/<12>/; s/>/>[    1.234567] /' {self.root.folder}/kmsg")
        self.root.write("run/tonearm/tonearm.conf", "first\n")

    def engine_ends(self, code):
        self.root.program("start-stop-daemon", f"""
            echo "<4>only a warning" >/dev/kmsg
            echo "<3>/run/tonearm/board.conf:3: what is wrong" >/dev/kmsg
            exit {code}
        """)

    def starts(self):
        return [line for line in self.root.calls if line.startswith("start-stop-daemon ")]

    def test_it_does_not_start_again_before_what_is_wrong_has_changed(self):
        self.engine_ends(78)
        self.root.write("boot/tonearm-errors.txt", "Mistakes that are there already\n")
        self.root.write("kmsg", "<3>of another start\n")
        process = self.root.start(self, "engine")
        self.root.wait_until(lambda: self.root.calls.count("sleep 5") > 2)
        self.assertEqual(self.root.read("boot/tonearm-errors.txt"),
                         "Mistakes that are there already\n"
                         "The player cannot start, and tries again only at the next start:\n"
                         "board.conf:3: what is wrong\n")
        self.assertIn("mount -o remount,rw", " ".join(self.root.calls))
        self.assertFalse((self.root.folder / "run/boot-held").exists())
        self.assertEqual(len(self.starts()), 1)
        self.root.write("run/tonearm/tonearm.conf", "changed\n")
        # Then init starts it again.
        self.assertEqual(process.wait(60), 78)

    def test_the_reason_is_there_when_the_log_has_lost_it(self):
        self.root.program("start-stop-daemon", "exit 78")
        self.root.program("tonearm", """
            echo "tonearm: /run/tonearm/tonearm.conf:1: what is wrong" >&2
            echo "not for a person"
        """)
        self.root.start(self, "engine")
        self.root.wait_until(lambda: self.root.calls.count("sleep 5") > 2)
        self.assertEqual(self.root.read("boot/tonearm-errors.txt"),
                         "The player cannot start, and tries again only at the next start:\n"
                         "tonearm.conf:1: what is wrong\n")

    def test_it_starts_again_after_any_other_end(self):
        for code in (0, 1, 137):
            with self.subTest(code):
                self.engine_ends(code)
                self.assertEqual(self.root.run("engine").returncode, code)
        self.assertIsNone(self.root.read("boot/tonearm-errors.txt"))


#: What the engine's own check says: here, that a line with `loud` is wrong.
CHECK = r"""
sed -n '/loud/=' /run/tonearm/tonearm.conf | while read -r line; do
    echo "tonearm: /run/tonearm/tonearm.conf:$line: resume is not loud" >&2
done
! grep -q loud /run/tonearm/tonearm.conf
"""
GOOD = "[wifi one]\nssid = first\npassword = 12345678\n"


class Configuration(unittest.TestCase):
    def setUp(self):
        self.root = ScriptRoot(self)
        self.root.program("tonearm", CHECK)

    def start(self, text):
        """As a start of the board with this tonearm.conf; the mistakes that a person reads."""
        for name in ("errors", "mistakes", "network-mistakes", "file-mistakes", "report"):
            (self.root.folder / "run" / name).unlink(missing_ok=True)
        self.root.write("boot/tonearm.conf", text)
        result = self.root.run("configuration")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return (self.root.read("boot/tonearm-errors.txt") or "").splitlines()

    def system(self):
        return dict(line.split("=", 1) for line in self.root.read("run/system.conf").splitlines())

    def test_a_network_with_a_mistake_is_left_out_alone(self):
        for section, message in (
            ("password = 12345678", "tonearm.conf:4: [wifi two]: the ssid is missing"),
            ("ssid =\npassword = 12345678", "tonearm.conf:5: [wifi two]: an ssid has 1 to 32 characters"),
            (f"ssid = {'x' * 33}", "tonearm.conf:5: [wifi two]: an ssid has 1 to 32 characters"),
            ("ssid = second\npassword =", "tonearm.conf:6: [wifi two]: a Wi-Fi password has 8 to 63 characters"),
            ("ssid = second\npassword = 123", "tonearm.conf:6: [wifi two]: a Wi-Fi password has 8 to 63 characters"),
            ("ssid = second\nsecurity = wpa2", "tonearm.conf:4: [wifi two]: the password is missing; a network without "
                                              "one has security = open"),
            ("ssid = second\npasswort = 12345678", 'tonearm.conf:6: [wifi two]: unknown key "passwort"; there are: '
                                                   "ssid password hidden security "),
            ("ssid = second\nsecurity = wep", "tonearm.conf:6: [wifi two]: security is wpa2, wpa3 or open"),
            ("ssid", 'tonearm.conf:5: [wifi two]: "ssid" is not key = value'),
        ):
            # Behind the others, and between them.
            for rest in ("", "[wifi three]\nssid = third\n[image]\nname = kitchen\n"):
                with self.subTest(section, rest=rest):
                    errors = self.start(f"{GOOD}[wifi two]\n{section}\n{rest}")
                    self.assertEqual(errors[:2], ["Wi-Fi networks that are left out until their mistakes are gone:",
                                                  message])
                    names = {key.split(".")[1] for key in self.system() if key.startswith("network.")}
                    self.assertEqual(names, {"one", "three"} if rest else {"one"})
        self.assertEqual(self.start(f"{GOOD}[wifi two]\nssid = second\nsecurity = open\n"), [])
        self.assertEqual(self.system(), {"network.one.ssid": "first", "network.one.password": "12345678",
                                         "network.two.ssid": "second", "network.two.security": "open"})

    def test_a_section_in_two_parts_is_one_network(self):
        self.assertEqual(self.start("[wifi one]\nssid = first\n[image]\nname = kitchen\n[wifi one]\n"
                                    "password = 12345678\nsecurity = wpa2\n"), [])
        self.assertEqual(self.system()["network.one.password"], "12345678")

    def test_a_file_with_another_mistake_is_not_applied(self):
        self.start(GOOD)
        errors = self.start("[image]\nname = my kitchen\n[wifi two]\nssid = second\npassword = 123\n[player]\n"
                            "resume = loud\n")
        self.assertEqual(errors, ["Mistakes in tonearm.conf. It is not applied until they are gone:",
                                  "tonearm.conf:2: name is letters, digits and -",
                                  "tonearm.conf:7: resume is not loud",
                                  "Wi-Fi networks that are left out until their mistakes are gone:",
                                  "tonearm.conf:5: [wifi two]: a Wi-Fi password has 8 to 63 characters"])
        self.assertEqual(self.system()["network.one.ssid"], "first")
        self.assertEqual(self.start(GOOD), [])
        self.assertIsNone(self.root.read("boot/tonearm-errors.txt"))

    def test_files_beside_it_are_taken_over(self):
        self.root.program("openssl", "grep -q 'BEGIN CERTIFICATE' \"$4\"")
        self.root.write("boot/token.txt", "\ufeffsecret token\r\nsecond line\r\n")
        self.root.write("boot/ca.pem", "-----BEGIN CERTIFICATE-----\r\n")
        self.assertEqual(self.start("[service]\r\nurl = https://nas.local\r\n"), [])
        for name, content in (("token.txt", "secrettoken"), ("ca.pem", "-----BEGIN CERTIFICATE-----\n")):
            path = self.root.folder / "data/service" / name
            self.assertEqual((path.read_text(), path.stat().st_mode & 0o777), (content, 0o600))
        self.assertEqual((self.root.folder / "data/service").stat().st_mode & 0o777, 0o700)
        self.assertIn(f"chown -R tonearm:tonearm {self.root.folder}/data/service", self.root.calls)
        engine = self.root.read("run/tonearm/tonearm.conf")
        self.assertIn(f"[service]\ntoken-file = {self.root.folder}/data/service/token.txt\n", engine)
        self.assertIn(f"[network]\nca-file = {self.root.folder}/data/service/ca.pem\n", engine)
        # They stay when they are gone from there; what tonearm.conf says comes first.
        for name in ("token.txt", "ca.pem"):
            (self.root.folder / "boot" / name).unlink()
        self.assertEqual(self.start("[network]\nca-file = none\n"), [])
        engine = self.root.read("run/tonearm/tonearm.conf")
        self.assertIn("token-file = ", engine)
        self.assertEqual(engine.count("ca-file"), 1)
        # What cannot be right is not taken.
        self.root.write("boot/token.txt", "\n")
        self.root.write("boot/ca.pem", "no certificate\n")
        self.assertEqual(self.start("#\n"), ["Files that are not used until their mistakes are gone:",
                                             "token.txt: there is no token in it",
                                             "ca.pem: there is no certificate in it; it begins with "
                                             "-----BEGIN CERTIFICATE-----"])
        self.assertEqual(self.root.read("data/service/token.txt"), "secrettoken")

    def test_a_profile_beside_it_replaces_that_of_the_image(self):
        self.root.program("tonearm", """
            profile=$(sed -n 's/^profile = //p' "$4")
            [ -z "$profile" ] || ! grep -q wrong "$profile" || {
                echo "tonearm: $profile:2: it is wrong" >&2
                exit 78
            }
        """)
        self.assertEqual(self.start("#\n"), [])
        images = self.root.read("run/tonearm/board.conf")
        own = "[board]\nname = Mine\n"
        self.root.write("boot/board.conf", own.replace("\n", "\r\n"))
        self.assertEqual(self.start("#\n"), [])
        self.assertEqual(self.root.read("run/tonearm/board.conf"), own)
        checks = sum("profile-check" in line for line in self.root.calls)
        self.start("#\n")
        self.assertEqual(sum("profile-check" in line for line in self.root.calls), checks, "checked again")
        # The last good one holds.
        self.root.write("boot/board.conf", "[board]\nwrong\n")
        self.assertEqual(self.start("#\n"), ["Files that are not used until their mistakes are gone:",
                                             "board.conf:2: it is wrong"])
        self.assertEqual(self.root.read("run/tonearm/board.conf"), own)
        (self.root.folder / "boot/board.conf").unlink()
        self.assertEqual(self.start("#\n"), [])
        self.assertEqual(self.root.read("run/tonearm/board.conf"), images)

    def test_what_to_play_is_a_path_or_a_product(self):
        for value in ("/media/MY MUSIC", "tonearm:track/7", ""):
            self.assertEqual(self.start(f"[start]\nqueue = {value}\n"), [])
            self.assertEqual(self.system()["start.queue"], value)
        self.assertIn("tonearm.conf:2: queue is", self.start("[start]\nqueue = music\n")[1])

    def test_without_the_boot_partition_the_last_good_one_holds(self):
        self.start("[image]\nname = kitchen\n")
        self.root.write("boot/board.conf", "[board]\nname = mine\n")
        self.start("[image]\nname = kitchen\n")
        for name in ("boot/tonearm.conf", "boot/board.conf"):
            (self.root.folder / name).unlink()
        self.root.write("run/boot-missing", "")
        self.root.run("configuration")
        self.assertEqual(self.system(), {"image.name": "kitchen"})
        self.assertIn("mine", self.root.read("run/tonearm/board.conf"))

    def test_what_a_damaged_card_has_lost_holds_as_it_was(self):
        own = "[board]\nname = mine\n"
        self.root.write("boot/board.conf", own)
        self.assertEqual(self.start(GOOD), [])
        before = self.system()
        file, profile = (self.root.folder / "boot" / name for name in ("tonearm.conf", "board.conf"))

        def lose():
            file.unlink()
            profile.unlink()

        def empty():
            self.root.write("boot/tonearm.conf", "")
            self.root.write("boot/board.conf", "")

        def make_unreadable():
            # As with an error of the card: what was read until then is there.
            for name, what in (("cp", '"$1"'), ("tr", '"$(readlink /proc/self/fd/0)"')):
                self.root.program(name, f"""
                    case {what} in */boot/*.conf) [ $# -lt 2 ] || echo "[image]" >"$2"; exit 1 ;; esac
                    exec /usr/bin/{name} "$@"
                """)

        for damage in (lose, empty, make_unreadable):
            with self.subTest(damage.__name__):
                self.root.write("boot/tonearm.conf", "[image]\nname = other\n")
                self.root.write("boot/board.conf", own)
                damage()
                for name in ("errors", "mistakes", "network-mistakes", "file-mistakes", "report"):
                    (self.root.folder / "run" / name).unlink(missing_ok=True)
                self.root.run("configuration")
                self.assertEqual(self.system(), before)
                self.assertEqual(self.root.read("data/system/tonearm.conf"), GOOD)
                self.assertEqual(self.root.read("run/tonearm/board.conf"), own)
                self.assertIn("tonearm.conf: it is missing, empty or cannot be read. The settings from before hold.",
                              self.root.read("boot/tonearm-errors.txt"))
        for name in ("cp", "tr"):
            (self.root.folder / "bin" / name).unlink()
        # Without any settings, and without the profile, when somebody says so.
        profile.unlink()
        self.assertEqual(self.start("#\n"), [])
        self.assertEqual(self.system(), {})
        self.assertNotIn("mine", self.root.read("run/tonearm/board.conf"))

    def test_the_board_restarts_only_when_the_boot_state_has_taken_the_change(self):
        for is_written in (False, True):
            self.root.script("slots", f"case $1 in show) echo overlay=none ;; set) {str(is_written).lower()} ;; esac")
            self.start("[image]\ndac = wm8804\n")
            self.assertEqual((self.root.folder / "run/restart-wanted").exists(), is_written)

    def test_a_password_may_look_like_a_setting(self):
        self.start("[wifi home]\nssid = first\npassword = my.key=12345\n")
        for name, script in (("pidof", "exit 1"), ("iw", ""), ("wpa_supplicant", ""), ("hexdump", "cat")):
            self.root.program(name, script)
        self.root.write("run/wifi-events", "")
        self.assertEqual(self.root.run("wifi", "wlan0").returncode, 0)
        settings = self.root.read("run/wpa.conf")
        self.assertEqual(settings.count("network={"), 1)
        self.assertIn('psk="my.key=12345"', settings)


class State(unittest.TestCase):
    def setUp(self):
        self.root = ScriptRoot(self)
        self.write("old")

    def write(self, text):
        self.root.write("data/state/tonearm.db", text)
        self.root.write("data/state/tonearm.db-wal", f"log of {text}")
        self.root.write("data/state/offline/aa/content", text)

    def start(self, *, is_good, failed=""):
        """As a start of the board, in a slot that is good or not."""
        self.root.script("slots", f'case $1 in show) echo "failed={failed}" ;; '
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
                    case $1 in show) echo "good=a" ;; is-good) false ;; set) {str(is_written).lower()} ;; esac
                """)
                self.root.run("state")
                self.assertIn("slots set slot=a", self.root.calls)
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


class Slots(unittest.TestCase):
    def setUp(self):
        self.root = ScriptRoot(self)
        # BusyBox's shell knows bytes in hexadecimal, this machine's does not.
        text = (SOURCE / "usr/lib/tonearm/slots").read_text().replace("printf %b", "/usr/bin/printf %b")
        self.root.script("slots", text)
        self.disk = self.root.folder / "disk"
        self.disk.touch()
        self.root.write("run/disk", f"disk={self.disk}\nslot=a\n")
        self.root.program("crc32", "python3 -c 'import sys, zlib; print(f\"{zlib.crc32(sys.stdin.buffer.read()):x}\")'")

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


class Health(unittest.TestCase):
    def test_a_slot_is_good_only_when_that_is_written(self):
        for is_written in (True, False):
            with self.subTest(is_written=is_written):
                root = ScriptRoot(self)
                root.program("pidof", "echo 1")
                root.program("tonearm", """echo '{"state":"stopped"}'""")
                root.program("sleep", "exec /bin/sleep 0.01")
                root.write("etc/health", "1 60\n")
                root.script("slots", f"case $1 in is-good) false ;; good) {str(is_written).lower()} ;; esac")
                root.run("health")
                self.assertEqual("slot a is good" in root.read("kmsg"), is_written)
                self.assertEqual("it stays on trial" in root.read("kmsg"), not is_written)
                self.assertNotIn("reboot", [line.strip() for line in root.calls])


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


class FullBootPartition(unittest.TestCase):
    """A report that has no room is logged, and leaves no empty file."""

    def setUp(self):
        self.root = ScriptRoot(self)
        self.root.program("sleep", "exec /bin/sleep 0.01")
        # As with cp(1) where there is no room; and what writes there directly meets a full device.
        self.root.program("cp", """
            case $2 in */boot/*) : >"$2"; echo "cp: no space left" >&2; exit 1 ;; esac
            exec /bin/cp "$@"
        """)

    def fill(self, name):
        """As it is with no room for this file."""
        (self.root.folder / "boot" / name).symlink_to("/dev/full")

    def assert_logged(self, name):
        self.assertIn(f"{name} cannot be written: is the boot partition full?", self.root.read("kmsg"))
        self.assertFalse((self.root.folder / "boot" / name).is_symlink())
        self.assertIsNone(self.root.read(f"boot/{name}"))

    def test_mistakes_of_the_configuration(self):
        self.root.program("tonearm", CHECK)
        self.root.write("boot/tonearm.conf", "[player]\nresume = loud\n")
        self.root.write("run/report", "The card is full.\n")
        self.root.run("configuration")
        self.assert_logged("tonearm-errors.txt")
        self.assert_logged("tonearm-report.txt")

    def test_an_update(self):
        self.root.program("tonearm", f"[ ! -e {self.root.folder}/boot/bad.update ]")
        for name in ("good.update", "bad.update"):
            self.fill("tonearm-report.txt")
            self.root.write("run/update-file", f"{name}\n")
            self.root.write(f"boot/{name}", "a bundle")
            self.root.run("card-update")
            self.assert_logged("tonearm-report.txt")
            self.assertIsNone(self.root.read(f"boot/{name}"))

    def test_the_bundle_makes_room_for_the_report(self):
        self.root.program("cp", f'[ ! -e {self.root.folder}/boot/good.update ] || exit 1\nexec /bin/cp "$@"')
        self.root.program("tonearm", """echo '{"event":"done","version":"0.9"}'""")
        self.root.write("run/update-file", "good.update\n")
        self.root.write("boot/good.update", "a bundle")
        self.root.run("card-update")
        self.assertIn("Version 0.9 is installed.", self.root.read("boot/tonearm-report.txt"))

    def test_music_without_room(self):
        self.fill("tonearm-report.txt")
        self.root.write("run/music-folder", "")
        self.root.write("boot/music/1.flac", "one")
        self.root.program("cat", '[ "${1##*.}" != flac ] || exit 1\nexec /bin/cat "$@"')
        self.root.write("data/system/queue-filled", "\n")
        self.root.run("music")
        self.assert_logged("tonearm-report.txt")

    def test_an_engine_that_does_not_start(self):
        self.root.program("dmesg", "")
        self.root.program("tonearm", "echo 'tonearm: wrong' >&2")
        self.root.program("start-stop-daemon", "exit 78")
        self.root.write("run/tonearm/tonearm.conf", "first\n")
        self.root.start(self, "engine")
        self.root.wait_until(lambda: self.root.calls.count("sleep 5") > 2)
        self.assert_logged("tonearm-errors.txt")

    def test_a_network_that_does_not_let_the_board_in(self):
        self.root.write("run/wifi-networks", "home\n")
        os.mkfifo(self.root.folder / "run/wifi-events")
        self.root.start(self, "wifi-report")
        with (self.root.folder / "run/wifi-events").open("w") as events:
            events.write("<3>CTRL-EVENT-SSID-TEMP-DISABLED id=0 reason=WRONG_KEY\n")
        self.root.wait_until(lambda: "does not accept the password" in (self.root.read("kmsg") or ""))
        self.assert_logged("tonearm-wifi.txt")


#: A queue in a file: what is in it, one place a line. `junk` has no music.
QUEUE = """
queue=/run/queue
touch "$queue"
case "$*" in
"status --json") echo "{\\"state\\":\\"stopped\\",\\"count\\":$(wc -l <"$queue" | tr -d ' '),\\"file\\":null}" ;;
"queue add "*) [ "$(ls "$3")" != junk ] && echo "$3" >>"$queue" ;;
"queue set "*) echo "$3" >"$queue" ;;
esac
"""


class Music(unittest.TestCase):
    def setUp(self):
        self.root = ScriptRoot(self)
        self.root.program("sleep", "exec /bin/sleep 0.01")
        self.root.program("tonearm", QUEUE)
        self.root.write("run/tonearm/control", "")

    def queue(self):
        return (self.root.read("run/queue") or "").replace(str(self.root.folder), "").splitlines()

    def wish(self, value):
        self.root.write("run/system.conf", f"start.queue={self.root.folder}{value}\n")

    def test_music_of_the_boot_partition_is_copied_and_played(self):
        self.root.write("run/music-folder", "")
        self.root.write("boot/music/1 – Frühling.flac", "one")
        self.root.write("boot/music/Album/2.flac", "two")
        self.root.write("boot/music/._1.flac", "of a Mac")
        self.root.write("boot/music/.Trashes/3.flac", "gone")
        self.root.write("data/music/Album/2.flac", "the beginning of it")
        self.assertEqual(self.root.run("music").stderr, "")
        folder = self.root.folder / "data/music"
        files = {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}
        self.assertEqual(files, {"1 – Frühling.flac": "one", "Album/2.flac": "two"})
        self.assertEqual(self.queue(), ["/data/music"])
        self.assertIn("tonearm play", self.root.calls)
        self.assertFalse((self.root.folder / "run/boot-held").exists())
        # Not again, whatever became of the queue.
        self.root.write("run/queue", "")
        inode = (folder / "Album/2.flac").stat().st_ino
        self.root.run("music")
        self.assertEqual(self.queue(), [])
        self.assertEqual((folder / "Album/2.flac").stat().st_ino, inode, "copied again")

    def test_a_stick_fills_an_empty_queue_once(self):
        self.root.write("data/music/junk", "")
        process = self.root.start(self, "music")
        self.root.wait_until(lambda: self.root.calls.count("sleep 3") > 3)
        # What has no music is not tried again and again.
        self.assertEqual(sum(line.startswith("tonearm queue add") for line in self.root.calls), 1)
        self.assertIsNone(process.poll())
        self.root.write("media/MY_MUSIC/1.flac", "")
        process.wait(60)
        self.assertEqual(self.queue(), ["/media/MY_MUSIC"])

    def test_a_queue_that_somebody_has_filled_stays(self):
        self.root.write("run/queue", "theirs\n")
        self.root.write("data/music/1.flac", "")
        self.root.run("music")
        self.assertEqual(self.queue(), ["theirs"])
        self.assertIsNotNone(self.root.read("data/system/queue-filled"))

    def test_each_change_of_the_wish_replaces_the_queue_once(self):
        self.root.write("run/queue", "theirs\n")
        self.wish("/media/STICK/Album")
        process = self.root.start(self, "music")
        self.root.wait_until(lambda: self.root.calls.count("sleep 3") > 3)
        self.assertEqual(self.queue(), ["theirs"])
        self.root.write("media/STICK/Album/1.flac", "")
        process.wait(60)
        self.assertEqual(self.queue(), ["/media/STICK/Album"])
        self.root.write("run/queue", "theirs\n")
        self.root.run("music")
        self.assertEqual(self.queue(), ["theirs"])
        self.wish("/media/STICK")
        self.root.run("music")
        self.assertEqual(self.queue(), ["/media/STICK"])


#: Gives each interface an address and a name server of its own.
DHCP_CLIENT = """
name=$3
shift 3
while [ "$1" != -p ]; do shift; done
echo $$ >"$2"
interface=$name ip=10.0.0.2 router=10.0.0.1 dns=server-of-$name sh /usr/lib/tonearm/address bound
exec /bin/sleep 100000
"""


class Network(unittest.TestCase):
    def setUp(self):
        self.root = ScriptRoot(self)
        self.root.program("sleep", "exec /bin/sleep 0.02")
        self.root.program("udhcpc", DHCP_CLIENT)
        # As wlan0 would: nothing is to be started for it.
        self.root.write("usr/lib/tonearm/wifi", "#!/bin/sh\n")
        self.root.write("run/tonearm/board.conf", "[sound]\ncellular = eth0\n[network]\n# cellular = eth0\n"
                                                  "cellular = mobile0, mobile1 # a phone\n")

    def plug(self, name):
        self.root.write(f"sys/class/net/{name}/operstate", "up\n")
        self.root.write(f"sys/class/net/{name}/carrier", "1\n")
        (self.root.folder / f"sys/class/net/{name}/device").mkdir(exist_ok=True)
        if name.startswith("wlan"):
            (self.root.folder / f"sys/class/net/{name}/phy80211").mkdir(exist_ok=True)

    def assert_asks(self, name):
        self.root.wait_until(lambda: self.root.read("run/resolv.conf") == f"nameserver server-of-{name}\n")

    def assert_has_metric(self, metric, name):
        route = f"ip route replace default via 10.0.0.1 dev {name} metric {metric}"
        self.root.wait_until(lambda: route in self.root.calls)

    def test_wired_comes_first_then_wifi_then_cellular(self):
        self.plug("mobile1")
        self.root.start(self, "network")
        self.assert_asks("mobile1")
        self.assert_has_metric(300, "mobile1")
        self.plug("eth0")
        self.assert_asks("eth0")
        self.assert_has_metric(100, "eth0")
        self.plug("wlan0")
        self.assert_has_metric(200, "wlan0")
        self.assert_asks("eth0")
        # The cable is pulled.
        self.root.write("sys/class/net/eth0/carrier", "0\n")
        self.assert_asks("wlan0")
        self.assertIn("ip -4 address flush dev eth0", self.root.calls)
        # An interface that is gone, like that of a stick.
        shutil.rmtree(self.root.folder / "sys/class/net/wlan0")
        self.assert_asks("mobile1")
        self.plug("eth0")
        self.assert_asks("eth0")
        for name in ("eth0", "mobile1"):
            shutil.rmtree(self.root.folder / f"sys/class/net/{name}")
        self.root.wait_until(lambda: self.root.read("run/resolv.conf") == "")


if __name__ == "__main__":
    unittest.main()
