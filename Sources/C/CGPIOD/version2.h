// CGPIOD.h with libgpiod 2, which uses the second version of the kernel's interface (Linux 5.10 and later).
#pragma once

struct tonearm_gpio_request {
    struct gpiod_line_request *lines;
    unsigned offset;
};

static inline int tonearm_gpio_chip_info(struct gpiod_chip *chip, struct tonearm_gpio_chip_info *info) {
    struct gpiod_chip_info *known = gpiod_chip_get_info(chip);
    if (!known) return errno;
    info->name = tonearm_gpio_name(gpiod_chip_info_get_name(known));
    info->label = tonearm_gpio_name(gpiod_chip_info_get_label(known));
    info->line_count = gpiod_chip_info_get_num_lines(known);
    gpiod_chip_info_free(known);
    return 0;
}

static inline int tonearm_gpio_line_info(
    struct gpiod_chip *chip, unsigned offset, struct tonearm_gpio_line_info *info) {
    struct gpiod_line_info *known = gpiod_chip_get_line_info(chip, offset);
    if (!known) return errno;
    info->name = tonearm_gpio_name(gpiod_line_info_get_name(known));
    info->consumer = tonearm_gpio_name(gpiod_line_info_get_consumer(known));
    gpiod_line_info_free(known);
    return 0;
}

static inline enum gpiod_line_bias tonearm_gpio_bias(enum tonearm_gpio_bias bias) {
    switch (bias) {
    case tonearm_gpio_bias_as_is: return GPIOD_LINE_BIAS_AS_IS;
    case tonearm_gpio_bias_none: return GPIOD_LINE_BIAS_DISABLED;
    case tonearm_gpio_bias_pull_up: return GPIOD_LINE_BIAS_PULL_UP;
    case tonearm_gpio_bias_pull_down: return GPIOD_LINE_BIAS_PULL_DOWN;
    }
    return GPIOD_LINE_BIAS_AS_IS;
}

/// Requests one line with these settings, and frees the settings.
static inline int tonearm_gpio_request_line(
    struct gpiod_chip *chip, unsigned offset, const char *consumer, struct gpiod_line_settings *settings,
    struct tonearm_gpio_request *request) {
    struct gpiod_line_config *lines = gpiod_line_config_new();
    struct gpiod_request_config *properties = gpiod_request_config_new();
    int code = ENOMEM;
    request->offset = offset;
    request->lines = NULL;
    if (settings && lines && properties) {
        gpiod_request_config_set_consumer(properties, consumer);
        code = tonearm_gpio_result(gpiod_line_config_add_line_settings(lines, &offset, 1, settings));
        if (code == 0) {
            request->lines = gpiod_chip_request_lines(chip, properties, lines);
            if (!request->lines) code = errno;
        }
    }
    gpiod_request_config_free(properties);
    gpiod_line_config_free(lines);
    gpiod_line_settings_free(settings);
    return code;
}

static inline int tonearm_gpio_request_input(
    struct gpiod_chip *chip, unsigned offset, struct tonearm_gpio_input input, struct tonearm_gpio_request *request) {
    struct gpiod_line_settings *settings = gpiod_line_settings_new();
    if (!settings) return ENOMEM;
    gpiod_line_settings_set_direction(settings, GPIOD_LINE_DIRECTION_INPUT);
    gpiod_line_settings_set_edge_detection(settings, GPIOD_LINE_EDGE_BOTH);
    gpiod_line_settings_set_active_low(settings, input.active_low);
    gpiod_line_settings_set_bias(settings, tonearm_gpio_bias(input.bias));
    gpiod_line_settings_set_debounce_period_us(settings, input.debounce);
    int code = tonearm_gpio_request_line(chip, offset, input.consumer, settings, request);
    // Drivers return different errors for a time that their chip cannot filter. The line is useful without filtering.
    if (code == 0 || code == EBUSY || input.debounce == 0) return code;
    input.debounce = 0;
    return tonearm_gpio_request_input(chip, offset, input, request);
}

static inline int tonearm_gpio_request_output(
    struct gpiod_chip *chip, unsigned offset, const char *consumer, bool active_low, bool value,
    struct tonearm_gpio_request *request) {
    struct gpiod_line_settings *settings = gpiod_line_settings_new();
    if (!settings) return ENOMEM;
    gpiod_line_settings_set_direction(settings, GPIOD_LINE_DIRECTION_OUTPUT);
    gpiod_line_settings_set_active_low(settings, active_low);
    gpiod_line_settings_set_output_value(settings, value ? GPIOD_LINE_VALUE_ACTIVE : GPIOD_LINE_VALUE_INACTIVE);
    return tonearm_gpio_request_line(chip, offset, consumer, settings, request);
}

static inline void tonearm_gpio_release(struct tonearm_gpio_request request) {
    gpiod_line_request_release(request.lines);
}

static inline int tonearm_gpio_descriptor(struct tonearm_gpio_request request) {
    return gpiod_line_request_get_fd(request.lines);
}

static inline int tonearm_gpio_read_edges(
    struct tonearm_gpio_request request, struct tonearm_gpio_edge edges[16], int *count) {
    struct gpiod_edge_event_buffer *buffer = gpiod_edge_event_buffer_new(16);
    if (!buffer) return ENOMEM;
    *count = gpiod_line_request_read_edge_events(request.lines, buffer, 16);
    int code = *count < 0 ? errno : 0;
    for (int index = 0; index < *count; index++) {
        struct gpiod_edge_event *event = gpiod_edge_event_buffer_get_event(buffer, index);
        edges[index].is_active = gpiod_edge_event_get_event_type(event) == GPIOD_EDGE_EVENT_RISING_EDGE;
        edges[index].time = gpiod_edge_event_get_timestamp_ns(event);
    }
    gpiod_edge_event_buffer_free(buffer);
    return code;
}

static inline int tonearm_gpio_get(struct tonearm_gpio_request request, bool *value) {
    enum gpiod_line_value result = gpiod_line_request_get_value(request.lines, request.offset);
    if (result == GPIOD_LINE_VALUE_ERROR) return errno;
    *value = result == GPIOD_LINE_VALUE_ACTIVE;
    return 0;
}

static inline int tonearm_gpio_set(struct tonearm_gpio_request request, bool value) {
    return tonearm_gpio_result(
        gpiod_line_request_set_value(
            request.lines, request.offset, value ? GPIOD_LINE_VALUE_ACTIVE : GPIOD_LINE_VALUE_INACTIVE));
}
