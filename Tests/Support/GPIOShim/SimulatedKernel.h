// A GPIO chip, `/dev/null`, for both versions of libgpiod: it answers the library's calls to the kernel, of either
// version of that interface, and remembers what was asked for. Chip and lines:
//
//     gpiochip0, label `simulated`, 8 lines; line 3 is called `LINE3`, line 7 is in use by `leds`
#pragma once

#include <stdbool.h>
#include <stdint.h>

/// The request for a line.
struct wish {
    unsigned offset;
    char consumer[32];
    bool is_output, active_low, pulled_up, both_edges;
    /// Of an output.
    bool value;
    /// In microseconds.
    unsigned debounce;
};

/// Those asked for, in order, the refused ones among them.
extern struct wish wishes[8];
extern int wish_count;

/// An errno that the chip has for everyone who asks it to debounce; 0 lets it.
extern int debounce_refusal;
/// The state of every line.
extern bool level;

/// Nothing was asked for, nothing is refused.
void forget(void);
/// An edge of the line that was requested last.
void edge(bool rising, int64_t time);
/// Whether the last requested line was released.
bool is_released(void);
