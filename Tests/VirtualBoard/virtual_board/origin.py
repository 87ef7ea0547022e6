"""The self-hosted origin on this machine, for a board that reaches it over its Ethernet and TLS."""

import re
import subprocess
import tempfile
import time
from pathlib import Path

from .host import LIMIT, run
from .qemu import Deadline

BINARY = Path(__file__).parents[3] / ".build/debug/tonearm-origin"

#: This machine's loopback address, as the emulator's network shows it to the board.
HOST = "10.0.2.2"


class Origin:
    """Serves a folder of music until `stop`. `certificate` is the PEM text that a board has to trust."""

    def __init__(self, music, *options, days=2, until=None):
        """- days: how long its certificate is valid, from now on.
        - until: when it has expired instead, as in `20200201`; it was valid for a month.
        """
        self._folder = tempfile.TemporaryDirectory(prefix="origin-")
        folder = Path(self._folder.name)
        certificate, key = folder / "certificate.pem", folder / "key.pem"
        self._make_certificate(certificate, key, days, until)
        self.certificate = certificate.read_text()
        self._log = folder / "log"
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [BINARY, "serve", music, "--port", "0", "--state", folder / "state", "--tls-certificate", certificate,
                 "--tls-key", key, *options],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        try:
            port = self._wait_for(r"^serving .*https://[^ ]*:(\d+)$")
            self.address = f"https://{HOST}:{port}"
            self._wait_for(r"new or changed(.*)")
        except Exception:
            self.stop()
            raise

    def stop(self):
        self._process.terminate()
        try:
            self._process.wait(LIMIT)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait(LIMIT)
        self._folder.cleanup()

    def _wait_for(self, pattern):
        """Waits until it has written a line that a pattern is found in; the text of the group."""
        deadline = Deadline(LIMIT)
        while True:
            # Asked before the look: what a program writes last counts.
            has_ended, is_late = self._process.poll() is not None, deadline.has_passed
            text = self._log.read_text(errors="replace")
            if found := re.search(pattern, text[:text.rfind("\n") + 1], re.MULTILINE):
                return found[1]
            if has_ended or is_late:
                problem = "has ended" if has_ended else f"has not written {pattern!r} in {LIMIT} s"
                raise ChildProcessError(f"the origin {problem}\n{text[-3000:]}")
            time.sleep(0.02)

    @staticmethod
    def _make_certificate(certificate, key, days, until):
        subject = ["-subj", "/CN=Origin of a test", "-addext", f"subjectAltName=IP:{HOST}"]
        curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", key]
        if until is None:
            _openssl("req", "-x509", *curve, *subject, "-days", days, "-out", certificate)
            return
        # `openssl req` of Debian 12 cannot set the day on which it begins.
        request, settings = certificate.with_suffix(".csr"), certificate.with_suffix(".conf")
        _openssl("req", "-new", *curve, *subject, "-out", request)
        certificate.with_suffix(".index").write_text("")
        settings.write_text(
            f"[ca]\ndefault_ca = own\n[own]\ndatabase = {certificate.with_suffix('.index')}\nrand_serial = yes\n"
            f"new_certs_dir = {certificate.parent}\ndefault_md = sha256\npolicy = any\ncopy_extensions = copy\n"
            "[any]\ncommonName = supplied\n")
        _openssl("ca", "-batch", "-notext", "-config", settings, "-selfsign", "-keyfile", key, "-in", request,
                 "-out", certificate, "-startdate", f"{int(until) - 100}000000Z", "-enddate", f"{until}000000Z")


def _openssl(*words):
    run(["openssl", *(str(word) for word in words)], check=True, capture_output=True)
