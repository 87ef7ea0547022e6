"""The sound cards of our own modules (firmware-image/modules): what they write into the registers of a HAT's chip, and
the lines of its oscillators, against tables of the chips' data sheets. No real chip is here: whether music comes out is
not tested."""

import unittest

from virtual_board.hat_card import Card, of_44k, writes
from virtual_board.parts import long

RATES = (32000, 44100, 48000, 88200, 96000, 176400, 192000)
WIDE = [(rate, "S24_LE") for rate in RATES]
#: Beyond S/PDIF: after 352.8 kHz, the clock of the other family has to be there for 384 kHz.
HIGH = [(352800, "S24_LE"), (384000, "S24_LE")]

# WM8804

#: Registers after a reset that the drivers write at all.
WM8804_RESET = {0x03: 0x21, 0x04: 0xfd, 0x05: 0x36, 0x06: 0x07, 0x07: 0x16, 0x08: 0x18, 0x15: 0x71, 0x16: 0x0b,
                0x1b: 0x06, 0x1c: 0x06, 0x1e: 0x07}
#: PLL1 to PLL3: PLLK. PLL4: PRESCALE and PLLN. PLL5: MCLKDIV and FREQMODE. PWRDN: bits switch the PLL, SPDIFRX,
#: SPDIFTX, OSC and AIF off.
PLLK, PLL4, PLL5, PWRDN = (0x03, 0x04, 0x05), 0x06, 0x07, 0x1e
PLL_OFF, TX_OFF = 0x01, 0x04
#: The clock of 256 fs (MCLKDIV 0) or 128 fs (1) is that of the PLL through this, by FREQMODE.
DIVISORS = {0: (2, 4, 8, 12), 1: (4, 8, 16, 24)}
#: Frequency code of the channel status (IEC 60958-3).
CODES = {32000: 0x3, 44100: 0x0, 48000: 0x2, 88200: 0x8, 96000: 0xa, 176400: 0xc, 192000: 0xe}
#: FREQMODE and MCLKDIV: 256 fs up to 96 kHz, 128 fs above.
POST_DIVISORS = {32000: (3, 0), 44100: (2, 0), 48000: (2, 0), 88200: (1, 0), 96000: (1, 0), 176400: (0, 1),
                 192000: (0, 1)}
#: Where 256 fs are wanted at all rates.
POST_DIVISORS_256 = POST_DIVISORS | {176400: (0, 0), 192000: (0, 0)}


def crystal(rate):
    return 27_000_000


def oscillator(rate):
    return 22_579_200 if of_44k(rate) else 24_576_000


def pll_multiple(source, rate):
    """N and K for a PLL of 90.3168 or 98.304 MHz from a clock that the prescaler halves. For 44.1 kHz of the crystal: 6
    and 2C2B25h."""
    n, part = divmod(90_316_800 if of_44k(rate) else 98_304_000, source / 2)
    return int(n), round(part / (source / 2) * 2**22)


def wm8804_registers(rate, width, source, post_divisors):
    """All that the drivers write, when a stream starts."""
    n, k = pll_multiple(source, rate)
    mode, divides = post_divisors[rate]
    length = {16: 0, 24: 2}[width] << 2
    return {0x03: k & 0xff, 0x04: k >> 8 & 0xff, 0x05: k >> 16, 0x06: 0x10 | n,
            0x07: 0x14 | divides << 3 | mode, 0x08: 0x18, 0x15: 0x70 | CODES[rate], 0x16: {16: 0x2, 24: 0xb}[width],
            # I2S; the codec gives the clocks. All but the receiver is on.
            0x1b: 0x02 | length, 0x1c: 0x42 | length, 0x1e: 0x02}


