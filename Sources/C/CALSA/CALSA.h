// alsa-lib as a module, and the one line that Swift cannot say: a variadic function pointer.
#pragma once

#include <alsa/asoundlib.h>

static void tonearm_alsa_ignore(const char *file, int line, const char *function, int code, const char *format, ...) {
    (void)file, (void)line, (void)function, (void)code, (void)format;
}

/// Keeps alsa-lib from writing to stderr: what a person needs is in our own errors.
static inline void tonearm_alsa_silence(void) { snd_lib_error_set_handler(tonearm_alsa_ignore); }
