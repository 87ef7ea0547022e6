// alsa-lib as a module, and a variadic function pointer, which Swift cannot express.
#pragma once

#include <alsa/asoundlib.h>

static void tonearm_alsa_ignore(const char *file, int line, const char *function, int code, const char *format, ...) {
    (void)file, (void)line, (void)function, (void)code, (void)format;
}

/// Keeps alsa-lib from writing to stderr: our own errors have all that a person needs.
static inline void tonearm_alsa_silence(void) { snd_lib_error_set_handler(tonearm_alsa_ignore); }
