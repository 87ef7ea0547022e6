# shellcheck shell=bash
# Finds the Swift toolchain. Sourced, never run. Needs common.sh.

# The oldest Swift that the sources are known to build with, in both modes.
MINIMUM_SWIFT=6.3

# Options of SwiftPM for a debug build that is made once: compiling whole modules, without debug information, takes a
# quarter less processor time. It compiles a module anew for each change in it, so development does without.
ONCE=(-debug-info-format none -Xswiftc -whole-module-optimization -Xswiftc -num-threads -Xswiftc 1)

# swift_version SWIFTC: "6.3.1", or nothing when it does not run.
swift_version() { "$1" --version 2>/dev/null | sed -n 's/.*Swift version \([0-9][0-9.]*\).*/\1/p' | head -n 1; }

# at_least MINIMUM VERSION
at_least() { [ "$(printf '%s\n%s\n' "$1" "$2" | sort -V | head -n 1)" = "$1" ]; }

# find_swift: puts a new enough Swift first on PATH and sets SWIFT_VERSION. Otherwise it returns 1, and SWIFT_PROBLEM
# says why in one sentence. TONEARM_SWIFT names a toolchain's bin folder and goes before everything else.
find_swift() {
    local candidate version seen=""
    for candidate in ${TONEARM_SWIFT:+"$TONEARM_SWIFT/swiftc"} "$(command -v swiftc || true)" \
        /opt/swift*/usr/bin/swiftc /usr/local/swift*/usr/bin/swiftc "$HOME"/.local/share/swiftly/bin/swiftc \
        /usr/share/swift/usr/bin/swiftc; do
        [ -x "$candidate" ] || continue
        version=$(swift_version "$candidate")
        if [ -z "$version" ]; then
            seen="$seen $candidate (does not start: $("$candidate" --version 2>&1 | head -n 1))"
        elif at_least "$MINIMUM_SWIFT" "$version"; then
            PATH=$(dirname "$candidate"):$PATH
            export PATH
            SWIFT_VERSION=$version
            return 0
        else
            seen="$seen $candidate ($version)"
        fi
    done
    SWIFT_PROBLEM="no Swift $MINIMUM_SWIFT or newer found${seen:+; found only:$seen}"
    return 1
}

# swift_resources: the toolchain's lib/swift folder, also when `swift` on PATH is a shim of swiftly.
swift_resources() { swiftc -print-target-info | sed -n 's/.*"runtimeResourcePath": *"\(.*\)".*/\1/p' | head -n 1; }
