"""The firmware image's scripts for Wi-Fi by themselves: with a time, radios and servers that the tests make up."""

import os
import unittest

from virtual_board.script_root import ScriptRoot

#: A program that does not end by itself.
LASTING = "exec /bin/sleep 100000 >/dev/null 2>&1"

#: Reports what its configuration deserves: an access point opens; the password `right password` lets the board in,
#: where the network gives out addresses; another one is wrong.
SUPPLICANT = r"""
while [ $# -gt 0 ]; do
    case $1 in -c) settings=$2 ;; -f) events=$2 ;; esac
    shift
done
cp "$settings" /run/supplicant-settings
if grep -q mode=2 "$settings"; then
    [ -e /run/no-access-point ] || echo "wlan0: AP-ENABLED" >>"$events"
elif grep -q 'psk="right password"' "$settings"; then
    echo "wlan0: CTRL-EVENT-CONNECTED - Connection to 02:00:00:00:01:00 completed [id=0 id_str=]" >>"$events"
    [ -e /run/no-address ] || echo 10.0.0.2 >/run/address-wlan0
elif grep -q 'psk="' "$settings"; then
    echo 'wlan0: CTRL-EVENT-SSID-TEMP-DISABLED id=0 ssid="x id=7" auth_failures=1 duration=10 reason=WRONG_KEY' \
        >>"$events"
fi
exec /bin/sleep 100000 >/dev/null 2>&1
"""

#: As iw writes it.
SCAN = r"""BSS 02:00:00:00:01:00(on wlan0)
    last seen: 1 ms ago
    freq: 2412
    capability: ESS Privacy ShortSlotTime (0x0411)
    signal: -57.00 dBm
    SSID: home
    RSN:     * Version: 1
         * Group cipher: CCMP
         * Pairwise ciphers: CCMP
         * Authentication suites: PSK PSK/SHA-256
         * Capabilities: 1-PTKSA-RC (0x0000)
BSS 02:00:00:00:02:00(on wlan0)
    capability: ESS Privacy ShortSlotTime (0x0411)
    signal: -31.00 dBm
    SSID: home
    RSN:     * Version: 1
         * Authentication suites: PSK SAE FT/PSK
BSS 02:00:00:00:03:00(on wlan0)
    capability: ESS ShortSlotTime (0x0401)
    signal: -80.00 dBm
    SSID: \x20caf\xc3\xa9 \x5c\x20
BSS 02:00:00:00:04:00(on wlan0)
    capability: ESS Privacy (0x0011)
    signal: -70.00 dBm
    SSID: \x00\x00\x00
BSS 02:00:00:00:05:00(on wlan0)
    capability: ESS Privacy (0x0011)
    signal: -71.00 dBm
    SSID:
BSS 02:00:00:00:06:00(on wlan0)
    capability: ESS Privacy (0x0011)
    signal: 80/100
    SSID: wep
BSS 02:00:00:00:07:00(on wlan0)
    capability: ESS Privacy (0x0011)
    signal: -40.00 dBm
    SSID: work
    RSN:     * Version: 1
         * Authentication suites: IEEE 802.1X IEEE 802.1X/SHA-256
    Extended capabilities:
         * Authentication suites: PSK
BSS 02:00:00:00:08:00(on wlan0)
    capability: ESS Privacy (0x0011)
    signal: -41.00 dBm
    SSID: new
    RSN:     * Version: 1
         * Authentication suites: SAE
BSS 02:00:00:00:09:00(on wlan0)
    capability: ESS Privacy (0x0011)
    signal: -42.00 dBm
    SSID: old
    WPA:     * Version: 1
         * Authentication suites: PSK
""".replace("    ", "\t")


def hexadecimal(text):
    return text.encode().hex()


def request(action, **values):
    """What the engine writes."""
    return f"{action}\n" + "".join(f"{key}={value}\n" for key, value in values.items())


def join(name, password=None, **more):
    secret = {} if password is None else {"password": hexadecimal(password)}
    return request("join", ssid=hexadecimal(name), **secret, **more)


