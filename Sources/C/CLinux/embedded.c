// Functions that Embedded Swift's standard library expects from its platform. `tools/cross` defines TONEARM_EMBEDDED;
// on the host the full standard library has its own.
#ifdef TONEARM_EMBEDDED
#include <stdint.h>
#include <stdlib.h>

/// Called by `Double(_: String)`: stores the number at the start of `text` and returns its end. The engine never calls
/// setlocale, so strtod reads the C locale's format.
const char *_swift_stdlib_strtod_clocale(const char *text, double *result) {
    char *end;
    *result = strtod(text, &end);
    return end;
}

#if UINTPTR_MAX > UINT32_MAX
// Swift 6.3.1's own version is a weak symbol. It returns the object without the bits that mark a short string, and its
// callers use the result: on arm64 strings of up to 15 bytes were destroyed, and reading them crashed. Remove this with
// the first toolchain that returns its argument (swiftlang/swift#91151).
void *swift_retain_n(void *object, uint32_t count);

void *swift_bridgeObjectRetain_n(void *object, uint32_t count) {
    // The highest bit marks a string that is not an object. The next three, and the lowest three, are not part of the
    // address.
    uintptr_t address = (uintptr_t)object & 0x8FFFFFFFFFFFFFF8;
    if ((intptr_t)object >= 0 && address != 0) swift_retain_n((void *)address, count);
    return object;
}

void *swift_bridgeObjectRetain(void *object) { return swift_bridgeObjectRetain_n(object, 1); }
#endif
#endif
