"""The firmware image's scripts that take what a person has put on the boot partition, by themselves."""

import unittest

from virtual_board.script_root import ScriptRoot

#: What the engine's own check says: here, that a line with `loud` is wrong, and one with `cut` may be meant otherwise.
CHECK = r"""
sed -n '/cut/=' /run/tonearm/tonearm.conf | while read -r line; do
    echo "tonearm: /run/tonearm/tonearm.conf:$line: it ends here" >&2
done
sed -n '/loud/=' /run/tonearm/tonearm.conf | while read -r line; do
    echo "tonearm: /run/tonearm/tonearm.conf:$line: resume is not loud" >&2
done
! grep -q loud /run/tonearm/tonearm.conf
"""
NOTES = "Lines that are used, but may be meant otherwise:"
MISTAKES = "Mistakes in tonearm.conf. The other lines are used; in place of these, those from before:"
GOOD = "[wifi one]\nssid = first\npassword = 12345678\n"


class ConfigurationCase(unittest.TestCase):
    """Starts of a board with a tonearm.conf."""

    def setUp(self):
        self.root = ScriptRoot(self)
        self.root.program("tonearm", CHECK)

    def start(self, text):
        """As a start of the board with this tonearm.conf; the mistakes that a person reads."""
        for name in ("errors", "mistakes", "file-mistakes", "report"):
            (self.root.folder / "run" / name).unlink(missing_ok=True)
        self.root.write("boot/tonearm.conf", text)
        result = self.root.run("configuration")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return (self.root.read("boot/tonearm-errors.txt") or "").splitlines()

    def system(self):
        return dict(line.split("=", 1) for line in self.root.read("run/system.conf").splitlines())


