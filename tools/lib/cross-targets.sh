# shellcheck shell=bash
# What differs from target to target, in one table. Sourced by tools/cross, never run.

ALL_TARGETS=(x86_64 aarch64 armv7)

# use_target TARGET: sets the variables below, or returns 1 for an unknown name.
#
#   DEBIAN_ARCH   Debian's name of the architecture: its packages make the sysroot
#   MULTIARCH     folder of its libraries inside the sysroot
#   CLANG_TARGET  Linux triple: how C is compiled and linked, and how Swift reads C headers
#   SWIFT_TARGET  bare-metal triple: the toolchain has Embedded Swift's standard library for no Linux on ARM
#   MPG123_CPU    for which processors libmpg123 is built; those of armv7 need not have NEON, so it looks
#   MACHINE_FLAGS further options of clang
use_target() {
    MACHINE_FLAGS=()
    case $1 in
    x86_64)
        DEBIAN_ARCH=amd64 MULTIARCH=x86_64-linux-gnu
        CLANG_TARGET=x86_64-unknown-linux-gnu SWIFT_TARGET=x86_64-unknown-none-elf
        MPG123_CPU=x86-64
        ;;
    aarch64)
        DEBIAN_ARCH=arm64 MULTIARCH=aarch64-linux-gnu
        CLANG_TARGET=aarch64-unknown-linux-gnu SWIFT_TARGET=aarch64-none-none-elf
        MPG123_CPU=neon64
        ;;
    armv7)
        DEBIAN_ARCH=armhf MULTIARCH=arm-linux-gnueabihf
        CLANG_TARGET=armv7-unknown-linux-gnueabihf SWIFT_TARGET=armv7-none-none-eabi
        MPG123_CPU=arm_fpu
        # The bare-metal triple would pass floating point numbers in integer registers; Debian's armhf does not.
        MACHINE_FLAGS=(-mfloat-abi=hard)
        ;;
    *) return 1 ;;
    esac
}
