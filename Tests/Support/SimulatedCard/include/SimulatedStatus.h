// A card's control for the channel status inside alsa-lib (its control plug-in interface).
#pragma once

#include <stdint.h>

struct _snd_ctl;
typedef struct simulated_status simulated_status;

/// NULL when alsa-lib refuses. The card has the control for this device and subdevice alone.
simulated_status *simulated_status_create(unsigned device, unsigned subdevice);
/// After its control was closed.
void simulated_status_free(simulated_status *status);
/// The open control; the caller closes it.
struct _snd_ctl *simulated_status_control(simulated_status *status);
/// The 24 bytes that were set last.
const uint8_t *simulated_status_bytes(const simulated_status *status);
