"""Updates of the firmware image: signed bundles, what is refused, and power cuts while one is written."""

import functools
import http.server
import json
import os
import random
import shutil
import ssl
import tempfile
import threading
import time
import unittest
from pathlib import Path

from virtual_board.host import run
from virtual_board.image_board import IMAGE, ROOT, ImageBoard, signed_bundle
from virtual_board.music import tune, write_flac
from virtual_board.parts import long
from virtual_board.slot_variant import slot_variant
from virtual_board.sound import Recorder, difference

TEST_KEY = ROOT / "firmware-image/test-key.pem"
CD = 44_100
#: How often the power is cut (tools/image-test --power-cuts).
CUTS = int(os.environ.get("TONEARM_UPDATE_CUTS") or 20)
UPDATE = ("tonearm", "update")
STATUS = "/proc/asound/HiFi/pcm0p/sub0/status"
#: In place of `slots`.
STOP_BEFORE_TRY = '[ "$1" != try ] || { touch /tmp/has-stopped && exec sleep 100000; }; exec sh /tmp/slots "$@"'
STOP_BEHIND_TRY = 'sh /tmp/slots "$@"; code=$?; [ "$1" != try ] || touch /tmp/has-stopped; exit $code'
#: The name of this machine on the board's network.
HOST = "10.0.2.2"
#: What the board's hosts file calls it.
NAME = "updates.example"


def new_key(path):
    """A private key, as docs/firmware-image.md has it made."""
    run(["openssl", "ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", path], check=True,
        capture_output=True)
    return path


