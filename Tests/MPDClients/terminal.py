"""A program in a terminal, which tmux draws: keys go in, and the text of the screen comes out."""

import os
import subprocess
import tempfile
import time

from servers import LIMIT, PAUSE


class Terminal:
    """A program on a screen of 100 columns and 30 lines, in a tmux server of its own."""

    def __init__(self, *command, **environment):
        self._folder = tempfile.TemporaryDirectory(prefix="tonearm-tmux-")
        self._socket = f"{self._folder.name}/socket"
        self._environment = {**os.environ, "HOME": self._folder.name, "LC_ALL": "C.UTF-8", "TERM": "xterm",
                             **environment}
        self._environment.pop("TMUX", None)
        # The screen stays when the program has ended, with its last words.
        self._tmux("-f", "/dev/null", "new-session", "-d", "-x", "100", "-y", "30", *command, ";",
                   "set-option", "remain-on-exit", "on")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._tmux("kill-server")
        self._folder.cleanup()

    def _tmux(self, *words):
        return subprocess.run(["tmux", "-S", self._socket, *map(str, words)], env=self._environment, check=True,
                              stdout=subprocess.PIPE, text=True, timeout=LIMIT).stdout

    @property
    def text(self):
        return self._tmux("capture-pane", "-p")

    def press(self, *keys):
        """Presses keys by their names in tmux: `a`, `Enter`, `Down`."""
        for key in keys:
            self._tmux("send-keys", key)

    def type(self, text):
        """Types a text, and Enter."""
        self._tmux("send-keys", "-l", text)
        self.press("Enter")

    def wait_for(self, *texts, without=()):
        """Waits until all these texts are on the screen, and none of the others."""
        self.wait(lambda screen: all(text in screen for text in texts) and not any(text in screen for text in without),
                  f"{texts} without {without}" if without else f"{texts}")

    def wait_for_end(self):
        """Waits until the program has ended."""
        self.wait(lambda _: self._tmux("display-message", "-p", "#{pane_dead}").strip() == "1", "the end")

    def wait(self, is_so, what):
        deadline = time.monotonic() + LIMIT
        while not is_so(screen := self.text):
            assert time.monotonic() < deadline, f"waited {LIMIT} s for {what} on the screen:\n{screen}"
            time.sleep(PAUSE)
