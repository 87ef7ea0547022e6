# shellcheck shell=bash
# Private configurations of apt with this machine's Debian mirrors, and source packages. Sourced, never run. Needs
# common.sh; its functions need `set -e`, so they are run by tools/lib/cross-step where a result is looked at.

SUITE=bookworm
# Where mbedTLS and libcurl come from: mbedTLS 2.28, the version of SUITE, has no TLS 1.3, and its authors have stopped;
# libcurl 7.88 does not know 3.6.
NEXT_SUITE=trixie

# make_apt DIR: a private configuration of apt with this machine's Debian mirrors, sources included, so that neither the
# machine's own lists nor its sources are touched. $DIR/apt.conf is for APT_CONFIG, $DIR/binary.list for mmdebstrap.
# TONEARM_MIRROR names a mirror when the machine's own sources have none of Debian's.
make_apt() {
    local dir=$1 keyring=/usr/share/keyrings/debian-archive-keyring.gpg archives archive
    mkdir -p "$dir/state/lists/partial" "$dir/cache/archives/partial"
    : >"$dir/status"
    : >"$dir/machine.conf"
    if [ -n "${TONEARM_MIRROR:-}" ]; then
        archives="$TONEARM_MIRROR $SUITE main"
    else
        # What the machine's lists say of their origin is known only after an update, here into a private place.
        cat >"$dir/machine.conf" <<END
Dir::State "$dir/state";
Dir::State::status "$dir/status";
Dir::Cache "$dir/cache";
Acquire::Languages "none";
END
        APT_CONFIG=$dir/machine.conf apt-get update --quiet
        archives=$(APT_CONFIG=$dir/machine.conf apt-get indextargets \
            --format '$(ORIGIN)|$(CODENAME)|$(COMPONENT)|$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
            sed -n "s/^Debian|${SUITE}[a-z-]*|main|//p" | sort -u)
    fi
    if [ -z "$archives" ]; then
        echo "This machine's apt has no source of Debian's suite '$SUITE', component main."
        echo "Name a mirror in TONEARM_MIRROR, as a URL, and try again."
        return 1
    fi
    : >"$dir/binary.list"
    : >"$dir/source.list"
    while read -r archive; do
        echo "deb [signed-by=$keyring] $archive" >>"$dir/binary.list"
        echo "deb-src [signed-by=$keyring] $archive" >>"$dir/source.list"
    done <<<"$archives"
    cat >"$dir/apt.conf" <<END
Dir::State "$dir/state";
Dir::State::status "$dir/status";
Dir::Cache "$dir/cache";
Dir::Etc::sourcelist "$dir/source.list";
Dir::Etc::sourceparts "/dev/null";
Acquire::Languages "none";
APT::Sandbox::User "";
END
    APT_CONFIG=$dir/apt.conf apt-get update --quiet
}

# make_next_apt APT DIR: the same for sources of NEXT_SUITE, apart from it, because apt takes the newest version that it
# knows. The signatures verify with the keyring that SUITE has.
make_next_apt() {
    local apt=$1 dir=$2
    mkdir -p "$dir/state/lists/partial" "$dir/cache/archives/partial"
    : >"$dir/status"
    sed "s/$SUITE/$NEXT_SUITE/" "$apt/source.list" >"$dir/source.list"
    sed "s|$apt|$dir|g" "$apt/apt.conf" >"$dir/apt.conf"
    APT_CONFIG=$dir/apt.conf apt-get update --quiet
}

# fetch_source APT PACKAGE DIR: unpacks Debian's source package, patches applied, to DIR. A mirror may list versions
# that it does not have: then the newest one that it has must do, and $DIR.without-updates says so.
fetch_source() {
    local apt=$1 package=$2 dir=$3 versions version archive
    rm -rf "$dir" "$dir.new" "$dir.without-updates"
    mkdir -p "$dir.new"
    cd "$dir.new" || return
    versions=$(APT_CONFIG=$apt/apt.conf apt-cache madison "$package" | sed 's/^[^|]*| *\([^ |]*\).*/\1/' | sort -ruV)
    for version in $versions; do
        # One archive at a time: apt tries only the first one that lists a version.
        while read -r archive; do
            echo "$archive" >"$apt/archive.list"
            if APT_CONFIG=$apt/apt.conf apt-get source --quiet --option "Dir::Etc::sourcelist=$apt/archive.list" \
                "$package=$version"; then
                break 2
            fi
        done <"$apt/source.list"
        : >"$dir.without-updates"
    done
    cd "$OLDPWD" || return
    mv "$dir.new/$package"-*/ "$dir"
    rm -rf "$dir.new"
}

# fetch_original APT PACKAGE DIR: unpacks the original source of a Debian package to DIR, without Debian's changes, and
# writes its version to DIR/debian/changelog. For a package whose changes concern Debian's own build alone.
fetch_original() {
    local apt=$1 package=$2 dir=$3 version archive
    rm -rf "$dir" "$dir.new"
    mkdir -p "$dir.new" "$dir/debian"
    cd "$dir.new" || return
    version=$(APT_CONFIG=$apt/apt.conf apt-cache madison "$package" | sed 's/^[^|]*| *\([^ |]*\).*/\1/' | sort -ruV |
        head -n 1)
    while read -r archive; do
        echo "$archive" >"$apt/archive.list"
        if APT_CONFIG=$apt/apt.conf apt-get source --quiet --tar-only --download-only \
            --option "Dir::Etc::sourcelist=$apt/archive.list" "$package=$version"; then
            break
        fi
    done <"$apt/source.list"
    cd "$OLDPWD" || return
    tar --extract --strip-components=1 --directory="$dir" --file="$(echo "$dir.new/$package"_*.orig.tar.*)"
    echo "$package ($version) original; urgency=low" >"$dir/debian/changelog"
    rm -rf "$dir.new"
}
