"""The scripts of the firmware image by themselves, with programs of this machine in place of the board's."""

import shutil
import unittest

from virtual_board.script_root import ScriptRoot


class Clock(unittest.TestCase):
    #: The time at which the image was made, and a board's clock at its start.
    MADE, START = 1_700_000_000, 20

    def setUp(self):
        self.root = ScriptRoot(self)
        self.root.program("stat", f"echo {self.MADE}")
        self.root.program("date", "cat /run/now")
        self.root.program("sleep", "exec /bin/sleep 0.01")
        self.root.program("ip", "cat /run/routes")
        self.root.write("run/now", f"{self.START}\n")
        self.root.write("run/routes", "")

    def starts(self):
        return [line for line in self.root.calls if line.startswith("ntpd ")]

    def test_it_is_set_as_soon_as_a_server_answers(self):
        # Sets the clock at its third start.
        self.root.program("ntpd", f"""
            count=$(grep -c '^ntpd ' {self.root.folder}/calls)
            [ "$count" -lt 3 ] || echo {self.MADE + 100} >/run/now
            exec /bin/sleep 100000
        """)
        process = self.root.start(self, "clock")
        self.root.wait_until(lambda: self.root.calls.count("ip route") > 2)
        self.assertEqual(self.starts(), [], "without a network")
        self.root.write("run/routes", "default via 10.0.2.2 dev eth0\n")
        self.root.wait_until(lambda: len(self.starts()) == 3)
        self.assertTrue(all(" -s " in line for line in self.starts()))
        # The last one goes on.
        self.root.wait_until(lambda: "the clock is set" in (self.root.read("kmsg") or ""))
        self.assertIsNone(process.poll())
        self.assertEqual(len(self.starts()), 3)


class Engine(unittest.TestCase):
    def setUp(self):
        self.root = ScriptRoot(self)
        self.root.program("sleep", "exec /bin/sleep 0.01")
        # As the kernel has it: a message without a level has that of a warning, <12>.
        self.root.program("dmesg", f"sed 's/^<3>/<11>/; /^</!s/^/<12>/; s/>/>[    1.234567] /' {self.root.folder}/kmsg")
        self.root.write("run/tonearm/tonearm.conf", "first\n")

    def engine_ends(self, code):
        self.root.program("start-stop-daemon", f"""
            echo "<4>only a warning" >/dev/kmsg
            echo "<3>/run/tonearm/board.conf:3: what is wrong" >/dev/kmsg
            exit {code}
        """)

    def starts(self):
        return [line for line in self.root.calls if line.startswith("start-stop-daemon ")]

    def test_it_does_not_start_again_before_what_is_wrong_has_changed(self):
        self.engine_ends(78)
        self.root.write("boot/tonearm-errors.txt", "Mistakes that are there already\n")
        self.root.write("kmsg", "<3>of another start\n")
        process = self.root.start(self, "engine")
        self.root.wait_until(lambda: self.root.calls.count("sleep 5") > 2)
        self.assertEqual(self.root.read("boot/tonearm-errors.txt"),
                         "Mistakes that are there already\n"
                         "The player cannot start, and tries again only at the next start:\n"
                         "board.conf:3: what is wrong\n")
        self.assertIn("mount -o remount,rw", " ".join(self.root.calls))
        self.assertFalse((self.root.folder / "run/boot-held").exists())
        self.assertEqual(len(self.starts()), 1)
        self.root.write("run/tonearm/tonearm.conf", "changed\n")
        # Then init starts it again.
        self.assertEqual(process.wait(60), 78)

    def test_it_starts_again_after_any_other_end(self):
        for code in (0, 1, 137):
            with self.subTest(code):
                self.engine_ends(code)
                self.assertEqual(self.root.run("engine").returncode, code)
        self.assertIsNone(self.root.read("boot/tonearm-errors.txt"))


#: What the engine's own check says: here, that a line with `loud` is wrong.
CHECK = r"""
sed -n '/loud/=' /run/tonearm/tonearm.conf | while read -r line; do
    echo "tonearm: /run/tonearm/tonearm.conf:$line: resume is not loud" >&2
done
! grep -q loud /run/tonearm/tonearm.conf
"""
GOOD = "[wifi one]\nssid = first\npassword = 12345678\n"


