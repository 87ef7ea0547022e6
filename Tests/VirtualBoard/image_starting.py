"""The firmware image: from a card that was just written to the first sample, and the configuration on it."""

import contextlib
import os
import shutil
import sqlite3
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

from virtual_board.host import LIMIT, run
from virtual_board.image_board import ROOT, ImageBoard, disk
from virtual_board.measures import report
from virtual_board.music import silence, tune, write_flac
from virtual_board.parts import long
from virtual_board.qemu import Deadline
from virtual_board.sound import Recorder, difference

CD = 44_100

#: In seconds: from the kernel's first program to the first sample.
START_LIMIT = 3
#: In MB: everything but the kernel.
MEMORY_LIMIT = 32

#: The button for the power.
POWER_LINE = 3

STATUS = "/proc/asound/HiFi/pcm0p/sub0/status"


class Starting(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.tune = tune(CD, 16, seconds=3, seed=5)
        cls.folder = Path(tempfile.mkdtemp(prefix="image-music-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        write_flac(cls.folder / "1.flac", cls.tune.followed_by(silence(CD, 16, 2)))
        write_flac(cls.folder / "long/2.flac", tune(CD, 16, seconds=60, seed=6))

    def board(self, **options):
        board = ImageBoard(**options)
        self.addCleanup(board.discard)
        return board

    def test_a_new_card_plays_without_a_network(self):
        board = self.board()
        before = board.root_of("a")
        board.power_on(network=False)
        board.install_tools()
        board.wait_for_engine()
        shutil.copytree(self.folder, board.share / "music")
        (board.share / "music").chmod(0o755)
        board.ask("volume", "100")
        recorder = Recorder(board, CD)
        board.ask("queue", "set", "/host/music/1.flac", "--play")
        board.wait_until("tonearm status | grep -q stopped")
        self.assertIsNone(difference(recorder.stop(), self.tune.bytes))
        self.assertEqual(board.run("cat", "/sys/class/net/eth0/carrier").stdout, "0\n")
        self.assertIn("Starting kernel", board.console)
        self.assertNotIn("Hit any key", board.console)
        # Ports 6600, for clients of MPD, and 80, for browsers, are the only ones.
        ways = board.ways_in()
        self.assertEqual([way for way in ways if ":19C8 " not in way and ":0050 " not in way], [])
        self.assertEqual(len(ways), 2)
        self.assert_waits_for_a_change(board)
        with board.holding(POWER_LINE):
            board.wait_until_off()
        self.assertIn("a newer version of the program wrote it", board.read_file("tonearm-errors.txt"))
        self.assertEqual(before, board.root_of("a"), "the root was written")
        self.assertEqual(board.check_data()[0], 0)
        start, size = board.data_partition()
        self.assertEqual(start + size, board.card.stat().st_size, "the data partition goes to the end of the card")

    @long("image-starting", "two starts")
    def test_music_that_was_playing_goes_on(self):
        board = self.board(music=self.folder)
        board.power_on(network=False)
        board.wait_for_engine()
        board.ask("queue", "set", "/data/music/long", "--play")
        board.wait_until(f"grep -q RUNNING {STATUS}")
        board.power_off()
        board.power_on(network=False, counts=True)
        board.wait_until(f"grep -q RUNNING {STATUS}")
        times = board.boot_times()
        seconds = board.first_sample() - times["initramfs"]
        report("from the first program to the first sample", seconds, "s", START_LIMIT)
        self.assertLessEqual(seconds, START_LIMIT)
        memory = board.memory()
        report("memory of all programs", memory, "MB", MEMORY_LIMIT)
        self.assertLessEqual(memory, MEMORY_LIMIT)

    def write_files(self, board):
        """What a person may put beside tonearm.conf."""
        board.make_folder("music")
        board.write_file("music/1.flac", (self.folder / "1.flac").read_bytes())
        board.write_file("token.txt", "a token of the service\r\n")
        certificate = board.folder / "ca.pem"
        run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-noenc", "-days", "2", "-subj", "/CN=nas",
             "-out", certificate, "-keyout", board.folder / "key"], check=True, capture_output=True)
        board.write_file("ca.pem", certificate.read_bytes())
        # Of the page: its own, with the same certificate.
        board.write_file("password.txt", "a password of the page\r\n")
        board.write_file("certificate.pem", certificate.read_bytes())
        board.write_file("key.pem", (board.folder / "key").read_bytes())
        profile = (ROOT / "board/virtual/board.conf").read_text()
        board.write_file("board.conf", profile.replace("name = Virtual board", "name = My board"))

    @staticmethod
    def remove_files(board):
        for name in ("token.txt", "ca.pem", "board.conf", "certificate.pem"):
            board.remove_file(name)

    def assert_took_files_over(self, board):
        board.wait_until("[ -e /data/system/queue-filled ]")
        self.assertEqual(board.ask("status")["file"], "/data/music/1.flac")
        self.assertIn("name = My board\n", board.run("cat", "/run/tonearm/board.conf").stdout)
        for key, name in (("service.token-file", "token.txt"), ("network.ca-file", "ca.pem"),
                          ("web.password-file", "password.txt"), ("web.certificate", "page.pem"),
                          ("web.key", "page.pem")):
            path = f"/data/service/{name}"
            self.assertEqual(board.run("stat", "-c", "%a %U", path).stdout, "600 tonearm\n")
            self.assertIn(path, board.run("tonearm", "config", "get", key).stdout)

    @long("image-starting", "three starts; the tests of the scripts have all mistakes")
    def test_mistakes_in_the_configuration_are_written_beside_it(self):
        board = self.board()
        board.write_file("tonearm.conf", "[image]\nname = kitchen\n[player]\nresume = paused\n")
        self.write_files(board)
        board.power_on(network=False)
        board.wait_for_engine()
        self.assert_took_files_over(board)
        self.assertEqual(board.run("hostname").stdout, "kitchen\n")
        self.assertIn("paused", board.run("tonearm", "config", "get", "player.resume").stdout)
        board.power_off()
        self.assertEqual({"tonearm-errors.txt", "password.txt", "key.pem"} & set(board.files()), set())
        self.assertIn("key.pem was removed", board.read_file("tonearm-report.txt"))

        wrong = "[image]\nname = my kitchen\n\n[wifi home]\npassword = 123\n[player]\nresume = loud\n"
        board.write_file("tonearm.conf", wrong)
        board.write_file("ca.pem", "no certificate\n")
        board.write_file("board.conf", "[board]\nnam = My board\n")
        board.power_on(network=False)
        board.wait_for_engine()
        # What was good holds.
        self.assertEqual(board.run("hostname").stdout, "kitchen\n")
        self.assertIn("paused", board.run("tonearm", "config", "get", "player.resume").stdout)
        board.power_off()
        errors = board.read_file("tonearm-errors.txt")
        for line in ("tonearm.conf:2: name is", "tonearm.conf:5: [wifi home]: a Wi-Fi password", "tonearm.conf:7: ",
                     "board.conf:2: ", "ca.pem: there is no certificate"):
            self.assertIn(line, errors)

        board.write_file("tonearm.conf", "[player]\r\nresume = empty\r\n")
        self.remove_files(board)
        board.power_on(network=False)
        board.wait_for_engine()
        self.assertIn("empty", board.run("tonearm", "config", "get", "player.resume").stdout)
        board.power_off()
        self.assertNotIn("tonearm-errors.txt", board.files())

    def assert_waits_for_a_change(self, board):
        """An engine that refuses the state of a newer version is not started again before the configuration has
        changed."""
        # The service `engine` waits for as long as that is there.
        board.run_script("touch /run/data-fails; killall tonearm; "
                         "while pidof tonearm >/dev/null; do usleep 50000; done; "
                         "cp -r /data/state /host/state; chmod -R a+rwX /host/state")
        with contextlib.closing(sqlite3.connect(board.share / "state/tonearm.db")) as database, database:
            # With the tables of this version the number would be damage.
            database.execute("ALTER TABLE setting ADD COLUMN newer")
            database.execute("PRAGMA user_version = 3")
        board.run_script("cd /data/state && cp tonearm.db /tmp/good.db && rm -f tonearm.db-wal tonearm.db-shm && "
                         "cat /host/state/tonearm.db >tonearm.db && rm /run/data-fails")
        board.wait_until("dmesg | grep -q 'the engine does not start' && ! grep -q ' /boot ' /proc/mounts")
        starts = "dmesg | grep -c 'tonearm-engine: starting'"
        before = board.run_script(starts).stdout
        # Longer than init would wait.
        board.run_script("sleep 3")
        self.assertEqual(board.run_script(starts).stdout, before)
        board.run_script("cat /tmp/good.db >/data/state/tonearm.db; echo '# another' >>/run/tonearm/tonearm.conf")
        board.wait_for_engine()

    @long("image-starting", "another start")
    def test_the_command_for_a_person_starts_it_with_all_buttons_let_go(self):
        card = self.folder / "card.img"
        output = self.folder / "output"
        with output.open("wb") as file:
            person = subprocess.Popen([ROOT / "firmware-image/run", "--card", "512"], stdin=subprocess.PIPE,
                                      stdout=file, stderr=file, env=os.environ | {"TONEARM_CARD": str(card)})
        self.addCleanup(self.end, person)
        deadline = Deadline()
        # The data partition is made after a look at the button for a factory reset.
        while not self.has_data(card):
            self.assertIsNone(person.poll(), output.read_text(errors="replace"))
            self.assertFalse(deadline.has_passed,
                             f"no data partition in {deadline.seconds} s\n{output.read_text(errors='replace')}")
            time.sleep(0.1)
        self.assertNotIn("let go of the button", output.read_text(errors="replace"))

    @staticmethod
    def end(person):
        """Presses the keys that end the emulator, Ctrl-A and X; kills it when that has no effect."""
        try:
            person.communicate(b"\x01x", LIMIT)
        except subprocess.TimeoutExpired:
            person.kill()
            person.wait(LIMIT)

    @staticmethod
    def has_data(card):
        """Whether the data partition has the magic number of ext4."""
        if not card.exists():
            return False
        with card.open("rb") as file:
            file.seek(disk.DATA.start + 1024 + 56)
            return file.read(2) == b"\x53\xef"


if __name__ == "__main__":
    unittest.main()
