"""The bill of materials: which packages, versions and licenses are in an image, and what takes the room."""

import json
import re
from collections import defaultdict
from datetime import UTC, datetime
from pathlib import Path

from . import lists
from .tree import OWN_MODULES

LOCK = Path(__file__).parents[2] / "packages.lock"

#: Of our packages; the others have the project's.
OWN_LICENSES = {OWN_MODULES: "GPL-2.0-only"}


def write(build, tree):
    sizes = defaultdict(int)
    for place, package in tree.owner.items():
        sizes[package] += (tree.folder / place).stat().st_size
    boot_loader = build.settings["uboot"].split()[0]
    sizes[boot_loader] += (build.packages / boot_loader / build.settings["uboot"].split()[1]).stat().st_size
    if build.non_free:
        # On the boot partition. A board with Wi-Fi alone has none.
        firmware = build.settings.get("gpu-firmware", "").split()
        folder = build.packages / "raspi-firmware/usr/lib/raspi-firmware"
        if firmware:
            sizes["raspi-firmware"] += sum((folder / name).stat().st_size for name in firmware)
    kernel = build.linux.folder / f"boot/vmlinuz-{build.modules.version}"
    sizes[build.linux.package] += kernel.stat().st_size
    _write_sizes(build, tree, sizes)
    _write_bill(build, sizes)


def _write_sizes(build, tree, sizes):
    lines = ["Bytes by package, before compression:\n"]
    lines += [f"{size:>10} {name}\n" for name, size in sorted(sizes.items(), key=lambda it: (-it[1], it[0]))]
    files = [((tree.folder / place).stat().st_size, place) for place in tree.owner]
    lines += ["\nThe forty largest files of the root:\n"]
    lines += [f"{size:>10} {place}\n" for size, place in sorted(files, key=lambda it: (-it[0], it[1]))[:40]]
    (build.output / "sizes.txt").write_text("".join(lines))


def _write_bill(build, sizes):
    """SPDX 2.3, as JSON."""
    locked = lists.locked(LOCK)
    packages = []
    for name, size in sorted(sizes.items()):
        own = name.startswith("tonearm")
        own_license = OWN_LICENSES.get(name, "Apache-2.0")
        packages.append({
            "SPDXID": f"SPDXRef-{re.sub('[^A-Za-z0-9.-]', '-', name)}",
            # Debian's name: the rest says which suite.
            "name": name.partition("@")[0],
            "versionInfo": build.version if own else locked[name].version,
            "downloadLocation": "NOASSERTION",
            "supplier": "NOASSERTION" if own else "Organization: Debian",
            "filesAnalyzed": False,
            "licenseConcluded": "NOASSERTION",
            "licenseDeclared": own_license if own else "NOASSERTION",
            "licenseComments": own_license if own else ", ".join(_licenses(build.packages / name, name)),
            "comment": f"{size} bytes in the image before compression",
            **({} if own else {"checksums": [{"algorithm": "SHA256", "checksumValue": locked[name].sha256}]}),
        })
    time = f"{datetime.fromtimestamp(build.epoch, UTC):%Y-%m-%dT%H:%M:%SZ}"
    document = {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"tonearm-{build.name}-{build.version}",
        "documentNamespace": f"https://tonearm.invalid/images/{build.name}/{build.version}/{build.signature}",
        "creationInfo": {"created": time, "creators": ["Tool: firmware-image/build"]},
        "packages": packages,
        "relationships": [
            {"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": it["SPDXID"]}
            for it in packages],
    }
    (build.output / "sbom.spdx.json").write_text(json.dumps(document, indent=1) + "\n")


def _licenses(package, name):
    """The names of licenses in Debian's copyright file, where it is in the form that machines read."""
    for path in (package / f"usr/share/doc/{name}/copyright", *sorted(package.glob("usr/share/doc/*/copyright"))):
        if path.exists():
            found = sorted(set(re.findall(r"^License: *(\S.*)$", path.read_text(errors="replace"), re.MULTILINE)))
            return found or [f"see {path.relative_to(package)}"]
    return ["see the Debian source package"]
