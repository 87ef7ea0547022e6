"""The image's scripts on this machine, without starting an image: a copy of its root whose paths begin in a folder, and
programs in place of those that would change this machine."""

import contextlib
import os
import re
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from .host import run

ROOT = Path(__file__).parents[3]
SOURCE = ROOT / "firmware-image/root"

#: What the scripts name, at the beginning of a path.
PLACES = re.compile(r"(?<![\w.})/])/(run|etc|boot|data|media|usr/lib/tonearm|usr/share/tonearm/overlays|"
                    r"sys/class|sys/fs|sys/module|proc/mounts|proc/asound)\b")
#: What does nothing here but write down how it was called.
SILENT = ("mount", "umount", "hostname", "chown", "sync", "ip", "usleep", "reboot")

#: In seconds.
PATIENCE = 60


class ScriptRoot:
    """The folders of a board. Paths in the scripts, like `/run/disk`, are `folder / "run/disk"`."""

    def __init__(self, test):
        """For a test case, which removes it at its end."""
        self.folder = Path(tempfile.mkdtemp(prefix="image-scripts-"))
        test.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        shutil.copytree(SOURCE, self.folder, dirs_exist_ok=True)
        for name in ("run/tonearm", "boot", "data/system", "data/music", "media", "bin", "sys/class/net"):
            (self.folder / name).mkdir(parents=True)
        self.write("run/disk", "disk=/dev/disk\nslot=a\nboot=/dev/boot\nroot=/dev/a\nother=/dev/b\ndata=/dev/data\n")
        self.write("etc/tonearm-release", "board=test\nversion=1\n")
        self.write("etc/tonearm/board.conf", "[board]\nname = Test\n")
        # Needs a disk.
        self.write("usr/lib/tonearm/slots", "#!/bin/sh\n")
        for path in (self.folder / "usr/lib/tonearm").iterdir():
            path.write_text(self.translated(path.read_text()))
        for name in SILENT:
            self.program(name, "")

    def translated(self, text):
        text = text.replace("export PATH=/usr/bin", f"export PATH={self.folder}/bin:/usr/bin:/bin:/sbin")
        return PLACES.sub(rf"{self.folder}/\1", text.replace(">/dev/kmsg", f">>{self.folder}/kmsg"))

    def program(self, name, script):
        """Has `name` run this shell script. How it was called is in `calls`."""
        path = self.folder / "bin" / name
        path.write_text(f'#!/bin/sh\necho "{name} $*" >>{self.folder}/calls\n{self.translated(script)}\n')
        path.chmod(0o755)

    def script(self, name, text):
        """Replaces a script of /usr/lib/tonearm."""
        path = self.folder / "usr/lib/tonearm" / name
        path.write_text(self.translated(text if text.startswith("#!") else f"#!/bin/sh\n{text}\n"))
        path.chmod(0o755)

    @property
    def calls(self):
        """What was called, a line each, with its arguments."""
        path = self.folder / "calls"
        return path.read_text().splitlines() if path.exists() else []

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def read(self, name):
        """The text of a file; None when there is none."""
        path = self.folder / name
        return path.read_text() if path.exists() else None

    def run(self, name, *words, standard_input=None, **environment):
        """Runs a script of /usr/lib/tonearm to its end."""
        return run(self.command(name, words), capture_output=True, text=True, cwd=self.folder,
                   env=os.environ | environment, timeout=PATIENCE, input=standard_input)

    def start(self, test, name):
        """Starts a script that does not end by itself."""
        process = subprocess.Popen(self.command(name, ()), cwd=self.folder, start_new_session=True,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

        def stop():
            # What it has started as well, if anything is left.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, 9)
            process.wait(PATIENCE)

        test.addCleanup(stop)
        return process

    def command(self, name, words):
        return ["sh", self.folder / "usr/lib/tonearm" / name, *words]

    def wait_until(self, condition):
        deadline = time.monotonic() + PATIENCE
        while not condition():
            if time.monotonic() > deadline:
                calls = "\n".join(self.calls[-50:])
                raise TimeoutError(f"a condition has not come true in {PATIENCE} s\n{calls}\n{self.read('kmsg')}")
            time.sleep(0.01)