class Configuration(ConfigurationCase):
    def test_an_earlier_version_has_stored_the_file_alone(self):
        self.root.write("data/system/tonearm.conf", f"{GOOD}[image]\nname = kitchen\nname = bath\n")
        self.root.write("data/system/checked-by", "version=0\n")
        self.start("[image]\nname = no name\n")
        self.assertEqual(self.system(), {"network.one.ssid": "first", "network.one.password": "12345678",
                                         "image.name": "kitchen"})

    def test_every_section_is_a_network_whatever_its_letters(self):
        text = "".join(f"[wifi {name}]\nssid = {name}\nsecurity = open\n" for name in ("дом", "сад", "___", "____-2"))
        self.assertEqual(self.start(text), [])
        ssids = [value for key, value in self.system().items() if key.endswith(".ssid")]
        self.assertEqual(ssids, ["дом", "сад", "___", "____-2"])

    def test_a_value_that_ends_before_a_number_sign_is_reported(self):
        errors = self.start("[wifi one]\nssid = first; 1\npassword = longpassword #1\n"
                            "[start]\nqueue = /media/Album #2\n[image]\nname = kitchen # upstairs\n"
                            "serial-console = no # yet\n[discovery]\nname = a cut\n")
        self.assertEqual(errors, [NOTES] + [
            f"tonearm.conf:{line}: the {key} ends before the # or ;. If that belongs to it, put the whole of it in "
            f'quotes: {key} = "…". Otherwise begin a line with the comment'
            for line, key in ((3, "password"), (5, "queue"), (7, "name"))] + ["tonearm.conf:10: it ends here"])
        self.assertEqual(self.system(), {"network.one.ssid": "first; 1", "network.one.password": "longpassword",
                                         "start.queue": "/media/Album", "image.name": "kitchen",
                                         "image.serial-console": "no"})
        # The next start does not check it again, and says it again.
        checks = sum("config check" in line for line in self.root.calls)
        self.assertGreater(checks, 0)
        text = self.root.read("boot/tonearm.conf")
        self.assertEqual(self.start(text), errors)
        self.assertEqual(sum("config check" in line for line in self.root.calls), checks)
        # It goes away with the quotes, also beside a comment.
        self.assertEqual(self.start('[wifi one]\nssid = first\npassword = "longpassword #1" # of the router\n'), [])
        self.assertEqual(self.system()["network.one.password"], "longpassword #1")

    def test_quotes_are_read_as_the_engine_reads_them(self):
        for written, value in ((r'"a \"b\" \\ \c"', r'a "b" \ \c'), ('" 12345678 "', " 12345678 "),
                               ("a#b;c d#", "a#b;c d#"), ('1234"5678', '1234"5678'),
                               ('"1234 #567" ; of the "router"', "1234 #567")):
            with self.subTest(written):
                self.assertEqual(self.start(f"[wifi one]\nssid = first\npassword = {written}\n"), [])
                self.assertEqual(self.system()["network.one.password"], value)

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
        engine = self.root.read("run/tonearm/tonearm.conf.defaults")
        self.assertIn(f"[service]\ntoken-file = {self.root.folder}/data/service/token.txt\n", engine)
        self.assertIn(f"[network]\nca-file = {self.root.folder}/data/service/ca.pem\n", engine)
        # They stay when they are gone from there; what tonearm.conf says comes first.
        for name in ("token.txt", "ca.pem"):
            (self.root.folder / "boot" / name).unlink()
        self.assertEqual(self.start("[network]\nca-file = none\n"), [])
        self.assertIn("token-file = ", self.root.read("run/tonearm/tonearm.conf.defaults"))
        self.assertIn("ca-file = none", self.root.read("run/tonearm/tonearm.conf"))
        # What cannot be right is not taken.
        self.root.write("boot/token.txt", "\n")
        self.root.write("boot/ca.pem", "no certificate\n")
        self.assertEqual(self.start("#\n"), ["Files that are not used until their mistakes are gone:",
                                             "token.txt: there is no token in it",
                                             "ca.pem: there is no certificate in it; it begins with "
                                             "-----BEGIN CERTIFICATE-----"])
        self.assertEqual(self.root.read("data/service/token.txt"), "secrettoken")

    def test_the_folder_firmware_is_for_the_kernel(self):
        path = "sys/module/firmware_class/parameters/path"
        self.root.write(path, "")
        name = "brcm/brcmfmac43430b0-sdio.raspberrypi,model-zero-2-w.txt"
        self.root.write(f"boot/firmware/{name}", "boardrev=1\n")
        self.assertEqual(self.start("#\n"), [])
        self.assertEqual(self.root.read(path), f"{self.root.folder}/run/firmware")
        self.assertEqual(self.root.read(f"run/firmware/{name}"), "boardrev=1\n")
        # It is in memory.
        self.root.write("boot/firmware/whole-linux-firmware", "x" * (9 << 20))
        self.assertEqual(self.start("#\n"), [
            "Files that are not used until their mistakes are gone:",
            "firmware: it is not used, because it has 9 MB and may have 8. Keep only the files for the chips that you "
            "use."])
        self.assertFalse((self.root.folder / "run/firmware").exists())

    def test_a_file_with_another_name_is_named(self):
        for wrong, name in (("tonearm.conf.txt", "tonearm.conf"), ("board.conf.txt", "board.conf"),
                            ("ca.pem.txt", "ca.pem"), ("token.txt.txt", "token.txt"), ("token", "token.txt"),
                            ("password", "password.txt"), ("password.txt.txt", "password.txt"),
                            ("certificate.pem.txt", "certificate.pem"), ("key.pem.txt", "key.pem")):
            with self.subTest(wrong):
                self.root.write(f"boot/{wrong}", "text\n")
                errors = self.start("#\n")
                self.assertEqual(errors[0], "Files that are not used until their mistakes are gone:")
                self.assertTrue(errors[1].startswith(f"{wrong}: it is not used, because its name should be {name}. "))
                (self.root.folder / "boot" / wrong).unlink()
                self.assertEqual(self.start("#\n"), [])

    def test_passwords_are_for_root_alone(self):
        self.start(GOOD)
        modes = {name: (self.root.folder / "run" / name).stat().st_mode & 0o777 for name in (
            "person.conf", "system.conf", "engine.conf", "tonearm/tonearm.conf", "tonearm/tonearm.conf.defaults",
            "tonearm/board.conf")}
        self.assertEqual(modes, {name: 0o644 if "/" in name else 0o600 for name in modes})

    def test_a_check_that_crashes_finds_no_mistakes(self):
        self.assertEqual(self.start(GOOD), [])
        self.root.program("tonearm", "kill -SEGV $$")
        text = GOOD.replace("first", "second")
        self.assertEqual(self.start(text), [])
        self.assertEqual(self.system()["network.one.ssid"], "second")
        # It is not known to be good, and the next start checks it again.
        self.assertEqual(self.root.read("data/system/tonearm.conf"), GOOD)
        self.root.program("tonearm", CHECK)
        self.assertEqual(self.start(text), [])
        self.assertEqual(self.root.read("data/system/tonearm.conf"), text)

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
                for name in ("errors", "mistakes", "file-mistakes", "report"):
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

    def test_a_profile_that_a_repair_has_lost_holds_until_the_person_decides(self):
        own = "[board]\nname = mine\n"
        profile = self.root.folder / "boot/board.conf"
        self.start("#\n")
        images = self.root.read("run/tonearm/board.conf")
        self.root.write("boot/board.conf", own)
        self.start("#\n")
        profile.unlink()
        self.root.write("run/boot-repaired", "")
        for _ in range(2):
            self.assertEqual(self.start("#\n"), [
                "Files that are not used until their mistakes are gone:",
                "board.conf: it was lost when damage of the card was repaired. The profile from before holds. Write it "
                "again; one with only the line # brings back that of the image."])
            self.assertEqual(self.root.read("run/tonearm/board.conf"), own)
            # The next start finds the partition whole.
            (self.root.folder / "run/boot-repaired").unlink(missing_ok=True)
        for text, wanted in ((own, own), ("#\r\n", images)):
            self.root.write("boot/board.conf", text)
            self.assertEqual(self.start("#\n"), [])
            self.assertEqual(self.root.read("run/tonearm/board.conf"), wanted)
        # Then it is the person again who removes it.
        self.root.write("boot/board.conf", own)
        self.start("#\n")
        profile.unlink()
        self.assertEqual(self.start("#\n"), [])
        self.assertEqual(self.root.read("run/tonearm/board.conf"), images)

    def test_the_board_restarts_only_when_the_boot_state_has_taken_the_change(self):
        for is_written in (False, True):
            self.root.script("slots", f"case $1 in show) echo overlay=none ;; set) {str(is_written).lower()} ;; esac")
            self.start("[image]\ndac = wm8804\n")
            self.assertEqual((self.root.folder / "run/restart-wanted").exists(), is_written)


class BootPartition(unittest.TestCase):
    def start(self, code):
        """As a start of the board whose boot partition can be mounted only after fsck.fat, which ends so."""
        root = ScriptRoot(self)
        for name in ("data", "state", "configuration", "guard"):
            root.script(name, "")
        for name in ("modprobe", "chmod", "chgrp"):
            root.program(name, "")
        root.program("sleep", "exit 1")
        root.program("mount", 'case "$*" in *vfat*) [ -e /run/is-checked ] ;; esac')
        root.program("fsck.fat", f"touch /run/is-checked\nexit {code}")
        root.write("etc/modules", "vfat\n")
        root.run("boot")
        self.assertIsNone(root.read("run/boot-missing"))
        return root

    def test_a_repair_of_it_is_reported(self):
        root = self.start(1)
        self.assertIn("was damaged and has been repaired", root.read("run/report"))
        self.assertIsNotNone(root.read("run/boot-repaired"))

    def test_a_check_that_finds_nothing_is_not(self):
        root = self.start(0)
        self.assertIsNone(root.read("run/report"))
        self.assertIsNone(root.read("run/boot-repaired"))


if __name__ == "__main__":
    unittest.main()