class WiFi(unittest.TestCase):
    def setUp(self):
        self.root = ScriptRoot(self)
        for name, script in (("sleep", "exec /bin/sleep 0.02"), ("iw", "cat /run/iw"), ("wpa_supplicant", SUPPLICANT),
                             ("udhcpd", LASTING), ("tinydns", LASTING),
                             ("tinydns-data", "cp data data.cdb")):
            self.root.program(name, script)
        self.root.write("run/iw", SCAN)
        self.root.write("run/system.conf", "")
        self.root.write("run/uptime", "5.00 9.00\n")
        common = self.root.read("usr/lib/tonearm/common")
        self.root.write("usr/lib/tonearm/common", common.replace("/proc/uptime", f"{self.root.folder}/run/uptime"))
        (self.root.folder / "run/wifi").mkdir()
        os.mkfifo(self.root.folder / "run/wifi-events")
        self.add_interface("wlan0", "phy80211")

    def add_interface(self, name, *folders):
        for folder in ("device", *folders):
            (self.root.folder / "sys/class/net" / name / folder).mkdir(parents=True)
        self.root.write(f"sys/class/net/{name}/address", "02:00:00:00:1a:2b\n")

    def mode(self, name):
        return (self.root.folder / name).stat().st_mode & 0o777


class Requests(WiFi):
    def take(self, text):
        """The request as it is taken, or None."""
        self.root.write("run/wifi/wanted", text)
        code = self.root.run("wifi-wanted").returncode
        self.assertFalse((self.root.folder / "run/wifi/wanted").exists())
        taken = self.root.read("run/wifi-request")
        self.assertEqual(code == 0, taken is not None)
        return taken

    def test_what_is_right_is_taken_as_it_is(self):
        for text in (join("home", "12345678"), join("home", "x" * 63, hidden="yes"), join("café"), "scan\n",
                     join("home", "0123456789abcdefABCDEF" + "0" * 42),
                     request("forget", ssid="00ff"), join("x" * 32, "пароль пароль")):
            self.assertEqual(self.take(text), text)
            self.assertEqual(self.mode("run/wifi-request"), 0o600)

    def test_what_is_not_known_is_left_out(self):
        self.assertEqual(self.take(join("home", other="1") + "rubbish\n"), join("home"))
        self.assertEqual(self.take("scan\nssid=00\npassword=0011\n"), "scan\n")

    def test_a_password_that_no_network_can_have_is_marked(self):
        for secret in (hexadecimal("1234567"), hexadecimal("x" * 64), hexadecimal("0" * 65), "zz" * 8, "313",
                       hexadecimal("1234\n5678"),
                       hexadecimal("1234567\x7f"), "00" * 8):
            with self.subTest(secret):
                taken = self.take(request("join", ssid="00", password=secret))
                self.assertEqual(taken, "join\nssid=00\nbad-password\n")

    def test_what_is_no_request_is_not_taken(self):
        for text in ("", "\n", "reboot\n", "join\n", "forget\n", "join\nssid=\n", "join\nssid=abc\n", "join\nssid=AB\n",
                     "join\nssid=$(reboot)\n", f"join\nssid={'00' * 33}\n", "ssid=00\njoin\n"):
            with self.subTest(text):
                self.assertIsNone(self.take(text))

    def test_links_and_folders_are_not_followed(self):
        place = self.root.folder / "run/wifi/wanted"
        self.root.write("data/secret", join("home"))
        for make in (lambda: place.symlink_to(self.root.folder / "data/secret"), place.mkdir):
            make()
            self.assertEqual(self.root.run("wifi-wanted").returncode, 1)
            self.assertIsNone(self.root.read("run/wifi-request"))
        self.assertIsNotNone(self.root.read("data/secret"))
        # A folder is not cleared: its owner could put links into it meanwhile.
        self.assertTrue(place.is_dir())
        place.rmdir()
        self.assertEqual(self.take(join("home", "12345678")), join("home", "12345678"))


