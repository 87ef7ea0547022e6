# shellcheck shell=bash
# A private configuration of apt for packages of arm64, and of amd64 for tools that build kernel modules. Sourced by
# firmware-image/pin and firmware-image/build. Does not read or change this machine's own lists and sources. Needs
# FIRMWARE and CACHE.

# debian_mirror: the mirror that this machine's apt uses. TONEARM_MIRROR names another one.
debian_mirror() {
    local mirror=${TONEARM_MIRROR:-}
    if [ -z "$mirror" ]; then
        mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | grep --max-count=1 '/debian/$')
    fi
    if [ -z "$mirror" ]; then
        echo "This machine's apt has no source of Debian. Name a mirror in TONEARM_MIRROR, as a URL, and try again." >&2
        return 1
    fi
    echo "${mirror%/}"
}

# make_arm64_apt: $CACHE/apt.conf and the package lists.
make_arm64_apt() {
    local suite component archive mirror
    local keyring=/usr/share/keyrings/debian-archive-keyring.gpg
    mirror=$(debian_mirror) || return
    mkdir -p "$CACHE"/apt/{lists/partial,archives/partial}
    : >"$CACHE/apt/status"
    sed '/^#/d' "$FIRMWARE/packages.sources" | while read -r suite component archive; do
        echo "deb [signed-by=$keyring] ${mirror%/debian}/$archive $suite $component"
    done >"$CACHE/apt/sources.list"
    cat >"$CACHE/apt/apt.conf" <<END
APT::Architecture "arm64";
APT::Architectures { "arm64"; "amd64"; };
Dir::State "$CACHE/apt";
Dir::State::status "$CACHE/apt/status";
Dir::Cache "$CACHE/apt";
Dir::Etc::sourcelist "$CACHE/apt/sources.list";
Dir::Etc::sourceparts "/dev/null";
Acquire::Languages "none";
Acquire::Retries "3";
APT::Sandbox::User "";
END
    APT_CONFIG=$CACHE/apt/apt.conf apt-get update --quiet
}
