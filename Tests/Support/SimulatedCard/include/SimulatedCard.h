// A sound card inside alsa-lib (its I/O plug-in interface): negotiated, written to and polled by the real library, but
// its converter moves when the test says so, and it fails when the test wants it to.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "SimulatedMixer.h"
#include "SimulatedStatus.h"

struct _snd_pcm;
typedef struct simulated_card simulated_card;

typedef enum {
    simulated_underrun,
    simulated_suspended,
    simulated_disconnected,
} simulated_fault;

/// The card's capabilities. Formats are SND_PCM_FORMAT_… values; lists end with 0.
typedef struct {
    unsigned rates[16];
    unsigned formats[8];
    unsigned channels[8];
    bool memory_mapped;
    /// Software parameters with a silence size are an error.
    bool refuses_silence;
    /// Takes only half of the frames, and nothing every other time.
    bool stutters;
    /// Frames that are on their way to the converter after they have left the buffer, as on a USB card.
    unsigned long latency;
    /// SND_CHMAP_… values, one for each channel of a map; without any the card has no map.
    unsigned positions[8];
    /// SND_CHMAP_TYPE_… of the map.
    unsigned map_type;
    /// Other maps are an error.
    bool refuses_maps;
} simulated_abilities;

/// NULL when alsa-lib refuses.
simulated_card *simulated_card_create(const simulated_abilities *abilities);
/// After its PCM was closed.
void simulated_card_free(simulated_card *card);

/// The open PCM; the caller closes it.
struct _snd_pcm *simulated_card_pcm(simulated_card *card);

/// The converter takes `frames` frames. With fewer in the buffer it runs dry, unless its stop threshold lets the clock
/// go on with silence.
void simulated_card_hear(simulated_card *card, size_t frames);
/// From now on the converter takes up to a period whenever it is polled, never running dry, and is always ready.
void simulated_card_hear_when_polled(simulated_card *card);
/// Whether poll(2) finds the card ready; false at first.
void simulated_card_set_ready(simulated_card *card, bool ready);
void simulated_card_fail(simulated_card *card, simulated_fault fault);

/// Everything that was written, up to `simulated_capacity` bytes.
const uint8_t *simulated_card_written(const simulated_card *card, size_t *bytes);
enum { simulated_capacity = 1 << 20 };

/// The software parameters that were installed, in frames.
typedef struct {
    unsigned long start_threshold, stop_threshold, silence_threshold, silence_size, avail_min, boundary;
} simulated_parameters;
simulated_parameters simulated_card_parameters(const simulated_card *card);
/// SND_CHMAP_… value of a channel, as it was set last.
unsigned simulated_card_position(const simulated_card *card, unsigned channel);

/// Frames that were heard since the PCM was opened; without a latency those that left the buffer.
size_t simulated_card_heard(const simulated_card *card);
/// How often the clock was started.
int simulated_card_starts(const simulated_card *card);
