"""The board keeps an album of the origin over its Ethernet, and plays it when the network and the power are gone."""

import os
import tempfile
import time
import unittest
from pathlib import Path

from virtual_board.daemon import Daemon, board_with_daemon
from virtual_board.music import tune, write_album
from virtual_board.origin import HOST, Origin
from virtual_board.parts import long
from virtual_board.sound import Recorder, difference_across_pause

RATE = 44_100
#: In frames, 50 ms: at most so many may be heard again after a pause.
REPEATED = RATE // 20
#: Of the button for play and pause in the board's profile.
PLAY_BUTTON = 0
#: Over downloads and validations together (tools/board-test --power-cuts).
CUTS = int(os.environ.get("TONEARM_OFFLINE_CUTS") or 20)
#: For how long nothing may happen over a cellular network, by the board's clock.
METERED_SECONDS = 5


class Offline(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.album = tune(RATE, 16, seconds=6, seed=31)
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.music = Path(folder.name)
        write_album(cls.music, cls.album, 77_777, 160_001)

    def start(self, *origin, **power):
        self.origin = Origin(self.music, *origin)
        self.addCleanup(self.origin.stop)
        self.board = board_with_daemon(
            settings={("service", "url"): self.origin.address, ("network", "ca-file"): "/data/origin.pem",
                      ("audio", "fades"): "off", ("offline", "free-space"): "1", ("player", "resume"): "empty"},
            files={"origin.pem": self.origin.certificate})
        self.addCleanup(self.board.discard)
        self.power_on(**power)

    def power_on(self, **power):
        self.board.power_on(**power)
        self.daemon = Daemon(self.board)
        self.daemon.wait_until_ready()

    def keep(self, *numbers):
        self.daemon.ask("offline", "add", *(f"tonearm:track/{number}" for number in numbers))

    def wait_for_status(self, **wanted):
        deadline = self.board.deadline()
        while True:
            status = self.daemon.ask("offline", "status")
            if all(status[name] == value for name, value in wanted.items()):
                return
            self.assertFalse(deadline.has_passed, f"{wanted} did not come: {status}\n{self.daemon.log}")
            time.sleep(0.05)

    def press_play(self, watch, state):
        """Presses the button, and waits until it is obeyed."""
        seen = len(watch.events)
        self.board.press(PLAY_BUTTON)
        watch.wait_for("state", seen, state=state)

    def play_album(self):
        self.daemon.ask("volume", "100")
        watch = self.daemon.watch()
        recorder = Recorder(self.board, RATE)
        self.daemon.ask("queue", "set", *(f"tonearm:track/{number}" for number in (1, 2, 3)), "--play")
        watch.wait_for_position(1)
        # The button works, with the network gone.
        self.press_play(watch, "paused")
        self.board.press(PLAY_BUTTON)
        watch.wait_for_end()
        self.assertIsNone(difference_across_pause(recorder.stop(), self.album.bytes, REPEATED))

    def test_an_offline_copy_plays_without_the_cable_and_after_a_power_cut(self):
        self.assert_copies_play("1970-01-01T00:00:10")

    @long("board-daemon", "four starts, and the album three times")
    def test_an_offline_copy_plays_whatever_the_clock_says(self):
        self.assert_copies_play("1970-01-01T00:00:10", "2040-01-01T00:00:10")

    def assert_copies_play(self, *clocks):
        self.start()
        self.keep(1, 2, 3)
        self.wait_for_status(kept=3, downloads=0)
        self.board.pull_cable()
        if len(clocks) > 1:
            self.play_album()
        self.board.cut_power()
        # The clock is wrong: nothing has expired.
        for clock in clocks:
            self.power_on(network=False, clock=clock)
            self.play_album()
            if clock != clocks[-1]:
                self.board.cut_power()
        self.assertEqual(self.daemon.ask("offline", "verify", "tonearm:track/2"), {"id": 1, "ok": True, "whole": True})

    @long("board-daemon", "the tests of routes on the host have every network, with real interfaces")
    def test_a_cellular_network_is_used_only_when_the_setting_allows_it(self):
        self.start("--offline-revalidate", "1")
        self.keep(1)
        self.wait_for_status(kept=1, downloads=0)
        before = self.valid_until()
        # The profile says that this interface is cellular.
        result = self.board.run_script(
            "ip link set eth0 down && ip link set eth0 name wwan0 && ip link set wwan0 up && "
            f"ip addr add 10.0.2.15/24 dev wwan0; ip route add default via {HOST}")
        self.assertEqual(result.exit_code, 0, result.stderr)
        self.keep(2)
        self.wait_for_status(kept=1, downloads=1, waitsFor="unmetered-network")
        self.daemon.restart()
        self.wait_for_status(kept=1, downloads=1, waitsFor="unmetered-network")
        # Meanwhile the offline copy plays, and the button works.
        self.daemon.ask("repeat", "all")
        watch = self.daemon.watch()
        self.daemon.ask("queue", "set", "tonearm:track/1", "--play")
        watch.wait_for("state", state="playing")
        end = self.board.clock() + METERED_SECONDS * 1_000_000_000
        while self.board.clock() < end:
            self.press_play(watch, "paused")
            self.press_play(watch, "playing")
            self.assertEqual(self.valid_until(), before, "it was validated over the cellular network")
            self.wait_for_status(kept=1, downloads=1, waitsFor="unmetered-network")
        self.daemon.ask("config", "set", "offline.over-cellular", "yes")
        self.press_play(watch, "paused")
        self.press_play(watch, "playing")
        self.wait_for_status(kept=2, downloads=0)
        self.wait_for_validation(before)

    def valid_until(self):
        """Of each offline copy, in seconds since 1970."""
        return {it["product"]: it["validUntil"] for it in self.daemon.ask("offline", "list")["entries"]}

    def wait_for_validation(self, before):
        """Waits until each product is valid for longer than it was."""
        deadline = self.board.deadline()
        while not all(self.valid_until()[product] > until for product, until in before.items()):
            self.assertFalse(deadline.has_passed, f"not validated since {before}: {self.valid_until()}")
            time.sleep(0.05)

    @long("board-cuts-offline", "each cut is another start")
    def test_power_cuts_while_it_downloads_and_validates(self):
        """The origin is slow, so that each cut is in the middle of one or the other."""
        plan = self.music.parent / f"{self.music.name}.faults"
        plan.write_text(
            "[fault slow]\npath = /v1/tracks/*/playbackinfo\nbytes-per-second = 1000\n"
            "[fault also slow]\npath = *\nbytes-per-second = 100000\n")
        self.addCleanup(plan.unlink)
        self.start("--faults", plan, "--offline-revalidate", "1")
        self.keep(1, 2, 3)
        for cut in range((CUTS + 1) // 2):
            self.cut_and_start(cut)
            status = self.daemon.ask("offline", "status")
            self.assertEqual(status["kept"] + status["downloads"], 3, f"after cut {cut}: {status}")
        self.wait_for_status(kept=3, downloads=0)
        # All products are due at each start, and validated one after the other.
        before = valid = self.valid_until()
        for cut in range(max(1, CUTS // 2)):
            self.cut_and_start(cut)
            former, valid = valid, self.valid_until()
            self.assertEqual(valid.keys(), former.keys(), f"after cut {cut}")
            for product, until in former.items():
                self.assertGreaterEqual(valid[product], until, f"{product} after cut {cut}")
        self.wait_for_validation(before)
        self.wait_for_status(kept=3, downloads=0)
        self.board.pull_cable()
        self.play_album()

    def cut_and_start(self, cut):
        """Cuts the power 0 to 2.7 s from now on."""
        self.board.run("sleep", f"{cut * 7 % 10 * 0.3:.1f}")
        self.board.cut_power()
        self.power_on()


if __name__ == "__main__":
    unittest.main()
