// libgpiod as a module, in the few words that the engine needs: version 1.6 as in Debian 12. Every function returns 0
// or an errno, unless it says otherwise.
#pragma once

#include <errno.h>
#include <gpiod.h>
#include <stdbool.h>
#include <stdint.h>

// Version 2 has other functions under some of the same names.
#ifndef GPIOD_LINE_BULK_MAX_LINES
#error "Tonearm needs version 1.6 of libgpiod; this is another one"
#endif

enum tonearm_gpio_bias {
    tonearm_gpio_bias_as_is,
    tonearm_gpio_bias_none,
    tonearm_gpio_bias_pull_up,
    tonearm_gpio_bias_pull_down,
};

struct tonearm_gpio_edge {
    /// Whether the line is active after it; libgpiod turns the voltage round for lines that are active when low.
    bool is_active;
    /// Nanoseconds of CLOCK_MONOTONIC (Linux 5.7 and later).
    int64_t time;
};

/// A line's own name and whoever holds it; empty where there is none. Valid while the chip is open.
struct tonearm_gpio_line_info {
    const char *name;
    const char *consumer;
    bool is_used;
};

static inline int tonearm_gpio_result(int result) { return result == 0 ? 0 : errno; }

static inline int tonearm_gpio_line_info(
    struct gpiod_chip *chip, unsigned offset, struct tonearm_gpio_line_info *info) {
    struct gpiod_line *line = gpiod_chip_get_line(chip, offset);
    if (!line) return errno;
    info->name = gpiod_line_name(line);
    info->consumer = gpiod_line_consumer(line);
    info->is_used = gpiod_line_is_used(line);
    return 0;
}

static inline int tonearm_gpio_flags(bool active_low, enum tonearm_gpio_bias bias) {
    int flags = active_low ? GPIOD_LINE_REQUEST_FLAG_ACTIVE_LOW : 0;
    switch (bias) {
    case tonearm_gpio_bias_as_is: return flags;
    case tonearm_gpio_bias_none: return flags | GPIOD_LINE_REQUEST_FLAG_BIAS_DISABLE;
    case tonearm_gpio_bias_pull_up: return flags | GPIOD_LINE_REQUEST_FLAG_BIAS_PULL_UP;
    case tonearm_gpio_bias_pull_down: return flags | GPIOD_LINE_REQUEST_FLAG_BIAS_PULL_DOWN;
    }
    return flags;
}

/// Requests both edges of a line. The line is released when its chip is closed.
static inline int tonearm_gpio_request_edges(
    struct gpiod_chip *chip, unsigned offset, const char *consumer, bool active_low, enum tonearm_gpio_bias bias) {
    struct gpiod_line *line = gpiod_chip_get_line(chip, offset);
    if (!line) return errno;
    return tonearm_gpio_result(
        gpiod_line_request_both_edges_events_flags(line, consumer, tonearm_gpio_flags(active_low, bias)));
}

static inline int tonearm_gpio_request_output(
    struct gpiod_chip *chip, unsigned offset, const char *consumer, bool active_low, bool value) {
    struct gpiod_line *line = gpiod_chip_get_line(chip, offset);
    if (!line) return errno;
    int flags = tonearm_gpio_flags(active_low, tonearm_gpio_bias_as_is);
    return tonearm_gpio_result(gpiod_line_request_output_flags(line, consumer, flags, value));
}

/// Of a line whose edges were requested; -1 when there is none.
static inline int tonearm_gpio_descriptor(struct gpiod_chip *chip, unsigned offset) {
    struct gpiod_line *line = gpiod_chip_get_line(chip, offset);
    return line ? gpiod_line_event_get_fd(line) : -1;
}

/// Takes up to 16 edges, as many as the kernel keeps. Blocks until there is one: ask the descriptor first.
static inline int tonearm_gpio_read_edges(int descriptor, struct tonearm_gpio_edge edges[16], int *count) {
    struct gpiod_line_event events[16];
    *count = gpiod_line_event_read_fd_multiple(descriptor, events, 16);
    if (*count < 0) return errno;
    for (int index = 0; index < *count; index++) {
        edges[index].is_active = events[index].event_type == GPIOD_LINE_EVENT_RISING_EDGE;
        edges[index].time = (int64_t)events[index].ts.tv_sec * 1000000000 + events[index].ts.tv_nsec;
    }
    return 0;
}

static inline int tonearm_gpio_get(struct gpiod_chip *chip, unsigned offset, bool *value) {
    struct gpiod_line *line = gpiod_chip_get_line(chip, offset);
    int result = line ? gpiod_line_get_value(line) : -1;
    if (result < 0) return errno;
    *value = result;
    return 0;
}

static inline int tonearm_gpio_set(struct gpiod_chip *chip, unsigned offset, bool value) {
    struct gpiod_line *line = gpiod_chip_get_line(chip, offset);
    return line ? tonearm_gpio_result(gpiod_line_set_value(line, value)) : errno;
}
