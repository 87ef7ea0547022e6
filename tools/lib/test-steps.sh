# shellcheck shell=bash
# The steps of tools/test. Sourced, never run. Needs common.sh, swift.sh, cross-targets.sh and LOGS.
#
# What a step comes to goes to files, so that steps can run beside each other: $LOGS/counts has a line with passed,
# failed and skipped for each, $LOGS/problems one for each that is not good.

# Seconds after which nothing new is started: a machine with a limit of time gets a result instead of being cut off.
LIMIT=$((${TONEARM_TEST_MINUTES:-1440} * 60))

# step FUNCTION NAME…: runs it; `count` says how long it took.
step() {
    step_start=$SECONDS
    if [ "$SECONDS" -ge "$LIMIT" ]; then
        count 0 1 0 "${2:-$1}: not run, after $((LIMIT / 60)) minutes"
    else
        "$@"
    fi
}

# count PASSED FAILED SKIPPED WHAT: records what a step came to, and says it.
count() {
    echo "$1 $2 $3" >>"$LOGS/counts"
    say "$4: $1 passed, $2 failed$([ "$3" -eq 0 ] || echo ", $3 skipped") ($((SECONDS - step_start)) s)"
    if [ "$2" -gt 0 ]; then echo "$4: $2 failed" >>"$LOGS/problems"; fi
}

# total COLUMN: of all steps.
total() { awk -v column="$1" '{ sum += $column } END { print sum + 0 }' "$LOGS/counts"; }

# occurrences PATTERN FILE…: how many lines match.
occurrences() { cat "${@:2}" 2>/dev/null | grep -cE -- "$1" || true; }

# host_tests NAME LOG OPTION…: builds and runs every test of the host with these options of SwiftPM.
host_tests() {
    local name=$1 log=$LOGS/$2
    shift 2
    if ! logged "building the tests: $name" "$log-build.log" \
        swift build --package-path "$ROOT" --build-tests "$@"; then
        count 0 1 0 "$name: swift build --build-tests"
        return
    fi
    run_host_tests "$name" "$log" "$@"
}

# run_host_tests NAME LOG OPTION…: runs what was built. A run that does not end is aborted, and says where it hangs.
run_host_tests() {
    local name=$1 log=$2 results=$2-results code=0 tests failures skipped
    shift 2
    rm -f "$results"*.xml
    # The tests take 6 minutes on two cores, and up to ten times as long with a sanitizer.
    timeout --signal=ABRT --kill-after=2m "$([[ $* == *--sanitize* ]] && echo 2h || echo 25m)" \
        swift test --package-path "$ROOT" --skip-build --disable-xctest --xunit-output "$results.xml" "$@" \
        >"$log.log" 2>&1 </dev/null || code=$?
    tests=$(occurrences '<testcase ' "$results"*.xml)
    # A test that passed is one closed element; one that failed has its issues inside, one skipped a word.
    skipped=$(occurrences '<skipped' "$results"*.xml)
    failures=$(($(occurrences '<testcase [^>]*[^/]>$' "$results"*.xml) - skipped))
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
    if logged "$name" "$LOGS/$(basename "$name").log" "$@"; then
        count 1 0 0 "$name"
    else
        count 0 1 0 "$name"
    fi
}

# lines LOG TOOL ARGUMENT…: a tool that prints a line for each of its tests, ending in ok, FAIL, ERROR or skipped.
lines() {
    local log=$LOGS/$1.log name=$2 good bad left code=0
    timeout --kill-after=1m $((LIMIT - SECONDS)) "$ROOT/$name" "${@:3}" >"$log" 2>&1 </dev/null || code=$?
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

# build_binaries: for all targets.
build_binaries() {
    local target built=0
    # What an earlier run left must not stand in for what this one cannot build.
    for target in "${ALL_TARGETS[@]}"; do rm -f "$ROOT/build/$target/tonearm"; done
    "$ROOT/tools/cross" || true
    for target in "${ALL_TARGETS[@]}"; do
        if [ -x "$ROOT/build/$target/tonearm" ]; then built=$((built + 1)); fi
    done
    count "$built" $((${#ALL_TARGETS[@]} - built)) 0 "tools/cross"
}

test_binaries() {
    local log=$LOGS/test-binaries.log equal different skipped
    "$ROOT/tools/test-binaries" >"$log" 2>&1 || true
    equal=$(occurrences '^ok ' "$log")
    different=$(occurrences '^FAILED ' "$log")
    skipped=$(occurrences '^skipped ' "$log")
    if [ $((equal + different)) -eq 0 ]; then different=1; fi
    if [ "$different" -gt 0 ]; then { grep -A 5 '^FAILED ' "$log" || tail -n 25 "$log"; } | sed 's/^/    /' >&2; fi
    count "$equal" "$different" "$skipped" "tools/test-binaries"
}

# benchmarks: one for each row of tools/bench.
benchmarks() {
    local log=$LOGS/bench.log good bad
    "$ROOT/tools/bench" 2>&1 </dev/null | tee "$log" || true
    good=$(occurrences '[^ ] +ok$' "$log")
    bad=$(occurrences 'DOES NOT HOLD$' "$log")
    if [ $((good + bad)) -eq 0 ]; then bad=1; fi
    count "$good" "$bad" 0 "tools/bench"
}

# beside_busy_loops TIMES: the tests of the host, so many times, while two processes keep the cores busy. A test that
# depends on the speed of the machine fails here.
beside_busy_loops() {
    local run bad=0 loop
    busy_loops=()
    trap 'kill "${busy_loops[@]}"' EXIT
    for loop in 1 2; do
        (while :; do :; done) &
        busy_loops+=($!)
    done
    for ((run = 1; run <= $1; run++)); do
        step_start=$SECONDS
        run_host_tests "swift test beside two busy loops, run $run of $1" "$LOGS/busy-$run" || bad=$((bad + 1))
    done
    trap - EXIT
    kill "${busy_loops[@]}"
    wait "${busy_loops[@]}" 2>/dev/null || true
    say "beside two busy loops, $bad of $1 runs failed"
}
