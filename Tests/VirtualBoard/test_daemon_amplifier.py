"""The amplifier of a board, and the system calls around it."""

import re
import tempfile
import unittest
from pathlib import Path

from virtual_board.daemon import Daemon, board_with_daemon
from virtual_board.music import tune, write_flac
from virtual_board.parts import long

#: In milliseconds.
MUTE_BEFORE_START, UNMUTE_AFTER_START, MUTE_BEFORE_STOP = 20, 40, 30

#: The virtual board with an amplifier at the line of its light.
PROFILE = f"""\
[board]
name = Virtual board with an amplifier
chip = 9030000.pl061
[sound]
card = HiFi
[amplifier]
line = 7
role = enable
mute-before-start = {MUTE_BEFORE_START} ms
unmute-after-start = {UNMUTE_AFTER_START} ms
mute-before-stop = {MUTE_BEFORE_STOP} ms
"""

#: The requests to the kernel, by the numbers in sound/asound.h.
REQUESTS = {0xc2604111: "open", 0x4142: "start", 0x4144: "drain"}

#: Has the kernel note those requests, and what it does with the line.
TRACING = f"""\
mount -t tracefs trace /sys/kernel/tracing || exit
cd /sys/kernel/tracing || exit
echo mono >trace_clock
echo '{" || ".join(f"cmd == {number:#x}" for number in REQUESTS)}' >events/syscalls/sys_enter_ioctl/filter
echo 'get == 0' >events/gpio/gpio_value/filter
echo 1 >events/syscalls/sys_enter_ioctl/enable
echo 1 >events/gpio/gpio_value/enable
"""


class Amplifier(unittest.TestCase):
    @long("board-playing", "its own start; the tests of the amplifier prove the order without a card")
    def test_it_is_muted_while_the_card_is_reopened_for_another_sample_rate(self):
        with tempfile.TemporaryDirectory() as folder:
            for number, rate in enumerate([44_100, 96_000], start=1):
                write_flac(Path(folder) / f"album/{number}.flac", tune(rate, 16, seconds=2, seed=number))
            board = board_with_daemon(
                Path(folder), {("board", "profile"): "/data/amplifier.conf"}, {"amplifier.conf": PROFILE})
        self.addCleanup(board.discard)
        board.power_on()
        daemon = Daemon(board)
        daemon.wait_until_ready()
        tracing = board.run_script(TRACING)
        self.assertEqual(tracing.exit_code, 0, tracing.stderr)
        watch = daemon.watch()
        daemon.ask("queue", "set", "/data/music/album", "--play")
        watch.wait_for("queue", index=1)
        watch.wait_for_end()
        trace = board.run("cat", "/sys/kernel/tracing/trace").stdout

        # The order alone. How long each step waits is judged by the unit tests of AmplifierSequence, on a clock that is
        # driven by hand: time stamps of a busy machine say when something was noted, not when it was decided.
        self.assertEqual(
            self.steps(trace)[:8], ["open", "start", "unmute", "drain", "mute", "open", "start", "unmute"], trace)

    @staticmethod
    def steps(trace):
        """Names of what is in a trace, in order; several of one name in a row are one."""
        steps = []
        for line in trace.splitlines():
            found = re.search(r" \d+\.\d+: (?:sys_ioctl\(.*cmd: (\w+)|gpio_value: \d+ set (\d))", line)
            if found:
                request, level = found.groups()
                name = REQUESTS[int(request, 16)] if request else ["mute", "unmute"][int(level)]
                if not steps or steps[-1] != name:
                    steps.append(name)
        return steps
