"""Wi-Fi of the firmware image by request, between simulated radios: the set-up from a phone, and joining and leaving
networks. The phone uses the page; other requests are written as the engine writes them."""

import json
import random
import time
import unittest

from image_wifi import PASSWORD, RADIOS, access_point
from virtual_board.image_board import ImageBoard
from virtual_board.parts import long

SETUP = "tonearm-setup.txt"
CHECK = "connectivitycheck.gstatic.com"

#: Radio 2 in a network namespace of its own, as a phone: it joins the network of the access point, and gets an address.
PHONE = r"""
cat >/tmp/phone.conf <<END
network={{
    ssid="{ssid}"
    psk="{key}"
}}
END
cat >/tmp/phone-address <<'END'
#!/bin/sh
[ "$1" != bound ] || {{ ip address replace $ip/$mask dev $interface; echo "$router $dns" >/tmp/phone-servers; }}
END
chmod +x /tmp/phone-address
cp /usr/bin/wpa_supplicant /tmp/phone
busybox unshare -n sleep 100000 &
space=$!
until [ "$(readlink /proc/$space/ns/net)" != "$(readlink /proc/self/ns/net)" ]; do usleep 10000; done
iw phy phy2 set netns $space
echo $space >/tmp/phone-space
busybox nsenter -t $space -n /tmp/phone -i wlan2 -c /tmp/phone.conf -D nl80211 >/tmp/phone.log 2>&1 &
wait
"""

#: What the phone runs.
INSIDE = 'busybox nsenter -t "$(cat /tmp/phone-space)" -n'


def hexadecimal(text):
    return text.encode().hex()

#: Power cuts while a network is joined, and in seconds how long that takes at most.
CUTS, JOINING = 4, 12
SEED = 20_261_126


