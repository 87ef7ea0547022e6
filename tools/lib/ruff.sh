# shellcheck shell=bash
# ruff checks Python, and Debian 12 has no package of it: a copy in build/, from PyPI. Sourced, never run. Needs
# common.sh.

RUFF_VERSION=0.17.6
RUFF=$ROOT/build/ruff/bin/ruff

# ruff_is_ready: whether it is there in that version.
ruff_is_ready() { [ "$("$RUFF" --version 2>/dev/null)" = "ruff $RUFF_VERSION" ]; }

# install_ruff: into build/ruff, alone.
install_ruff() {
    rm -rf "$ROOT/build/ruff"
    python3 -m venv "$ROOT/build/ruff" &&
        "$ROOT/build/ruff/bin/python3" -m pip --quiet --disable-pip-version-check install "ruff==$RUFF_VERSION"
}
