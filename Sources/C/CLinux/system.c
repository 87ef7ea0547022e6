#define _GNU_SOURCE

#include "CLinux.h"

#include <sys/timex.h>

int tonearm_errno(void) { return errno; }

void tonearm_clear_errno(void) { errno = 0; }

int tonearm_clock_is_synchronised(void) {
    struct timex state = {.modes = 0};
    return adjtimex(&state) != -1 && (state.status & STA_UNSYNC) == 0;
}