class Setup(unittest.TestCase):
    def new_board(self):
        board = ImageBoard()
        self.addCleanup(board.discard)
        return board

    def start(self, board, *points, network=False):
        """Starts the board, and the access points of its neighbours."""
        board.power_on(network=network)
        board.start_script(RADIOS + "".join(points) + "wait\n")

    def state(self, board):
        text = board.run("cat", "/run/wifi/state").stdout
        return dict(line.split("=", 1) for line in text.splitlines())

    def wait_for(self, board, mode, **more):
        """Waits for a state; returns it."""
        lines = [f"mode={mode}", *(f"{key}={value}" for key, value in more.items())]
        board.wait_until(" && ".join(f"grep -qx '{line}' /run/wifi/state" for line in lines))
        return self.state(board)

    def want(self, board, action, ssid=None, password=None, hidden=False):
        """As the engine: its user, a file beside it, then its name."""
        lines = [action]
        lines += [f"ssid={hexadecimal(ssid)}"] if ssid is not None else []
        lines += [f"password={hexadecimal(password)}"] if password is not None else []
        lines += ["hidden=yes"] if hidden else []
        text = "\\n".join(lines)
        board.run_script(f"umask 077; printf '{text}\\n' >/run/wifi/wanted.new; chown tonearm /run/wifi/wanted.new; "
                         "mv /run/wifi/wanted.new /run/wifi/wanted")

    def wait_for_network(self, board, line):
        """Waits until a scan has found a network; the first one may have been before its access point was there."""
        self.want(board, "scan")
        board.wait_until(f"grep -q ' {line}$' /run/wifi/networks || {{ [ -e /run/wifi/wanted ] || "
                         "echo scan >/run/wifi/wanted; sleep 2; false; }")

    def credentials(self, board):
        """SSID and key, as a person reads them."""
        board.wait_until("[ -s /run/wifi-setup.told ] && [ ! -e /run/boot-held ]")
        words = board.read_file(SETUP).split()
        return words[words.index("Network:") + 1], words[words.index("Password:") + 1]

    def join_with_phone(self, board, ssid, key):
        board.start_script(PHONE.format(ssid=ssid, key=key))
        board.wait_until("grep -q CTRL-EVENT-CONNECTED /tmp/phone.log")
        board.wait_until(f"{INSIDE} udhcpc -i wlan2 -n -q -t 5 -s /tmp/phone-address >/dev/null 2>&1")

    def phone(self, board, *words):
        return board.run_script(f"{INSIDE} {' '.join(words)}")

    def get(self, board, host, path):
        """What the phone gets when it takes the board for this host."""
        return board.run_script(f"printf 'GET {path} HTTP/1.1\\r\\nHost: {host}\\r\\nConnection: close\\r\\n\\r\\n' | "
                                f"{INSIDE} busybox nc 10.83.84.1 80").stdout

    def post(self, board, name, **fields):
        """A request of the page on the phone; the answer."""
        answer = self.phone(board, "busybox wget -q -O - --header 'Content-Type: application/json' --post-data",
                            f"'{json.dumps(fields)}' http://10.83.84.1/api/{name}")
        self.assertEqual(answer.exit_code, 0, answer.stderr)
        return json.loads(answer.stdout)

    def assert_is_in(self, board, number):
        board.wait_until(f"ip address show wlan0 | grep -q 192.168.{number}.1[0-9]")
        board.wait_until(f"busybox ping -c 1 -W 5 192.168.{number}.1 >/dev/null")

    def assert_tells_no_secrets(self, board, *secrets):
        log = board.log()
        for secret in secrets:
            self.assertNotIn(secret, log)
            self.assertNotIn(hexadecimal(secret), log)

    @long("image-setup", "two starts, and an access point that opens three times")
    def test_a_phone_brings_the_board_into_a_network(self):
        board = self.new_board()
        self.start(board, access_point(1, "home"))
        state = self.wait_for(board, "access-point")
        self.assertRegex(state["access-point"], "^Tonearm-[0-9A-F]{4}$")
        self.assertEqual(state["address"], "10.83.84.1")
        self.wait_for_network(board, f"wpa2 {hexadecimal('home')}")
        ssid, key = self.credentials(board)
        self.assertEqual(ssid, state["access-point"])
        self.join_with_phone(board, ssid, key)
        self.assertEqual(board.run("cat", "/tmp/phone-servers").stdout, "10.83.84.1 10.83.84.1\n")
        self.assertIn("10.83.84.1\n", self.phone(board, "busybox nslookup", CHECK, "10.83.84.1").stdout[-60:])
        redirect = self.get(board, CHECK, "/generate_204")
        self.assertTrue(redirect.startswith("HTTP/1.1 302 "), redirect)
        self.assertIn("Location: http://10.83.84.1/#wifi\n", redirect)
        self.assertIn("<html", self.get(board, "10.83.84.1", "/"))
        status = self.post(board, "wifi-status")
        self.assertEqual((status["mode"], status["accessPoint"], status["known"]), ("access-point", ssid, []))
        self.assertIn(("home", "wpa2"), [(network["ssid"], network["security"]) for network in status["networks"]])
        # Nothing leads from there into another network.
        self.assertNotEqual(self.phone(board, "busybox ping -c 1 -W 1 192.168.1.1").exit_code, 0)

        self.assertTrue(self.post(board, "wifi-connect", ssid="home", password="a wrong password")["ok"])
        self.wait_for(board, "trying", ssid=hexadecimal("home"))
        state = self.wait_for(board, "access-point", failed=hexadecimal("home"), problem="wrong-password")
        self.assertEqual(state["address"], "10.83.84.1")
        self.assertEqual(self.credentials(board), (ssid, key))
        # The phone comes back by itself.
        board.wait_until('[ "$(grep -c CTRL-EVENT-CONNECTED /tmp/phone.log)" -ge 2 ]')
        status = self.post(board, "wifi-status")
        self.assertEqual((status["waiting"], status["failed"]),
                         (False, {"ssid": "home", "problem": "wrong-password"}))
        self.post(board, "wifi-connect", ssid="home", password=PASSWORD)
        self.wait_for(board, "connected", ssid=hexadecimal("home"))
        self.assert_is_in(board, 1)
        self.assertEqual(self.state(board).keys(), {"mode", "ssid"})
        board.wait_until("[ ! -s /run/wifi-setup.told ] && [ ! -e /run/boot-held ]")
        self.assertNotIn(SETUP, board.files())
        self.assertEqual(board.run_script("stat -c '%a %U' /data/wifi /data/wifi/*").stdout,
                         "700 root\n600 root\n600 root\n")
        self.assert_tells_no_secrets(board, key, PASSWORD, "a wrong password")

        # Nothing is lost when the power goes now.
        board.cut_power()
        self.start(board, access_point(1, "home"))
        self.wait_for(board, "connected", ssid=hexadecimal("home"))
        self.assert_is_in(board, 1)
        self.assertEqual(board.run("cat", "/run/wifi/known").stdout, f"page {hexadecimal('home')}\n")
        self.assertNotIn("is open", board.log())
        # Forgotten, it leaves a board without a network: the set-up begins, with the same key.
        self.want(board, "forget", "home")
        state = self.wait_for(board, "access-point")
        self.assertEqual(self.credentials(board), (ssid, key))
        board.plug_cable()
        self.wait_for(board, "off")
        board.wait_until("ip address show eth0 | grep -q 10.0.2.15")
        self.assertNotIn("10.83.84.1", board.run("ip", "address").stdout)

    @long("image-setup", "networks of each kind are joined")
    def test_networks_are_joined_from_the_page_of_a_board_in_a_network(self):
        board = self.new_board()
        board.write_file("tonearm.conf", f"[wifi home]\nssid = home\npassword = {PASSWORD}\n")
        self.start(board, access_point(1, "home"), access_point(2, "new", "SAE"))
        self.wait_for(board, "connected", ssid=hexadecimal("home"))
        self.wait_for_network(board, f"wpa3 {hexadecimal('new')}")
        for ssid, password, problem in (
                ("new", "a wrong password", "wrong-password"), ("nowhere", PASSWORD, "not-found"),
                ("new", None, "wrong-password"), ("home", "1234567", "wrong-password")):
            with self.subTest(ssid, password=password):
                self.want(board, "join", ssid, password)
                self.wait_for(board, "connected", failed=hexadecimal(ssid), problem=problem, ssid=hexadecimal("home"))
        self.assert_is_in(board, 1)
        self.want(board, "join", "new", PASSWORD)
        board.wait_until("grep -q page /run/wifi/known")
        self.assertEqual(board.run("cat", "/run/wifi/known").stdout,
                         f"page {hexadecimal('new')}\nfile {hexadecimal('home')}\n")
        self.wait_for(board, "connected")
        self.assertNotIn("failed", self.state(board))
        board.run_script("kill $(grep -l '/tmp/1.conf' /proc/[0-9]*/cmdline | cut -d/ -f3)")
        self.wait_for(board, "connected", ssid=hexadecimal("new"))
        self.assert_is_in(board, 2)
        self.assert_tells_no_secrets(board, PASSWORD, "a wrong password")

    @long("image-setup", "a hidden and an open network")
    def test_hidden_and_open_networks(self):
        board = self.new_board()
        self.start(board, access_point(1, "secret", hides=True), access_point(2, "café", "NONE"))
        self.wait_for(board, "access-point")
        # These radios can look around while the access point is open.
        self.wait_for_network(board, f"open {hexadecimal('café')}")
        self.assertEqual(self.state(board)["mode"], "access-point")
        self.assertEqual(len(board.run("cat", "/run/wifi/networks").stdout.splitlines()), 1, "the hidden one, too")
        self.want(board, "join", "secret", PASSWORD, hidden=True)
        self.wait_for(board, "connected", ssid=hexadecimal("secret"))
        self.assert_is_in(board, 1)
        self.want(board, "join", "café")
        board.wait_until(f"grep -q 'page {hexadecimal('café')}' /run/wifi/known")
        self.want(board, "forget", "secret")
        self.wait_for(board, "connected", ssid=hexadecimal("café"))
        self.assert_is_in(board, 2)

    @long("image-setup", "each cut is two starts")
    def test_power_cuts_while_a_network_is_joined(self):
        chance = random.Random(SEED)
        board = self.new_board()
        keys = set()
        for cut in range(CUTS):
            with self.subTest(cut=cut, seed=SEED):
                self.start(board, access_point(1, "home"))
                self.wait_for(board, "access-point")
                if cut % 2:
                    self.want(board, "join", "home", PASSWORD)
                # Meanwhile a file is written; or the network is tried and stored, and the file removed.
                time.sleep(chance.uniform(0, JOINING if cut % 2 else 1))
                board.cut_power()
                self.start(board, access_point(1, "home"))
                board.wait_until("grep -qxE 'mode=(access-point|connected)' /run/wifi/state")
                files = board.run_script("cd /data/wifi && ls network-*").stdout.split()
                if self.state(board)["mode"] == "connected":
                    self.assertEqual(files, ["network-686f6d65"])
                    self.want(board, "forget", "home")
                    self.wait_for(board, "access-point")
                else:
                    self.assertEqual(files, [])
                keys.add(self.credentials(board))
                board.power_off()
                self.assertEqual(board.check_data()[0], 0)
        self.assertEqual(len(keys), 1)


if __name__ == "__main__":
    unittest.main()