class WM8804(Card):
    def check(self, log, clock, post_divisors=POST_DIVISORS):
        self.assertIn("cpu ratio 64", log.before)
        self.assertIn("cpu consumes, format 1", log.before)
        for play, registers in self.each_start(log, WM8804_RESET, "3b", (0, 0)):
            with self.subTest(rate=play.rate, format=play.format):
                width = int(play.format[1:3])
                self.assertEqual(registers, wm8804_registers(play.rate, width, clock(play.rate), post_divisors))
                self.check_frequency(registers, play.rate, clock(play.rate))
        self.check_order(log)

    def check_frequency(self, registers, rate, source):
        """The registers give the rate with the formulas of the data sheet, not only as our table has them."""
        prescale = registers[PLL4] >> 4 & 1
        n, k = registers[PLL4] & 0xf, sum(registers[part] << 8 * place for place, part in enumerate(PLLK))
        pll = source / (1 + prescale) * (n + k / 2**22)
        self.assertTrue(5 <= n <= 13 and 90e6 <= pll <= 100e6, f"N {n}, PLL {pll}")
        divides, mode = registers[PLL5] >> 3 & 1, registers[PLL5] & 3
        self.assertAlmostEqual(pll / DIVISORS[divides][mode] / (128 if divides else 256), rate, delta=rate * 1e-7)

    def check_order(self, log):
        """PLL and oscillators change only while the PLL is off, and the two oscillators never run together."""
        power, lines = WM8804_RESET[PWRDN], {}
        for event in [*log.before, *(event for play in log.plays for event in play.events)]:
            for register, value in writes([event], "3b"):
                if register in (*PLLK, PLL4, PLL5):
                    self.assertTrue(power & PLL_OFF, f"{event} while the PLL runs")
                power = value if register == PWRDN else power
            if event.startswith("line "):
                name, _, level = event.split()[1].partition("=")
                if lines.get(name, "0") != level and name in ("5", "6"):
                    self.assertTrue(power & PLL_OFF, f"{event} while the PLL runs")
                lines[name] = level
                self.assertNotEqual((lines.get("5"), lines.get("6")), ("1", "1"), "both oscillators")

    def check_lines(self, log):
        def changes(events):
            return dict(event.split()[1].split("=") for event in events if event.startswith("line "))

        lines = changes(log.before)
        for play in log.plays:
            lines |= changes(play.until_start)
            with self.subTest(rate=play.rate):
                self.assertEqual((lines["5"], lines["6"]), ("1", "0") if of_44k(play.rate) else ("0", "1"))

    def test_with_two_oscillators(self):
        log = self.play("wm8804-pro", [*WIDE, (192000, "S16_LE")], refused=64000)
        self.check(log, oscillator)
        self.check_lines(log)
        # The same rate again: the receiver keeps the signal.
        again = {register for register, _ in writes(log.plays[-1].until_start, "3b")}
        self.assertEqual(again & {*PLLK, PLL4, PLL5}, set())
        for play in log.plays:
            *_, (register, value) = writes(play.events, "3b")
            self.assertEqual((register, value & TX_OFF), (PWRDN, TX_OFF), "nothing is sent after the stop")

    @long("image-boards", "an emulator; the default test has another WM8804")
    def test_with_a_crystal(self):
        log = self.play("wm8804", WIDE)
        self.check(log, crystal)
        self.assertFalse([event for event in log.before if event.startswith("line ")])

    @long("image-boards", "an emulator; the default test has another WM8804")
    def test_with_a_reset_line_and_256_fs_at_all_rates(self):
        log = self.play("wm8804-digione", [*WIDE[::-1], (44100, "S16_LE")])
        self.check(log, oscillator, POST_DIVISORS_256)
        self.check_lines(log)
        first = next(index for index, event in enumerate(log.before) if event.startswith("i2c"))
        resets = [event for event in log.before[:first] if event.startswith("line 17")]
        self.assertEqual(resets, ["line 17=0", "line 17=1"])


# PCM512x, page 0

POWER, MUTE, GPIO_EN, GPIO_CONTROL = 2, 3, 8, 86
#: GPIO 6, GPIO 3 and GPIO 4, as GPIO_EN and GPIO_CONTROL have them.
LINE_44K, LINE_48K, LINE_AMPLIFIER = 0x20, 0x04, 0x08
#: After a reset, as far as the drivers write them. 4: the PLL is on. 12: the dividers of BCK and LRCK stand still. 33:
#: LRCK. 35: IDAC of 256. 40: I2S, 24 bits.
PCM512X_RESET = {POWER: 0, MUTE: 0, 4: 1, GPIO_EN: 0, 9: 0, 12: 0x7c, 13: 0, 14: 0, 19: 0x10, 27: 0, 28: 0, 29: 0,
                 30: 0, 32: 0, 33: 0, 34: 0, 35: 1, 36: 0, 37: 0, 40: 2, 82: 0, 83: 0, 85: 0, GPIO_CONTROL: 0}


