# shellcheck shell=bash
# The steps of tools/test. Sourced, never run. Needs common.sh, swift.sh, cross-targets.sh and LOGS.
#
# The result of a step goes to files, so that steps can run beside each other: $LOGS/counts has a line with passed,
# failed and skipped for each, $LOGS/problems one for each that is not good, $LOGS/times its seconds, its processor
# seconds, bound and name.

# Seconds after which nothing new is started, and what runs is stopped: a machine with a limit of time gets a result
# instead of being cut off.
LIMIT=$((${TONEARM_TEST_MINUTES:-120} * 60))

# remaining: the seconds until then.
remaining() { echo $((LIMIT > SECONDS ? LIMIT - SECONDS : 1)); }

# stop_all: on a signal, ends what this shell has started; `timeout` ends its command.
stop_all() {
    local process
    trap - INT TERM
    for process in $(jobs -p); do kill "$process" 2>/dev/null || true; done
    exit 1
}

# limited COMMAND…: a program, until LIMIT.
limited() {
    trap stop_all INT TERM
    timeout --kill-after=1m "$(remaining)" "$@" &
    wait $!
}

# timed BOUND NAME COMMAND…: runs it, and records how long it took of so many seconds, and how much processor time.
timed() {
    local start=$SECONDS code=0 times=$LOGS/times.$1.${2##*/}
    # In a shell of its own, whose commands are counted alone.
    (
        "${@:3}" || code=$?
        times >"$times"
        exit "$code"
    ) || code=$?
    echo "$((SECONDS - start)) $(processor_seconds "$times") $1 $2" >>"$LOGS/times"
    return "$code"
}

# processor_seconds FILE: of the commands of a shell, from its `times`. They are the second line: user, then system.
processor_seconds() {
    local user_minutes user_seconds system_minutes system_seconds
    IFS='ms ' read -r user_minutes user_seconds system_minutes system_seconds < <(sed -n '2s/\.[0-9]*//gp' "$1")
    echo $((user_minutes * 60 + user_seconds + system_minutes * 60 + system_seconds))
}

# step BOUND FUNCTION NAME…: runs a function that counts its tests. A step that fails does not end the run.
step() {
    local bound=$1 name=$2
    if [[ $2 == lines || $2 == one ]]; then name=$3; fi
    step_start=$SECONDS
    shift
    if [ "$SECONDS" -ge "$LIMIT" ]; then
        count 0 1 0 "$name: not run, after $((LIMIT / 60)) minutes"
    else
        timed "$bound" "$name" "$@" || true
    fi
}

# count PASSED FAILED SKIPPED WHAT: records the result of a step, and prints it.
count() {
    echo "$1 $2 $3" >>"$LOGS/counts"
    say "$4: $1 passed, $2 failed$([ "$3" -eq 0 ] || echo ", $3 skipped") ($((SECONDS - step_start)) s)"
    if [ "$2" -gt 0 ]; then echo "$4: $2 failed" >>"$LOGS/problems"; fi
}

# print_times: the table of steps, and a warning for each that took longer than its bound.
print_times() {
    local seconds processor bound name over=()
    printf '%-24s %8s %8s %10s\n' step seconds bound processor
    while read -r seconds processor bound name; do
        printf '%-24s %8d %8d %10d%s\n' "$name" "$seconds" "$bound" "$processor" \
            "$([ "$seconds" -le "$bound" ] || echo '  over')"
        if [ "$seconds" -gt "$bound" ]; then over+=("$name"); fi
    done <"$LOGS/times"
    printf '%-24s %8d %8d\n' "all (some side by side)" "$SECONDS" 1800
    for name in "${over[@]}"; do warn "$name took longer than its bound: has it grown, or was the machine busy?"; done
    if [ "$SECONDS" -gt 1800 ]; then warn "the whole run took longer than 30 minutes"; fi
}

# total COLUMN: of all steps.
total() { awk -v column="$1" '{ sum += $column } END { print sum + 0 }' "$LOGS/counts"; }

# occurrences PATTERN FILE…: how many lines match.
occurrences() { cat "${@:2}" 2>/dev/null | grep -cE -- "$1" || true; }

# The test targets whose tests run programs and wait for them. They have a process of their own, so that they do not
# take the threads of those that compute.
PROGRAM_TESTS='^(CommandLineTests|OriginTests|NetworkTests)\.'

# Where the tests are built; a sanitizer has a folder of its own.
BUILD=$ROOT/.build

# build_host_tests [OPTION…]: with these options of SwiftPM.
build_host_tests() {
    if logged "building the tests" "$LOGS/build-tests.log" limited swift build --package-path "$ROOT" \
        --scratch-path "$BUILD" --build-tests --explicit-target-dependency-import-check error "$@"; then
        return
    fi
    count 0 1 0 "swift build --build-tests"
    return 1
}

# run_host_tests: all, in two processes beside each other.
run_host_tests() {
    host_tests "swift test of programs" programs 1200 --filter "$PROGRAM_TESTS" &
    host_tests "swift test" host 1200 --skip "$PROGRAM_TESTS"
    wait $!
}

# host_tests NAME LOG SECONDS OPTION…: runs the tests that were built. A run that does not end is aborted after SECONDS,
# and the tests that have not ended are named.
host_tests() {
    local name=$1 log=$LOGS/$2 results=$LOGS/$2-results.xml code=0 tests failures skipped
    local seconds=$3 left
    shift 3
    left=$(remaining)
    rm -f "$results"
    trap stop_all INT TERM
    # Not with `swift test`, of which one waits for the other.
    timeout --signal=ABRT --kill-after=1m $((left < seconds ? left : seconds)) env --chdir="$ROOT" \
        "$BUILD/debug/tonearmPackageTests.xctest" --testing-library swift-testing --xunit-output "$results" "$@" \
        >"$log.log" 2>&1 </dev/null &
    wait $! || code=$?
    tests=$(occurrences '<testcase ' "$results")
    # A test that passed is one closed element; one that failed has its issues inside, one skipped a word.
    skipped=$(occurrences '<skipped' "$results")
    failures=$(($(occurrences '<testcase [^>]*[^/]>$' "$results") - skipped))
    if [ "$failures" -gt 0 ]; then
        warn "what failed in $name:"
        grep -E 'recorded an issue' "$log.log" | sed 's/^/    /' >&2 || true
    elif [ "$tests" -eq 0 ] || [ "$code" -ne 0 ]; then
        # A run that crashed has written nothing, and a run without tests proves nothing.
        tests=$((tests + 1)) failures=1
        warn "$name ended with exit code $code; from ${log#"$ROOT"/}.log:"
        unended_tests "$log.log" | head -n 25 | sed 's/^/    not ended: /' >&2
        { grep -E 'Fatal error|Crash|error: |ERROR: |WARNING: ThreadSanitizer' "$log.log" || tail -n 25 "$log.log"; } |
            head -n 25 | sed 's/^/    /' >&2
    fi
    count $((tests - failures - skipped)) "$failures" "$skipped" "$name"
    [ "$failures" -eq 0 ]
}

# unended_tests LOG: the names of the tests that began and did not end.
unended_tests() {
    sed -nE 's/^[^ ]+ Test (".*")( with [0-9]+ test cases?)? (started\.|(passed|failed) after .*)$/\1/p' "$1" |
        sort | uniq -u
}

# one NAME COMMAND…: a check that passes or fails as a whole.
one() {
    local name=$1
    shift
    if logged "$name" "$LOGS/$(basename "$name").log" limited "$@"; then
        count 1 0 0 "$name"
    else
        count 0 1 0 "$name"
    fi
}

# lines LOG TOOL ARGUMENT…: a tool that prints a line for each of its tests, ending in ok, FAIL, ERROR or skipped.
lines() {
    local log=$LOGS/$1.log name=$2 good bad left code=0
    limited "$ROOT/$name" "${@:3}" >"$log" 2>&1 </dev/null || code=$?
    # A test may write what it measured between its name and the verdict.
    good=$(occurrences '(\.\.\. |\))ok$' "$log")
    bad=$(occurrences '(\.\.\. |\))(FAIL|ERROR)$' "$log")
    left=$(occurrences '(\.\.\. |\))skipped' "$log")
    if [ "$code" -eq 124 ]; then
        warn "$name was stopped after $((LIMIT / 60)) minutes of tools/test"
        bad=$((bad + 1))
    fi
    # A run that broke off has not said what of.
    if [ "$bad" -eq 0 ] && { [ "$code" -ne 0 ] || [ $((good + left)) -eq 0 ]; }; then bad=1; fi
    grep -hE '\(at most ' "$log" | sed 's/)ok$/)/' || true
    grep -hE '\.\.\. skipped' "$log" || true
    if [ "$bad" -gt 0 ]; then
        warn "what failed in $name:"
        { grep -A 25 -E '^(FAIL|ERROR): |\.\.\. FAIL$' "$log" || tail -n 25 "$log"; } | head -n 60 |
            sed 's/^/    /' >&2
    fi
    count "$good" "$bad" "$left" "$name"
}

# The targets of the short run: the board and the image run them. The part `binaries` has all of them, the part
# `package` has x86_64.
TESTED_TARGETS=(aarch64)

# The boards whose images the short run tests.
TESTED_IMAGES=(virtual rpi3)

# build_binaries: their engines and self-checks.
build_binaries() {
    local target built=0
    # What an earlier run left must not stand in for what this one cannot build.
    for target in "${TESTED_TARGETS[@]}"; do rm -f "$ROOT/build/$target/tonearm"; done
    limited "$ROOT/tools/cross" "${TESTED_TARGETS[@]}" || true
    for target in "${TESTED_TARGETS[@]}"; do
        if [ -x "$ROOT/build/$target/tonearm" ]; then built=$((built + 1)); fi
    done
    count "$built" $((${#TESTED_TARGETS[@]} - built)) 0 "tools/cross"
}

# make_images: makes the images for the step after the virtual board. That step reports a failure: an image is missing.
make_images() {
    local board
    for board in "${TESTED_IMAGES[@]}"; do
        rm -f "$ROOT/build/firmware-image/$board"/*.img
        limited "$ROOT/firmware-image/build" --board "$board" --no-build >>"$LOGS/image-build.log" 2>&1 </dev/null ||
            true
    done
}

# test_binaries ARGUMENT…: runs tools/test-binaries, and counts its lines.
test_binaries() {
    local log=$LOGS/test-binaries.log equal different skipped code=0
    limited "$ROOT/tools/test-binaries" "$@" >"$log" 2>&1 || code=$?
    equal=$(occurrences '^ok ' "$log")
    different=$(occurrences '^FAILED ' "$log")
    skipped=$(occurrences '^skipped ' "$log")
    # A run that broke off has not named its fault.
    if [ "$different" -eq 0 ] && { [ "$code" -ne 0 ] || [ "$equal" -eq 0 ]; }; then different=1; fi
    if [ "$different" -gt 0 ]; then { grep -A 5 '^FAILED ' "$log" || tail -n 25 "$log"; } | sed 's/^/    /' >&2; fi
    count "$equal" "$different" "$skipped" "tools/test-binaries"
}
