// Functions of the C library that libgpiod calls are defined here, in front of those of the C library.
#define _GNU_SOURCE
#include "SimulatedKernel.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/gpio.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

struct wish wishes[8];
int wish_count;
int debounce_refusal;
bool level;

/// The test's end of the line's pipe, and whether its events are of the second version.
static int line_end = -1;
static bool is_second_version;

void forget(void) {
    wish_count = 0;
    debounce_refusal = 0;
    memset(wishes, 0, sizeof wishes);
}

void edge(bool rising, int64_t time) {
    level = rising;
    if (is_second_version) {
        struct gpio_v2_line_event event = {.timestamp_ns = time};
        event.id = rising ? GPIO_V2_LINE_EVENT_RISING_EDGE : GPIO_V2_LINE_EVENT_FALLING_EDGE;
        if (write(line_end, &event, sizeof event) != sizeof event) abort();
    } else {
        struct gpioevent_data event = {.timestamp = time};
        event.id = rising ? GPIOEVENT_EVENT_RISING_EDGE : GPIOEVENT_EVENT_FALLING_EDGE;
        if (write(line_end, &event, sizeof event) != sizeof event) abort();
    }
}

bool is_released(void) {
    struct pollfd end = {.fd = line_end};
    return poll(&end, 1, 0) == 1 && end.revents & POLLERR;
}

static int refuse(int code) {
    errno = code;
    return -1;
}

static struct wish *add(unsigned offset, const char *consumer) {
    struct wish *wish = &wishes[wish_count++];
    wish->offset = offset;
    strncpy(wish->consumer, consumer, sizeof wish->consumer - 1);
    return wish;
}

static int answer(const struct wish *wish, int *descriptor) {
    if (wish->offset == 7) return refuse(EBUSY);
    if (wish->debounce && debounce_refusal) return refuse(debounce_refusal);
    int ends[2];
    if (pipe(ends)) abort();
    if (line_end >= 0) close(line_end);
    line_end = ends[1];
    *descriptor = ends[0];
    if (wish->is_output) level = wish->value;
    return 0;
}

// MARK: The first version of the interface

static int line_info_1(struct gpioline_info *info) {
    if (info->line_offset >= 8) return refuse(EINVAL);
    if (info->line_offset == 3) strcpy(info->name, "LINE3");
    if (info->line_offset == 7) {
        strcpy(info->consumer, "leds");
        info->flags = GPIOLINE_FLAG_KERNEL;
    }
    return 0;
}

static int input_1(struct gpioevent_request *request) {
    is_second_version = false;
    struct wish *wish = add(request->lineoffset, request->consumer_label);
    wish->active_low = request->handleflags & GPIOHANDLE_REQUEST_ACTIVE_LOW;
    wish->pulled_up = request->handleflags & GPIOHANDLE_REQUEST_BIAS_PULL_UP;
    wish->both_edges = request->eventflags == GPIOEVENT_REQUEST_BOTH_EDGES;
    return answer(wish, &request->fd);
}

static int output_1(struct gpiohandle_request *request) {
    is_second_version = false;
    struct wish *wish = add(request->lineoffsets[0], request->consumer_label);
    wish->is_output = request->flags & GPIOHANDLE_REQUEST_OUTPUT;
    wish->active_low = request->flags & GPIOHANDLE_REQUEST_ACTIVE_LOW;
    wish->value = request->default_values[0];
    return answer(wish, &request->fd);
}

// MARK: The second

static int line_info_2(struct gpio_v2_line_info *info) {
    if (info->offset >= 8) return refuse(EINVAL);
    if (info->offset == 3) strcpy(info->name, "LINE3");
    if (info->offset == 7) {
        strcpy(info->consumer, "leds");
        info->flags = GPIO_V2_LINE_FLAG_USED;
    }
    return 0;
}

static int request_2(struct gpio_v2_line_request *request) {
    is_second_version = true;
    struct wish *wish = add(request->offsets[0], request->consumer);
    uint64_t flags = request->config.flags;
    for (unsigned index = 0; index < request->config.num_attrs; index++) {
        struct gpio_v2_line_attribute *attribute = &request->config.attrs[index].attr;
        if (attribute->id == GPIO_V2_LINE_ATTR_ID_FLAGS) flags = attribute->flags;
        if (attribute->id == GPIO_V2_LINE_ATTR_ID_OUTPUT_VALUES) wish->value = attribute->values & 1;
        if (attribute->id == GPIO_V2_LINE_ATTR_ID_DEBOUNCE) wish->debounce = attribute->debounce_period_us;
    }
    uint64_t edges = GPIO_V2_LINE_FLAG_EDGE_RISING | GPIO_V2_LINE_FLAG_EDGE_FALLING;
    wish->is_output = flags & GPIO_V2_LINE_FLAG_OUTPUT;
    wish->active_low = flags & GPIO_V2_LINE_FLAG_ACTIVE_LOW;
    wish->pulled_up = flags & GPIO_V2_LINE_FLAG_BIAS_PULL_UP;
    // Any other clock than the monotonic one is a flag as well.
    wish->both_edges = (flags & (edges | GPIO_V2_LINE_FLAG_EVENT_CLOCK_REALTIME)) == edges;
    return answer(wish, &request->fd);
}

// MARK: Instead of the C library's

int ioctl(int descriptor, unsigned long request, ...) {
    va_list arguments;
    va_start(arguments, request);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    // The library may keep the number in an int, which widens with its sign.
    switch ((uint32_t)request) {
    case GPIO_GET_CHIPINFO_IOCTL:
        *(struct gpiochip_info *)argument =
            (struct gpiochip_info){.name = "gpiochip0", .label = "simulated", .lines = 8};
        return 0;
    case GPIO_GET_LINEINFO_IOCTL: return line_info_1(argument);
    case GPIO_GET_LINEEVENT_IOCTL: return input_1(argument);
    case GPIO_GET_LINEHANDLE_IOCTL: return output_1(argument);
    case GPIOHANDLE_GET_LINE_VALUES_IOCTL:
        ((struct gpiohandle_data *)argument)->values[0] = level;
        return 0;
    case GPIOHANDLE_SET_LINE_VALUES_IOCTL:
        level = ((struct gpiohandle_data *)argument)->values[0];
        return 0;
    case GPIO_V2_GET_LINEINFO_IOCTL: return line_info_2(argument);
    case GPIO_V2_GET_LINE_IOCTL: return request_2(argument);
    case GPIO_V2_LINE_GET_VALUES_IOCTL:
        ((struct gpio_v2_line_values *)argument)->bits = level;
        return 0;
    case GPIO_V2_LINE_SET_VALUES_IOCTL:
        level = ((struct gpio_v2_line_values *)argument)->bits & 1;
        return 0;
    }
    return refuse(ENOTTY);
}

// That /dev/null is a GPIO chip, version 1.6 sees in /sys/bus/gpio/devices/null/dev, version 2 in where
// /sys/dev/char/1:3/subsystem leads to.

int access(const char *path, int mode) { return strncmp(path, "/sys/bus/gpio/", 14) != 0; }

int open(const char *path, int flags, ...) {
    if (strncmp(path, "/sys/bus/gpio/", 14) != 0) return syscall(SYS_openat, AT_FDCWD, path, flags, 0);
    int file = memfd_create("dev", MFD_CLOEXEC);
    if (write(file, "1:3\n", 4) != 4) abort();
    lseek(file, 0, SEEK_SET);
    return file;
}

char *realpath(const char *path, char *resolved) {
    (void)path, (void)resolved;
    return strdup("/sys/bus/gpio");
}
