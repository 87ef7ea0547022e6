"""tools/page joins the parts of the script, and refuses what would make another page, without a browser."""

import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

import esprima
from speaker import REPOSITORY

NEEDED = ("tools/page", "tools/lib/common.sh")


class Parts(unittest.TestCase):
    """A copy of the sources, whose tool makes the page."""

    def setUp(self):
        folder = Path(self.enterContext(tempfile.TemporaryDirectory(prefix="tonearm-page-")))
        self.sources, self.page = folder / "sources", folder / "page"
        shutil.copytree(REPOSITORY / "web", self.sources / "web")
        for name in NEEDED:
            (self.sources / name).parent.mkdir(exist_ok=True, parents=True)
            shutil.copy(REPOSITORY / name, self.sources / name)
        self.parts = self.sources / "web/script"

    def make(self, folder=None):
        return subprocess.run([self.sources / "tools/page", folder or self.page], capture_output=True, text=True)

    def made(self):
        """The files of the page and their contents."""
        result = self.make()
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "", ""))
        self.assertEqual([path.name for path in self.page.parent.iterdir() if path.name.startswith("page")], ["page"])
        return {path.name: path.read_bytes() for path in self.page.iterdir()}

    def assert_refused(self, result, name):
        self.assertEqual(result.returncode, 1)
        self.assertIn(name, result.stderr)

    def test_the_page_is_the_sources_and_two_scripts_with_every_part(self):
        files = self.made()
        script, worker = (files.pop(name).decode() for name in ("script.js", "events.js"))
        sources = {path.name: path.read_bytes() for path in (self.sources / "web").iterdir() if path.is_file()}
        self.assertEqual(files, sources)
        # Without the comment that each begins with.
        parts = {path.name: path.read_text().partition("\n\n")[2] for path in self.parts.iterdir()}
        self.assertEqual([name for name, code in parts.items() if not code or (script + worker).count(code)
                          != 1 + (name == "event-stream.js")], [])
        self.assertEqual(re.findall(r"^// -+ (.+)$", worker, re.MULTILINE), ["event-stream.js", "events-worker.js"])
        self.assertEqual(esprima.parseScript(worker).body[0].directive, "use strict")
        self.assertEqual(re.findall(r"^// -+ (.+)$", script, re.MULTILINE)[-1], "start.js")
        self.assertEqual(script.count('"use strict";'), 1)
        self.assertEqual(esprima.parseScript(script).body[0].directive, "use strict")

    def test_each_part_is_valid_by_itself_and_begins_with_its_subject(self):
        for path in self.parts.iterdir():
            with self.subTest(part=path.name):
                esprima.parseScript(path.read_text())
                comment = re.match(r"(?://.*\n)+\n", path.read_text())
                self.assertIsNotNone(comment, "a comment, and an empty line")
                sentences = re.findall(r"[.](?=\s)", comment[0])
                self.assertIn(len(sentences), range(1, 4))

    def test_no_name_is_declared_twice_and_only_the_last_part_starts_anything(self):
        script = self.made()["script.js"].decode()
        statements = esprima.parseScript(script).body
        names = [statement.id.name if statement.id else each.id.name for statement in statements
                 for each in statement.declarations or [statement] if statement.type != "ExpressionStatement"]
        self.assertEqual(sorted(name for name in set(names) if names.count(name) > 1), [])
        others = [number for number, each in enumerate(statements) if each.type == "ExpressionStatement"]
        self.assertEqual(others, [0, len(statements) - 1])

    def test_the_same_sources_give_the_same_files_and_an_older_page_is_replaced(self):
        first = self.made()
        (self.page / "old.css").write_text("a {}")
        self.assertEqual(self.made(), first)

    def test_refuses_a_part_that_is_not_listed(self):
        (self.parts / "extra.js").write_text("// Extra.\n")
        self.assert_refused(self.make(), "web/script/extra.js")
        self.assertFalse(self.page.exists())

    def test_refuses_a_listed_part_that_is_missing(self):
        (self.parts / "sheet.js").unlink()
        self.assert_refused(self.make(), "web/script/sheet.js")
        self.assertFalse(self.page.exists())

    def test_refuses_to_replace_a_folder_that_is_no_page(self):
        self.page.mkdir()
        (self.page / "script.js").write_text("// Of another program.\n")
        self.assert_refused(self.make(), str(self.page))
        self.assertEqual((self.page / "script.js").read_text(), "// Of another program.\n")

    def test_refuses_a_folder_of_the_sources(self):
        for name in ("web", "web/script", "web/new"):
            with self.subTest(folder=name):
                self.assert_refused(self.make(self.sources / name), f"{name} is a folder of the sources")
        self.assertTrue((self.parts / "start.js").is_file())
