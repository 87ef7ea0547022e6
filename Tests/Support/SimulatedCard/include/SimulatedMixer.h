// A card's mixer inside alsa-lib (its control plug-in interface): one volume and perhaps a switch, read and set by the
// real library.
#pragma once

#include <stdbool.h>

struct _snd_ctl;
typedef struct simulated_mixer simulated_mixer;

typedef struct {
    /// The control's name: "Digital".
    const char *name;
    /// The card's own numbers.
    long first, last;
    /// Whether there is a decibel scale: `least_decibels` hundredths at `first`, `decibels_a_step` more for each step.
    bool has_decibels;
    int least_decibels, decibels_a_step;
    /// Whether `first` is silence instead.
    bool mutes_at_first;
    bool has_switch;
} simulated_volume;

/// NULL when alsa-lib refuses. The volume is at `last`, the switch is on.
simulated_mixer *simulated_mixer_create(const simulated_volume *volume);
/// After its control was closed.
void simulated_mixer_free(simulated_mixer *mixer);
/// The open control; the caller closes it.
struct _snd_ctl *simulated_mixer_control(simulated_mixer *mixer);

/// The volume of a channel, 0 or 1, in the card's own numbers.
long simulated_mixer_value(const simulated_mixer *mixer, int channel);
/// As another program does: alsa-lib is told at its next look.
void simulated_mixer_set_value(simulated_mixer *mixer, int channel, long value);
bool simulated_mixer_is_on(const simulated_mixer *mixer);
