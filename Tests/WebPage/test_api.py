"""The HTTP interface: requests of all kinds, right and wrong ones, as docs/openapi.json describes them."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from page_case import the_speaker
from speaker import REPOSITORY

#: In seconds, for all requests. They take about 30.
LONGEST = 300
#: Wrong data is refused with one of these: also as an entry that does not exist, or that cannot be used now.
CONFIGURATION = """
[checks.negative_data_rejection]
expected-statuses = [400, 401, 403, 404, 405, 406, 409, 413, 415, 422, 428, 429]
"""


class API(unittest.TestCase):
    def test_answers_as_documented(self):
        speaker = the_speaker()
        speaker.reset()
        # Reports of the system about Wi-Fi, with a name of any bytes.
        wifi = speaker.folder / "api-wifi"
        wifi.mkdir()
        (wifi / "state").write_text("mode=trying\nssid=61\naddress=10.83.84.1\nfailed=ff\nproblem=refused\n")
        (wifi / "networks").write_text("-57 wpa2+wpa3 61\n-70 other ff\n")
        (wifi / "known").write_text("file 61\npage ff\n")
        updates = speaker.folder / "api-update"
        updates.mkdir()
        (updates / "state").write_text("running=0.1.0\nmode=failed\ncode=damaged\ntext=x\nversion=0.9\n")
        speaker.restart(settings=f"[network]\nwifi-folder = {wifi}\n[update]\nfolder = {updates}")
        self.addCleanup(speaker.restart)
        self.addCleanup(speaker.reset)
        with tempfile.TemporaryDirectory(prefix="tonearm-api-") as folder:
            (Path(folder) / "schemathesis.toml").write_text(CONFIGURATION)
            command = [
                Path(sys.executable).with_name("schemathesis"), "--no-color", "--config-file", "schemathesis.toml",
                "run", REPOSITORY / "docs/openapi.json", "--url", speaker.address,
                # It has no end.
                "--exclude-path", "/api/events",
                "--generation-deterministic", "--max-examples", "30", "--suppress-health-check", "all",
                # Data of the right form is refused when the entry or file that it names does not exist.
                "--exclude-checks", "positive_data_acceptance",
            ]
            result = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                    stderr=subprocess.STDOUT, text=True, timeout=LONGEST)
        self.assertEqual(result.returncode, 0, result.stdout)
        # A program that has tested nothing has found nothing.
        self.assertRegex(result.stdout, r"\b\d{3,} generated, \d{3,} passed")
        self.assertIsNone(speaker.daemon.poll(), "the daemon ended")
