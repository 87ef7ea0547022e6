"""Mistakes in tonearm.conf, as the firmware image reads it."""

import os
import re
import shutil
import tempfile
import unittest
from pathlib import Path

from image_scripts_configuration import GOOD, MISTAKES, NOTES, ConfigurationCase
from virtual_board.host import run
from virtual_board.script_root import ROOT

#: What the table says of a line, as configuration-text.awk reads it.
CONTENTS = r"""{ read_line($0, NR)
    if (fault != "") print NR "! " fault
    if (note != "") print NR "? " note
    if (is == "section") print NR " [" section "]"
    if (is == "key") { gsub(/\t/, "\\t", value)
        print NR " [" section "] " key " = |" value "|" (is_cut ? " (cut)" : "") }
}"""
ESCAPES = {b"n": b"\n", b"r": b"\r", b"t": b"\t"}


def table():
    """The files that the engine reads too, with what is in them."""
    files = []
    for line in (ROOT / "Tests/Support/configuration-files.txt").read_text().split("\n"):
        if line.startswith("= "):
            files.append([line[2:], b"", []])
        elif line.startswith("< |"):
            files[-1][1] = re.sub(rb"\\(x[0-9a-f]{2}|.)", lambda sign: ESCAPES.get(sign[1]) or (
                bytes.fromhex(sign[1][1:].decode()) if sign[1][:1] == b"x" else sign[1]), line[3:-1].encode())
        elif line.startswith("> "):
            files[-1][2].append(line[2:])
    return files


class Table(unittest.TestCase):
    def test_the_image_reads_what_the_table_says(self):
        scripts = ROOT / "firmware-image/root/usr/lib/tonearm"
        # BusyBox is what the board has.
        shells = [([], ["awk"])] + [([path], [path, "awk"]) for path in [shutil.which("busybox")] if path]
        files = table()
        self.assertGreaterEqual(len(files), 60)
        with tempfile.TemporaryDirectory() as folder:
            for shell, awk in shells:
                for title, text, contents in files:
                    with self.subTest(title, awk=awk):
                        path = Path(folder) / "file"
                        path.write_bytes(text)
                        lines = run([*shell, "sh", scripts / "configuration-lines", path], capture_output=True)
                        found = [f"1! {lines.stderr.decode().strip()}"]
                        if not lines.returncode:
                            found = self.read(awk, scripts, folder, lines.stdout).decode().splitlines()
                        self.assertEqual(found, contents)

    @staticmethod
    def read(awk, scripts, folder, lines):
        main = Path(folder) / "main.awk"
        main.write_text(CONTENTS)
        return run([*awk, "-f", scripts / "configuration-text.awk", "-f", main], input=lines, capture_output=True,
                   env=os.environ | {"LC_ALL": "C"}).stdout


