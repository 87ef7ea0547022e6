# shellcheck shell=bash
# Sourced by tools/package-test, never run: the packages that it installs, and upgrades from a version whose
# configuration was a conffile.
# Its variables are set by then.
: "${version:=}" "${origin:=}" "${DEBIAN_ARCH:=}" "${DEBIAN:=}" "${CACHE:=}"

# prepare_packages: the packages themselves, one of a higher version that is otherwise the same, and an earlier one.
prepare_packages() {
    local file=$ROOT/build/package/tonearm_${version}_$DEBIAN_ARCH.deb tree=$CACHE/upgrade
    cp "$file" "$DEBIAN/root/tonearm.deb"
    cp "$origin" "$DEBIAN/root/tonearm-origin.deb"
    rm -rf "$tree"
    dpkg-deb --raw-extract "$file" "$tree"
    sed -i "s/^Version: .*/&+upgrade/" "$tree/DEBIAN/control"
    dpkg-deb --root-owner-group --build "$tree" "$DEBIAN/root/upgrade.deb" >/dev/null
    # Its configuration was a conffile with all settings, and its postinst did not write one.
    sed -i "s/^Version: .*/Version: $version~conffile/" "$tree/DEBIAN/control"
    sed -i '/^    if { \[ ! -e "$CONFIGURATION" \]/d' "$tree/DEBIAN/postinst"
    cp "$tree/usr/share/doc/tonearm/examples/tonearm.conf" "$tree/etc/tonearm/tonearm.conf"
    echo /etc/tonearm/tonearm.conf >"$tree/DEBIAN/conffiles"
    dpkg-deb --root-owner-group --build "$tree" "$DEBIAN/root/conffile.deb" >/dev/null
    rm -r "$tree"
}

# with_conffile WHAT COMMAND: upgrades from a version with a conffile, after the shell command. dpkg has nobody to ask.
with_conffile() {
    inside dpkg --purge tonearm >/dev/null 2>&1
    check "a version with a conffile installs" inside dpkg --install /root/conffile.deb
    inside sh -c "$2"
    check "upgrades from it, with $1" inside dpkg --install /root/tonearm.deb
    check "runs" soon inside tonearm status
}

replaces_the_conffile() {
    local lines='wc -l </etc/tonearm/tonearm.conf'
    with_conffile "the file as it was" true
    check "it is replaced" equal 5 inside sh -c "$lines"
    inside sh -c 'echo "# mine" >>/etc/tonearm/tonearm.conf'
    check "upgrades again" inside dpkg --install /root/upgrade.deb
    check "it is replaced once" equal "# mine" inside tail -n 1 /etc/tonearm/tonearm.conf
    with_conffile "a changed file" 'printf "[log]\nlevel = info\n" >>/etc/tonearm/tonearm.conf'
    check "it is in force" soon equal info inside tonearm config get log.level
    check "upgrades again" inside dpkg --install /root/upgrade.deb
    check "it stays" equal "level = info" inside tail -n 1 /etc/tonearm/tonearm.conf
    with_conffile "a file that somebody has removed" 'rm /etc/tonearm/tonearm.conf'
    check "it is written" equal 5 inside sh -c "$lines"
    inside sh -c 'printf "[log]\nlevel = debug\n" >/etc/tonearm/conf.d/10-log.conf'
    check "settings of conf.d are reloaded" inside systemctl reload tonearm
    check "and are in force" soon equal debug inside tonearm config get log.level
    inside rm /etc/tonearm/conf.d/10-log.conf
    # Its file may be on a medium that comes later.
    inside ln --symbolic --force /media/later/tonearm.conf /etc/tonearm/tonearm.conf
    check "upgrades again, with a link to a file that is not there" inside dpkg --install /root/upgrade.deb
    check "the link stays" equal /media/later/tonearm.conf inside readlink /etc/tonearm/tonearm.conf
    inside dpkg --purge tonearm >/dev/null 2>&1
    check "a purge takes the configuration along" refused inside test -e /etc/tonearm
}
