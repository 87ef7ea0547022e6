"""A content service with the music of the speaker.

Environment:
  TONEARM_ORIGIN  the program; without it the one beside that of the speaker
"""

import os
import subprocess
import tempfile
from pathlib import Path

from speaker import LIMIT, PROGRAM

ORIGIN = Path(os.environ.get("TONEARM_ORIGIN", PROGRAM.with_name("tonearm-origin")))


class Service:
    """A content service with the music of the speaker. Its first tracks have the ids 1, 2 and 3."""

    def __init__(self, speaker, *options):
        self._options = options
        self._state = tempfile.TemporaryDirectory(prefix="tonearm-origin-")
        self.token = speaker.folder / "token"
        self.token.write_text("the-token-of-a-person\n")
        self._music = speaker.music
        self._process = None
        self.address = self.start(0)

    def start(self, port):
        """Starts it, waits until it has scanned the music, and returns its address."""
        command = [ORIGIN, "serve", self._music, "--port", str(port), "--state", self._state.name,
                   *self._options]
        self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
                                         stderr=subprocess.DEVNULL)
        address = ""
        for line in self._process.stdout:
            if line.startswith("serving "):
                address = line.split()[-1]
            if " new or changed" in line or (port and address):
                return address
        raise AssertionError("the service ended")

    def stop(self):
        self._process.terminate()
        self._process.wait(LIMIT)
        self._process.stdout.close()

    def start_again(self):
        self.start(int(self.address.rstrip("/").rsplit(":", 1)[1]))

    def discard(self):
        self.stop()
        self._state.cleanup()
