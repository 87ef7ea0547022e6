# shellcheck shell=bash
# The Swift SDK bundle: how SwiftPM builds the package as Embedded Swift for one target. Sourced by tools/cross.

# -O or -Osize: the one place where speed and size of the engine are weighed.
OPTIMISATION=${TONEARM_OPTIMISATION:--Osize}

# Static archives, each before those that it needs. A module map's `link` is not honoured for a bare-metal triple.
STATIC_LIBRARIES=(
    -lasound -lFLAC -lvorbis -logg -lopus -lwavpack -lmpg123 -lsoxr -lebur128 -lfaad -lexpat -lsqlite3 -ljansson -lgpiod
    -lmicrohttpd -lcurl -lmbedtls -lmbedx509 -lmbedcrypto -lcares -lturbojpeg -lpng16 -lz -lwebp -lm
)

# Functions of the standard library that stay functions, because each text calls them (docs/decisions/engine-size.md):
# String.append(String), which has 100 bytes at 5,200 places, and the conversion of bytes to a String. A toolchain in
# which they have other names makes a larger engine, and `tools/size` says so.
NEVER_INLINED=("\$eSS6appendyySSF" "\$eSS18_fromUTF8RepairingySS6result_Sb11repairsMadetSRys5UInt8VGFZ")

# The functions that most boards run, one a line. They lie beside each other, in this order, so that fewer pages of
# the program are read and held (docs/decisions/code-order.md). Names that a program does not have do nothing.
# tools/code-order writes it.
CODE_ORDER=$ROOT/tools/lib/engine-order

# json_list WORD…: the words as the inside of a JSON array.
json_list() {
    local list
    printf -v list '"%s", ' "$@"
    printf '%s' "${list%, }"
}


# write_sdk DIR SYSROOT RESOURCES: the bundle `tonearm-TARGET` for the target in use in DIR; RESOURCES is the
# toolchain's lib/swift.
write_sdk() {
    local target=$1 dir=$2 sysroot=$3 resources=$4 bundle=$2/tonearm-$1.artifactbundle
    local c_options=("--target=$CLANG_TARGET" "--sysroot=$sysroot" "${MACHINE_FLAGS[@]}")
    local swift_options=(
        -enable-experimental-feature Embedded -wmo "$OPTIMISATION"
        # A section for each function, so that the linker can leave out those that nothing calls.
        -Xfrontend -function-sections
        # The embedded runtime does not check for exclusive access: the calls that ask it to would do nothing.
        -enforce-exclusivity=unchecked
        # What LLVM still inlines at -Osize are retains of objects: 34 bytes instead of a call.
        -Xllvm -inline-threshold=0
        # One of these passes moves a retain that is a call behind an inlined question whether the object is unique. An
        # array that is shared is then changed in place.
        -Xfrontend -disable-swift-specific-llvm-optzns
        # Swift compiles for bare metal, but reads the C headers as what they are: Linux's.
        -Xfrontend -clang-target -Xfrontend "$CLANG_TARGET"
    )
    local option name
    for name in "${NEVER_INLINED[@]}"; do swift_options+=(-Xllvm "-sil-inline-never-function=$name"); done
    # Nothing is thrown, so nothing reads how to unwind (.eh_frame). Debuggers have .debug_frame.
    for option in "--sysroot=$sysroot" "${MACHINE_FLAGS[@]}" -fno-asynchronous-unwind-tables -fno-unwind-tables; do
        swift_options+=(-Xcc "$option")
    done
    for option in "${c_options[@]}" -static -fuse-ld=lld; do swift_options+=(-Xclang-linker "$option"); done
    rm -rf "$bundle"
    mkdir -p "$bundle/$target"
    cat >"$bundle/info.json" <<END
{
    "schemaVersion": "1.0",
    "artifacts": {
        "tonearm-$target": { "type": "swiftSDK", "version": "1", "variants": [{ "path": "$target" }] }
    }
}
END
    cat >"$bundle/$target/swift-sdk.json" <<END
{
    "schemaVersion": "4.0",
    "targetTriples": { "$SWIFT_TARGET": { "sdkRootPath": "$sysroot", "toolsetPaths": ["toolset.json"] } }
}
END
    cat >"$bundle/$target/toolset.json" <<END
{
    "schemaVersion": "1.0",
    "swiftCompiler": { "extraCLIOptions": [$(json_list "${swift_options[@]}")] },
    "cCompiler": {
        "extraCLIOptions": [
            $(json_list "${c_options[@]}" -DTONEARM_EMBEDDED -ffunction-sections -fdata-sections),
            $(json_list -fno-asynchronous-unwind-tables -fno-unwind-tables)
        ]
    },
    "linker": {
        "extraCLIOptions": [
            $(json_list --gc-sections --no-eh-frame-hdr "-Map=${dir%/*}/link.map" "${STATIC_LIBRARIES[@]}"),
            $(json_list "--symbol-ordering-file=$CODE_ORDER" --no-warn-symbol-ordering),
            "$resources/embedded/$SWIFT_TARGET/libswiftUnicodeDataTables.a"
        ]
    }
}
END
}
