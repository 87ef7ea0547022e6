#define _GNU_SOURCE

#include "CLinux.h"

#include <signal.h>
#include <time.h>

int tonearm_signal_is_ignored(int number) {
    struct sigaction action;
    return sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

void tonearm_ignore_signal(int number) { signal(number, SIG_IGN); }

void tonearm_release_signals(const int *signals, int count) {
    sigset_t set;
    sigemptyset(&set);
    for (int index = 0; index < count; index++) {
        signal(signals[index], SIG_DFL);
        sigaddset(&set, signals[index]);
    }
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

int tonearm_signal_later(int number, int milliseconds) {
    struct sigevent event;
    memset(&event, 0, sizeof event);
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = number;
    timer_t timer;
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0) return -1;
    struct itimerspec setting = {
        .it_value = {.tv_sec = milliseconds / 1000, .tv_nsec = milliseconds % 1000 * 1000000L}};
    return timer_settime(timer, 0, &setting, NULL);
}

void tonearm_die_of_signal(int number) {
    tonearm_release_signals(&number, 1);
    raise(number);
    _exit(128 + number);
}