class Mistakes(ConfigurationCase):
    def forget(self):
        """As a board that has never started."""
        for path in (self.root.folder / "data/system").iterdir():
            path.unlink()

    def test_a_network_with_a_mistake_is_left_out_alone(self):
        end = ". The network is not used as it is here"
        for section, message in (
            ("password = 12345678", "tonearm.conf:4: [wifi two]: the ssid is missing"),
            ("ssid =\npassword = 12345678", "tonearm.conf:5: [wifi two]: an ssid has 1 to 32 characters"),
            (f"ssid = {'x' * 33}", "tonearm.conf:5: [wifi two]: an ssid has 1 to 32 characters"),
            ("ssid = second\npassword =", "tonearm.conf:6: [wifi two]: a Wi-Fi password has 8 to 63 characters, or is "
                                          "a key of 64 digits"),
            (f"ssid = second\npassword = {'g' * 64}", "tonearm.conf:6: [wifi two]: a Wi-Fi password has 8 to 63 "
                                                      "characters, or is a key of 64 digits"),
            (f"ssid = second\nsecurity = wpa3\npassword = {'a' * 64}",
             "tonearm.conf:4: [wifi two]: a key of 64 digits is for wpa2; wpa3 needs the password itself"),
            ("ssid = second\nsecurity = wpa2", "tonearm.conf:4: [wifi two]: the password is missing; a network without "
                                              "one has security = open"),
            ("ssid = second\npasswort = 12345678", 'tonearm.conf:6: [wifi two]: unknown key "passwort"; there are: '
                                                   "ssid password hidden security "),
            ("ssid = second\nsecurity = wep", "tonearm.conf:6: [wifi two]: security is wpa2, wpa3 or open"),
            ("ssid", 'tonearm.conf:5: [wifi two]: "ssid" is neither a [section] nor key = value'),
        ):
            message = message.replace('key "passwort"', 'key "passwort" in [wifi two]')
            # Behind the others, and between them.
            for rest in ("", "[wifi three]\nssid = third\n[image]\nname = kitchen\n"):
                with self.subTest(section, rest=rest):
                    self.forget()
                    self.assertEqual(self.start(f"{GOOD}[wifi two]\n{section}\n{rest}"), [MISTAKES, message + end])
                    names = {key.split(".")[1] for key in self.system() if key.startswith("network.")}
                    self.assertEqual(names, {"one", "three"} if rest else {"one"})
        self.assertEqual(self.start(f"{GOOD}[wifi two]\nssid = second\nsecurity = open\n"), [])
        self.assertEqual(self.system(), {"network.one.ssid": "first", "network.one.password": "12345678",
                                         "network.two.ssid": "second", "network.two.security": "open"})

    def test_a_wrong_line_costs_that_line_alone(self):
        before = ("[image]\nname = kitchen\ndac = pcm512x\n[wifi]\ncountry = DE\n"
                  "[wifi two]\nssid = b\npassword = 12345678\n")
        for mistake, changed in (
            # The engine's: its own test says what it does.
            ("[player]\nresume = loud\n", {}),
            ("[start]\nqueue = nowhere\n", {}),
            ("[image]\nname = my bath\n", {}),
            ("[image\nname = bath\n", {"image.name": "bath"}),
            ("[wifi]\ncountry = de\n[image]\nname = bath\n", {"image.name": "bath"}),
            ("[wifi two]\nssid = c\npassword = 123\n", {}),
            ("[wifi two]\nssid = c\n[wifi three]\nssid = d\npassword = 1\n", {"network.two.ssid": "c"}),
            ("nonsense\x01\n[wifi]\n?\n", {}),
        ):
            with self.subTest(mistake):
                self.forget()
                self.assertEqual(self.start(before), [])
                values = self.system() | changed | {"network.one.ssid": "first", "network.one.password": "12345678"}
                if "network.two.ssid" in changed:
                    del values["network.two.password"]
                errors = self.start(mistake + GOOD)
                self.assertEqual(errors[0] if mistake[:8] != "nonsense" else MISTAKES, MISTAKES)
                self.assertEqual(self.system(), values)
                # They hold at the next starts too, also where the file is lost.
                self.assertEqual(self.start(mistake + GOOD), errors)
                (self.root.folder / "boot/tonearm.conf").unlink()
                self.root.run("configuration")
                self.assertEqual(self.system(), values)
                # Without a mistake, the file alone counts.
                self.assertEqual(self.start(GOOD), [])
                self.assertEqual(self.system(), {"network.one.ssid": "first", "network.one.password": "12345678"})

    def test_without_settings_from_before_the_other_lines_count(self):
        self.start("[image]\nname = my kitchen\nserial-console = no\n[player]\nresume = loud\n")
        self.assertEqual(self.system(), {"image.serial-console": "no"})
        self.assertIn("resume = loud", self.root.read("run/tonearm/tonearm.conf"))

    def test_a_section_that_begins_twice_is_a_mistake_and_loses_nothing(self):
        mistake = ("tonearm.conf:4: [wifi one] begins in line 1 already. Move its lines there, or give it a name of "
                   "its own")
        # Each is a network of its own: the ssid of one never meets the password of the other.
        for second in ("ssid = second\npassword = abcdefgh\n", "password = abcdefgh\nssid = second\n"):
            with self.subTest(second):
                self.forget()
                self.assertEqual(self.start(f"{GOOD}[WiFi  One]\n{second}"), [MISTAKES, mistake])
                self.assertEqual(self.system(), {
                    "network.one.ssid": "first", "network.one.password": "12345678",
                    "network.one-2.ssid": "second", "network.one-2.password": "abcdefgh"})
        self.forget()
        errors = self.start("[wifi one]\npassword = abcdefgh\n#\n[wifi one]\nssid = b\n")
        self.assertEqual(errors, [MISTAKES, "tonearm.conf:1: [wifi one]: the ssid is missing. The network is not used "
                                            "as it is here", mistake])
        self.assertEqual(self.system(), {"network.one-2.ssid": "b"})
        self.assertEqual(self.start("[wifi one]\nssid = a\nssid = b\n")[1],
                         "tonearm.conf:3: [wifi one]: ssid was set in line 2 already. The network is not used as it is "
                         "here")
        for section, key, value in (("image", "name", "a"), ("start", "queue", "/a"), ("wifi", "country", "DE")):
            errors = self.start(f"[{section}]\n{key} = {value}\n[{section}]\n{key} = {value}\n")
            self.assertEqual(errors[1:], [f"tonearm.conf:3: [{section}] begins in line 1 already. Move its lines "
                                          "there, or give it a name of its own",
                                          f"tonearm.conf:4: {key} was set in line 2 already"])

    def test_a_key_of_64_digits_is_used_as_a_key(self):
        key = "0123456789abcdefABCDEF" + "0" * 42
        self.assertEqual(self.start(f"[wifi one]\nssid = a\npassword = {key}\n"), [])
        for security in ("", "wpa2", "auto"):
            block = self.root.run("wifi-network", "61", *([security] if security else []), standard_input=key).stdout
            self.assertIn(f"psk={key}\n", block)
        self.assertIn('psk="12345678"', self.root.run("wifi-network", "61", "wpa2", standard_input="12345678").stdout)

    def test_a_long_name_is_shortened(self):
        for name, used in (("a" * 70, "a" * 63), ("a" * 62 + "--b", "a" * 62), ("a" * 63, "a" * 63)):
            errors = self.start(f"[image]\nname = {name}\n")
            self.assertEqual(errors, [] if name == used else [
                NOTES, f"tonearm.conf:2: the name has {len(name)} letters, and 63 are allowed: the first ones are "
                       "used"])
            self.assertEqual(self.system(), {"image.name": used})
            self.assertIn(f"hostname {used}", self.root.calls)

    def test_an_apostrophe_of_a_phone_is_told_in_a_password_alone(self):
        self.assertEqual(self.start("[wifi one]\nssid = Anna’s iPhone\npassword = Anna’s word\n"), [
            NOTES, "tonearm.conf:3: the password has a curly quote in it, and is used so. Is a straight one meant, or "
                   "none?"])

    def test_a_file_that_is_not_read_at_all_does_not_replace_the_one_before(self):
        self.start("[image]\nname = kitchen\n[player]\nresume = paused\n")
        good = self.root.read("data/system/tonearm.conf")
        engine = self.root.read("run/tonearm/tonearm.conf")
        for data, message in (("[image]\n".encode("utf-16"), "the file is UTF-16"),
                              (b"\r\r \n", "it is missing, empty"), (b"\x00" * 600, "it is missing, empty")):
            with self.subTest(message):
                self.start("[image]\nname = kitchen\n[player]\nresume = paused\n")
                (self.root.folder / "boot/tonearm.conf").write_bytes(data)
                for name in ("mistakes", "file-mistakes"):
                    (self.root.folder / "run" / name).unlink()
                self.root.run("configuration")
                self.assertIn(message, self.root.read("boot/tonearm-errors.txt"))
                self.assertEqual(self.system(), {"image.name": "kitchen"})
                self.assertEqual(self.root.read("run/tonearm/tonearm.conf"), engine)
                self.assertEqual(self.root.read("data/system/tonearm.conf"), good)
        # Ends of lines as of an old Mac.
        self.assertEqual(self.start("[image]\rname = bath\r"), [])
        self.assertEqual(self.system(), {"image.name": "bath"})

    def test_the_mistakes_are_listed_by_their_lines(self):
        self.start(GOOD)
        errors = self.start("[image]\nname = my kitchen\n[wifi two]\nssid = second\npassword = 123\n[player]\n"
                            "resume = loud\n")
        self.assertEqual(errors, [MISTAKES,
                                  "tonearm.conf:2: name is letters, digits and -",
                                  "tonearm.conf:5: [wifi two]: a Wi-Fi password has 8 to 63 characters, or is a key of "
                                  "64 digits. The network is not used as it is here",
                                  "tonearm.conf:7: resume is not loud"])
        self.assertEqual(self.system()["network.one.ssid"], "first")
        self.assertEqual(self.start(GOOD), [])
        self.assertIsNone(self.root.read("boot/tonearm-errors.txt"))

    def test_a_missing_quote_is_a_mistake(self):
        errors = self.start('[wifi one]\nssid = first\npassword = "longpassword\n')
        self.assertEqual(errors[1], "tonearm.conf:3: [wifi one]: the closing quote is missing. The network is not "
                                    "used as it is here")
        self.assertEqual(self.start('[start]\nqueue = "/media/Album\n')[1],
                         "tonearm.conf:2: the closing quote is missing")
        self.assertEqual(self.start('[start]\nqueue = "/media"Album"\n')[1],
                         "tonearm.conf:2: there is something after the closing quote")


if __name__ == "__main__":
    unittest.main()
