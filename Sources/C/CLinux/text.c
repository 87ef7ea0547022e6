#define _GNU_SOURCE

#include "CLinux.h"

#include <locale.h>

ptrdiff_t tonearm_find(const uint8_t *bytes, size_t count, const uint8_t *part, size_t part_count) {
    const uint8_t *found = memmem(bytes, count, part, part_count);
    return found ? found - bytes : -1;
}

static locale_t c_locale;
static pthread_once_t c_locale_once = PTHREAD_ONCE_INIT;
static void make_c_locale(void) { c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0); }

double tonearm_parse_double(const char *text, char **end) {
    pthread_once(&c_locale_once, make_c_locale);
    return strtod_l(text, end, c_locale);
}

int tonearm_format_fixed(char *buffer, size_t size, double value, int decimals) {
    pthread_once(&c_locale_once, make_c_locale);
    locale_t before = uselocale(c_locale);
    int length = snprintf(buffer, size, "%.*f", decimals, value);
    uselocale(before);
    return length;
}
