"""How the firmware image finds a DAC HAT, chooses its overlay and tells the person, with the engine's answers given."""

import unittest

from image_scripts_configuration import MISTAKES, ConfigurationCase

#: `tonearm board dac`: run/found has what is on the header, as `NAME BY`; the rest accepts everything.
ENGINE = """
case "$1 $2 $3" in
"board dac auto")
    [ ! -e /run/fails ] || exit 70
    read -r name by </run/found || by=nothing
    ;;
"board dac "*) name=$3 by= ;;
*) exit 0 ;;
esac
case $name in
hifiberry-dacplus-std | pcm512x)
    name=hifiberry-dacplus-std title="HiFiBerry DAC+, Amp2" overlay=pcm512x note="A note."
    ;;
hifiberry-digi) title="HiFiBerry Digi" overlay=wm8804 ;;
hifiberry-amp3)
    [ "$by" ] || { echo "tonearm: HiFiBerry Amp3 is not supported: there is no driver" >&2; exit 1; }
    title="HiFiBerry Amp3" overlay=
    ;;
'') echo "by=nothing" && exit ;;
*) echo "tonearm: $name is no HAT" >&2 && exit 1 ;;
esac
printf '%s\\n' "name=$name" "title=$title" "note=$note"
[ ! "$overlay" ] || printf '%s\\n' "overlay=$overlay" "card=sndrpihifiberry"
[ ! "$by" ] || echo "by=$by"
"""
#: The boot state, a line for each variable.
SLOTS = """
case $1 in
show) cat /run/boot-state ;;
set)
    [ ! -e /run/worn ] || exit 1
    shift
    echo write >>/run/writes
    for pair in "$@"; do
        grep -v "^${pair%%=*}=" /run/boot-state >/run/boot-state.new
        [ -z "${pair#*=}" ] || echo "$pair" >>/run/boot-state.new
        mv /run/boot-state.new /run/boot-state
    done
    ;;
esac
"""
PROFILE = "[board]\nname = Test\n"
FOUND = "DAC: HiFiBerry DAC+, Amp2, found on I2C (dac = hifiberry-dacplus-std). A note."
NONE = ("DAC: no HAT was found on the header. One without EEPROM and control lines cannot be found: name it in "
        "tonearm.conf, as in [image] dac = hifiberry-dac")


class DacCase(ConfigurationCase):
    def setUp(self):
        super().setUp()
        self.root.program("tonearm", ENGINE)
        self.root.program("modprobe", "")
        self.root.script("slots", SLOTS)
        self.root.write("etc/dac-bus", "i2c@7e804000\n")
        self.root.write("etc/tonearm/board.conf", PROFILE)
        self.root.write("run/boot-state", "slot=a\ngood=a\ntries=0\n")
        # The header's bus is not the kernel's first one.
        for number, node in ((0, "i2c@7ef04500"), (3, "i2c@7e804000")):
            tree = self.root.folder / "tree" / node
            tree.mkdir(parents=True)
            device = self.root.folder / f"sys/class/i2c-dev/i2c-{number}/device"
            device.mkdir(parents=True)
            (device / "of_node").symlink_to(tree)

    def switch_on(self, found="", text="#\n"):
        """A start with this on the header: (overlay, dac) of the boot state, whether it restarts, the engine's dac."""
        for name in ("restart-wanted", "dac-line", "writes"):
            (self.root.folder / "run" / name).unlink(missing_ok=True)
        self.root.write("run/found", f"{found}\n" if found else "")
        self.errors = self.start(text)
        state = dict(line.split("=", 1) for line in self.root.read("run/boot-state").splitlines())
        restarts = (self.root.folder / "run/restart-wanted").exists()
        names = [line for line in self.root.read("run/tonearm/tonearm.conf.defaults").splitlines()
                 if line.startswith("dac = ")]
        self.assertEqual(len(names), 1)
        return state.get("overlay", ""), state.get("dac", ""), restarts, names[0].removeprefix("dac = ")

    def problems(self):
        return (self.root.read("run/system/problems") or "").splitlines()

    def writes(self):
        return len((self.root.read("run/writes") or "").splitlines())


