"""The scripts of the firmware image by themselves, with programs of this machine in place of the board's."""

import os
import shutil
import unittest

from image_scripts_configuration import CHECK
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
        self.root.program("tonearm", f"""
            [ "$1" = confine ] || exit 0
            echo "<4>only a warning" >/dev/kmsg
            echo "<3>/run/tonearm/board.conf:3: what is wrong" >/dev/kmsg
            exit {code}
        """)

    def starts(self):
        return [line for line in self.root.calls if line.startswith("tonearm confine ")]

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
        self.assertEqual(self.starts(), [
            "tonearm confine --realtime-priority 50 tonearm -- /usr/bin/tonearm run --config "
            f"{self.root.folder}/run/tonearm/tonearm.conf"])
        self.root.write("run/tonearm/tonearm.conf", "changed\n")
        # Then init starts it again.
        self.assertEqual(process.wait(60), 78)

    def test_the_reason_is_there_when_the_log_has_lost_it(self):
        self.root.program("tonearm", """
            [ "$1" != confine ] || exit 78
            echo "tonearm: /run/tonearm/tonearm.conf:1: what is wrong" >&2
            echo "not for a person"
        """)
        self.root.start(self, "engine")
        self.root.wait_until(lambda: self.root.calls.count("sleep 5") > 2)
        self.assertEqual(self.root.read("boot/tonearm-errors.txt"),
                         "The player cannot start, and tries again only at the next start:\n"
                         "tonearm.conf:1: what is wrong\n")

    def test_it_starts_again_after_any_other_end(self):
        for code in (0, 1, 137):
            with self.subTest(code):
                self.engine_ends(code)
                self.assertEqual(self.root.run("engine").returncode, code)
        self.assertIsNone(self.root.read("boot/tonearm-errors.txt"))


class FullBootPartition(unittest.TestCase):
    """A report that has no room is logged, and leaves no empty file."""

    def setUp(self):
        self.root = ScriptRoot(self)
        self.root.program("sleep", "exec /bin/sleep 0.01")
        # As with cp(1) where there is no room; and what writes there directly meets a full device.
        self.root.program("cp", """
            case $2 in */boot/*) : >"$2"; echo "cp: no space left" >&2; exit 1 ;; esac
            exec /bin/cp "$@"
        """)

    def fill(self, name):
        """As it is with no room for this file."""
        (self.root.folder / "boot" / name).symlink_to("/dev/full")

    def assert_logged(self, name):
        self.assertIn(f"{name} cannot be written: is the boot partition full?", self.root.read("kmsg"))
        self.assertFalse((self.root.folder / "boot" / name).is_symlink())
        self.assertIsNone(self.root.read(f"boot/{name}"))

    def test_mistakes_of_the_configuration(self):
        self.root.program("tonearm", CHECK)
        self.root.write("boot/tonearm.conf", "[player]\nresume = loud\n")
        self.root.write("run/report", "The card is full.\n")
        self.root.run("configuration")
        self.assert_logged("tonearm-errors.txt")
        self.assert_logged("tonearm-report.txt")

    def test_an_update(self):
        self.root.program("tonearm", f"[ ! -e {self.root.folder}/boot/bad.update ]")
        for name in ("good.update", "bad.update"):
            self.fill("tonearm-report.txt")
            self.root.write("run/update-file", f"{name}\n")
            self.root.write(f"boot/{name}", "a bundle")
            self.root.run("card-update")
            self.assert_logged("tonearm-report.txt")
            self.assertIsNone(self.root.read(f"boot/{name}"))

    def test_the_bundle_makes_room_for_the_report(self):
        self.root.program("cp", f'[ ! -e {self.root.folder}/boot/good.update ] || exit 1\nexec /bin/cp "$@"')
        self.root.program("tonearm", """echo '{"event":"done","version":"0.9"}'""")
        self.root.write("run/update-file", "good.update\n")
        self.root.write("boot/good.update", "a bundle")
        self.root.run("card-update")
        self.assertIn("Version 0.9 is installed.", self.root.read("boot/tonearm-report.txt"))

    def test_music_without_room(self):
        self.fill("tonearm-report.txt")
        self.root.write("run/music-folder", "")
        self.root.write("boot/music/1.flac", "one")
        self.root.program("cat", '[ "${1##*.}" != flac ] || exit 1\nexec /bin/cat "$@"')
        self.root.write("data/system/queue-filled", "\n")
        self.root.run("music")
        self.assert_logged("tonearm-report.txt")

    def test_an_engine_that_does_not_start(self):
        self.root.program("dmesg", "")
        self.root.program("tonearm", "[ $1 != confine ] || exit 78\necho 'tonearm: wrong' >&2")
        self.root.write("run/tonearm/tonearm.conf", "first\n")
        self.root.start(self, "engine")
        self.root.wait_until(lambda: self.root.calls.count("sleep 5") > 2)
        self.assert_logged("tonearm-errors.txt")

    def test_a_network_that_does_not_let_the_board_in(self):
        self.root.write("run/wifi-known", "file 686f6d65 home\n")
        os.mkfifo(self.root.folder / "run/wifi-events")
        self.root.start(self, "wifi-report")
        with (self.root.folder / "run/wifi-events").open("w") as events:
            events.write("<3>CTRL-EVENT-SSID-TEMP-DISABLED id=0 reason=WRONG_KEY\n")
        self.root.wait_until(lambda: "does not accept the password" in (self.root.read("kmsg") or ""))
        self.assert_logged("tonearm-wifi.txt")


