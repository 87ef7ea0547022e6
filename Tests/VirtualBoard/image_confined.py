"""What the engine of the firmware image may do beyond playing: as little as possible."""

import unittest

from virtual_board.image_board import ImageBoard
from virtual_board.parts import long
from virtual_board.script_root import SOURCE

STATUS = "/proc/asound/HiFi/pcm0p/sub0/status"

#: Prints what of the standard input its user may read ("r") or write ("w"), a path a line.
ACCESS = """while read -r path; do
    [ ! -r "$path" ] || echo "r $path"
    [ ! -w "$path" ] || echo "w $path"
done"""

#: Places where the engine writes; what is below them belongs to them. `requests` is a pipe.
WRITABLE = {
    "/data/music", "/data/state", "/data/service", "/run/requests", "/run/tonearm", "/run/update", "/run/wifi", "/tmp",
}
DEVICES = {
    "/dev/full", "/dev/null", "/dev/random", "/dev/tty", "/dev/urandom", "/dev/zero",
}
SECRETS = ("/boot/", "/data/system", "/data/wifi", "/run/system.conf", "/run/engine.conf", "/run/person.conf",
           "/run/wpa.conf", "/run/wifi-events", "/run/boot-state")


@long("image-network", "one start, which all tests of it share; the host tests the command")
class Confined(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.board = ImageBoard()
        cls.addClassCleanup(cls.board.discard)
        cls.board.write_file("token.txt", "a token of the service\n")
        cls.board.write_file("password.txt", "the password of the page\n")
        cls.board.write_file("tonearm.conf", "[wifi home]\nssid = home\npassword = a secret of it\n")
        cls.board.power_on()
        cls.board.wait_for_engine()

    def lines(self, script):
        result = self.board.run_script(script)
        self.assertEqual(result.exit_code, 0, result.stderr)
        return result.stdout.splitlines()

    def test_the_engine_has_no_privileges_and_a_filter_and_plays_on_time(self):
        fields = dict(line.split(":", 1) for line in self.lines("cat /proc/$(pidof tonearm)/status"))
        found = {name: fields[name].split() for name in (
            "Uid", "Gid", "Groups", "CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb", "NoNewPrivs", "Seccomp")}
        none = ["0" * 16]
        self.assertEqual(found, {
            "Uid": ["101"] * 4, "Gid": ["101"] * 4, "Groups": ["29", "102"], "CapInh": none, "CapPrm": none,
            "CapEff": none, "CapBnd": none, "CapAmb": none, "NoNewPrivs": ["1"], "Seccomp": ["2"]})
        self.assertEqual(self.lines("grep -o 'realtime priority *[0-9]*' /proc/$(pidof tonearm)/limits | tr -s ' '"),
                         ["realtime priority 50"])
        # The word of a button that its commands may write.
        self.assertEqual(self.lines("tonearm confine tonearm -- /usr/bin/request nothing; dmesg | tail -n 20 | "
                                    "grep -c 'requests: unknown request'"), ["1"])

    def test_the_kernel_is_set_as_the_file_says(self):
        text = (SOURCE / "etc/sysctl.conf").read_text()
        wanted = dict(line.split(" = ") for line in text.splitlines() if line and not line.startswith("#"))
        keys = " ".join(wanted)
        found = dict(line.split(" = ") for line in self.lines(f"sysctl {keys}"))
        self.assertEqual(found, wanted)
        # Of an interface whose driver came later.
        redirects = (f"net.{kind}.conf.eth0.accept_redirects" for kind in ("ipv4", "ipv6"))
        self.assertEqual(self.lines(f"sysctl -n {' '.join(redirects)}"), ["0", "0"])

    def access(self, find):
        """What the engine's user may read and write of the paths that this prints as root."""
        result = {"r": set(), "w": set()}
        for line in self.lines(f"{{ {find}; }} | tonearm confine tonearm -- /bin/sh -c '{ACCESS}'"):
            result[line[0]].add(line[2:])
        return result

    def test_it_may_write_its_own_folders_alone(self):
        found = self.access("find /run /data /tmp /media /boot /var /root ! -type l -print 2>/dev/null; "
                            "echo /etc; echo /usr")
        places = {place for path in found["w"] for place in WRITABLE if path == place or path.startswith(place + "/")}
        others = {path for path in found["w"]
                  if not any(path == place or path.startswith(place + "/") for place in WRITABLE)}
        self.assertEqual((others, places), (set(), WRITABLE))
        secrets = {path for path in found["r"] if path.startswith(SECRETS)}
        self.assertEqual(secrets, set())
        self.assertEqual(self.lines("find / \\( -path /proc -o -path /host \\) -prune -o -type f "
                                    "\\( -perm -4000 -o -perm -2000 \\) -print"), [])

    def test_it_may_open_sound_and_lines_alone(self):
        found = self.access("find /dev -type c -o -type b")
        for kind in "rw":
            own = {path for path in found[kind] if path.startswith(("/dev/snd/", "/dev/gpiochip"))}
            self.assertEqual(found[kind] - own, DEVICES, kind)
            self.assertTrue(own)

    def test_ports_are_those_of_the_documentation(self):
        ways = self.board.ways_in()
        self.assertEqual([way for way in ways if ":19C8 " not in way and ":0050 " not in way], [])
        packets = self.lines("cat /proc/net/udp /proc/net/udp6 | sort -u | "
                             "sed -n 's/^ *[0-9]*: [0-9A-F]*:\\([0-9A-F]*\\) .*/\\1/p'")
        # Multicast DNS, and the client of DHCP. ntpd has a port for each question.
        self.assertLessEqual({port for port in packets if int(port, 16) < 32768}, {"14E9", "0044"})
        # The password is not on the card any more, and in force.
        self.assertEqual(self.lines("stat -c '%a %U' /data/service/password.txt"), ["600 tonearm"])


if __name__ == "__main__":
    unittest.main()
