// CGPIOD.h with libgpiod 1.6. It uses the first version of the kernel's interface, which has no debouncing: Linux 5.10
// and later has it, but not through this library.
#pragma once

struct tonearm_gpio_request {
    struct gpiod_line *line;
};

static inline int tonearm_gpio_chip_info(struct gpiod_chip *chip, struct tonearm_gpio_chip_info *info) {
    info->name = tonearm_gpio_name(gpiod_chip_name(chip));
    info->label = tonearm_gpio_name(gpiod_chip_label(chip));
    info->line_count = gpiod_chip_num_lines(chip);
    return 0;
}

static inline int tonearm_gpio_line_info(
    struct gpiod_chip *chip, unsigned offset, struct tonearm_gpio_line_info *info) {
    struct gpiod_line *line = gpiod_chip_get_line(chip, offset);
    if (!line) return errno;
    info->name = tonearm_gpio_name(gpiod_line_name(line));
    info->consumer = tonearm_gpio_name(gpiod_line_consumer(line));
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

static inline int tonearm_gpio_request_input(
    struct gpiod_chip *chip, unsigned offset, struct tonearm_gpio_input input, struct tonearm_gpio_request *request) {
    request->line = gpiod_chip_get_line(chip, offset);
    if (!request->line) return errno;
    int flags = tonearm_gpio_flags(input.active_low, input.bias);
    return tonearm_gpio_result(
        gpiod_line_request_both_edges_events_flags(request->line, input.consumer, flags));
}

static inline int tonearm_gpio_request_output(
    struct gpiod_chip *chip, unsigned offset, const char *consumer, bool active_low, bool value,
    struct tonearm_gpio_request *request) {
    request->line = gpiod_chip_get_line(chip, offset);
    if (!request->line) return errno;
    int flags = tonearm_gpio_flags(active_low, tonearm_gpio_bias_as_is);
    return tonearm_gpio_result(gpiod_line_request_output_flags(request->line, consumer, flags, value));
}

static inline void tonearm_gpio_release(struct tonearm_gpio_request request) { gpiod_line_release(request.line); }

static inline int tonearm_gpio_descriptor(struct tonearm_gpio_request request) {
    return gpiod_line_event_get_fd(request.line);
}

static inline int tonearm_gpio_read_edges(
    struct tonearm_gpio_request request, struct tonearm_gpio_edge edges[16], int *count) {
    struct gpiod_line_event events[16];
    *count = gpiod_line_event_read_multiple(request.line, events, 16);
    if (*count < 0) return errno;
    for (int index = 0; index < *count; index++) {
        edges[index].is_active = events[index].event_type == GPIOD_LINE_EVENT_RISING_EDGE;
        edges[index].time = (int64_t)events[index].ts.tv_sec * 1000000000 + events[index].ts.tv_nsec;
    }
    return 0;
}

static inline int tonearm_gpio_get(struct tonearm_gpio_request request, bool *value) {
    int result = gpiod_line_get_value(request.line);
    if (result < 0) return errno;
    *value = result;
    return 0;
}

static inline int tonearm_gpio_set(struct tonearm_gpio_request request, bool value) {
    return tonearm_gpio_result(gpiod_line_set_value(request.line, value));
}
