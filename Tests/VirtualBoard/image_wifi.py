"""Wi-Fi of the firmware image, between simulated radios of the kernel: passwords, hidden, several, beside a cable."""

import functools
import http.server
import ssl
import tempfile
import threading
import time
import unittest
from pathlib import Path

from virtual_board.host import run
from virtual_board.image_board import ImageBoard
from virtual_board.parts import long
from virtual_board.time_server import serve_time

PASSWORD = "the right password"
#: On the boot partition.
REPORT = "tonearm-wifi.txt"

#: Three radios: wlan0 for the board, the others for access points. The image's own wpa_supplicant is the access point,
#: under another name.
RADIOS = """
modprobe mac80211_hwsim radios=3
cp /usr/bin/wpa_supplicant /tmp/access-point
"""

#: Gives radio {number} to a network namespace, with an access point and a DHCP server in it.
ACCESS_POINT = r"""
cat >/tmp/{number}.conf <<END
network={{
    ssid="{ssid}"
    mode=2
    frequency=2412
    ignore_broadcast_ssid={hides}
    key_mgmt={key_management}
    proto=RSN
    pairwise=CCMP
    ieee80211w={protection}
    psk="{password}"
    sae_password="{password}"
}}
END
cat >/tmp/dhcp-{number}.conf <<END
start 192.168.{number}.10
end 192.168.{number}.20
interface wlan{number}
lease_file /tmp/leases-{number}
opt subnet 255.255.255.0
opt router 192.168.{number}.1
opt dns 192.168.{number}.1
END
touch /tmp/leases-{number}
busybox unshare -n sleep 100000 &
space=$!
until [ "$(readlink /proc/$space/ns/net)" != "$(readlink /proc/self/ns/net)" ]; do usleep 10000; done
iw phy phy{number} set netns $space
inside() {{ busybox nsenter -t $space -n "$@"; }}
inside ip address add 192.168.{number}.1/24 dev wlan{number}
inside /tmp/access-point -i wlan{number} -c /tmp/{number}.conf -D nl80211 >/tmp/{number}.log 2>&1 &
until grep -q AP-ENABLED /tmp/{number}.log; do usleep 10000; done
"""

#: Behind the access point: a DHCP server.
ALONE = r"""
inside busybox udhcpd -f /tmp/dhcp-{number}.conf >/tmp/dhcp-{number}.log 2>&1 &
"""

#: Behind the access point: the board's cable, and with it this machine's network.
BRIDGE = r"""
modprobe bridge
ip link set eth0 netns $space
inside ip link add bridge type bridge
for name in eth0 wlan{number}; do inside ip link set $name master bridge; done
for name in eth0 bridge; do inside ip link set $name up; done
"""

#: The name of this machine on the board's network, and what the board's hosts file calls it.
HOST = "10.0.2.2"
NAME = "music.example"


def access_point(number, ssid, key_management="WPA-PSK", hides=False, behind=ALONE):
    """The script of access point 1 or 2; its network is 192.168.NUMBER.0, where it is alone."""
    return (ACCESS_POINT + behind).format(
        number=number, ssid=ssid, hides=int(hides), password=PASSWORD, key_management=key_management,
        protection=2 if key_management == "SAE" else 0)