class Search(DacCase):
    DAC, DIGI = "hifiberry-dacplus-std", "hifiberry-digi"

    def assert_starts(self, *starts):
        """Each: what is on the header, then what it becomes."""
        for number, (found, overlay, state, restarts, name) in enumerate(starts):
            with self.subTest(start=number):
                self.assertEqual(self.switch_on(found), (overlay, state, restarts, name))

    def test_a_hat_that_is_found_restarts_the_board_once(self):
        self.assert_starts((f"{self.DAC} read", "pcm512x", f"auto:{self.DAC}:1", True, self.DAC),
                           (f"{self.DAC} read", "pcm512x", f"auto:{self.DAC}:0", False, self.DAC),
                           (f"{self.DAC} read", "pcm512x", f"auto:{self.DAC}:0", False, self.DAC))
        self.assertEqual(self.writes(), 0, "the boot state is written at each start")
        call = "tonearm board dac auto --bus /dev/i2c-3"
        self.assertIn(call, self.root.calls)

    def test_a_hat_that_is_gone_is_told_and_left_at_the_second_start(self):
        self.assert_starts((f"{self.DAC} uuid", "pcm512x", f"auto:{self.DAC}:1", True, self.DAC),
                           (f"{self.DAC} uuid", "pcm512x", f"auto:{self.DAC}:0", False, self.DAC),
                           ("", "pcm512x", f"auto:{self.DAC}:1", False, self.DAC))
        self.assertIn(f"dac=DAC: {self.DAC}, which was found before, does not answer.", self.problems()[-1])
        self.assert_starts(("", "", "auto::2", True, "none"), ("", "", "", False, "none"))
        self.assertIn(NONE, self.root.read("boot/tonearm-report.txt"))

    def test_a_chip_that_once_does_not_answer_changes_nothing(self):
        self.assert_starts((f"{self.DAC} read", "pcm512x", f"auto:{self.DAC}:1", True, self.DAC),
                           (f"{self.DAC} read", "pcm512x", f"auto:{self.DAC}:0", False, self.DAC),
                           ("", "pcm512x", f"auto:{self.DAC}:1", False, self.DAC),
                           (f"{self.DAC} read", "pcm512x", f"auto:{self.DAC}:0", False, self.DAC))

    def test_another_hat_takes_its_place(self):
        self.assert_starts((f"{self.DAC} read", "pcm512x", f"auto:{self.DAC}:1", True, self.DAC),
                           (f"{self.DAC} read", "pcm512x", f"auto:{self.DAC}:0", False, self.DAC),
                           (f"{self.DIGI} product", "wm8804", f"auto:{self.DIGI}:1", True, self.DIGI),
                           (f"{self.DIGI} product", "wm8804", f"auto:{self.DIGI}:0", False, self.DIGI))

    def test_answers_that_depend_on_the_overlay_end_after_two_restarts(self):
        for other in ("", f"{self.DIGI} read"):
            self.root.write("run/boot-state", "slot=a\n")
            restarts = 0
            for _ in range(5):
                overlay = dict(line.split("=", 1) for line in
                               self.root.read("run/boot-state").splitlines()).get("overlay")
                restarts += self.switch_on(other if overlay == "pcm512x" else f"{self.DAC} read")[2]
            with self.subTest(other):
                self.assertEqual(restarts, 2)
                self.assertEqual(self.writes(), 0)
                self.assertIn("changes from start to start", self.problems()[-1])

    def test_a_search_that_fails_changes_nothing(self):
        self.switch_on(f"{self.DAC} read")
        self.root.write("run/fails", "")
        self.assertEqual(self.switch_on(), ("pcm512x", f"auto:{self.DAC}:1", False, self.DAC))

    def test_what_was_found_is_told(self):
        self.switch_on(f"{self.DAC} read")
        self.assertEqual(self.root.read("boot/tonearm-report.txt"), f"{FOUND}\n")
        # The next reports, as of an update, stay there; the status has it at each start.
        self.root.write("boot/tonearm-report.txt", "Version 2 is installed.\n")
        self.switch_on(f"{self.DAC} read")
        self.assertEqual(self.root.read("boot/tonearm-report.txt"), "Version 2 is installed.\n")
        self.assertEqual(self.root.read("run/system/report"), f"{FOUND}\n")
        # The engine, which is not root, reads it.
        self.assertEqual((self.root.folder / "run/report").stat().st_mode & 0o777, 0o644)

    def test_nothing_is_guessed(self):
        self.assertEqual(self.switch_on(), ("", "", False, "none"))
        self.assertEqual(self.root.read("boot/tonearm-report.txt"), f"{NONE}\n")

    def test_a_hat_that_is_not_supported_is_a_problem(self):
        self.assertEqual(self.switch_on("hifiberry-amp3 product"), ("", "", False, "none"))
        self.assertEqual(self.problems(), ["dac=DAC: HiFiBerry Amp3 is not supported: there is no driver"])

    def test_a_board_without_a_header_does_not_search(self):
        (self.root.folder / "etc/dac-bus").unlink()
        self.assertEqual(self.switch_on(f"{self.DAC} read"), ("", "", False, "none"))
        self.assertEqual(self.root.read("run/system/report"), "")

    def test_a_card_that_cannot_be_written_does_not_restart(self):
        self.root.write("run/worn", "")
        self.assertFalse(self.switch_on(f"{self.DAC} read")[2])


