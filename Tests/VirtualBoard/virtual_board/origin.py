"""The self-hosted origin on this machine, for a board that reaches it over its Ethernet and TLS."""

import re
import subprocess
import tempfile
from pathlib import Path

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
        self._process = subprocess.Popen(
            [BINARY, "serve", music, "--port", "0", "--state", folder / "state", "--tls-certificate", certificate,
             "--tls-key", key, *options],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        self.address = self._wait_for(r"^serving .*https://[^ ]*:(\d+)$", f"https://{HOST}:")
        self._wait_for(r"new or changed(.*)", "")

    def stop(self):
        self._process.terminate()
        self._process.communicate()
        self._folder.cleanup()

    def _wait_for(self, pattern, start):
        for line in self._process.stdout:
            if found := re.search(pattern, line.rstrip("\n")):
                return start + found[1]
        raise ChildProcessError("the origin has ended")

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
    subprocess.run(["openssl", *(str(word) for word in words)], check=True, capture_output=True)