def pcm512x_registers(rate, oscillators, dac_divisor):
    """As the provider of the clocks, with SCK of the oscillator. The DAC runs at up to 6.144 MHz, the charge pump at a
    quarter of it."""
    clock = oscillators[not of_44k(rate)]
    speed = next(mode for mode, highest in enumerate((48000, 96000, 192000, 384000)) if rate <= highest)
    return PCM512X_RESET | {
        # The lines are outputs that GPIO_CONTROL drives.
        82: 2, 85: 2, GPIO_EN: LINE_44K | LINE_48K, GPIO_CONTROL: LINE_44K if of_44k(rate) else LINE_48K,
        # BCK and LRCK are outputs, and their dividers run. No PLL: the DAC takes SCK.
        9: 0x11, 12: 0x7f, 4: 0x00, 14: 0x30,
        # DSP, DAC, charge pump, oversampling; BCK of 64 fs, LRCK; cycles of the DSP for a frame.
        27: 0, 28: dac_divisor - 1, 29: 3, 30: clock // dac_divisor // (16 * rate) - 1,
        32: clock // (64 * rate) - 1, 33: 63, 34: speed, 35: clock // rate >> 8, 36: clock // rate & 0xff,
        # Errors of clocks are ignored but a missing one, and dividers are not set by the codec.
        37: 0x7b}


class PCM512x(Card):
    PRO, BOSS = (22_579_200, 24_576_000), (45_158_400, 49_152_000)

    def check_provider(self, log, oscillators, dac_divisor):
        self.assertIn("cpu ratio 64", log.before)
        self.assertIn("cpu consumes, format 1", log.before)
        for play, registers in self.each_start(log, PCM512X_RESET, "4d", (1, 0x11)):
            with self.subTest(rate=play.rate):
                self.assertEqual(registers, pcm512x_registers(play.rate, oscillators, dac_divisor))
        self.check_oscillators(log)

    def check_oscillators(self, log):
        """The two never run together; they change before the dividers."""
        for register, value in writes([*log.before, *(event for play in log.plays for event in play.events)], "4d"):
            if register == GPIO_CONTROL:
                self.assertNotEqual(value, LINE_44K | LINE_48K, "both oscillators")
        for play in log.plays:
            order = [register for register, _ in writes(play.until_start, "4d")]
            if GPIO_CONTROL in order and 32 in order:
                self.assertLess(order.index(GPIO_CONTROL), order.index(32))

    def check_consumer(self, log, more=()):
        self.assertIn("cpu provides, format 1", log.before)
        # All that was tried is reset. The PLL takes BCK, and SCK may be missing.
        expected = PCM512X_RESET | {13: 0x10, 37: 0x08} | dict(more)
        for play, registers in self.each_start(log, PCM512X_RESET, "4d", (1, 0x11)):
            with self.subTest(rate=play.rate):
                self.assertEqual(registers, expected)

    def test_with_oscillators(self):
        log = self.play("pcm512x-pro", [*WIDE, *HIGH], "has-oscillators;", refused=50000)
        self.assertIn("The HAT has oscillators", log.text)
        self.check_provider(log, self.PRO, 4)

    @long("image-boards", "an emulator; the default test has another PCM512x")
    def test_with_oscillators_of_the_double_frequency(self):
        self.check_provider(self.play("pcm512x-boss", [*WIDE, *HIGH], "has-oscillators;"), self.BOSS, 8)

    @long("image-boards", "an emulator; the default test has another PCM512x")
    def test_without_oscillators_the_controller_gives_the_clocks(self):
        for properties in ("", "has-fixed-clock;"):
            with self.subTest(properties):
                log = self.play("pcm512x-pro", WIDE, properties)
                self.assertIn("The HAT has no oscillators", log.text)
                self.check_consumer(log)

    @long("image-boards", "an emulator; the default test has another PCM512x")
    def test_a_pin_of_the_codec_unmutes_an_amplifier_while_a_stream_is_open(self):
        log = self.play("pcm512x-justboom", WIDE)
        self.check_consumer(log, {83: 2, GPIO_EN: LINE_AMPLIFIER, GPIO_CONTROL: LINE_AMPLIFIER})
        levels = [value for register, value in writes(log.before, "4d") if register == GPIO_CONTROL]
        self.assertNotIn(LINE_AMPLIFIER, levels, "before a stream")
        for play in log.plays:
            stop = play.events.index("cpu stops")
            levels = [[value for register, value in writes(events, "4d") if register == GPIO_CONTROL]
                      for events in (play.events[:stop], play.events[stop:])]
            self.assertEqual(levels, [[LINE_AMPLIFIER], [0]])


if __name__ == "__main__":
    unittest.main()
