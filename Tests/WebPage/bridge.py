"""Serves the web page, and its API from the control socket of a daemon.

usage: bridge.py SOCKET [PORT]

For work on the page and its tests without the daemon's own HTTP server. With TONEARM_PAGE_PASSWORD in the environment
a browser has to log in first. Prints its address in the first line.
"""

import http.server
import json
import mimetypes
import os
import secrets
import socket
import subprocess
import sys
import threading
import time
import urllib.parse
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "web"
CONTENT_SECURITY_POLICY = "default-src 'self'; frame-ancestors 'none'"
#: In seconds, for one request to the daemon. A search of a large folder takes long.
REQUEST_LIMIT = 60
#: In seconds. A `position` that is farther from the expected one is a jump.
JUMP = 0.8
STATUS = {"bad-request": 400, "bad-json": 400, "system": 503}

mimetypes.add_type("application/manifest+json", ".webmanifest")


class Unreachable(Exception):
    """The daemon does not answer."""


class ControlConnection:
    """A connection to the control socket. Thread: any, one request at a time."""

    def __init__(self, path):
        self._path = path
        self._lock = threading.Lock()
        self._socket = self._lines = None

    def request(self, name, fields):
        """Returns the reply. A connection that has ended is opened again once."""
        line = json.dumps({"id": 1, "request": name, **fields}).encode() + b"\n"
        with self._lock:
            for _ in range(2):
                try:
                    if self._socket is None:
                        self._open()
                    self._socket.sendall(line)
                    reply = self._lines.readline()
                    if reply:
                        return json.loads(reply)
                except OSError:
                    pass
                self._close()
        raise Unreachable

    def _open(self):
        self._socket = connected(self._path)
        self._socket.settimeout(REQUEST_LIMIT)
        self._lines = self._socket.makefile("rb")

    def _close(self):
        if self._socket is not None:
            self._socket.close()
        self._socket = self._lines = None


def connected(path):
    """Returns a socket that is connected to the daemon."""
    result = socket.socket(socket.AF_UNIX)
    try:
        result.connect(path)
    except OSError:
        result.close()
        raise
    return result


class Jumps:
    """Finds the `position` events of jumps: the page gets no others."""

    def __init__(self):
        self._position, self._since, self._is_playing, self._entry = 0, 0, False, None

    def is_wanted(self, name, event):
        """Whether the page gets an event."""
        now = time.monotonic()
        expected = self._position + (now - self._since if self._is_playing else 0)
        self._is_playing = event.get("state", "playing" if self._is_playing else "") == "playing"
        has_new_entry = event.get("entry", self._entry) != self._entry
        self._entry = event.get("entry", self._entry)
        if "position" in event or has_new_entry:
            self._position, self._since = event.get("position") or 0, now
        return name != "position" or abs(self._position - expected) > JUMP


class Bridge(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, control, port):
        super().__init__(("127.0.0.1", port), Handler)
        self.socket_path = control
        self.control = ControlConnection(control)
        self.token = secrets.token_hex(16)
        self.cookie = secrets.token_hex(16)
        self.password = os.environ.get("TONEARM_PAGE_PASSWORD")

    def handle_error(self, request, client_address):
        """Says nothing when a browser has closed its connection."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        path, _, query = self.path.partition("?")
        if path == "/api/session":
            self.send_session()
        elif path == "/api/events":
            self.send_events()
        elif path == "/api/cover":
            self.send_cover(urllib.parse.parse_qs(query).get("path", [""])[0])
        else:
            self.send_file("index.html" if path == "/" else path[1:])

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        name = self.path.removeprefix("/api/")
        if name == "login":
            self.log_in(json.loads(body))
        elif not self.is_logged_in():
            self.refuse(401, "login", "log in first")
        elif self.headers.get("Tonearm-Token") != self.server.token:
            self.refuse(403, "token", "the token is of another session")
        else:
            self.pass_on(name, json.loads(body))

    def pass_on(self, name, fields):
        try:
            reply = self.server.control.request(name, fields)
        except Unreachable:
            self.refuse(503, "system", "the daemon does not answer")
            return
        reply.pop("id")
        self.send_json(200 if reply["ok"] else STATUS.get(reply["error"]["code"], 409), reply)

    def is_logged_in(self):
        return self.server.password is None or f"session={self.server.cookie}" in self.headers.get("Cookie", "")

    def send_session(self):
        try:
            self.server.control.request("version", {})
        except Unreachable:
            self.refuse(503, "system", "the daemon does not answer")
            return
        session = {"ok": True, "token": self.server.token, "name": "Kitchen", "login": not self.is_logged_in()}
        self.send_json(200, session)

    def log_in(self, fields):
        if fields.get("password") == self.server.password:
            self.send_json(200, {"ok": True}, {"Set-Cookie": f"session={self.server.cookie}; HttpOnly"})
        else:
            self.refuse(403, "wrong-password", "the password is wrong")

    def send_events(self):
        if not self.is_logged_in():
            self.refuse(401, "login", "log in first")
            return
        try:
            control = connected(self.server.socket_path)
        except OSError:
            self.refuse(503, "system", "the daemon does not answer")
            return
        self.start(200, {"Content-Type": "text/event-stream", "Connection": "close"})
        jumps = Jumps()
        with control, control.makefile("rb") as lines:
            control.sendall(b'{"request":"subscribe"}\n')
            for line in lines:
                event = json.loads(line)
                name = event.pop("event", "status")
                if not jumps.is_wanted(name, event):
                    continue
                try:
                    self.wfile.write(f"event: {name}\ndata: {json.dumps(event)}\n\n".encode())
                    self.wfile.flush()
                except OSError:
                    break
        self.close_connection = True

    def send_cover(self, path):
        folder = Path(path).parent
        for name in ("cover.jpg", "cover.png", "folder.jpg"):
            if (folder / name).is_file():
                self.send_bytes((folder / name).read_bytes(), mimetypes.guess_type(name)[0])
                return
        command = ["ffmpeg", "-v", "quiet", "-i", path, "-an", "-frames:v", "1", "-f", "mjpeg", "-"]
        picture = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=30).stdout
        if picture:
            self.send_bytes(picture, "image/jpeg")
        else:
            self.refuse(404, "no-such-file", "no cover")

    def send_file(self, name):
        file = PAGE / name
        if file.parent == PAGE and file.is_file():
            self.send_bytes(file.read_bytes(), mimetypes.guess_type(name)[0] or "application/octet-stream")
        else:
            self.refuse(404, "no-such-file", "no such file")

    def refuse(self, status, code, message):
        self.send_json(status, {"ok": False, "error": {"code": code, "message": message}})

    def send_json(self, status, value, headers=None):
        self.send_bytes(json.dumps(value).encode(), "application/json", status, headers)

    def send_bytes(self, content, kind, status=200, headers=None):
        self.start(status, {"Content-Type": kind, "Content-Length": str(len(content)), **(headers or {})})
        self.wfile.write(content)

    def start(self, status, headers):
        self.send_response(status)
        for name, value in {"Content-Security-Policy": CONTENT_SECURITY_POLICY, "Cache-Control": "no-cache",
                            **headers}.items():
            self.send_header(name, value)
        self.end_headers()

    def log_message(self, *arguments):
        """Says nothing."""


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit("usage: bridge.py SOCKET [PORT]")
    bridge = Bridge(sys.argv[1], int(sys.argv[2]) if len(sys.argv) == 3 else 0)
    print(f"http://127.0.0.1:{bridge.server_address[1]}", flush=True)
    bridge.serve_forever()


if __name__ == "__main__":
    main()
