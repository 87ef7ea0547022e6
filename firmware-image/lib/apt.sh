# shellcheck shell=bash
# The private configuration of apt for images: packages of arm64, and of amd64 for tools that build kernel modules.
# Sourced by firmware-image/pin and firmware-image/build. Needs ROOT, FIRMWARE and CACHE.

# make_image_apt: $CACHE/apt/apt.conf and the package lists of all suites in packages.sources, from the mirror that the
# cross builds use too.
make_image_apt() {
    local apt=$CACHE/apt machine=$CACHE/apt-machine mirror suite component archive
    local keyring=/usr/share/keyrings/debian-archive-keyring.gpg
    "$ROOT/tools/lib/cross-step" aarch64 make_apt "$machine" || return
    # The release itself comes from the mirror's folder `debian`; security has a folder beside it.
    mirror=$(sed -n 's|^deb \[.*\] \(.*\)/debian/* bookworm main$|\1|p' "$machine/binary.list" | head -n 1)
    if [ -z "$mirror" ]; then
        echo "The mirror of Debian 12 does not end in /debian. Name another one in TONEARM_MIRROR, as a URL."
        return 1
    fi
    mkdir -p "$apt"/{state/lists/partial,cache/archives/partial}
    : >"$apt/status"
    sed '/^#/d' "$FIRMWARE/packages.sources" | while read -r suite component archive; do
        echo "deb [signed-by=$keyring] $mirror/$archive $suite $component"
    done >"$apt/source.list"
    # Otherwise apt takes from backports only what the release does not have. Firmware for Wi-Fi is two years newer
    # there. Of Debian 13 it takes what no suite of Debian 12 has.
    printf '%s\n' 'Package: *' 'Pin: release n=bookworm-backports, c=non-free-firmware' 'Pin-Priority: 500' '' \
        'Package: *' 'Pin: release n=trixie*' 'Pin-Priority: 1' >"$apt/preferences"
    {
        sed "s|$machine|$apt|g" "$machine/apt.conf"
        echo "Dir::Etc::preferences \"$apt/preferences\";"
        echo 'Dir::Etc::preferencesparts "/dev/null";'
        echo 'APT::Architecture "arm64";'
        echo 'APT::Architectures { "arm64"; "amd64"; };'
        echo 'Acquire::Retries "3";'
    } >"$apt/apt.conf"
    APT_CONFIG=$apt/apt.conf apt-get update --quiet
}
