# shellcheck shell=bash
# A private configuration of apt for packages of arm64, and of amd64 for tools that build kernel modules. Sourced by
# firmware-image/pin and firmware-image/build. Does not read or change this machine's own lists and sources. Needs
# FIRMWARE and CACHE.

# make_arm64_apt: $CACHE/apt.conf and the package lists. TONEARM_MIRROR names another mirror than deb.debian.org.
make_arm64_apt() {
    local suite component archive mirror=${TONEARM_MIRROR:-http://deb.debian.org/debian}
    local keyring=/usr/share/keyrings/debian-archive-keyring.gpg
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
