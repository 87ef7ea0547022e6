"""mpc: every subcommand of its manual, with the daemon and with MPD."""

import contextlib
import itertools
import os
import queue
import re
import shlex
import subprocess
import threading

from clients_case import ClientCase, with_both
from mpc_steps import CHAPTERS, Refusal
from servers import ALBUM, LIMIT, PAUSE, PICTURED, fields

SONG = "Loose/untagged.flac"
#: Subcommands that have a test of their own below.
TESTED_BELOW = {"idle", "idleloop", "subscribe", "waitmessage", "albumart", "readpicture"}


def environment(server):
    return {**os.environ, "MPD_HOST": server.host, "LC_ALL": "C.UTF-8"}


def mpc(server, *words):
    return subprocess.run(["mpc", *words], env=environment(server), stdin=subprocess.DEVNULL, capture_output=True,
                          timeout=LIMIT)


def fits(text, pattern):
    """Whether a line is that of a pattern, in which `*` is any text."""
    return re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), text) is not None


class Steps(ClientCase):
    """A test for each chapter: its steps, with one server after the other."""

    def check(self, step, printed, server):
        name = fields(line for line in server.ask("outputs") if line.startswith("outputname"))["outputname"]
        result = mpc(server, *shlex.split(step.words.replace("OUTPUT", shlex.quote(name))))
        # The refusal of a filter is followed by the server's.
        lines, errors = result.stdout.decode().splitlines(), result.stderr.decode().split("\n")[0]
        where = f"{server.name}: mpc {step.words}: {lines} {errors}"
        if isinstance(printed, Refusal):
            self.assertNotEqual(result.returncode, 0, where)
            self.assertTrue(fits(errors.removeprefix("MPD error: "), printed), f"{where}, not {printed}")
            return
        self.assertTrue(result.returncode == 0, where)
        wanted = [line.replace("OUTPUT", name) for line in printed]
        self.assertTrue(len(lines) == len(wanted) and all(map(fits, lines, wanted)), f"{where}, not {wanted}")

    def run_chapter(self, steps):
        for server in (self.tonearm, self.peer):
            for step in steps:
                differs = server is self.peer and step.mpd is not None
                self.check(step, step.mpd if differs else step.printed, server)

    def test_each_difference_has_a_reason(self):
        for steps in CHAPTERS.values():
            for step in steps:
                self.assertEqual(step.mpd is None, step.why == "", step.words)

    def test_each_subcommand_of_the_manual_has_a_step(self):
        manual = subprocess.run(["mpc", "help"], capture_output=True, text=True, check=True, timeout=LIMIT).stdout
        known = set(re.findall(r"^  mpc ([a-z-]+)", manual, re.MULTILINE))
        self.assertGreater(len(known), 60)
        used = {word for steps in CHAPTERS.values() for step in steps for word in step.words.split()}
        self.assertEqual(known - used - TESTED_BELOW, set())


def chapter(steps):
    return lambda self: self.run_chapter(steps)


for title, steps in CHAPTERS.items():
    setattr(Steps, "test_" + title.replace(" ", "_"), chapter(steps))


class Background:
    """mpc in the background, and the lines that it prints."""

    def __init__(self, server, *words):
        # mpc would write a line only when many have gathered.
        self.process = subprocess.Popen(
            ["stdbuf", "-oL", "mpc", *words], env=environment(server), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self._lines = queue.SimpleQueue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self):
        for line in self.process.stdout:
            self._lines.put(line.rstrip("\n"))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(LIMIT)
        self._reader.join(LIMIT)
        self.process.stdout.close()

    def line(self):
        """The next line."""
        try:
            return self._lines.get(timeout=LIMIT)
        except queue.Empty:
            raise AssertionError(f"waited {LIMIT} s for a line of {self.process.args}") from None

    def line_after(self, *changes):
        """The next line, while these functions are called in turn: no server reports that a client waits."""
        for change in itertools.cycle(changes):
            change()
            with contextlib.suppress(queue.Empty):
                return self._lines.get(timeout=PAUSE)

    def lines_at_end(self):
        self.process.wait(LIMIT)
        self._reader.join(LIMIT)
        return [self._lines.get() for _ in range(self._lines.qsize())]


class Waiting(ClientCase):
    """Subcommands that wait for something."""

    def setUp(self):
        super().setUp()
        for server in (self.tonearm, self.peer):
            server.wait("the end of subscriptions", lambda server=server: server.ask("channels") == [])

    @with_both
    def test_idle_ends_with_the_first_event(self, server):
        with Background(server, "idle", "mixer", "options") as idle:
            self.assertEqual(idle.line_after(
                lambda: mpc(server, "volume", "20"), lambda: mpc(server, "volume", "30")), "mixer")
            self.assertEqual((idle.lines_at_end(), idle.process.returncode), ([], 0))

    @with_both
    def test_idleloop_prints_each_event(self, server):
        with Background(server, "idleloop") as loop:
            loop.line_after(lambda: mpc(server, "volume", "20"), lambda: mpc(server, "volume", "30"))
            for words, event in (("repeat on", "options"), (f"add {SONG}", "playlist"), ("play", "player"),
                                 ("save Night", "stored_playlist"), ("rm Night", "stored_playlist"),
                                 (f"sticker {SONG} set a b", "sticker"),
                                 (f"sticker {SONG} delete a", "sticker"), ("disable 1", "output"),
                                 ("enable 1", "output"), ("volume 40", "mixer")):
                self.assertEqual(mpc(server, *words.split()).returncode, 0, words)
                while loop.line() != event:
                    pass

    @with_both
    def test_messages_arrive(self, server):
        with Background(server, "subscribe", "news") as subscriber, Background(server, "waitmessage", "other") as one:
            server.wait("both subscriptions",
                        lambda: set(mpc(server, "channels").stdout.split()) == {b"news", b"other"})
            self.assertEqual(mpc(server, "sendmessage", "news", "hello you").returncode, 0)
            self.assertIn("hello you", subscriber.line())
            self.assertEqual(mpc(server, "sendmessage", "other", "the end").returncode, 0)
            self.assertIn("the end", one.line())
            self.assertEqual((one.lines_at_end(), one.process.returncode), ([], 0))

    @with_both
    def test_current_waits_for_the_next_entry(self, server):
        mpc(server, "add", ALBUM)
        mpc(server, "play")
        with Background(server, "-f", "%position%", "current", "--wait") as waiting:
            self.assertIn(waiting.line_after(lambda: mpc(server, "play", "2"), lambda: mpc(server, "play", "3")),
                          ("2", "3"))


class Pictures(ClientCase):
    @with_both
    def test_pictures_arrive_whole(self, server):
        self.assertGreater(len(self.both.cover), 3 * 8192)
        self.assertEqual(mpc(server, "albumart", PICTURED).stdout, self.both.cover)
        self.assertEqual(mpc(server, "readpicture", PICTURED).stdout, self.both.picture)
