#include "arguments.h"

#include <stddef.h>

static int argument_count;
static char **arguments;

// glibc passes main's arguments to every constructor, in static programs too.
__attribute__((constructor)) static void keep_arguments(int argc, char **argv) {
    argument_count = argc;
    arguments = argv;
}

int tonearm_argument_count(void) { return argument_count; }

const char *tonearm_argument(int index) { return index >= 0 && index < argument_count ? arguments[index] : NULL; }
