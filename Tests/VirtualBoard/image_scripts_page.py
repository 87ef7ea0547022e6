"""The password and the certificate of the page, which a person puts on the boot partition."""

import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from image_scripts_configuration import ConfigurationCase
from virtual_board.host import run

UNUSED = "Files that are not used until their mistakes are gone:"
DEFAULTS = "run/tonearm/tonearm.conf.defaults"


class Page(ConfigurationCase):
    def report(self):
        return self.root.read("run/report") or ""

    def stored(self, name):
        return self.root.read(f"data/service/{name}")

    def put(self, **files):
        """Files of the boot partition; those without a text go away."""
        for name, text in files.items():
            path = self.root.folder / "boot" / {"password": "password.txt"}.get(name, f"{name}.pem")
            path.unlink(missing_ok=True)
            if text is not None:
                path.write_bytes(text.encode() if isinstance(text, str) else text)


class Password(Page):
    def test_its_first_line_is_stored_and_leaves_the_boot_partition(self):
        for content, password in (
                ("secret\n", "secret"), ("\ufefftwo words \r\nsecond\r\n", "two words"), ("päss", "päss"),
                ('"quoted"\n', '"quoted"')):
            with self.subTest(content):
                self.put(password=content)
                self.assertEqual(self.start("#\n"), [])
                path = self.root.folder / "data/service/password.txt"
                self.assertEqual((path.read_text(), path.stat().st_mode & 0o777), (password, 0o600))
                self.assertFalse((self.root.folder / "boot/password.txt").exists())
                self.assertIn("removed from the partition TONEARM", self.report())
                self.assertEqual((self.root.folder / "run/report").stat().st_mode & 0o777, 0o644, "the engine reads it")
        self.assertIn(f"chown -R tonearm:tonearm {self.root.folder}/data/service", self.root.calls)
        self.assertIn(f"[web]\npassword-file = {self.root.folder}/data/service/password.txt\n",
                      self.root.read(DEFAULTS))
        # It stays, and is told once.
        self.assertEqual(self.start("[web]\npassword-file = none\n"), [])
        self.assertEqual((self.stored("password.txt"), self.report()), ('"quoted"', ""))
        self.assertIn("password-file = none", self.root.read("run/tonearm/tonearm.conf"))

    def test_an_empty_file_removes_it_unless_the_card_was_damaged(self):
        self.put(password="secret\n")
        self.start("#\n")
        self.root.write("run/boot-repaired", "")
        self.put(password="")
        errors = self.start("#\n")
        self.assertEqual(errors[0], UNUSED)
        self.assertRegex("\n".join(errors[1:]), "^password.txt: it is empty. As damage .*$")
        self.assertEqual(self.stored("password.txt"), "secret")
        (self.root.folder / "run/boot-repaired").unlink()
        self.assertEqual(self.start("#\n"), [])
        self.assertIsNone(self.stored("password.txt"))
        self.assertIn("The page has no password any more", self.report())
        self.assertNotIn("password-file", self.root.read(DEFAULTS))
        self.assertEqual((self.start("#\n"), self.report()), ([], ""))

    def test_what_is_no_password_changes_nothing(self):
        self.put(password="secret\n")
        self.start("#\n")
        for content, text in (("\nsecret\n", "its first line must be the password"), ("x" * 1001, "at most 1000"),
                              ("secret\n".encode("utf-16"), "the file is UTF-16")):
            with self.subTest(text):
                self.put(password=content)
                errors = self.start("#\n")
                self.assertEqual((len(errors), errors[0]), (2, UNUSED))
                self.assertIn(text, errors[1])
                self.assertEqual(self.stored("password.txt"), "secret")
                self.assertIn("password.txt: ", self.root.read("run/system/problems"))

    def test_it_stays_on_the_card_while_nothing_can_be_stored(self):
        self.root.write("run/problems/storage", "worn out\n")
        self.put(password="secret\n")
        self.start("#\n")
        self.assertTrue((self.root.folder / "boot/password.txt").exists())
        self.assertNotIn("removed", self.report())


