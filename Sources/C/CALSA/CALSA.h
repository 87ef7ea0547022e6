// alsa-lib as a module, and what Swift cannot express: a variadic function pointer, and members without a size.
#pragma once

#include <alsa/asoundlib.h>

static void tonearm_alsa_ignore(const char *file, int line, const char *function, int code, const char *format, ...) {
    (void)file, (void)line, (void)function, (void)code, (void)format;
}

/// Keeps alsa-lib from writing to stderr: our own errors have all that a person needs.
static inline void tonearm_alsa_silence(void) { snd_lib_error_set_handler(tonearm_alsa_ignore); }

static inline const snd_pcm_chmap_t *tonearm_alsa_map(const snd_pcm_chmap_query_t *entry) { return &entry->map; }

/// `channel` is less than `map->channels`.
static inline unsigned tonearm_alsa_position(const snd_pcm_chmap_t *map, unsigned channel) { return map->pos[channel]; }
