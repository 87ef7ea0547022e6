# shellcheck shell=bash
# The parts of tools/test --long (tools/long-parts). Sourced, never run. Needs common.sh and test-steps.sh.

# Seconds after which a part is stopped.
LONG_PART_LIMIT=1500
# The seconds that each part took when it last ran here.
LONG_TIMES=$ROOT/build/long

# The tests that cut the power at file calls of the state and of the cache.
STATE_CUT_TESTS='(StateUpgradeTests|StateDamageTests|CacheStoreTests)'

# long_parts: the table without comments, a line a part, with its columns separated by a tab.
long_parts() { sed -E '/^(#|$)/d; s/ +\| +/\t/g' "$ROOT/tools/long-parts"; }

has_long_part() { long_parts | cut -f1 | grep -qxF -- "$1"; }

list_long_parts() {
    local name folders function seconds
    printf '%-18s %9s  %s\n' part 'last time' covers
    while IFS=$'\t' read -r name folders function; do
        seconds=$(cat "$LONG_TIMES/$name" 2>/dev/null || true)
        printf '%-18s %9s  %s\n' "$name" "${seconds:+$seconds s}" "$folders"
    done < <(long_parts)
}

# run_long_part NAME: its function, and what it needs.
run_long_part() {
    local name folders words start=$SECONDS
    IFS=$'\t' read -r name folders words < <(long_parts | grep -P "^\Q$1\E\t")
    local -a function
    read -ra function <<<"$words"
    LIMIT=$((SECONDS + LONG_PART_LIMIT))
    say "$name covers $folders"
    step_start=$SECONDS
    timed "$LONG_PART_LIMIT" "$name" "${function[@]}" || true
    mkdir -p "$LONG_TIMES"
    echo $((SECONDS - start)) >"$LONG_TIMES/$name"
}

# sanitized_tests SANITIZER TARGETS: the tests of these targets, a regular expression.
sanitized_tests() {
    local BUILD=$ROOT/.build/$1-sanitizer
    build_host_tests --sanitize="$1" || return
    # Foundation copies each `dirent` with all 256 bytes of its name, and reads beyond the end when it starts a process.
    ASAN_OPTIONS=replace_intrin=0:detect_leaks=0 \
        host_tests "swift test, $1 sanitizer" "$1" "$(remaining)" --filter "^$2\\."
}

# many_cuts TIMES: a download is cut at so many file calls.
many_cuts() {
    build_host_tests || return
    TONEARM_CUTS=$1 host_tests "$1 cuts of downloads" cuts "$(remaining)" --filter OfflineCutTests
}

# event_cuts TIMES: the recording and the delivery of events are cut at so many file calls.
event_cuts() {
    build_host_tests || return
    TONEARM_EVENT_CUTS=$1 host_tests "$1 cuts of events" event-cuts "$(remaining)" --filter EventCutTests
}

# all_state_cuts: the state and the cache are cut at each file call, not at every fifth.
all_state_cuts() {
    build_host_tests || return
    TONEARM_ALL_CUTS=1 host_tests "cuts of the state" state-cuts "$(remaining)" --filter "$STATE_CUT_TESTS"
}

# damaged_pictures TIMES: so many damaged pictures of each format are decoded, with a sanitizer.
damaged_pictures() {
    local BUILD=$ROOT/.build/address-sanitizer
    build_host_tests --sanitize=address || return
    ASAN_OPTIONS=replace_intrin=0:detect_leaks=0 TONEARM_DAMAGED_PICTURES=$1 \
        host_tests "$1 damaged pictures of each format" damaged-pictures "$(remaining)" --filter DamagedPictureTests
}

# all_manifests: a whole daemon keeps and plays albums of every kind of manifest.
all_manifests() {
    build_host_tests || return
    TONEARM_ALL_MANIFESTS=1 host_tests "albums of all manifests" manifests "$(remaining)" --filter AlbumDownloadTests
}

# package: the Debian packages of this machine's architecture, in a Debian with systemd. To them it is the same whether
# the engine is optimised.
package() {
    limited "$ROOT/tools/cross" --unoptimised x86_64 || { count 0 1 0 tools/cross && return 1; }
    lines package-test tools/package-test --no-build
}

# all_binaries: all programs for all targets.
all_binaries() {
    limited "$ROOT/tools/cross" || { count 0 1 0 tools/cross && return 1; }
    test_binaries
}

# beside_busy_loops: the tests of the host, while two processes keep the cores busy. A test that depends on the speed of
# the machine fails here.
beside_busy_loops() {
    local loop busy_loops=()
    build_host_tests || return
    for loop in 1 2; do
        timeout "$(remaining)" bash -c 'while :; do :; done' &
        busy_loops+=($!)
    done
    run_host_tests
    kill "${busy_loops[@]}"
    wait "${busy_loops[@]}" 2>/dev/null || true
}

# benchmarks OPTION…: one test for each row of tools/bench.
benchmarks() {
    local log=$LOGS/bench.log good bad code=0
    limited "$ROOT/tools/bench" "$@" >"$log" 2>&1 </dev/null || code=$?
    cat "$log"
    good=$(occurrences '[^ ] +ok$' "$log")
    bad=$(occurrences 'DOES NOT HOLD$' "$log")
    if [ "$bad" -eq 0 ] && { [ "$code" -ne 0 ] || [ "$good" -eq 0 ]; }; then bad=1; fi
    count "$good" "$bad" 0 "tools/bench"
}