class Scan(WiFi):
    def networks(self):
        return (self.root.read("run/wifi/networks") or "").splitlines()

    def test_each_ssid_is_listed_once_with_what_it_takes_to_join_it(self):
        self.root.run("wifi-scan", "wlan0")
        self.assertEqual(self.networks(), [
            "-31 wpa2+wpa3 686f6d65", f"-40 other {hexadecimal('work')}", f"-41 wpa3 {hexadecimal('new')}",
            f"-42 wpa2 {hexadecimal('old')}", f"-60 other {hexadecimal('wep')}",
            f"-80 open {hexadecimal(' café ')}5c20"])
        self.assertEqual(self.mode("run/wifi/networks"), 0o644)

    def test_at_most_64(self):
        self.root.write("run/iw", "".join(f"BSS 0{number}\n\tsignal: -{number}.00 dBm\n\tSSID: net{number}\n"
                                          for number in range(1, 90)))
        self.root.run("wifi-scan", "wlan0")
        self.assertEqual(len(self.networks()), 64)
        self.assertEqual(self.networks()[0], f"-1 open {hexadecimal('net1')}")

    def test_a_busy_radio_is_asked_again(self):
        self.root.program("iw", """
            [ -e /run/asked ] && exec cat /run/iw
            touch /run/asked
            echo "command failed: Device or resource busy (-16)" >&2
            exit 240
        """)
        self.root.run("wifi-scan", "wlan0")
        self.assertEqual(len(self.networks()), 6)

    def test_one_that_cannot_scan_is_not(self):
        self.root.write("run/wifi/networks", "-1 open 00\n")
        self.root.program("iw", "echo 'command failed: Operation not supported (-95)' >&2\nexit 161")
        self.root.run("wifi-scan", "wlan0", "ap-force")
        self.assertEqual(self.root.calls.count("iw dev wlan0 scan flush ap-force"), 1)
        # Nor does a kernel that has seen nothing replace the list.
        self.root.program("iw", "")
        self.root.run("wifi-scan", "wlan0", "dump")
        self.assertEqual(self.networks(), ["-1 open 00"])


class Known(WiFi):
    def settings(self):
        """wpa_supplicant's, by network."""
        self.assertEqual(self.root.run("wifi-station", "wlan0").returncode, 0)
        self.end("run/wpa.pid")
        self.assertEqual(self.mode("run/wpa.conf"), 0o600)
        return [block.split() for block in self.root.read("run/wpa.conf").split("network={")[1:]]

    def end(self, name):
        os.kill(int(self.root.read(name)), 9)

    def keep(self, text):
        self.root.write("run/wifi-tried", text)
        self.assertEqual(self.root.run("wifi-store", "keep", text.split()[1].split("=")[1]).returncode, 0)

    def test_networks_of_the_file_and_of_the_page(self):
        self.root.write("run/system.conf", "network.home.ssid=first\nnetwork.home.password=my.key=12345\n"
                                           "network.b.ssid=second\nnetwork.b.security=open\nnetwork.b.hidden=yes\n")
        self.keep(join("café", 'a "quoted" \\x20 key', hidden="yes"))
        self.keep(join("first", "another password"))
        self.keep(join("key", "0123456789abcdef" * 4))
        self.assertEqual(self.root.run("wifi-known").stdout.splitlines(), [
            f"page {hexadecimal('café')}", f"page {hexadecimal('first')}", f"page {hexadecimal('key')}",
            f"file {hexadecimal('first')} home",
            f"file {hexadecimal('second')} b"])
        self.settings()
        settings = self.root.read("run/wpa.conf")
        self.assertIn('psk="a "quoted" \\x20 key"\n', settings)
        self.assertIn('psk="my.key=12345"\n', settings)
        self.assertIn(f"psk={'0123456789abcdef' * 4}\n", settings)
        self.assertEqual([f"ssid={hexadecimal(name)}" in block and "scan_ssid=1" in block
                          for name, block in zip(("café", "first", "key", "first", "second"), self.settings())],
                         [True, False, False, False, True])
        # The one that was named last comes first, and those of the page before the others.
        self.assertEqual([[word for word in block if word.startswith("priority")] for block in self.settings()],
                         [["priority=1"], ["priority=2"], ["priority=3"], [], []])

    def test_they_are_stored_for_root_alone_and_forgotten(self):
        self.keep(join("home", "12345678"))
        self.assertEqual(self.root.read("data/wifi/network-686f6d65"),
                         f"password={hexadecimal('12345678')}\norder=1\n")
        self.assertEqual((self.mode("data/wifi"), self.mode("data/wifi/network-686f6d65")), (0o700, 0o600))
        # Another password replaces it.
        self.keep(join("home"))
        self.assertEqual(self.root.read("data/wifi/network-686f6d65"), "order=2\n")
        # Without the network that was tried nothing is replaced.
        self.root.folder.joinpath("run/wifi-tried").unlink()
        self.assertNotEqual(self.root.run("wifi-store", "keep", "686f6d65").returncode, 0)
        self.assertEqual(self.root.read("data/wifi/network-686f6d65"), "order=2\n")
        self.assertIn("key_mgmt=NONE", self.settings()[0])
        self.root.run("wifi-store", "forget", "686f6d65")
        self.assertEqual(self.root.run("wifi-known").stdout, "")
        self.assertEqual(self.root.run("wifi-station", "wlan0").returncode, 1)

    def test_power_loss_while_one_is_stored_leaves_the_one_before(self):
        self.keep(join("home", "12345678"))
        # The moment before the new file takes its place.
        self.root.program("mv", "exit 1")
        self.root.write("run/wifi-tried", join("home", "another password"))
        self.assertNotEqual(self.root.run("wifi-store", "keep", "686f6d65").returncode, 0)
        self.assertEqual(self.root.run("wifi-known").stdout, "page 686f6d65\n")
        self.assertEqual(self.root.read("data/wifi/network-686f6d65"),
                         f"password={hexadecimal('12345678')}\norder=1\n")

    def test_a_full_card_has_room_for_one(self):
        self.root.write("data/system/reserve", "room")
        self.root.program("cp", '[ ! -e /data/system/reserve ] && exec /bin/cp "$@"')
        self.keep(join("home", "12345678"))
        self.assertIsNotNone(self.root.read("data/wifi/network-686f6d65"))


