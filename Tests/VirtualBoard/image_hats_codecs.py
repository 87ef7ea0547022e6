"""HATs whose codec's driver Debian's kernel lacks, and its image brings: TAS5711 and DA7213, with their rows of
board/dacs. All registers at each start, against tables of the chips' data sheets and of what Raspberry Pi OS sets. No
real chip is here: whether music comes out is not tested."""

import unittest

from firmware import dacs
from virtual_board.hat import ROOT
from virtual_board.hat_card import Card, of_44k, writes
from virtual_board.parts import long

ROWS = dacs.sections(ROOT / "board/dacs")


def controls(name):
    """What the engine sets at each start, in amixer's words, with the volume at the maximum of its range."""
    row = ROWS[name]
    words = {key: [word for word in row.get(key, "").split(" | ") if word] for key in ("switches", "levels", "mixer")}
    return [*((switch, "on") for switch in words["switches"]),
            *((level, "0dB") for level in words["levels"] + words["mixer"])]


# TAS5711

#: Registers after a reset that the drivers write at all. 4: I2S, 24 bits. 5: shut down. 7: master volume, mute. 8, 9:
#: volumes of the channels, 0 dB. 19: the groups of outputs. 1b: oscillator trim. 20: inputs. 25: outputs.
TAS5711_RESET = {0x04: 0x05, 0x05: 0x40, 0x07: 0xff, 0x08: 0x30, 0x09: 0x30, 0x19: 0x30, 0x1b: 0x82,
                 0x20: 0x0001_7772, 0x25: 0x0102_1345}
#: At each start: on, at 0 dB, trimmed.
TAS5711_ON = TAS5711_RESET | {0x05: 0x00, 0x07: 0x30, 0x1b: 0x00}
#: All four outputs belong to channel 1.
PARALLEL = {0x19: 0x3a, 0x25: 0x0110_3245}
#: Channel 1 gets the right side, channel 2 the left.
CROSSED = {0x20: 0x0010_7772}


@long("image-boards", "an emulator each; the default tests have cards of other codecs")
class TAS5711(Card):
    PLAYS = ((44100, "S24_LE"), (48000, "S32_LE"), (44100, "S16_LE"))

    def check(self, log, chip, more):
        for play, registers in self.each_start(log, TAS5711_RESET, chip):
            with self.subTest(chip=chip, rate=play.rate, format=play.format):
                word = 0x03 if play.format == "S16_LE" else 0x05
                self.assertEqual(registers, TAS5711_ON | {0x04: word} | more)
        for play in log.plays:
            *_, last = writes(play.events, chip)
            self.assertEqual(last, (0x05, 0x40), "it stays on after the stop")

    def check_card(self, log):
        self.assertNotIn("failed", "\n".join(log.before))
        self.assertIn("cpu provides, format 1", log.before)
        # BCLK is the chip's MCLK, of 64 fs.
        self.assertIn("cpu ratio 64", log.before)

    @staticmethod
    def lines(log):
        """The levels of lines before anything is written to a chip."""
        first = next(index for index, event in enumerate(log.before) if event.startswith("i2c"))
        return [event for event in log.before[:first] if event.startswith("line ")]

    def test_one_drives_two_speakers(self):
        log = self.play("tas5711", self.PLAYS, "word-chips = <0x1a>;", 32000, controls("pifi-mini-210"))
        self.check_card(log)
        self.assertEqual(self.lines(log), ["line 23=1", "line 24=0", "line 24=1"])
        self.check(log, "1a", CROSSED)

    def test_two_drive_one_each(self):
        log = self.play("tas5711-pair", self.PLAYS, "word-chips = <0x1a 0x1b>;", 32000, controls("pifi-40"))
        self.check_card(log)
        self.assertEqual(self.lines(log), ["line 23=1"])
        self.check(log, "1a", PARALLEL)
        self.check(log, "1b", PARALLEL | CROSSED)


# DA7213

PLL_FRACTION, PLL_INTEGER, PLL_CONTROL = (0x24, 0x25), 0x26, 0x27
#: Registers after a reset that the drivers write at all.
DA7213_RESET = {0x22: 0x0a, 0x23: 0x80, 0x24: 0x00, 0x25: 0x00, 0x26: 0x20, 0x27: 0x0c, 0x28: 0x01, 0x29: 0x08,
                0x45: 0x6f, 0x46: 0x6f, 0x47: 0x61, 0x48: 0x39, 0x49: 0x39, 0x4a: 0x30, 0x4b: 0x00, 0x4c: 0x00,
                0x60: 0x44, 0x61: 0x44, 0x65: 0x40, 0x66: 0x40, 0x67: 0x40, 0x68: 0x40, 0x69: 0x48, 0x6a: 0x40,
                0x6b: 0x41, 0x6c: 0x40, 0x6d: 0x40, 0x6e: 0x10, 0x6f: 0x10, 0x94: 0x00, 0x98: 0x00, 0xb6: 0x00}
