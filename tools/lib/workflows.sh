# shellcheck shell=bash
# check-jsonschema checks the workflow files of hosted CI against their schema: a copy in build/, from PyPI. Sourced,
# never run. Needs common.sh.

CHECK_JSONSCHEMA_VERSION=0.39.0
CHECK_JSONSCHEMA=$ROOT/build/check-jsonschema/bin/check-jsonschema

# check_jsonschema_is_ready: whether it is there in that version.
check_jsonschema_is_ready() {
    [ "$(cat "$ROOT/build/check-jsonschema/version" 2>/dev/null)" = "$CHECK_JSONSCHEMA_VERSION" ]
}

# install_check_jsonschema: into build/check-jsonschema, alone.
install_check_jsonschema() {
    rm -rf "$ROOT/build/check-jsonschema"
    python3 -m venv "$ROOT/build/check-jsonschema" &&
        "$ROOT/build/check-jsonschema/bin/python3" -m pip --quiet --disable-pip-version-check install \
            "check-jsonschema==$CHECK_JSONSCHEMA_VERSION" &&
        echo "$CHECK_JSONSCHEMA_VERSION" >"$ROOT/build/check-jsonschema/version"
}