#: A queue in a file: what is in it, one place a line. `junk` has no music.
QUEUE = """
queue=/run/queue
touch "$queue"
case "$*" in
"status --json") echo "{\\"state\\":\\"stopped\\",\\"count\\":$(wc -l <"$queue" | tr -d ' '),\\"file\\":null}" ;;
"queue add "*) [ "$(ls "$3")" != junk ] && echo "$3" >>"$queue" ;;
"queue set "*) echo "$3" >"$queue" ;;
esac
"""


class Music(unittest.TestCase):
    def setUp(self):
        self.root = ScriptRoot(self)
        self.root.program("sleep", "exec /bin/sleep 0.01")
        self.root.program("tonearm", QUEUE)
        self.root.write("run/tonearm/control", "")

    def queue(self):
        return (self.root.read("run/queue") or "").replace(str(self.root.folder), "").splitlines()

    def wish(self, value):
        self.root.write("run/system.conf", f"start.queue={self.root.folder}{value}\n")

    def test_music_of_the_boot_partition_is_copied_and_played(self):
        self.root.write("run/music-folder", "")
        self.root.write("boot/music/1 – Frühling.flac", "one")
        self.root.write("boot/music/Album/2.flac", "two")
        self.root.write("boot/music/._1.flac", "of a Mac")
        self.root.write("boot/music/.Trashes/3.flac", "gone")
        self.root.write("data/music/Album/2.flac", "the beginning of it")
        self.assertEqual(self.root.run("music").stderr, "")
        folder = self.root.folder / "data/music"
        files = {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}
        self.assertEqual(files, {"1 – Frühling.flac": "one", "Album/2.flac": "two"})
        self.assertEqual(self.queue(), ["/data/music"])
        self.assertIn("tonearm play", self.root.calls)
        self.assertFalse((self.root.folder / "run/boot-held").exists())
        # Not again, whatever became of the queue.
        self.root.write("run/queue", "")
        inode = (folder / "Album/2.flac").stat().st_ino
        self.root.run("music")
        self.assertEqual(self.queue(), [])
        self.assertEqual((folder / "Album/2.flac").stat().st_ino, inode, "copied again")

    def test_a_stick_fills_an_empty_queue_once(self):
        self.root.write("data/music/junk", "")
        process = self.root.start(self, "music")
        self.root.wait_until(lambda: self.root.calls.count("sleep 3") > 3)
        # What has no music is not tried again and again.
        self.assertEqual(sum(line.startswith("tonearm queue add") for line in self.root.calls), 1)
        self.assertIsNone(process.poll())
        self.root.write("media/MY_MUSIC/1.flac", "")
        process.wait(60)
        self.assertEqual(self.queue(), ["/media/MY_MUSIC"])

    def test_a_queue_that_somebody_has_filled_stays(self):
        self.root.write("run/queue", "theirs\n")
        self.root.write("data/music/1.flac", "")
        self.root.run("music")
        self.assertEqual(self.queue(), ["theirs"])
        self.assertIsNotNone(self.root.read("data/system/queue-filled"))

    def test_each_change_of_the_wish_replaces_the_queue_once(self):
        self.root.write("run/queue", "theirs\n")
        self.wish("/media/STICK/Album")
        process = self.root.start(self, "music")
        self.root.wait_until(lambda: self.root.calls.count("sleep 3") > 3)
        self.assertEqual(self.queue(), ["theirs"])
        self.root.write("media/STICK/Album/1.flac", "")
        process.wait(60)
        self.assertEqual(self.queue(), ["/media/STICK/Album"])
        self.root.write("run/queue", "theirs\n")
        self.root.run("music")
        self.assertEqual(self.queue(), ["theirs"])
        self.wish("/media/STICK")
        self.root.run("music")
        self.assertEqual(self.queue(), ["/media/STICK"])


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
