// The part of libgpiod that the engine needs, as a module. Version 1.6, as in Debian 12, and version 2 share only two
// functions: `gpiod_chip_open`, which sets errno, and `gpiod_chip_close`. Everything else that Swift calls is declared
// here, and each version has a file that implements it.
//
// Every function returns 0 or an errno, unless it says otherwise.
#pragma once

#include <errno.h>
#include <gpiod.h>
#include <stdbool.h>
#include <stdint.h>

enum tonearm_gpio_bias {
    tonearm_gpio_bias_as_is,
    tonearm_gpio_bias_none,
    tonearm_gpio_bias_pull_up,
    tonearm_gpio_bias_pull_down,
};

/// The properties of an input to request. Both edges are always requested.
struct tonearm_gpio_input {
    const char *consumer;
    bool active_low;
    enum tonearm_gpio_bias bias;
    /// The time for which the line must be quiet before an edge counts, in microseconds; with 0 every edge counts.
    /// Ignored when the library, kernel or chip cannot filter.
    unsigned debounce;
};

struct tonearm_gpio_edge {
    /// Whether the line is active after it; libgpiod inverts the voltage for lines that are active when low.
    bool is_active;
    /// Nanoseconds of CLOCK_MONOTONIC (Linux 5.7 and later).
    int64_t time;
};

/// The longest name of the kernel; ends with 0, and is empty when there is none.
struct tonearm_gpio_name {
    char bytes[32];
};

struct tonearm_gpio_chip_info {
    /// `gpiochip0`
    struct tonearm_gpio_name name;
    struct tonearm_gpio_name label;
    unsigned line_count;
};

/// A line's name and its user.
struct tonearm_gpio_line_info {
    struct tonearm_gpio_name name;
    struct tonearm_gpio_name consumer;
};

/// A requested line. It must be released before its chip is closed.
struct tonearm_gpio_request;

static inline int tonearm_gpio_chip_info(struct gpiod_chip *chip, struct tonearm_gpio_chip_info *info);
static inline int tonearm_gpio_line_info(
    struct gpiod_chip *chip, unsigned offset, struct tonearm_gpio_line_info *info);

static inline int tonearm_gpio_request_input(
    struct gpiod_chip *chip, unsigned offset, struct tonearm_gpio_input input, struct tonearm_gpio_request *request);
static inline int tonearm_gpio_request_output(
    struct gpiod_chip *chip, unsigned offset, const char *consumer, bool active_low, bool value,
    struct tonearm_gpio_request *request);
static inline void tonearm_gpio_release(struct tonearm_gpio_request request);

/// For an input: readable while edges are waiting.
static inline int tonearm_gpio_descriptor(struct tonearm_gpio_request request);
/// Reads up to 16 edges, as many as the kernel keeps. Blocks until there is one: poll the descriptor first.
static inline int tonearm_gpio_read_edges(
    struct tonearm_gpio_request request, struct tonearm_gpio_edge edges[16], int *count);

static inline int tonearm_gpio_get(struct tonearm_gpio_request request, bool *value);
static inline int tonearm_gpio_set(struct tonearm_gpio_request request, bool value);

static inline int tonearm_gpio_result(int result) { return result == 0 ? 0 : errno; }

static inline struct tonearm_gpio_name tonearm_gpio_name(const char *text) {
    struct tonearm_gpio_name name = {{0}};
    for (unsigned index = 0; text && text[index] && index + 1 < sizeof name.bytes; index++)
        name.bytes[index] = text[index];
    return name;
}

// Version 2 does not have this macro.
#ifdef GPIOD_LINE_BULK_MAX_LINES
#include "version1.h"
#else
#include "version2.h"
#endif
