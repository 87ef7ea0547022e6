# shellcheck shell=bash
# dtschema checks device trees against the kernel's bindings, and Debian 12 has no package of it: a copy in build/, from
# PyPI. Sourced, never run. Needs common.sh.

DTSCHEMA_VERSION=2026.9
DTSCHEMA=$ROOT/build/dtschema

# dtschema_is_ready: whether it is there in that version.
dtschema_is_ready() { [ "$(cat "$DTSCHEMA/version" 2>/dev/null)" = "$DTSCHEMA_VERSION" ]; }

# install_dtschema: into build/dtschema, alone.
install_dtschema() {
    rm -rf "$DTSCHEMA"
    python3 -m venv "$DTSCHEMA" &&
        "$DTSCHEMA/bin/python3" -m pip --quiet --disable-pip-version-check install "dtschema==$DTSCHEMA_VERSION" &&
        echo "$DTSCHEMA_VERSION" >"$DTSCHEMA/version"
}