class Names(DacCase):
    def test_a_name_chooses_the_overlay_and_the_row(self):
        text = "[image]\ndac = pcm512x\n"
        self.assertEqual(self.switch_on("", text), ("pcm512x", "", True, "hifiberry-dacplus-std"))
        self.assertEqual(self.switch_on("", text), ("pcm512x", "", False, "hifiberry-dacplus-std"))
        self.assertIn("as tonearm.conf says (dac = hifiberry-dacplus-std). A note.",
                      self.root.read("run/system/report"))
        # `none` does not search, and nothing is left of a search.
        self.switch_on("hifiberry-digi read")
        self.assertEqual(self.switch_on("hifiberry-digi read", "[image]\ndac = none\n"), ("", "", True, "none"))

    def test_a_name_that_is_no_supported_hat_is_a_mistake_in_its_line(self):
        self.switch_on("", "[image]\ndac = hifiberry-digi\n")
        for name, sentence in (("HiFiBerry DAC", "HiFiBerry DAC is no HAT"),
                               ("hifiberry-amp3", "HiFiBerry Amp3 is not supported: there is no driver")):
            with self.subTest(name):
                result = self.switch_on("", f"[image]\nname = kitchen\n\ndac = {name}\n")
                self.assertEqual(self.errors, [MISTAKES, f"tonearm.conf:4: {sentence}"])
                # The one from before holds.
                self.assertEqual((result[0], result[3]), ("wm8804", "hifiberry-digi"))
        self.assertEqual(self.system(), {"image.name": "kitchen", "image.dac": "hifiberry-digi"})

    def test_a_board_on_which_no_hat_plays_says_why(self):
        (self.root.folder / "etc/dac-bus").unlink()
        self.root.write("etc/no-dac", "not here\n")
        self.assertEqual(self.switch_on("", "[image]\ndac = hifiberry-digi\n"), ("", "", False, "none"))
        self.assertEqual(self.errors, [MISTAKES, "tonearm.conf:2: not here"])

    def test_a_profile_of_a_persons_own_keeps_its_sound(self):
        text = "[image]\ndac = hifiberry-digi\n"
        for sound, name in (("[ sound ]\ncard = Mine\n", "none"), ("[light sound]\nline = 1\n", "hifiberry-digi")):
            with self.subTest(sound):
                self.root.write("boot/board.conf", PROFILE + sound)
                self.assertEqual(self.switch_on("", text)[3], name)

    def test_an_overlay_that_the_boot_partition_lacks_is_brought_there(self):
        text = "[image]\ndac = hifiberry-digi\n"
        self.switch_on("", text)
        self.root.write("usr/share/tonearm/overlays/wm8804.dtbo", "new")
        for before in (None, "old"):
            if before:
                self.root.write("boot/overlays/wm8804.dtbo", before)
            self.assertTrue(self.switch_on("", text)[2], "the device tree is that from before")
            self.assertEqual(self.root.read("boot/overlays/wm8804.dtbo"), "new")
            self.assertFalse(self.switch_on("", text)[2])


if __name__ == "__main__":
    unittest.main()
