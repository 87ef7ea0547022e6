# shellcheck shell=bash
# What every script here shares: where the repository is, how one speaks, how a long step is logged.
# Sourced, never run.

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
export ROOT

# The name that messages start with: the script that was called.
PROGRAM=tools/$(basename "$0")

say() { printf '%s: %s\n' "$PROGRAM" "$*"; }
warn() { printf '%s: %s\n' "$PROGRAM" "$*" >&2; }
fail() {
    warn "$*"
    exit 1
}

# Prints the comment at the top of the calling script, which is its manual.
print_help() { awk 'NR == 1 { next } !/^#/ { exit } { sub(/^# ?/, ""); print }' "$0"; }

# logged WHAT LOG COMMAND…: one line with the time it took when it works; else the end of the log, and failure.
logged() {
    local what=$1 log=$2 start=$SECONDS
    shift 2
    mkdir -p "$(dirname "$log")"
    if "$@" >"$log" 2>&1 </dev/null; then
        say "$what: done ($((SECONDS - start)) s)"
    else
        # In one piece, because steps run side by side.
        warn "$what: failed. The end of ${log#"$ROOT"/}:"$'\n'"$(tail -n 25 "$log" | sed 's/^/    /')"
        return 1
    fi
}

# with_sudo COMMAND…: as root, or through sudo.
with_sudo() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo "$@"
    else
        fail "installing packages needs root, and there is no sudo: run this as root"
    fi
}

# fingerprint: a short name for everything on standard input.
fingerprint() { sha256sum | cut -c1-16; }
