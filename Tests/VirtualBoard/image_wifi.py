"""Wi-Fi of the firmware image, between two simulated radios of the kernel: wrong password, then the right one."""

import unittest

from virtual_board.image_board import ImageBoard

PASSWORD = "the right password"
#: On the boot partition.
REPORT = "tonearm-wifi.txt"

#: Gives the second radio to a network namespace, with an access point and a DHCP server in it. The image's own
#: wpa_supplicant is the access point, under another name.
ACCESS_POINT = r"""
modprobe mac80211_hwsim radios=2
cp /usr/bin/wpa_supplicant /tmp/access-point
cat >/tmp/access-point.conf <<END
network={{
    ssid="{ssid}"
    mode=2
    frequency=2412
    key_mgmt={key_management}
    proto=RSN
    pairwise=CCMP
    ieee80211w={protection}
    psk="{password}"
    sae_password="{password}"
}}
END
cat >/tmp/dhcp.conf <<END
start 192.168.77.10
end 192.168.77.20
interface wlan1
lease_file /tmp/leases
opt subnet 255.255.255.0
END
touch /tmp/leases
busybox unshare -n sleep 100000 &
space=$!
until [ "$(readlink /proc/$space/ns/net)" != "$(readlink /proc/self/ns/net)" ]; do usleep 10000; done
iw phy phy1 set netns $space
inside() {{ busybox nsenter -t $space -n "$@"; }}
inside ip address add 192.168.77.1/24 dev wlan1
inside /tmp/access-point -i wlan1 -c /tmp/access-point.conf -D nl80211 >/tmp/access-point.log 2>&1 &
until grep -q AP-ENABLED /tmp/access-point.log; do usleep 10000; done
inside busybox udhcpd -f /tmp/dhcp.conf >/tmp/dhcp.log 2>&1 &
"""


class WiFi(unittest.TestCase):
    def start(self, board, password, key_management="WPA-PSK"):
        board.write_file("tonearm.conf", "[wifi]\ncountry = DE\n[wifi home]\n"
                                         f'ssid = it"s my home\npassword = {password}\n')
        board.power_on(network=False)
        script = ACCESS_POINT.format(ssid='it"s my home', password=PASSWORD, key_management=key_management,
                                     protection=2 if key_management == "SAE" else 0)
        board.start_script(script + "wait\n")

    def assert_connects(self, board):
        board.wait_until("ip address show wlan0 | grep -q 192.168.77.1[0-9]")
        board.wait_until("busybox ping -c 1 -W 5 192.168.77.1 >/dev/null")
        self.assertIn("off", board.run("iw", "dev", "wlan0", "get", "power_save").stdout)

    def test_a_wrong_password_then_the_right_one(self):
        board = ImageBoard()
        self.addCleanup(board.discard)
        self.start(board, "a wrong password")
        board.wait_until("grep -q AP-STA-POSSIBLE-PSK-MISMATCH /tmp/access-point.log")
        # Music does not need it.
        board.wait_for_engine()
        self.assertNotIn("192.168.77", board.run("ip", "address").stdout)
        board.wait_until("dmesg | grep -q 'does not accept the password'")
        board.power_off()
        self.assertEqual(board.read_file(REPORT), 'The Wi-Fi network "it"s my home" ([wifi home] in tonearm.conf) does '
                                                  "not accept the password. Correct it there.\n")
        self.start(board, PASSWORD)
        self.assert_connects(board)
        board.power_off()
        self.assertNotIn(REPORT, board.files())

    def test_a_network_with_wpa3(self):
        board = ImageBoard()
        self.addCleanup(board.discard)
        self.start(board, PASSWORD, "SAE")
        self.assert_connects(board)


if __name__ == "__main__":
    unittest.main()