@unittest.skipUnless(shutil.which("openssl"), "needs openssl")
class Certificate(Page):
    @classmethod
    def setUpClass(cls):
        folder = Path(tempfile.mkdtemp(prefix="image-page-"))
        cls.addClassCleanup(shutil.rmtree, folder)

        def make(name, kind, key=None):
            file = key or folder / f"{name}.key"
            if not key:
                run(["openssl", "genpkey", "-quiet", "-algorithm", *kind, "-out", file], check=True,
                    stderr=subprocess.DEVNULL)
            certificate = folder / f"{name}.crt"
            run(["openssl", "req", "-x509", "-new", "-key", file, "-subj", f"/CN={name}", "-out", certificate],
                check=True, stderr=subprocess.DEVNULL)
            return certificate.read_text(), file.read_text()

        curve = ["EC", "-pkeyopt", "ec_paramgen_curve:P-256"]
        cls.one, cls.one_key = make("one", curve)
        cls.renewed, _ = make("renewed", curve, folder / "one.key")
        cls.two, cls.two_key = make("two", ["RSA", "-pkeyopt", "rsa_keygen_bits:2048"])
        cls.other, cls.other_key = make("other", ["ED25519"])
        cls.locked_key = run(["openssl", "pkey", "-in", folder / "one.key", "-aes128", "-passout", "pass:x"],
                             check=True, capture_output=True, text=True).stdout

    def test_the_pair_is_one_file_and_the_key_leaves_the_boot_partition(self):
        self.put(certificate=(self.one + self.two).replace("\n", "\r\n"), key=self.one_key)
        self.assertEqual(self.start("#\n"), [])
        path = self.root.folder / "data/service/page.pem"
        self.assertEqual((path.read_text(), path.stat().st_mode & 0o777), (self.one_key + self.one + self.two, 0o600))
        self.assertFalse((self.root.folder / "boot/key.pem").exists())
        self.assertTrue((self.root.folder / "boot/certificate.pem").exists())
        self.assertIn(f"port = 443\ncertificate = {path}\nkey = {path}\n", self.root.read(DEFAULTS))
        self.assertIn("key.pem was removed", self.report())
        self.assertEqual(list(self.root.folder.glob("run/page-*")), [])
        # Nothing more at the next start; another certificate may have the same key.
        self.assertEqual((self.start("#\n"), self.report()), ([], ""))
        self.put(certificate=self.renewed)
        self.assertEqual(self.start("#\n"), [])
        self.assertEqual(path.read_text(), self.one_key + self.renewed)
        self.put(certificate=self.two, key=self.two_key)
        self.assertEqual(self.start("#\n"), [])
        self.assertEqual(path.read_text(), self.two_key + self.two)
        # It stays when it is gone there, until the file is empty.
        self.put(certificate=None)
        self.assertEqual((self.start("#\n"), path.exists()), ([], True))
        self.put(certificate="\n")
        self.assertEqual((self.start("#\n"), path.exists()), ([], False))
        self.assertIn("without TLS again", self.report())
        self.assertIn("port = 80\n", self.root.read(DEFAULTS))

    def test_what_does_not_fit_is_told_and_the_pair_from_before_holds(self):
        mistakes = (
            ({"certificate": self.one, "key": self.two_key}, "key.pem: it is not the key"),
            ({"certificate": self.two + self.one, "key": self.one_key}, "key.pem: it is not the key"),
            ({"certificate": self.one, "key": self.locked_key}, "key.pem: it has a password"),
            ({"certificate": self.one, "key": "none\n"}, "key.pem: there is no private key in it"),
            ({"certificate": "none\n", "key": self.one_key}, "certificate.pem: there is no certificate in it"),
            ({"certificate": self.other, "key": self.other_key}, "key.pem: a key for the page is P-256"),
        )
        alone = (({"certificate": self.one, "key": None}, "key.pem: the private key of certificate.pem is missing"),
                 ({"certificate": None, "key": self.one_key}, "certificate.pem: it is missing beside key.pem"))

        def check(files, text, end):
            with self.subTest(text, end=end):
                self.put(**files)
                errors = self.start("#\n")
                self.assertEqual((len(errors), errors[0]), (2, UNUSED))
                self.assertTrue(errors[1].startswith(text), errors)
                self.assertEqual(errors[1].endswith("from before hold"), end)
                self.assertIn(text, self.root.read("run/system/problems"))

        for files, text in mistakes + alone:
            check(files, text, end=False)
            self.assertIsNone(self.stored("page.pem"))
        self.put(certificate=self.two, key=self.two_key)
        self.assertEqual(self.start("#\n"), [])
        for files, text in mistakes:
            check(files, text, end=True)
            self.assertEqual(self.stored("page.pem"), self.two_key + self.two)


if __name__ == "__main__":
    unittest.main()
