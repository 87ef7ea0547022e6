# shellcheck shell=bash
# Debian's package lists and the sources of the libraries, once for all targets, each again when one of its inputs has
# changed. Sourced by tools/cross, whose CACHE, STEP and is_made it uses, after cross-sysroot.sh.

# prepare_sources: package lists and sources, once for all targets.
prepare_sources() {
    local inputs
    inputs=$({
        declare -f make_apt fetch_source patch_alsa amalgamate_sqlite
        cat "$ROOT/tools/lib/alsa-lib.patch"
        echo "$SUITE ${TONEARM_MIRROR:-} $CACHE ${SQLITE_OPTIONS[*]}"
    } | fingerprint)
    is_made "$CACHE/sources.stamp" "$inputs" && return
    rm -f "$CACHE/sources.stamp"
    logged "package lists of Debian $SUITE" "$CACHE/apt.log" "$STEP" x86_64 make_apt "$CACHE/apt" &&
        logged "source of alsa-lib" "$CACHE/alsa-source.log" \
            "$STEP" x86_64 fetch_source "$CACHE/apt" alsa-lib "$CACHE/alsa-lib" &&
        logged "patch of alsa-lib" "$CACHE/alsa-patch.log" "$STEP" x86_64 patch_alsa "$CACHE/alsa-lib" &&
        logged "source of SQLite" "$CACHE/sqlite-source.log" \
            "$STEP" x86_64 fetch_source "$CACHE/apt" sqlite3 "$CACHE/sqlite3" &&
        logged "SQLite in one file" "$CACHE/sqlite-amalgamation.log" \
            "$STEP" x86_64 amalgamate_sqlite "$CACHE/sqlite3" &&
        echo "$inputs" >"$CACHE/sources.stamp"
}

# prepare_library NAME PACKAGE [FETCH]: the source of a library, in build/cross/NAME. Each has a stamp of its own, so
# that the others are not built again for it.
prepare_library() {
    local name=$1 package=$2 fetch=${3:-fetch_source} inputs
    inputs=$({
        declare -f make_apt "$fetch"
        cat "$CACHE/sources.stamp"
    } | fingerprint)
    is_made "$CACHE/$name.stamp" "$inputs" && return
    rm -f "$CACHE/$name.stamp"
    logged "source of $package" "$CACHE/$name-source.log" \
        "$STEP" x86_64 "$fetch" "$CACHE/apt" "$package" "$CACHE/$name" &&
        echo "$inputs" >"$CACHE/$name.stamp"
}

# prepare_libraries: those that need nothing but their source.
prepare_libraries() {
    prepare_library mpg123 mpg123 && prepare_library soxr libsoxr && prepare_library wavpack wavpack &&
        prepare_library microhttpd libmicrohttpd &&
        # Debian changes nothing of it that is compiled.
        prepare_library ebur128 libebur128 fetch_original
}

# prepare_xiph: the sources of libvorbis and libopus, in the same way.
prepare_xiph() {
    local inputs
    inputs=$({
        declare -f make_apt fetch_source trim_vorbis
        cat "$CACHE/sources.stamp"
    } | fingerprint)
    is_made "$CACHE/xiph.stamp" "$inputs" && return
    rm -f "$CACHE/xiph.stamp"
    logged "source of libvorbis" "$CACHE/vorbis-source.log" \
        "$STEP" x86_64 fetch_source "$CACHE/apt" libvorbis "$CACHE/vorbis" &&
        logged "source of libopus" "$CACHE/opus-source.log" \
            "$STEP" x86_64 fetch_source "$CACHE/apt" opus "$CACHE/opus" &&
        "$STEP" x86_64 trim_vorbis "$CACHE/vorbis" &&
        echo "$inputs" >"$CACHE/xiph.stamp"
}

# prepare_next: sources of Debian's next release, once for all targets.
prepare_next() { prepare_mbedtls && prepare_curl; }

prepare_mbedtls() {
    local inputs
    inputs=$({
        declare -f make_next_apt fetch_source patch_mbedtls configure_mbedtls
        cat "$ROOT/tools/lib/mbedtls.patch"
        echo "$NEXT_SUITE ${MBEDTLS_UNSET[*]} ${MBEDTLS_SET[*]}"
        cat "$CACHE/sources.stamp"
    } | fingerprint)
    is_made "$CACHE/mbedtls.stamp" "$inputs" && return
    rm -f "$CACHE/mbedtls.stamp"
    logged "package lists of Debian $NEXT_SUITE" "$CACHE/apt-next.log" \
        "$STEP" x86_64 make_next_apt "$CACHE/apt" "$CACHE/apt-next" &&
        logged "source of mbedTLS" "$CACHE/mbedtls-source.log" \
            "$STEP" x86_64 fetch_source "$CACHE/apt-next" mbedtls "$CACHE/mbedtls" &&
        logged "patch of mbedTLS" "$CACHE/mbedtls-patch.log" "$STEP" x86_64 patch_mbedtls "$CACHE/mbedtls" &&
        logged "configuration of mbedTLS" "$CACHE/mbedtls-configuration.log" \
            "$STEP" x86_64 configure_mbedtls "$CACHE/mbedtls" &&
        echo "$inputs" >"$CACHE/mbedtls.stamp"
}

prepare_curl() {
    local inputs
    inputs=$({
        declare -f make_next_apt fetch_source
        cat "$CACHE/mbedtls.stamp"
    } | fingerprint)
    is_made "$CACHE/curl.stamp" "$inputs" && return
    rm -f "$CACHE/curl.stamp"
    logged "source of libcurl" "$CACHE/curl-source.log" \
        "$STEP" x86_64 fetch_source "$CACHE/apt-next" curl "$CACHE/curl" || return 1
    if [ -e "$CACHE/curl.without-updates" ]; then
        warn "the mirror lacks the newest libcurl that it lists: an older one (--fresh tries again)"
    fi
    echo "$inputs" >"$CACHE/curl.stamp"
}
