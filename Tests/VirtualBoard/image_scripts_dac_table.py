"""The table of DAC HATs, `board/dacs`: complete, with the overlays that it names, and fitting the profiles."""

import re
import unittest

from firmware import dacs, lists
from virtual_board.host import run
from virtual_board.script_root import ROOT

BOARD = ROOT / "board"
ROWS = dacs.sections(BOARD / "dacs")
PLAYING = {title: row for title, row in ROWS.items() if "overlay" in row}
SOURCES = {path.stem: path.read_text() for path in (BOARD / "overlays").glob("*.dts")}

#: Profiles, with the rows that they are for. The others of section names are for all that play.
MEANT_FOR = {"rpi-audio": ["iqaudio-dacplus", "rpi-digiampplus"], "justboom": ["justboom-dac", "justboom-digi"],
             "pirate-audio": ["pirate-audio"], "phat-beat": ["phat-beat"], "codec-zero": ["rpi-codeczero"]}
#: The labels that the engine's `chip = header` stands for.
HEADER_CHIPS = ("pinctrl-bcm2835", "pinctrl-bcm2711", "pinctrl-rp1")
FOR_ALL = ["any-hat", "one-button", "two-buttons-led", "usb-dac"]


def card_id(source):
    """ALSA takes the letters and digits of a name, at most 15 of them, for the card's id."""
    name = re.search(r'\b(?:simple-audio-card,name|model) = "([^"]*)"', source)[1]
    return re.sub(r"[^A-Za-z0-9]", "", name)[:15]


class Table(unittest.TestCase):
    def test_every_row_is_complete_and_every_overlay_has_one(self):
        self.assertEqual(list(dacs.mistakes(ROWS, SOURCES)), [])
        self.assertEqual(len(ROWS), 41)

    def test_a_mistake_is_seen(self):
        good = ROWS["hifiberry-dacplus-std"]
        for change, mistake in (
            ({"note": None}, "lacks note"), ({"mixer-maximum": None}, "needs mixer"), ({"colour": "red"}, "has colour"),
            ({"mixer-maximum": "24 dB"}, "mixer-maximum = 0 dB"), ({"amplifier-role": "off"}, "neither"),
            ({"amplifier-role": None}, "lacks amplifier-role"), ({"high": "4"}, "twice"), ({"lines": "19"}, "I2S"),
            ({"lines": "40"}, "not on the header"), ({"read": "4d/28=02, 4c/2=1"}, "'4c/2=1'"),
            ({"overlay": "none"}, "overlays/none.dts"), ({"names": "hifiberry-dac"}, "name 'hifiberry-dac' is"),
            ({"mixer": "Master", "mixer-maximum": "24 dB"}, "mixer-maximum = 0 dB"),
            ({"products": "Amp100"}, "product 'Amp100' is"), ({"unsupported": "so"}, "has overlay"),
        ):
            with self.subTest(change):
                row = {key: value for key, value in (good | change).items() if value is not None}
                found = list(dacs.mistakes(ROWS | {"hifiberry-dacplus-std": row}, SOURCES))
                self.assertTrue(any(mistake in text for text in found), found)
        self.assertEqual(list(dacs.mistakes(ROWS, [*SOURCES, "more"])), ["board/overlays/more.dts: no row names it"])

    def test_names_of_earlier_versions_are_accepted(self):
        names = {name for title, row in PLAYING.items() for name in dacs.names(title, row)}
        self.assertLessEqual({"pcm5102a", "pcm512x", "max98357a", "wm8804"}, names)

    def test_the_order_is_that_of_the_reads(self):
        reading = [title for title, row in ROWS.items() if "read" in row]
        for first, later in (("hifiberry-digi", "hifiberry-dacplus-std"), ("hifiberry-dacplushd", "iqaudio-dacplus"),
                             ("allo-piano-dac-plus-pcm512x-audio", "hifiberry-dacplus-std"),
                             ("hifiberry-dacplusadcpro", "hifiberry-dacplus-std")):
            self.assertLess(reading.index(first), reading.index(later))

    def test_the_first_card_is_that_of_the_overlay(self):
        for title, row in PLAYING.items():
            with self.subTest(title):
                self.assertEqual(dacs.words(row, "card")[0], card_id(SOURCES[row["overlay"]]))

    def test_every_overlay_connects_the_pins(self):
        # Debian's trees leave them as inputs.
        for name, source in SOURCES.items():
            with self.subTest(name):
                controller = re.search(r"^&i2s \{(.*?)^\};", source, re.DOTALL | re.MULTILINE)[1]
                self.assertIn("pinctrl-0 = <&pcm_gpio18>;", controller)
                self.assertIn('pinctrl-names = "default";', controller)
                # Without it no card can name the controller.
                self.assertIn("#sound-dai-cells = <0>;", controller)

    def test_the_table_for_people_is_this_one(self):
        result = run([ROOT / "tools/dac-table", "--check"], capture_output=True, text=True)
        self.assertEqual((result.returncode, result.stderr), (0, ""))


class Profiles(unittest.TestCase):
    def test_none_uses_a_line_of_a_hat_that_it_is_for(self):
        profiles = {path.parent.name: path for path in BOARD.glob("*/board.conf")}
        del profiles["virtual"]
        self.assertEqual(set(profiles), {*MEANT_FOR, *FOR_ALL})
        for name, path in profiles.items():
            for title in MEANT_FOR.get(name, PLAYING):
                with self.subTest(name, hat=title):
                    self.assertEqual(dacs.profile_lines(path) & dacs.used_lines(ROWS[title]), set())

    def test_a_line_of_a_hat_is_seen(self):
        self.assertLessEqual({4, 17, 19}, dacs.used_lines(ROWS["hifiberry-amp100"]))
        self.assertEqual(dacs.profile_lines(BOARD / "any-hat/board.conf"), {7, 8, 9, 10, 12, 13})

    def test_the_reset_button_is_the_one_that_switches_off(self):
        boards = [path for path in (ROOT / "firmware-image/boards").glob("*/image.conf")
                  if "dac-bus" in lists.settings(path)]
        self.assertEqual(len(boards), 3)
        for path in boards:
            settings = lists.settings(path)
            with self.subTest(path.parent.name):
                profile = dacs.sections(BOARD / settings["profile"] / "board.conf")
                chip, line, level = settings["reset-button"].split()
                button, = (row for row in profile.values() if row.get("long-press") == "power-off")
                self.assertEqual((line, level), (button["line"], f"active-{button['active']}"))
                self.assertEqual(dacs.words(profile["board"], "chip"), ["header"])
                self.assertIn(chip, HEADER_CHIPS)
                text = (BOARD / settings["profile"] / "board.conf").read_text()
                pin = re.search(rf"^line = {line} +# (pin \d+)$", text, re.MULTILINE)[1]
                for document in ("docs/firmware-image.md", "firmware-image/boot/tonearm.conf"):
                    self.assertIn(pin, (ROOT / document).read_text(), document)


if __name__ == "__main__":
    unittest.main()
