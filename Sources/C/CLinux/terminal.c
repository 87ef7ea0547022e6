#define _GNU_SOURCE

#include "CLinux.h"

#include <signal.h>
#include <sys/ioctl.h>

int tonearm_terminal_columns(int descriptor) {
    struct winsize size;
    return ioctl(descriptor, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

static struct {
    volatile sig_atomic_t is_set;
    int descriptor;
    struct termios settings;
} terminal_before;

// Only calls from the list in signal-safety(7).
static void restore_terminal_and_die(int number) {
    if (terminal_before.is_set) {
        terminal_before.is_set = 0;
        // From the background this would stop the process, and the terminal belongs to another job.
        if (tcgetpgrp(terminal_before.descriptor) == getpgrp())
            tcsetattr(terminal_before.descriptor, TCSANOW, &terminal_before.settings);
    }
    raise(number);
}

void tonearm_restore_terminal_at_crash(int descriptor, const struct termios *settings) {
    terminal_before.is_set = 0;
    terminal_before.descriptor = descriptor;
    terminal_before.settings = *settings;
    static const int crashes[] = {SIGABRT, SIGILL, SIGTRAP, SIGSEGV, SIGBUS, SIGFPE};
    // The default action is back when the handler runs, so that raising the signal again ends the process.
    struct sigaction action = {.sa_handler = restore_terminal_and_die, .sa_flags = SA_RESETHAND | SA_NODEFER};
    // The parent may have blocked some of them when it started this process.
    sigset_t set;
    sigemptyset(&set);
    for (size_t index = 0; index < sizeof crashes / sizeof *crashes; index++) {
        sigaction(crashes[index], &action, NULL);
        sigaddset(&set, crashes[index]);
    }
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    terminal_before.is_set = 1;
}

void tonearm_forget_terminal(void) { terminal_before.is_set = 0; }
