#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64

#include "CLinux.h"

#include <spawn.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

int tonearm_become_owner(const char *path) {
    struct stat status;
    if (geteuid() != 0) return 0;
    if (stat(path, &status) != 0) return -1;
    if (status.st_uid == 0) return 0;
    // The group first: afterwards there is no right to change it.
    if (setegid(status.st_gid) != 0) return -1;
    return seteuid(status.st_uid);
}

void tonearm_use_background_priority(void) {
    // Only for this thread: on Linux both use the thread's id. The lowest of 39 shares of the processor; the disk only
    // when no other thread wants it (IOPRIO_CLASS_IDLE).
    setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), 19);
    syscall(SYS_ioprio_set, 1 /* IOPRIO_WHO_PROCESS */, 0, 3 << 13);
}

int tonearm_name_this_thread(const char *name) { return pthread_setname_np(pthread_self(), name); }

int tonearm_use_realtime_priority(int priority) {
    struct sched_param parameters = {.sched_priority = priority};
    return sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &parameters) == 0 ? 0 : errno;
}

unsigned long tonearm_realtime_priority_limit(void) {
    struct rlimit limit;
    return getrlimit(RLIMIT_RTPRIO, &limit) == 0 ? limit.rlim_cur : 0;
}

int tonearm_run_command(const char *command, int *running) {
    // The shell ends at once and leaves the command to init, so that this process does not have to wait for it. A shell
    // around the command holds the pipe; the command and its children do not.
    char *arguments[] = {
        "sh", "-c", "((eval \"$0\") 3>&- || echo \"<3>$0: ended with exit code $?\" >&2) </dev/null &", (char *)command,
        NULL};
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return errno;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 3);
    posix_spawnattr_t attributes;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    pid_t shell;
    int result = posix_spawn(&shell, "/bin/sh", &actions, &attributes, arguments, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    if (result != 0) {
        close(ends[0]);
    } else {
        *running = ends[0];
        while (waitpid(shell, NULL, 0) < 0 && errno == EINTR) {}
    }
    return result;
}

void tonearm_hide_memory(void) { prctl(PR_SET_DUMPABLE, 0); }
