// What Embedded Swift's standard library expects from its platform. `tools/cross` defines TONEARM_EMBEDDED; on the host
// the full standard library brings its own.
#ifdef TONEARM_EMBEDDED
#include <stdlib.h>

/// What `Double(_: String)` calls: stores the number at the start of `text` and returns where it ends. The engine never
/// calls setlocale, so strtod reads the C locale's format.
const char *_swift_stdlib_strtod_clocale(const char *text, double *result) {
    char *end;
    *result = strtod(text, &end);
    return end;
}
#endif
