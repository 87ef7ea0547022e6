"""The firmware image's service for Wi-Fi by itself: a state machine, whose time and radio the tests make up."""

import os
import unittest

from image_scripts_wifi import WiFi, hexadecimal, join, request


class Service(WiFi):
    """The state machine, with its own scripts below it."""

    def setUp(self):
        super().setUp()
        self.root.start(self, "wifi-report")
        self.add_interface("eth0")
        self.plug(False)

    def start(self, uptime=16):
        self.at(uptime)
        return self.root.start(self, "wifi")

    def at(self, uptime):
        self.root.write("run/uptime.new", f"{uptime}.00 9.00\n")
        os.rename(self.root.folder / "run/uptime.new", self.root.folder / "run/uptime")

    def plug(self, has_carrier):
        self.root.write("sys/class/net/eth0/carrier", f"{int(has_carrier)}\n")

    def want(self, text):
        self.root.write("run/wifi/wanted.new", text)
        os.rename(self.root.folder / "run/wifi/wanted.new", self.root.folder / "run/wifi/wanted")

    def state(self):
        text = self.root.read("run/wifi/state") or ""
        return dict(line.split("=", 1) for line in text.splitlines())

    def state_file(self):
        return (self.root.folder / "run/wifi/state").stat().st_ino

    def wait_for(self, **state):
        self.root.wait_until(lambda: self.state() == {key.replace("_", "-"): value for key, value in state.items()})

    def wait_for_access_point(self, **more):
        self.wait_for(mode="access-point", access_point="Tonearm-1A2B", address="10.83.84.1", **more)

    def wait_for_trial(self, name):
        self.wait_for(mode="trying", ssid=hexadecimal(name), access_point="Tonearm-1A2B")
        # Then it has looked at the time.
        self.root.wait_until(lambda: self.root.read("run/wifi-trial.log") is not None)

    def count(self, beginning):
        return sum(line.startswith(beginning) for line in self.root.calls)

    def assert_stays(self, **state):
        """For some rounds of the service."""
        before = self.root.calls.count("sleep 1")
        self.root.wait_until(lambda: self.root.calls.count("sleep 1") > before + 5)
        self.wait_for(**state)

    def test_a_board_without_a_network_opens_the_access_point_for_15_minutes(self):
        self.start(14)
        self.assert_stays(mode="off")
        self.at(15)
        self.wait_for_access_point()
        # The radio looks around before it is the access point's.
        calls = self.root.calls
        scan = next(index for index, line in enumerate(calls) if " scan " in line)
        opened = next(index for index, line in enumerate(calls) if line.startswith("wpa_supplicant "))
        self.assertLess(scan, opened)
        self.assertTrue(self.root.read("run/wifi/networks").startswith("-31 "))
        self.root.wait_until(lambda: self.root.read("boot/tonearm-setup.txt"))
        self.at(914)
        self.assert_stays(mode="access-point", access_point="Tonearm-1A2B", address="10.83.84.1")
        self.at(915)
        self.wait_for(mode="off")
        self.at(10_000)
        self.assert_stays(mode="off")
        self.assertEqual(self.count("wpa_supplicant "), 1)

    def test_a_cable_or_a_known_network_needs_none(self):
        self.plug(True)
        self.start()
        self.assert_stays(mode="off")
        self.plug(False)
        self.assert_stays(mode="off")
        self.assertEqual(self.count("wpa_supplicant "), 0)

    def test_a_known_network_needs_none(self):
        self.root.write("run/system.conf", "network.home.ssid=home\nnetwork.home.password=right password\n")
        self.root.write("run/no-address", "")
        self.start()
        self.assert_stays(mode="connecting", ssid="686f6d65")
        self.root.write("run/address-wlan0", "10.0.0.2")
        self.wait_for(mode="connected", ssid="686f6d65")
        self.assertEqual(self.root.read("run/wifi/known"), "file 686f6d65\n")
        self.assertEqual(self.count("wpa_supplicant "), 1)

    def test_cellular_is_no_cable(self):
        self.root.write("run/tonearm/board.conf", "[network]\ncellular = eth0\n")
        self.plug(True)
        self.start()
        self.wait_for_access_point()

    def test_a_cable_closes_it(self):
        self.start()
        self.wait_for_access_point()
        self.plug(True)
        self.wait_for(mode="off")
        self.plug(False)
        self.assert_stays(mode="off")
        self.assertIsNone(self.root.read("run/access-point"))

    def test_an_interface_may_come_late_and_go(self):
        place = self.root.folder / "sys/class/net/wlan0"
        place.rename(self.root.folder / "wlan0")
        self.start()
        self.assert_stays(mode="off")
        (self.root.folder / "wlan0").rename(place)
        self.wait_for_access_point()
        place.rename(self.root.folder / "wlan0")
        self.wait_for(mode="off")
        # A radio that was away for a moment does not end the set-up.
        (self.root.folder / "wlan0").rename(place)
        self.wait_for_access_point()

    def test_one_that_cannot_be_an_access_point_is_not_asked_again(self):
        self.root.write("run/no-access-point", "")
        self.root.program("usleep", "")
        self.start()
        self.root.wait_until(lambda: "wlan0 cannot be an access point" in (self.root.read("kmsg") or ""))
        self.wait_for(mode="off")
        self.assert_stays(mode="off")
        self.assertEqual(self.count("wpa_supplicant "), 2, "it was asked twice")

    def test_a_wrong_password_comes_back_and_the_right_one_is_stored(self):
        self.start()
        self.wait_for_access_point()
        self.root.wait_until(lambda: self.root.read("boot/tonearm-setup.txt"))
        self.at(500)
        self.want(join("home", "wrong password"))
        self.wait_for_access_point(failed="686f6d65", problem="wrong-password")
        self.assertIsNone(self.root.read("data/wifi/network-686f6d65"))
        # For as long as at first.
        self.at(1399)
        self.assert_stays(mode="access-point", access_point="Tonearm-1A2B", address="10.83.84.1", failed="686f6d65",
                          problem="wrong-password")
        self.want(join("home", "right password"))
        self.wait_for(mode="connected", ssid="686f6d65")
        self.assertEqual(self.root.read("run/wifi/known"), "page 686f6d65\n")
        self.assertEqual(self.root.read("data/wifi/network-686f6d65"),
                         f"password={hexadecimal('right password')}\norder=1\n")
        self.assertIsNone(self.root.read("run/wifi-tried"))
        self.root.wait_until(lambda: self.root.read("boot/tonearm-setup.txt") is None)
        self.assertIsNone(self.root.read("run/access-point"))
        self.assert_nothing_is_told("wrong password", "right password")

    def assert_nothing_is_told(self, *secrets):
        """Neither in the log nor where other programs see it."""
        key = self.root.read("run/wifi-setup.told") or ""
        for secret in (*secrets, *(word for word in key.split() if len(word) == 10)):
            for text in (self.root.read("kmsg"), "\n".join(self.root.calls), self.root.read("run/wifi/state"),
                         self.root.read("run/wifi/known")):
                self.assertNotIn(secret, text or "")
                self.assertNotIn(hexadecimal(secret), text or "")

    def test_a_network_that_does_not_answer(self):
        self.root.write("run/no-address", "")
        self.start()
        self.wait_for_access_point()
        self.want(join("home", "right password"))
        self.wait_for_trial("home")
        self.assert_stays(mode="trying", ssid="686f6d65", access_point="Tonearm-1A2B")
        self.at(16 + 40)
        self.wait_for_access_point(failed="686f6d65", problem="no-address")

    def test_a_network_that_is_not_there_or_does_not_fit(self):
        self.start()
        self.wait_for_access_point()
        uptime = 16
        # An open one makes no event here.
        for name, problem in (("nowhere", "not-found"), ("home", "wrong-password"), ("work", "refused")):
            with self.subTest(name):
                self.want(join(name))
                self.wait_for_trial(name)
                uptime += 41
                self.at(uptime)
                self.wait_for_access_point(failed=hexadecimal(name), problem=problem)
        # The engine waits for a new file, also for the same state again.
        for _ in range(2):
            before = self.state_file()
            self.want(join("home", "1234567"))
            self.root.wait_until(lambda before=before: self.state_file() != before)
            self.wait_for_access_point(failed="686f6d65", problem="wrong-password")

    def test_another_request_takes_the_place_of_a_trial(self):
        self.root.write("run/no-address", "")
        self.start()
        self.wait_for_access_point()
        self.want(join("home", "right password"))
        self.wait_for_trial("home")
        self.want(join("other", "wrong password"))
        self.wait_for_access_point(failed=hexadecimal("other"), problem="wrong-password")

    def test_other_requests_during_a_trial(self):
        self.root.write("run/no-address", "")
        self.start()
        self.wait_for_access_point()
        self.want(join("home", "right password"))
        self.wait_for_trial("home")
        for text in ("scan\n", request("forget", ssid="00ff"), "nonsense\n"):
            self.want(text)
            self.root.wait_until(lambda: not (self.root.folder / "run/wifi/wanted").exists())
            self.assert_stays(mode="trying", ssid="686f6d65", access_point="Tonearm-1A2B")
        self.root.write("run/address-wlan0", "10.0.0.2")
        self.root.wait_until(lambda: self.root.read("data/wifi/network-686f6d65"))
        self.assertEqual(self.root.read("data/wifi/network-686f6d65"),
                         f"password={hexadecimal('right password')}\norder=1\n")

    def test_a_cable_during_a_trial(self):
        self.root.write("run/no-address", "")
        self.start()
        self.wait_for_access_point()
        self.want(join("home", "right password"))
        self.wait_for_trial("home")
        self.plug(True)
        self.at(16 + 41)
        self.wait_for(mode="off", failed="686f6d65", problem="no-address")

    def test_the_former_network_is_used_again(self):
        self.root.write("run/system.conf", "network.home.ssid=home\nnetwork.home.password=right password\n")
        self.start()
        self.wait_for(mode="connected", ssid="686f6d65")
        self.want(join("other", "wrong password"))
        self.wait_for(mode="connected", ssid="686f6d65", failed=hexadecimal("other"), problem="wrong-password")
        self.assertIsNone(self.root.read("run/access-point"))
        self.assertIsNone(self.root.read("boot/tonearm-wifi.txt"), "what was tried is told by the page")
        self.want(join("other", "right password"))
        both = f"page {hexadecimal('other')}\nfile 686f6d65\n"
        self.root.wait_until(lambda: self.root.read("run/wifi/known") == both)
        self.want(request("forget", ssid=hexadecimal("other")))
        self.root.wait_until(lambda: self.root.read("run/wifi/known") == "file 686f6d65\n")
        self.wait_for(mode="connected", ssid="686f6d65")

    def test_a_list_is_made_on_request(self):
        self.root.write("run/system.conf", "network.home.ssid=home\nnetwork.home.password=right password\n")
        self.start()
        self.wait_for(mode="connected", ssid="686f6d65")
        self.assertIsNone(self.root.read("run/wifi/networks"))
        self.want("scan\n")
        self.root.wait_until(lambda: (self.root.read("run/wifi/networks") or "").startswith("-31 "))

    def test_the_access_point_opens_again_when_something_of_it_ends(self):
        self.start()
        self.wait_for_access_point()
        for name in ("wpa", "leases", "names"):
            before = self.root.read(f"run/{name}.pid")
            os.kill(int(before), 9)
            self.root.wait_until(lambda name=name, before=before: self.runs_anew(name, before))

    def test_a_service_that_ended_goes_on(self):
        process = self.start()
        self.wait_for_access_point()
        self.want(join("home", "wrong password"))
        self.wait_for_access_point(failed="686f6d65", problem="wrong-password")
        before = self.root.read("run/wpa.pid")
        self.at(900)
        process.kill()
        process.wait(60)
        # As long as at first, no longer.
        self.root.start(self, "wifi")
        self.wait_for_access_point()
        self.assertNotEqual(self.root.read("run/wpa.pid"), before)
        self.at(916)
        self.wait_for(mode="off")

    def runs_anew(self, name, before):
        return self.root.read("run/names.pid") and self.root.read(f"run/{name}.pid") not in (None, before)


if __name__ == "__main__":
    unittest.main()