class Configuration(unittest.TestCase):
    def setUp(self):
        self.root = ScriptRoot(self)
        self.root.program("tonearm", CHECK)

    def start(self, text):
        """As a start of the board with this tonearm.conf; the mistakes that a person reads."""
        for name in ("errors", "mistakes", "network-mistakes", "report"):
            (self.root.folder / "run" / name).unlink(missing_ok=True)
        self.root.write("boot/tonearm.conf", text)
        result = self.root.run("configuration")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return (self.root.read("boot/tonearm-errors.txt") or "").splitlines()

    def system(self):
        return dict(line.split("=", 1) for line in self.root.read("run/system.conf").splitlines())

    def test_a_network_with_a_mistake_is_left_out_alone(self):
        for section, message in (
            ("password = 12345678", "tonearm.conf:4: [wifi two]: the ssid is missing"),
            ("ssid =\npassword = 12345678", "tonearm.conf:5: [wifi two]: an ssid has 1 to 32 characters"),
            (f"ssid = {'x' * 33}", "tonearm.conf:5: [wifi two]: an ssid has 1 to 32 characters"),
            ("ssid = second\npassword =", "tonearm.conf:6: [wifi two]: a Wi-Fi password has 8 to 63 characters"),
            ("ssid = second\npassword = 123", "tonearm.conf:6: [wifi two]: a Wi-Fi password has 8 to 63 characters"),
            ("ssid = second\nsecurity = wpa2", "tonearm.conf:4: [wifi two]: the password is missing; a network without "
                                              "one has security = open"),
            ("ssid = second\npasswort = 12345678", 'tonearm.conf:6: [wifi two]: unknown key "passwort"; there are: '
                                                   "ssid password hidden security "),
            ("ssid = second\nsecurity = wep", "tonearm.conf:6: [wifi two]: security is wpa2, wpa3 or open"),
            ("ssid", 'tonearm.conf:5: [wifi two]: "ssid" is not key = value'),
        ):
            # Behind the others, and between them.
            for rest in ("", "[wifi three]\nssid = third\n[image]\nname = kitchen\n"):
                with self.subTest(section, rest=rest):
                    errors = self.start(f"{GOOD}[wifi two]\n{section}\n{rest}")
                    self.assertEqual(errors[:2], ["Wi-Fi networks that are left out until their mistakes are gone:",
                                                  message])
                    names = {key.split(".")[1] for key in self.system() if key.startswith("network.")}
                    self.assertEqual(names, {"one", "three"} if rest else {"one"})
        self.assertEqual(self.start(f"{GOOD}[wifi two]\nssid = second\nsecurity = open\n"), [])
        self.assertEqual(self.system(), {"network.one.ssid": "first", "network.one.password": "12345678",
                                         "network.two.ssid": "second", "network.two.security": "open"})

    def test_a_section_in_two_parts_is_one_network(self):
        self.assertEqual(self.start("[wifi one]\nssid = first\n[image]\nname = kitchen\n[wifi one]\n"
                                    "password = 12345678\nsecurity = wpa2\n"), [])
        self.assertEqual(self.system()["network.one.password"], "12345678")

    def test_a_file_with_another_mistake_is_not_applied(self):
        self.start(GOOD)
        errors = self.start("[image]\nname = my kitchen\n[wifi two]\nssid = second\npassword = 123\n[player]\n"
                            "resume = loud\n")
        self.assertEqual(errors, ["Mistakes in tonearm.conf. It is not applied until they are gone:",
                                  "tonearm.conf:2: name is letters, digits and -",
                                  "tonearm.conf:7: resume is not loud",
                                  "Wi-Fi networks that are left out until their mistakes are gone:",
                                  "tonearm.conf:5: [wifi two]: a Wi-Fi password has 8 to 63 characters"])
        self.assertEqual(self.system()["network.one.ssid"], "first")
        self.assertEqual(self.start(GOOD), [])
        self.assertIsNone(self.root.read("boot/tonearm-errors.txt"))


#: Gives each interface an address and a name server of its own.
DHCP_CLIENT = """
name=$3
shift 3
while [ "$1" != -p ]; do shift; done
echo $$ >"$2"
interface=$name ip=10.0.0.2 router=10.0.0.1 dns=server-of-$name sh /usr/lib/tonearm/address bound
exec /bin/sleep 100000
"""


class Network(unittest.TestCase):
    def setUp(self):
        self.root = ScriptRoot(self)
        self.root.program("sleep", "exec /bin/sleep 0.02")
        self.root.program("udhcpc", DHCP_CLIENT)
        # As wlan0 would: nothing is to be started for it.
        self.root.write("usr/lib/tonearm/wifi", "#!/bin/sh\n")
        self.root.write("run/tonearm/board.conf", "[sound]\ncellular = eth0\n[network]\n# cellular = eth0\n"
                                                  "cellular = mobile0, mobile1 # a phone\n")

    def plug(self, name):
        self.root.write(f"sys/class/net/{name}/operstate", "up\n")
        self.root.write(f"sys/class/net/{name}/carrier", "1\n")
        (self.root.folder / f"sys/class/net/{name}/device").mkdir(exist_ok=True)
        if name.startswith("wlan"):
            (self.root.folder / f"sys/class/net/{name}/phy80211").mkdir(exist_ok=True)

    def assert_asks(self, name):
        self.root.wait_until(lambda: self.root.read("run/resolv.conf") == f"nameserver server-of-{name}\n")

    def assert_has_metric(self, metric, name):
        route = f"ip route replace default via 10.0.0.1 dev {name} metric {metric}"
        self.root.wait_until(lambda: route in self.root.calls)

    def test_wired_comes_first_then_wifi_then_cellular(self):
        self.plug("mobile1")
        self.root.start(self, "network")
        self.assert_asks("mobile1")
        self.assert_has_metric(300, "mobile1")
        self.plug("eth0")
        self.assert_asks("eth0")
        self.assert_has_metric(100, "eth0")
        self.plug("wlan0")
        self.assert_has_metric(200, "wlan0")
        self.assert_asks("eth0")
        # The cable is pulled.
        self.root.write("sys/class/net/eth0/carrier", "0\n")
        self.assert_asks("wlan0")
        self.assertIn("ip -4 address flush dev eth0", self.root.calls)
        # An interface that is gone, like that of a stick.
        shutil.rmtree(self.root.folder / "sys/class/net/wlan0")
        self.assert_asks("mobile1")
        self.plug("eth0")
        self.assert_asks("eth0")
        for name in ("eth0", "mobile1"):
            shutil.rmtree(self.root.folder / f"sys/class/net/{name}")
        self.root.wait_until(lambda: self.root.read("run/resolv.conf") == "")


if __name__ == "__main__":
    unittest.main()