class Update(unittest.TestCase):
    runner = None

    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp(prefix="image-update-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        release = (IMAGE / "root/etc/tonearm-release").read_text()
        cls.first = dict(line.split("=") for line in release.split())["version"]
        cls.own_key = new_key(cls.folder / "own.pem")
        cls.slot = slot_variant(cls.change)
        cls.good = signed_bundle(cls.slot, "virtual", "0.9", TEST_KEY)

    @classmethod
    def change(cls, root):
        """The new version soon proves itself, and takes updates that are signed with another key."""
        (root / "etc/health").write_text("3 60\n")
        encoded = run(["openssl", "pkey", "-in", cls.own_key, "-pubout", "-outform", "DER"], check=True,
                      capture_output=True).stdout
        # The point, behind what says which curve it is on.
        (root / "etc/tonearm/update-key").write_text(encoded[-65:].hex() + "\n")

    @classmethod
    def running_board(cls):
        """One that never starts again, for tests that need no fresh card."""
        if cls.runner is None:
            cls.runner = ImageBoard()
            cls.addClassCleanup(cls.runner.discard)
            cls.runner.power_on(network=False)
            cls.runner.wait_for_engine()
        return cls.runner

    def board(self, network=False, **options):
        board = ImageBoard(**options)
        self.addCleanup(board.discard)
        board.power_on(network=network)
        return board

    def update(self, board, content, *options):
        (board.share / "bundle").write_bytes(content)
        return board.run(*UPDATE, *options, "/host/bundle")

    def running(self, board):
        return board.run("sed", "-n", "s/^version=//p", "/etc/tonearm-release").stdout.strip()

    @long("image-updates", "two updates; a default test has one")
    def test_a_signed_bundle_is_installed(self):
        board = self.board()
        board.wait_for_engine()
        result = self.update(board, self.good, "--json")
        self.assertEqual((result.exit_code, result.stderr), (0, ""))
        lines = [json.loads(line) for line in result.stdout.splitlines()]
        self.assertEqual(lines[-1], {"event": "done", "version": "0.9"})
        self.assertEqual({line["step"] for line in lines[:-1]}, {"checking", "writing", "verifying"})
        board.power_off()
        board.power_on(network=False)
        self.assertEqual(self.running(board), "0.9")
        board.wait_until("/usr/lib/tonearm/slots is-good")
        # The other way round, older and forced.
        stranger = signed_bundle(self.slot, "virtual", "0.9.1", TEST_KEY)
        self.assertIn("signature", self.update(board, stranger).stderr)
        older = signed_bundle(self.slot, "virtual", "0.8.9", self.own_key)
        self.assertIn("is older than 0.9", self.update(board, older).stderr)
        self.assertEqual(self.update(board, older, "--force").exit_code, 0)
        board.power_off()
        self.assertEqual((board.state["slot"], board.state["good"]), ("a", "b"))

    def test_music_plays_on_while_an_update_is_written(self):
        music = tune(CD, 16, seconds=20, seed=8)
        board = self.board()
        board.wait_for_engine()
        board.install_tools()
        write_flac(board.share / "music/1.flac", music)
        board.ask("volume", "100")
        board.ask("repeat", "all")
        # The emulator may get no processor of a busy machine for moments.
        board.ask("config", "set", "audio.buffer", "1000 ms")
        recorder = Recorder(board, CD, buffer=1)
        board.ask("queue", "set", "/host/music/1.flac", "--play")
        board.wait_until(f"grep -q RUNNING {STATUS}")
        result = self.update(board, self.good)
        self.assertEqual((result.exit_code, result.stderr), (0, ""))
        self.assertIn('"playing"', board.run("tonearm", "status", "--json").stdout)
        board.ask("pause")
        # The pause fades, and the kernel's loop damages what it ends with.
        recording = recorder.stop()
        recording = recording.cut(0, recording.frames - CD // 2)
        times = recording.frames // music.frames + 1
        self.assertGreater(recording.frames, CD)
        self.assertIsNone(difference(recording, music.bytes * times, to_the_end=False))
        board.power_off()
        board.power_on(network=False)
        self.assertEqual(self.running(board), "0.9")
        board.wait_until("/usr/lib/tonearm/slots is-good")

    @long("image-updates", "three starts")
    def test_an_update_on_the_boot_partition_is_installed(self):
        board = ImageBoard()
        self.addCleanup(board.discard)
        board.write_file("tonearm.update", self.good)
        board.power_on_without_agent()
        board.wait_until_off()
        self.assertEqual((board.state["slot"], board.state["good"]), ("b", "a"))
        self.assertNotIn("tonearm.update", board.files())
        self.assertIn("Version 0.9 is installed", board.read_file("tonearm-report.txt"))
        other = signed_bundle(self.slot, "virtual", "0.9.1", self.own_key)
        board.write_file("other.update", self.changed(len(other) - 1, other))
        board.power_on(network=False)
        self.assertEqual(self.running(board), "0.9")
        board.wait_until("dmesg | grep -q 'damaged or not complete' && ! grep -q ' /boot ' /proc/mounts")
        board.power_off()
        self.assertIn("other.update-refused", board.files())
        self.assertIn("other.update is damaged or not complete", board.read_file("tonearm-report.txt"))

    def serve(self, certificate=None):
        """Starts a web server with the bundle `it's.update`; its port. With a certificate's files, for HTTPS."""
        site = self.folder / "site"
        site.mkdir(exist_ok=True)
        (site / "it's.update").write_bytes(self.good)
        handler = functools.partial(Quiet, directory=str(site))
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        if certificate is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*certificate)
            server.socket = context.wrap_socket(server.socket, server_side=True)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return server.server_port

    def certificate(self, name, server):
        """A certificate that signs itself, for a server of this name: the files of certificate and key."""
        files = self.folder / f"{name}.crt", self.folder / f"{name}.key"
        run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-noenc", "-days", "2",
             "-subj", f"/CN={name}", "-addext", f"subjectAltName=DNS:{server}", "-out", files[0],
             "-keyout", files[1]], check=True, capture_output=True)
        return files

    @long("image-updates", "a slot is made for it")
    def test_an_update_comes_over_https_from_a_known_server(self):
        known, other, stranger = (self.certificate(name, server) for name, server in (
            ("known", NAME), ("other", "other.example"), ("stranger", NAME)))

        def trust(root):
            with (root / "etc/ssl/certs/ca-certificates.crt").open("a") as file:
                file.write(known[0].read_text() + other[0].read_text())
            with (root / "etc/hosts").open("a") as file:
                file.write(f"{HOST} {NAME}\n")

        board = ImageBoard()
        self.addCleanup(board.discard)
        board.write_slot("a", slot_variant(trust, version=self.first))
        board.power_on()
        board.wait_until("ip address | grep -q 10.0.2.15")
        before = board.root_of("b"), board.state
        for reason, certificate in (("no known authority", stranger), ("for another host", other)):
            with self.subTest(reason):
                result = board.run(*UPDATE, f"https://{NAME}:{self.serve(certificate)}/it's.update")
                self.assertEqual(result.exit_code, 1)
                self.assertIn("cannot be downloaded", result.stderr)
                self.assertIn(reason, result.stderr)
                self.assertNotIn("download", board.run("ls", "/data/system").stdout)
                self.assertEqual(before, (board.root_of("b"), board.state))
        result = board.run(*UPDATE, f"https://{NAME}:{self.serve(known)}/it's.update")
        self.assertEqual((result.exit_code, result.stderr), (0, ""))
        board.power_off()
        self.assertEqual(board.state["slot"], "b")

    @long("image-updates", "another start and update")
    def test_an_update_comes_from_a_web_server(self):
        address = f"http://{HOST}:{self.serve()}"
        board = self.board(network=True)
        board.wait_until("ip address | grep -q 10.0.2.15")
        missing = board.run(*UPDATE, f"{address}/other.update")
        self.assertEqual(missing.exit_code, 1)
        self.assertIn("status 404", missing.stderr)
        result = board.run(*UPDATE, f"{address}/it's.update")
        self.assertEqual((result.exit_code, result.stderr), (0, ""))
        self.assertEqual(board.run("ls", "/data/system").stdout.count("download"), 0)
        board.power_off()
        self.assertEqual(board.state["slot"], "b")

    def ask(self, board, name, **fields):
        """Sends a request to the page's server, as a program does; its answer."""
        answer = board.run("busybox", "wget", "-q", "-O", "-", "--header", "Content-Type: application/json",
                           "--post-data", json.dumps(fields), f"http://127.0.0.1/api/{name}")
        self.assertEqual(answer.exit_code, 0, f"{name}: {answer.stderr}")
        return json.loads(answer.stdout)

    def wait_for_update(self, board, *modes):
        """Waits until the mode of updates is one of these. Returns the status, and the modes before."""
        deadline, seen = board.deadline(), []
        while True:
            status = self.ask(board, "update-status")
            if status["mode"] in modes and not status["waiting"]:
                return status, seen
            seen.append(status["mode"])
            self.assertFalse(deadline.has_passed, f"waited for {modes}: {status}")

    @long("image-updates", "another start and update; the tests of the script have its states")
    def test_an_update_is_installed_by_request(self):
        address = f"http://{HOST}:{self.serve()}"
        board = self.board(network=True)
        board.wait_until("ip address | grep -q 10.0.2.15")
        board.wait_for_engine()
        status, _ = self.wait_for_update(board, "idle")
        self.assertEqual((status["version"], status["next"], status["address"]), (self.first, None, None))
        self.ask(board, "update", address=f"{address}/other.update")
        status, _ = self.wait_for_update(board, "failed")
        self.assertEqual(status["problem"]["code"], "download")
        self.assertIn("status 404", status["problem"]["message"])
        self.ask(board, "update", address=f"{address}/it's.update")
        status, seen = self.wait_for_update(board, "installed", "failed")
        self.assertEqual((status["mode"], status["next"], status["problem"]), ("installed", "0.9", None))
        self.assertIn("installing", seen)
        self.ask(board, "restart")
        board.wait_until_off()
        self.assertEqual((board.state["slot"], board.state["good"]), ("b", "a"))
        board.power_on(network=False)
        board.wait_for_engine()
        status, _ = self.wait_for_update(board, "idle")
        self.assertEqual((status["version"], status["next"]), ("0.9", None))

    @long("image-updates", "eight updates; the tests of the scripts have them too")
    def test_what_is_wrong_is_refused_before_anything_is_written(self):
        board = self.running_board()
        before = board.root_of("b"), board.state
        manifest = 64 + 30
        middle = len(self.good) // 2
        cases = {
            "another key": (signed_bundle(self.slot, "virtual", "0.9", self.own_key), "signature"),
            "a changed manifest": (self.changed(manifest), "signature"),
            "a changed piece": (self.changed(middle), "damaged or not complete"),
            "cut off": (self.good[:middle], "damaged or not complete"),
            "cut off in the manifest": (self.good[:500], "too short"),
            "almost empty": (self.good[:10], "too short"),
            "another board": (signed_bundle(self.slot, "rpi3", "0.9", TEST_KEY), "for the board rpi3"),
            "an older version": (signed_bundle(self.slot, "virtual", "0.0.9", TEST_KEY), "older"),
        }
        for name, (content, reason) in cases.items():
            with self.subTest(name):
                result = self.update(board, content)
                self.assertEqual(result.exit_code, 1)
                self.assertIn(reason, result.stderr)
        self.assertEqual(before, (board.root_of("b"), board.state))

    def changed(self, place, bundle=None):
        """With another bit at this place."""
        bundle = bundle or self.good
        return bundle[:place] + bytes([bundle[place] ^ 1]) + bundle[place + 1:]

    @long("image-updates", "each cut is another start")
    def test_power_cuts_while_it_is_written(self):
        chance = random.Random(20_261_121)
        # While header and boot state are written; without chance, the two moments around the boot state are below.
        at_the_end = CUTS // 5
        board = self.board()
        for cut in range(CUTS):
            is_late = cut >= CUTS - at_the_end
            # From the first byte that is written to the last one that is verified.
            place = 199 if is_late else (2 * cut + 1) * 100 // (CUTS - at_the_end)
            step, percent = ("writing", "verifying")[place // 100], place % 100
            with self.subTest(cut=cut, step=step, percent=percent):
                update = self.start_update(board)
                self.wait_for(update, step, percent)
                if is_late:
                    time.sleep(chance.uniform(0, 1))
                board.cut_power()
                self.assertEqual(self.started_version(board), "0.9" if board.state["slot"] == "b" else self.first)
                if board.state["slot"] == "b":
                    board.discard()
                    board = self.board()
        # The slot is whole, and the boot state still names the other one.
        self.cut_power_around_try(board, STOP_BEFORE_TRY)
        self.assertEqual(board.root_of("b")[:len(self.slot)], self.slot)
        self.assertEqual((board.state["slot"], self.started_version(board)), ("a", self.first))
        # The first moment at which the new version has to start.
        self.cut_power_around_try(board, STOP_BEHIND_TRY)
        self.assertEqual((board.state["slot"], self.started_version(board)), ("b", "0.9"))

    def start_update(self, board):
        (board.share / "bundle").write_bytes(self.good)
        return board.start(*UPDATE, "--json", "/host/bundle")

    def started_version(self, board):
        board.power_on(network=False)
        return self.running(board)

    def cut_power_around_try(self, board, script):
        """Cuts the power while `slots try`, which an update ends with, hangs in this script in its place."""
        board.put(b"#!/bin/sh\n" + script.encode(), "/tmp/stopped-slots")
        board.run_script("cp /usr/lib/tonearm/slots /tmp/slots && chmod 755 /tmp/stopped-slots && "
                         "mount --bind /tmp/stopped-slots /usr/lib/tonearm/slots")
        self.start_update(board)
        board.wait_until("[ -e /tmp/has-stopped ]")
        board.cut_power()

    def wait_for(self, update, step, percent):
        """Waits until an update with --json has come this far."""
        def has_come_so_far():
            # What stands behind the last line end may be a part of a line.
            lines = [json.loads(line) for line in update.stdout.split("\n")[:-1]]
            return any(line.get("step") == step and line["percent"] >= percent for line in lines)

        update.wait_until(has_come_so_far, f"{step} {percent} %")


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


if __name__ == "__main__":
    unittest.main()
