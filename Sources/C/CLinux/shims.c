#define _GNU_SOURCE
#include "CLinux.h"

int tonearm_errno(void) { return errno; }

int tonearm_open(const char *path, int flags, mode_t mode) { return open(path, flags, mode); }