class AccessPoint(WiFi):
    def open(self):
        """The key that a person reads."""
        reader = os.open(self.root.folder / "run/wifi-events", os.O_RDWR)
        try:
            result = self.root.run("access-point", "open", "wlan0")
            self.assertEqual((result.returncode, result.stderr), (0, ""))
        finally:
            os.close(reader)
            self.root.run("access-point", "close")
        return self.root.read("run/wifi-setup").split("Password: ")[1].split()[0]

    def test_the_key_is_the_same_each_time_and_another_one_on_another_board(self):
        key = self.open()
        self.assertRegex(key, "^[a-km-np-z2-9]{10}$")
        self.assertEqual(self.open(), key)
        self.assertEqual(self.mode("data/wifi/secret"), 0o600)
        self.assertIn(f'psk="{key}"', self.root.read("run/supplicant-settings"))
        self.assertIn('ssid="Tonearm-1A2B"', self.root.read("run/supplicant-settings"))
        (self.root.folder / "data/wifi/secret").unlink()
        self.assertNotEqual(self.open(), key)

    def test_a_secret_that_is_not_whole_is_replaced(self):
        self.root.write("data/wifi/secret", "half")
        self.assertRegex(self.open(), "^[a-km-np-z2-9]{10}$")
        self.assertEqual((self.root.folder / "data/wifi/secret").stat().st_size, 32)

    def test_its_network_has_addresses_and_names(self):
        self.open()
        calls = self.root.calls
        self.assertIn("ip address replace 10.83.84.1/24 dev wlan0", calls)
        self.assertEqual(self.root.read("run/names/data.cdb"), ".:10.83.84.1:a:10\n+*:10.83.84.1:10\n")
        self.assertIn("opt dns 10.83.84.1\n", self.root.read("run/leases.conf"))
        self.assertEqual(calls[-1], "ip -4 address flush dev wlan0")
        self.assertIsNone(self.root.read("run/access-point"))


if __name__ == "__main__":
    unittest.main()
