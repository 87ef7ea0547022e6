"""What the tests of HATs' sound cards share: a card that plays in the emulator, and the registers of a chip as its
drivers have left them."""

import tempfile
import unittest
from pathlib import Path

from .hat import play_on


def of_44k(rate):
    return rate % 11025 == 0


def writes(events, chip):
    """Registers and values written to a chip, with the page: `i2c 4d 0 56=20`."""
    for event in events:
        words = event.split()
        if words[:2] == ["i2c", chip]:
            register, _, value = words[3].partition("=")
            yield int(words[2], 16) << 8 | int(register, 16), int(value, 16)


class Card(unittest.TestCase):
    def play(self, overlay, plays, properties="", refused=None, controls=()):
        """With a rate that the card refuses: aplay then takes another one."""
        asked = [*([(refused, "S24_LE")] if refused else []), *plays]
        with tempfile.TemporaryDirectory() as folder:
            log = play_on(Path(folder), overlay, asked, properties, controls)
        self.assertEqual(len(log.plays), len(asked), log.text[-3000:])
        for play in log.plays:
            self.assertIn("played with 0", play.events, log.text[-3000:])
            self.assertIn("cpu stops", play.events)
        if refused:
            other = log.plays.pop(0)
            self.assertNotIn(f"cpu starts at {refused}", other.events)
            log.before += other.events
        return log

    def each_start(self, log, reset, chip, reset_write=(None, None)):
        """Each play with the chip's registers when its stream starts. `reset` are those after a reset that the drivers
        write at all; `reset_write` is the register and the value that make it, where a write does."""
        registers = dict(reset)

        def follow(events):
            for register, value in writes(events, chip):
                if (register, value) == reset_write:
                    registers.clear()
                    registers.update(reset)
                elif register != reset_write[0]:
                    registers[register] = value

        starts = []
        follow(log.before)
        for play in log.plays:
            before = play.until_start
            follow(before)
            starts.append((play, dict(registers)))
            follow(play.events[len(before):])
        return starts