@long("image-network", "a start each, and radios that look for each other")
class WiFi(unittest.TestCase):
    def new_board(self):
        board = ImageBoard()
        self.addCleanup(board.discard)
        return board

    def start(self, board, password, key_management="WPA-PSK"):
        """With the network `it"s my home`, and one that has a mistake."""
        board.write_file("tonearm.conf", "[wifi]\ncountry = DE\n[wifi other]\nsecurity = wpa2\n[wifi home]\n"
                                         f'ssid = it"s my home\npassword = {password}\n')
        board.power_on(network=False)
        self.open(board, access_point(1, 'it"s my home', key_management))

    @staticmethod
    def open(board, *points):
        """Starts access points."""
        board.start_script(RADIOS + "".join(points) + "wait\n")

    @staticmethod
    def wait_for_network(board, number):
        board.wait_until(f"ip address show wlan0 | grep -q 192.168.{number}.1[0-9]")
        board.wait_until(f"busybox ping -c 1 -W 5 192.168.{number}.1 >/dev/null")

    def assert_connects(self, board):
        self.wait_for_network(board, 1)
        # Of a chip that saves power by itself, as that of the Pi.
        saving = board.run_script("iw dev wlan0 set power_save on && iw dev wlan0 get power_save && "
                                  "request network-restart")
        self.assertIn("on", saving.stdout.split())
        board.wait_until("iw dev wlan0 get power_save | grep -q off")
        self.wait_for_network(board, 1)

    def test_a_wrong_password_then_the_right_one(self):
        board = self.new_board()
        self.start(board, "a wrong password")
        board.wait_until("grep -q AP-STA-POSSIBLE-PSK-MISMATCH /tmp/1.log")
        # Music does not need it.
        board.wait_for_engine()
        self.assertNotIn("192.168.", board.run("ip", "address").stdout)
        board.wait_until("dmesg | grep -q 'does not accept the password'")
        board.power_off()
        self.assertEqual(board.read_file(REPORT), 'The Wi-Fi network "it"s my home" ([wifi home] in tonearm.conf) does '
                                                  "not accept the password. Correct it there.\n")
        self.assertIn("tonearm.conf:3: [wifi other]: the ssid is missing", board.read_file("tonearm-errors.txt"))
        self.start(board, PASSWORD)
        self.assert_connects(board)
        board.power_off()
        self.assertNotIn(REPORT, board.files())

    def test_a_network_with_wpa3(self):
        board = self.new_board()
        self.start(board, PASSWORD, "SAE")
        self.assert_connects(board)

    def test_the_cable_comes_first(self):
        board = self.new_board()
        board.write_file("tonearm.conf", f"[wifi home]\nssid = home\npassword = {PASSWORD}\n")
        board.power_on()
        self.open(board, access_point(1, "home"))
        self.wait_for_network(board, 1)
        servers = {"eth0": "10.0.2.3", "wlan0": "192.168.1.1"}
        for plug, device in ((board.plug_cable, "eth0"), (board.pull_cable, "wlan0"), (board.plug_cable, "eth0")):
            plug()
            board.wait_until(f"ip route get 192.0.2.1 2>/dev/null | grep -q 'dev {device} '")
            board.wait_until(f"grep -q '^nameserver {servers[device]}$' /etc/resolv.conf")

    def test_a_hidden_network_in_a_country(self):
        board = self.new_board()
        board.write_file("tonearm.conf", "[wifi]\ncountry = DE\n[wifi absent]\nssid = not here\npassword = 12345678\n"
                                         f"[wifi home]\nssid = secret\npassword = {PASSWORD}\nhidden = yes\n")
        board.power_on(network=False)
        self.open(board, access_point(1, "secret", hides=True))
        self.wait_for_network(board, 1)
        # A station that does not ask for it by its name does not see it.
        seen = board.run("iw", "dev", "wlan2", "scan", "passive").stdout
        self.assertIn("BSS", seen)
        self.assertNotIn("secret", seen)
        self.assertIn("country DE:", board.run("iw", "reg", "get").stdout)

    def test_the_kernel_takes_firmware_of_the_boot_partition(self):
        """The only firmware that a driver of this board wants says which channels a country allows."""
        board = self.new_board()
        board.make_folder("firmware")
        board.write_file("firmware/regulatory.db", "not signed")
        board.power_on(network=False)
        board.run("modprobe", "mac80211_hwsim")
        board.wait_until("dmesg | grep -q 'cfg80211: loaded regulatory.db is malformed'")

    def test_another_network_is_taken_when_one_goes(self):
        board = self.new_board()
        board.write_file("tonearm.conf", f"[wifi one]\nssid = one\npassword = {PASSWORD}\n"
                                         f"[wifi two]\nssid = two\npassword = {PASSWORD}\n")
        board.power_on(network=False)
        self.open(board, access_point(1, "one"), access_point(2, "two"))
        board.wait_until("ip address show wlan0 | grep -q 'inet 192.168'")
        first = 1 if "192.168.1." in board.run("ip", "address", "show", "wlan0").stdout else 2
        board.run_script(f"kill $(grep -l '/tmp/{first}.conf' /proc/[0-9]*/cmdline | cut -d/ -f3)")
        self.wait_for_network(board, 3 - first)

    def serve(self, folder, days):
        """Starts a web server with a certificate of its own, which is valid for so many days from now on; its port, and
        the certificate."""
        files = folder / f"{days}.pem", folder / f"{days}.key"
        run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-noenc", "-days", str(days), "-subj", f"/CN={NAME}",
             "-addext", f"subjectAltName=DNS:{NAME}", "-out", files[0], "-keyout", files[1]], check=True,
            capture_output=True)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*files)
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder)))
        server.socket = context.wrap_socket(server.socket, server_side=True)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return server.server_port, files[0].read_text()

    def test_in_1970_it_connects_and_tls_works(self):
        with tempfile.TemporaryDirectory() as folder:
            port, certificate = self.serve(Path(folder), 2)
        board = self.new_board()
        board.write_file("tonearm.conf", f"[wifi home]\nssid = home\npassword = {PASSWORD}\n")
        board.power_on()
        board.put(certificate.encode(), "/tmp/own.pem")
        board.wait_until("ip address show eth0 | grep -q 10.0.2.15")
        # No server of pool.ntp.org answers at first, as this machine's port is closed.
        # The clock is an hour after the beginning of 1970: Linux refuses a time before its own start.
        result = board.run_script(f"""
            (cat /etc/hosts; echo {HOST} pool.ntp.org {NAME}) >/tmp/hosts && mount --bind /tmp/hosts /etc/hosts
            all=/etc/ssl/certs/ca-certificates.crt
            cat $all /tmp/own.pem >/tmp/all.pem && mount --bind /tmp/all.pem $all
            date -s '1970-01-01 01:00'
            killall -q ntpd
            date
        """)
        self.assertIn("1970", result.stdout)
        self.open(board, access_point(1, "home", behind=BRIDGE))
        board.wait_until("ip address show wlan0 | grep -q 10.0.2.")
        board.wait_until("ip route | grep -q '^default .* wlan0'")
        # The server's certificate is not valid in 1970; the time that the server gives decides.
        self.assert_reaches(board, port)
        self.assertIn("1970", board.run("date").stdout)
        serve_time(self)
        board.wait_until('[ "$(date +%s)" -gt 100000000 ]')
        self.assertLess(abs(int(board.run("date", "+%s").stdout) - time.time()), 600)
        self.assert_reaches(board, port)

    def assert_reaches(self, board, port):
        """TLS works: what the server does not have is missing."""
        result = board.run("tonearm", "update", f"https://{NAME}:{port}/missing.update")
        self.assertIn("status 404", result.stderr)


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        """The runner's lines are the only ones."""


if __name__ == "__main__":
    unittest.main()
