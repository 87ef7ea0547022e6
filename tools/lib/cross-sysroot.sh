# shellcheck shell=bash
# Sysroots of Debian packages, and alsa-lib as a static library in them. Sourced by tools/cross, never run.
# Nothing of a target is executed and nothing needs root.

SUITE=bookworm

# C library, compiler support, and the libraries of Package.swift except alsa-lib, of which Debian has no static archive.
SYSROOT_PACKAGES=libc6-dev,libgcc-12-dev,libflac-dev,libsqlite3-dev,libjansson-dev

# A sound card (hw), nothing (null) and a file for tests: the engine opens no other kind of device.
ALSA_OPTIONS=(
    --quiet --prefix=/usr --enable-static --disable-shared
    --with-pcm-plugins=hw,null,file --with-libdl=no --without-versioned
    --disable-ucm --disable-topology --disable-rawmidi --disable-hwdep --disable-seq --disable-aload
    --disable-alisp --disable-old-symbols --disable-python
)
ALSA_CFLAGS="-Os -ffunction-sections -fdata-sections"

# make_apt DIR: a private configuration of apt with this machine's Debian mirrors, sources included, so that neither the
# machine's own lists nor its sources are touched. $DIR/apt.conf is for APT_CONFIG, $DIR/binary.list for mmdebstrap.
# TONEARM_MIRROR names a mirror when the machine's own sources have none of Debian's.
make_apt() {
    local dir=$1 keyring=/usr/share/keyrings/debian-archive-keyring.gpg archives
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
            sed -n "s/^Debian|$SUITE[a-z-]*|main|//p" | sort -u)
    fi
    if [ -z "$archives" ]; then
        echo "This machine's apt has no source of Debian's suite '$SUITE', component main."
        echo "Name a mirror in TONEARM_MIRROR, as a URL, and try again."
        return 1
    fi
    sed "s|^|deb [signed-by=$keyring] |" <<<"$archives" >"$dir/binary.list"
    sed "s|^|deb-src [signed-by=$keyring] |" <<<"$archives" >"$dir/source.list"
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

# fetch_alsa APT DIR: unpacks Debian's source of alsa-lib, patches applied, to DIR.
fetch_alsa() {
    local apt=$1 dir=$2
    rm -rf "$dir" "$dir.new"
    mkdir -p "$dir.new"
    (cd "$dir.new" && APT_CONFIG=$apt/apt.conf apt-get source --quiet alsa-lib)
    mv "$dir.new"/alsa-lib-*/ "$dir"
    rm -rf "$dir.new"
}

# make_sysroot APT DIR: for the target in use.
make_sysroot() {
    local apt=$1 dir=$2
    rm -rf "$dir"
    mkdir -p "$dir"
    mmdebstrap --mode=chrootless --variant=extract --arch="$DEBIAN_ARCH" --include="$SYSROOT_PACKAGES" \
        "$SUITE" "$dir" "$apt/binary.list"
}

# build_alsa SOURCE BUILD SYSROOT: a static alsa-lib for the target in use, installed into its sysroot.
build_alsa() {
    local source=$1 build=$2 sysroot=$3 part
    rm -rf "$build"
    mkdir -p "$build"
    cd "$build"
    "$source/configure" --host="$MULTIARCH" --libdir="/usr/lib/$MULTIARCH" "${ALSA_OPTIONS[@]}" \
        CC="clang --target=$CLANG_TARGET --sysroot=$sysroot -fuse-ld=lld" CFLAGS="$ALSA_CFLAGS" \
        AR=llvm-ar RANLIB=llvm-ranlib
    for part in include src; do
        make -j2 -C "$part"
        make -C "$part" install DESTDIR="$sysroot"
    done
    make -C utils install DESTDIR="$sysroot"
}
