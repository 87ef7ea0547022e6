"""Programs of this machine."""

import subprocess

#: In seconds: how long a program may take, unless a test says more.
LIMIT = 60
#: For those that build images.
BUILD_LIMIT = 600


def run(words, **options):
    """As `subprocess.run`; a program that takes longer than LIMIT is ended, and the error names it."""
    return subprocess.run(words, **({"timeout": LIMIT} | options))
