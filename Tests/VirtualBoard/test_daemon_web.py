"""A browser's session over HTTP: the page, search, queue, events, a cover, a power cut, memory, and TLS."""

import json
import re
import shlex
import socket
import ssl
import tempfile
import unittest
from pathlib import Path

from virtual_board.daemon import Daemon, board_with_daemon
from virtual_board.host import run
from virtual_board.measures import report
from virtual_board.music import tune, write_flac

RATE = 44_100
TRACKS = 3
COVER = b"\xff\xd8\xff a picture"
#: In bytes, of the daemon while it plays and sends events to eight browsers.
MEMORY_LIMIT = 12 << 20


class Browser(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.certificate, key = make_certificate()
        with tempfile.TemporaryDirectory() as name:
            for number in range(1, TRACKS + 1):
                file = Path(name) / f"Album/{number}.flac"
                write_flac(file, tune(RATE, 16, seconds=30, seed=number))
                tags = ["ARTIST=Band", "ALBUM=Album", f"TITLE=Part {number}", f"TRACKNUMBER={number}"]
                run(["metaflac", *(f"--set-tag={tag}" for tag in tags), str(file)], check=True)
            (Path(name) / "Album/cover.jpg").write_bytes(COVER)
            cls.board = board_with_daemon(
                Path(name),
                {("library", "folders"): "/data/music", ("web", "address"): "any", ("web", "folder"): "/data"},
                {"index.html": "<!doctype html>the page\n", "page.pem": cls.certificate, "page.key": key})
        cls.addClassCleanup(cls.board.discard)
        cls.board.power_on()
        cls.daemon = Daemon(cls.board)
        cls.daemon.wait_until_ready()

    def fetch(self, method, path, body=""):
        """The status and the body of an answer."""
        lines = [f"{method} {path} HTTP/1.1", "Host: board", "Connection: close"]
        if method == "POST":
            lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
        text = "".join(f"{line}\r\n" for line in [*lines, ""]) + body
        result = self.board.run("sh", "-c", f"printf %s {shlex.quote(text)} | nc 127.0.0.1 8080")
        head, _, rest = result.stdout.replace("\r\n", "\n").partition("\n\n")
        return int(head.split(" ")[1]), rest

    def ask(self, name, **fields):
        status, body = self.fetch("POST", f"/api/{name}", json.dumps(fields))
        self.assertEqual(status, 200, body)
        return json.loads(body)

    def wait_for(self, key, value, request="status"):
        deadline = self.board.deadline()
        while (found := self.ask(request)[key]) != value:
            self.assertFalse(deadline.has_passed, f"{key} of {request} is {found}, not {value}")

    def test_a_session(self):
        self.assertEqual(self.fetch("GET", "/"), (200, "<!doctype html>the page\n"))
        self.wait_for("tracks", TRACKS, "library-status")
        found = self.ask("library-search", words="part 2")["entries"]
        self.assertEqual([entry["title"] for entry in found], ["Part 2"])
        self.assertEqual(self.fetch("GET", f"/api/cover?path={found[0]['path']}")[0], 200)
        self.ask("queue-set", products=[{"path": "/data/music/Album"}], play=True)
        self.wait_for("state", "playing")
        for number in range(8):
            self.board.run(
                "sh", "-c",
                "(printf 'GET /api/events HTTP/1.1\\r\\nHost: board\\r\\n\\r\\n'; sleep 1000) | nc 127.0.0.1 8080"
                f" >/tmp/events-{number} 2>&1 &")
        self.board.wait_until("grep -q '^event: status' /tmp/events-7")
        self.ask("next")
        self.wait_for("title", "Part 2")
        for number in range(8):
            self.board.wait_until(f"grep -q 'event: track' /tmp/events-{number}")
        memory = self.board.run("cat", f"/proc/{self.daemon.process}/status").stdout
        size = int(re.search(r"VmRSS:\s+(\d+) kB", memory)[1]) << 10
        report("memory with 8 browsers", size / (1 << 20), "MB", MEMORY_LIMIT >> 20)
        self.assertLessEqual(size, MEMORY_LIMIT)
        self.ask("pause")
        self.wait_for("state", "paused")

        self.board.cut_power()
        self.board.power_on()
        self.daemon.wait_until_ready()
        self.assertEqual(self.ask("queue")["count"], TRACKS)
        self.assertEqual(self.ask("status")["index"], 1)
        self.ask("play")
        self.wait_for("state", "playing")
        self.wait_for("title", "Part 2")

    def test_over_tls(self):
        lines = r"certificate = /data/page.pem\nkey = /data/page.key"
        self.board.run("sed", "-i", rf"s|^\[web\]$|[web]\n{lines}|", "/data/tonearm.conf")
        self.daemon.restart()
        for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
            context = ssl.create_default_context(cadata=self.certificate)
            context.minimum_version = context.maximum_version = version
            with self.tunnel() as tunnel, context.wrap_socket(
                    tunnel, server_hostname="board", suppress_ragged_eofs=False) as tls:
                self.assertEqual(tls.version(), version.name.replace("_", "."))
                tls.sendall(b"GET / HTTP/1.1\r\nHost: board\r\nConnection: close\r\n\r\n")
                answer = b""
                while part := tls.recv(65536):
                    answer += part
            self.assertTrue(answer.startswith(b"HTTP/1.1 200 "), answer)
            self.assertTrue(answer.endswith(b"\r\n\r\n<!doctype html>the page\n"), answer)
        status, text = self.fetch("GET", "/")
        self.assertEqual(status, 400)
        self.assertIn("https://", text)

    def tunnel(self):
        """A connection to the page's port: the board makes it from its side, because nothing of it is open to us."""
        with socket.create_server(("127.0.0.1", 0)) as listener:
            listener.settimeout(self.board.deadline().seconds)
            port = listener.getsockname()[1]
            self.board.run(
                "sh", "-c",
                "rm -f /tmp/back; mkfifo /tmp/back;"
                f" (nc 10.0.2.2 {port} </tmp/back | nc 127.0.0.1 8080 >/tmp/back) >/dev/null 2>&1 &")
            connection = listener.accept()[0]
        connection.settimeout(self.board.deadline().seconds)
        return connection


def make_certificate():
    """A certificate for the name `board` and its key, in PEM."""
    made = run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
         "-subj", "/CN=board", "-addext", "subjectAltName=DNS:board", "-keyout", "/dev/stdout"],
        check=True, capture_output=True, text=True).stdout
    start = made.index("-----BEGIN CERTIFICATE-----")
    return made[start:], made[:start]


if __name__ == "__main__":
    unittest.main()
