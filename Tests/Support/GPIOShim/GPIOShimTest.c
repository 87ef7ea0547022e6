// The C side of CGPIOD on the libgpiod that it was compiled for, with a simulated kernel below. A line for each test;
// the exit code is 1 when one has failed.
#include "CGPIOD.h"
#include "SimulatedKernel.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#ifdef GPIOD_LINE_BULK_MAX_LINES
static const bool asks_for_debouncing = false;
#else
static const bool asks_for_debouncing = true;
#endif

static struct gpiod_chip *chip;
static bool is_good, all_good = true;

#define EXPECT(condition)                                                                                              \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            is_good = false;                                                                                           \
            printf("    line %d: not so: %s\n", __LINE__, #condition);                                                 \
        }                                                                                                              \
    } while (0)

static const struct tonearm_gpio_input button = {
    .consumer = "tonearm", .active_low = true, .bias = tonearm_gpio_bias_pull_up, .debounce = 20000};

static bool is(struct tonearm_gpio_name name, const char *text) { return strcmp(name.bytes, text) == 0; }

static void names(void) {
    struct tonearm_gpio_chip_info known;
    EXPECT(tonearm_gpio_chip_info(chip, &known) == 0);
    EXPECT(is(known.name, "gpiochip0") && is(known.label, "simulated") && known.line_count == 8);
    struct tonearm_gpio_line_info line;
    EXPECT(tonearm_gpio_line_info(chip, 3, &line) == 0 && is(line.name, "LINE3") && is(line.consumer, ""));
    EXPECT(tonearm_gpio_line_info(chip, 7, &line) == 0 && is(line.name, "") && is(line.consumer, "leds"));
    EXPECT(tonearm_gpio_line_info(chip, 8, &line) == EINVAL);
    char longest[40];
    memset(longest, 'x', sizeof longest);
    longest[39] = 0;
    EXPECT(strlen(tonearm_gpio_name(longest).bytes) == 31);
}

static void an_input(void) {
    struct tonearm_gpio_request line;
    EXPECT(tonearm_gpio_request_input(chip, 3, button, &line) == 0);
    struct wish *wish = &wishes[0];
    EXPECT(wish_count == 1 && wish->offset == 3 && strcmp(wish->consumer, "tonearm") == 0 && !wish->is_output);
    EXPECT(wish->active_low && wish->pulled_up && wish->both_edges);
    EXPECT(wish->debounce == (asks_for_debouncing ? 20000 : 0));

    edge(true, 123456789012345);
    edge(false, 123456789012346);
    struct tonearm_gpio_edge edges[16];
    int count = 0;
    EXPECT(tonearm_gpio_read_edges(line, edges, &count) == 0 && count == 2);
    EXPECT(edges[0].is_active && edges[0].time == 123456789012345);
    EXPECT(!edges[1].is_active && edges[1].time == 123456789012346);
    for (int index = 0; index < 17; index++) edge(true, index);
    EXPECT(tonearm_gpio_read_edges(line, edges, &count) == 0 && count == 16 && edges[15].time == 15);
    EXPECT(tonearm_gpio_read_edges(line, edges, &count) == 0 && count == 1 && edges[0].time == 16);

    bool value;
    for (int wanted = 0; wanted < 2; wanted++) {
        level = wanted;
        EXPECT(tonearm_gpio_get(line, &value) == 0 && value == wanted);
    }
    EXPECT(fcntl(tonearm_gpio_descriptor(line), F_GETFD) >= 0 && !is_released());
    tonearm_gpio_release(line);
    EXPECT(is_released());
}

static void an_input_that_cannot_be_debounced(void) {
    // EINVAL, ENOTSUP, and the kernel's own ENOTSUPP that drivers let through.
    int codes[] = {EINVAL, EOPNOTSUPP, 524};
    for (int index = 0; index < 3; index++) {
        forget();
        debounce_refusal = codes[index];
        struct tonearm_gpio_request line;
        EXPECT(tonearm_gpio_request_input(chip, 3, button, &line) == 0);
        EXPECT(wish_count == (asks_for_debouncing ? 2 : 1));
        struct wish *wish = &wishes[wish_count - 1];
        EXPECT(wish->debounce == 0 && wish->offset == 3 && wish->active_low && wish->pulled_up && wish->both_edges);
        tonearm_gpio_release(line);
    }
}

static void an_output(void) {
    for (int initially = 0; initially < 2; initially++) {
        forget();
        struct tonearm_gpio_request line;
        EXPECT(tonearm_gpio_request_output(chip, 5, "tonearm", initially, initially, &line) == 0);
        struct wish *wish = &wishes[0];
        EXPECT(wish_count == 1 && wish->offset == 5 && strcmp(wish->consumer, "tonearm") == 0 && wish->is_output);
        EXPECT(wish->active_low == initially && wish->value == initially && !wish->both_edges && !wish->debounce);
        EXPECT(tonearm_gpio_set(line, !initially) == 0 && level == !initially);
        EXPECT(tonearm_gpio_set(line, initially) == 0 && level == initially);
        tonearm_gpio_release(line);
        EXPECT(is_released());
    }
}

static void what_is_not_available(void) {
    struct tonearm_gpio_request line;
    EXPECT(tonearm_gpio_request_input(chip, 7, button, &line) == EBUSY && wish_count == 1);
    EXPECT(tonearm_gpio_request_output(chip, 7, "tonearm", false, false, &line) == EBUSY);
    errno = 0;
    EXPECT(gpiod_chip_open("/dev/gpiochip-missing") == NULL && errno == ENOENT);
}

static void test(const char *name, void (*body)(void)) {
    forget();
    is_good = true;
    body();
    printf("%s ... %s\n", name, is_good ? "ok" : "FAIL");
    all_good &= is_good;
}

int main(void) {
    chip = gpiod_chip_open("/dev/null");
    if (!chip) {
        perror("the simulated chip cannot be opened");
        return 1;
    }
    printf("libgpiod %s\n", LIBGPIOD_VERSION);
    test("names of chip and lines", names);
    test("an input, its edges and its end", an_input);
    test("an input that cannot be debounced", an_input_that_cannot_be_debounced);
    test("an output", an_output);
    test("what is not available", what_is_not_available);
    gpiod_chip_close(chip);
    return all_good ? 0 : 1;
}