#: What no rate changes. 23: references. 45, 46: DACs at 0 dB. 47: charge pump. 48 to 4a: headphones and line at 0 dB.
#: 4b, 4c: output mixers take the DACs. 60 to 68: inputs off, muted, with ramps. 69 to 6f: DACs, headphones, line and
#: mixers on, not muted, with ramps. 94: the rate of the program is that of the stream.
DA7213_ON = {0x23: 0x88, 0x45: 0x70, 0x46: 0x70, 0x47: 0xe1, 0x48: 0x39, 0x49: 0x39, 0x4a: 0x30, 0x4b: 0x08, 0x4c: 0x08,
             0x60: 0x64, 0x61: 0x64, 0x65: 0x68, 0x66: 0x68, 0x67: 0x60, 0x68: 0x60, 0x69: 0xa8, 0x6a: 0xa0,
             0x6b: 0xa9, 0x6c: 0xa8, 0x6d: 0xa8, 0x6e: 0x98, 0x6f: 0x98, 0x94: 0x00, 0x98: 0x00, 0xb6: 0x07}
CODES = {8000: 0x1, 11025: 0x2, 16000: 0x5, 22050: 0x6, 32000: 0x9, 44100: 0xa, 48000: 0xb, 88200: 0xe, 96000: 0xf}
LENGTHS = {"S16_LE": 0, "S24_LE": 2, "S32_LE": 3}
#: Of the Codec Zero.
OSCILLATOR = 11_289_600


def da7213_registers(rate, sample_format):
    """The codec gives the clocks. For 44.1 kHz and its multiples the oscillator is taken as it is, for others the PLL
    makes 98.304 MHz of a quarter of it; its fraction has 13 bits."""
    cycles = 0 if sample_format == "S16_LE" else 1
    registers = DA7213_ON | {0x22: CODES[rate], 0x28: 0x80 | cycles, 0x29: 0x80 | LENGTHS[sample_format] << 2}
    if of_44k(rate):
        return registers | {PLL_CONTROL: 0x04}
    whole, rest = divmod(98_304_000, OSCILLATOR // 4)
    fraction = (rest << 13) // (OSCILLATOR // 4)
    return registers | {0x24: fraction >> 8, 0x25: fraction & 0xff, PLL_INTEGER: whole, PLL_CONTROL: 0x84}


@long("image-boards", "an emulator; the default tests have cards of other codecs")
class DA7213(Card):
    #: The clock changes from one stream to the next.
    PLAYS = (*((rate, "S24_LE") for rate in CODES), (44100, "S16_LE"), (48000, "S16_LE"), (44100, "S32_LE"))

    def test_it_plays_with_its_own_oscillator(self):
        log = self.play("da7213", self.PLAYS, "byte-chips = <0x1a>;", 64000, controls("rpi-codeczero"))
        self.assertNotIn("failed", "\n".join(log.before))
        self.assertIn("cpu consumes, format 1", log.before)
        for play, registers in self.each_start(log, DA7213_RESET, "1a"):
            with self.subTest(rate=play.rate, format=play.format):
                # Nothing takes the PLL while it is off.
                if of_44k(play.rate):
                    registers = {key: value for key, value in registers.items()
                                 if key not in (*PLL_FRACTION, PLL_INTEGER)}
                self.assertEqual(registers, da7213_registers(play.rate, play.format))
                self.assertIn(f"cpu ratio {32 if play.format == 'S16_LE' else 64}", play.until_start)
                if not of_44k(play.rate):
                    self.check_frequency(registers)
        for play in log.plays:
            left = [value for register, value in writes(play.events, "1a") if register == 0x69]
            self.assertTrue(left[-1] & 0x40, "not muted after the stop")

    def check_frequency(self, registers):
        """The registers give 256 fs with the formula of the data sheet, not only as our table has them."""
        fraction = registers[PLL_FRACTION[0]] << 8 | registers[PLL_FRACTION[1]]
        made = OSCILLATOR / 4 * (registers[PLL_INTEGER] + fraction / 2**13)
        self.assertAlmostEqual(made, 98_304_000, delta=98_304_000 * 4e-6)


if __name__ == "__main__":
    unittest.main()
