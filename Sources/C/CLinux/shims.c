#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64
#include "CLinux.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <locale.h>
#include <net/if.h>
#include <signal.h>
#include <spawn.h>
#include <linux/magic.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/timex.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <sys/un.h>
#include <time.h>

int tonearm_errno(void) { return errno; }

void tonearm_clear_errno(void) { errno = 0; }

int tonearm_open(const char *path, int flags, mode_t mode) { return open(path, flags, mode); }

ssize_t tonearm_pread(int descriptor, void *bytes, size_t count, int64_t offset) {
    return pread(descriptor, bytes, count, offset);
}

ssize_t tonearm_pwrite(int descriptor, const void *bytes, size_t count, int64_t offset) {
    return pwrite(descriptor, bytes, count, offset);
}

int tonearm_truncate(int descriptor, int64_t length) { return ftruncate(descriptor, length); }

int tonearm_mode_of_path(const char *path, uint32_t *mode) {
    struct stat status;
    int result = stat(path, &status);
    if (result == 0) *mode = status.st_mode;
    return result;
}

int tonearm_become_owner(const char *path) {
    struct stat status;
    if (geteuid() != 0) return 0;
    if (stat(path, &status) != 0) return -1;
    if (status.st_uid == 0) return 0;
    // The group first: afterwards there is no right to change it.
    if (setegid(status.st_gid) != 0) return -1;
    return seteuid(status.st_uid);
}

int tonearm_identity_of_path(const char *path, uint64_t *device, uint64_t *inode) {
    struct stat status;
    int result = stat(path, &status);
    if (result == 0) {
        *device = status.st_dev;
        *inode = status.st_ino;
    }
    return result;
}

int tonearm_version_of_path(const char *path, int64_t *size, int64_t *modified) {
    struct stat status;
    if (stat(path, &status) != 0) return -1;
    if (!S_ISREG(status.st_mode)) {
        errno = EINVAL;
        return -1;
    }
    *size = status.st_size;
    *modified = (int64_t)((uint64_t)status.st_mtim.tv_sec * 1000000000u + (uint64_t)status.st_mtim.tv_nsec);
    return 0;
}

int tonearm_stamp_of_path(const char *path, int64_t *size, int64_t *modified, int64_t *inode) {
    struct stat status;
    if (stat(path, &status) != 0) return -1;
    if (!S_ISREG(status.st_mode)) {
        errno = EINVAL;
        return -1;
    }
    *size = status.st_size;
    *modified = (int64_t)((uint64_t)status.st_mtim.tv_sec * 1000000000u + (uint64_t)status.st_mtim.tv_nsec);
    *inode = 0;
    // FAT numbers its files anew with each mount, and so do many file systems of FUSE.
    struct statfs system;
    if (statfs(path, &system) == 0) {
        switch ((uint32_t)system.f_type) {
        case EXT4_SUPER_MAGIC:
        case BTRFS_SUPER_MAGIC:
        case XFS_SUPER_MAGIC:
        case F2FS_SUPER_MAGIC: *inode = (int64_t)status.st_ino;
        }
    }
    return 0;
}

int tonearm_time_of_path(const char *path, int64_t *seconds) {
    struct stat status;
    int result = stat(path, &status);
    if (result == 0) *seconds = status.st_mtim.tv_sec;
    return result;
}

int tonearm_has_other_name(const char *path) {
    struct stat status;
    if (lstat(path, &status) != 0) return 0;
    return S_ISLNK(status.st_mode) || status.st_nlink > 1;
}

int tonearm_reports_changes(const char *path) {
    struct statfs system;
    if (statfs(path, &system) != 0) return 0;
    switch ((uint32_t)system.f_type) {
    case NFS_SUPER_MAGIC:
    case SMB_SUPER_MAGIC:
    case SMB2_SUPER_MAGIC:
    case CIFS_SUPER_MAGIC:
    case AFS_SUPER_MAGIC:
    case V9FS_MAGIC:
    case FUSE_SUPER_MAGIC: return 0;
    }
    return 1;
}

int tonearm_rename_new(const char *old_path, const char *new_path) {
    return renameat2(AT_FDCWD, old_path, AT_FDCWD, new_path, RENAME_NOREPLACE);
}

int64_t tonearm_free_bytes(const char *path) {
    struct statvfs file_system;
    if (statvfs(path, &file_system) != 0) return -1;
    uint64_t bytes;
    uint64_t blocks = file_system.f_bavail;
    if (__builtin_mul_overflow(blocks, (uint64_t)file_system.f_frsize, &bytes)) return INT64_MAX;
    return bytes > INT64_MAX ? INT64_MAX : (int64_t)bytes;
}

int tonearm_status(int descriptor, uint32_t *mode, int64_t *length) {
    struct stat status;
    int result = fstat(descriptor, &status);
    if (result == 0) {
        *mode = status.st_mode;
        *length = status.st_size;
    }
    return result;
}

ptrdiff_t tonearm_find(const uint8_t *bytes, size_t count, const uint8_t *part, size_t part_count) {
    const uint8_t *found = memmem(bytes, count, part, part_count);
    return found ? found - bytes : -1;
}

const char *tonearm_next_name(DIR *folder, int *type) {
    errno = 0;
    struct dirent *entry = readdir(folder);
    if (entry == NULL) return NULL;
    *type = entry->d_type;
    return entry->d_name;
}

int tonearm_is_kernel_folder(const char *path) {
    struct statfs system;
    if (statfs(path, &system) == 0) {
        switch ((uint32_t)system.f_type) {
        case PROC_SUPER_MAGIC:
        case SYSFS_MAGIC:
        case DEVPTS_SUPER_MAGIC:
        case DEBUGFS_MAGIC:
        case TRACEFS_MAGIC:
        case SECURITYFS_MAGIC:
        case CGROUP_SUPER_MAGIC:
        case CGROUP2_SUPER_MAGIC:
        case BPF_FS_MAGIC:
        case PSTOREFS_MAGIC:
        case EFIVARFS_MAGIC:
        case BINFMTFS_MAGIC:
        case 0x62656570: // configfs
        case 0x65735543: // fusectl
        case 0x19800202: // mqueue
            return 1;
        }
    }
    // devtmpfs has the same number as tmpfs, which may hold music: /dev is recognised by its device.
    struct stat folder, devices, root;
    if (stat(path, &folder) != 0 || stat("/dev", &devices) != 0 || stat("/", &root) != 0) return 0;
    if (folder.st_dev != devices.st_dev) return 0;
    return devices.st_dev != root.st_dev || folder.st_ino == devices.st_ino;
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

int tonearm_clock_is_synchronised(void) {
    struct timex state = {.modes = 0};
    return adjtimex(&state) != -1 && (state.status & STA_UNSYNC) == 0;
}

static locale_t c_locale;
static pthread_once_t c_locale_once = PTHREAD_ONCE_INIT;
static void make_c_locale(void) { c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0); }

double tonearm_parse_double(const char *text, char **end) {
    pthread_once(&c_locale_once, make_c_locale);
    return strtod_l(text, end, c_locale);
}

int tonearm_format_fixed(char *buffer, size_t size, double value, int decimals) {
    pthread_once(&c_locale_once, make_c_locale);
    locale_t before = uselocale(c_locale);
    int length = snprintf(buffer, size, "%.*f", decimals, value);
    uselocale(before);
    return length;
}

int tonearm_notify(const char *address, const char *bytes, size_t count) {
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    size_t length = strlen(address);
    if (length == 0 || length >= sizeof to.sun_path) {
        errno = EINVAL;
        return -1;
    }
    memcpy(to.sun_path, address, length);
    if (address[0] == '@') to.sun_path[0] = 0;
    int descriptor = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (descriptor < 0) return -1;
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length);
    ssize_t sent = sendto(descriptor, bytes, count, MSG_NOSIGNAL, (struct sockaddr *)&to, size);
    int reason = errno;
    close(descriptor);
    errno = reason;
    return sent == (ssize_t)count ? 0 : -1;
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

int tonearm_signal_is_ignored(int number) {
    struct sigaction action;
    return sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

void tonearm_ignore_signal(int number) { signal(number, SIG_IGN); }

void tonearm_hide_memory(void) { prctl(PR_SET_DUMPABLE, 0); }

int tonearm_is_kernel_log(int descriptor) {
    // Documentation/admin-guide/devices.txt of the kernel.
    const dev_t number = makedev(1, 11);
    struct stat file;
    return fstat(descriptor, &file) == 0 && S_ISCHR(file.st_mode) && file.st_rdev == number;
}

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

static int local_address(const char *path, struct sockaddr_un *address) {
    memset(address, 0, sizeof *address);
    address->sun_family = AF_UNIX;
    if (strlen(path) >= sizeof address->sun_path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    strcpy(address->sun_path, path);
    return 0;
}

static int close_after_failure(int descriptor) {
    int code = errno;
    close(descriptor);
    errno = code;
    return -1;
}

int tonearm_local_connect(const char *path, int seconds) {
    struct sockaddr_un address;
    if (local_address(path, &address) != 0) return -1;
    int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0) return -1;
    // unix(7) has no way to wait for a place in the queue of connections: a non-blocking connect fails at once. The
    // time limit for sending applies to connecting too, and ends it with EAGAIN.
    struct timeval limit = {.tv_sec = seconds};
    setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    if (connect(descriptor, (struct sockaddr *)&address, sizeof address) != 0) return close_after_failure(descriptor);
    return descriptor;
}

int tonearm_local_listen(const char *path, mode_t mode) {
    struct sockaddr_un address;
    if (local_address(path, &address) != 0) return -1;
    int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (descriptor < 0) return -1;
    // Linux creates the file with the permissions of the socket, so that the umask of the process, which all threads
    // share, does not have to change.
    if (fchmod(descriptor, mode) != 0 || bind(descriptor, (struct sockaddr *)&address, sizeof address) != 0)
        return close_after_failure(descriptor);
    if (listen(descriptor, 16) != 0) {
        unlink(path);
        return close_after_failure(descriptor);
    }
    return descriptor;
}

int tonearm_local_accept(int descriptor) { return accept4(descriptor, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK); }

ssize_t tonearm_send(int descriptor, const void *bytes, size_t count) {
    return send(descriptor, bytes, count, MSG_NOSIGNAL);
}

int tonearm_is_local_address(const char *text) {
    struct ifaddrs *all;
    if (getifaddrs(&all) != 0) return 1;
    int found = 0;
    for (struct ifaddrs *one = all; one && !found; one = one->ifa_next) {
        if (!one->ifa_addr || !(one->ifa_flags & IFF_UP) || !(one->ifa_flags & IFF_RUNNING)) continue;
        int family = one->ifa_addr->sa_family;
        const void *bytes = family == AF_INET    ? (void *)&((struct sockaddr_in *)one->ifa_addr)->sin_addr
                            : family == AF_INET6 ? (void *)&((struct sockaddr_in6 *)one->ifa_addr)->sin6_addr
                                                 : NULL;
        char name[INET6_ADDRSTRLEN];
        found = bytes && inet_ntop(family, bytes, name, sizeof name) && strcmp(name, text) == 0;
    }
    freeifaddrs(all);
    return found;
}

int tonearm_finish_sending(int descriptor) { return shutdown(descriptor, SHUT_WR); }

int tonearm_peer_process(int descriptor) {
    struct ucred peer;
    socklen_t length = sizeof peer;
    return getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 ? peer.pid : 0;
}

uint32_t tonearm_peer_user(int descriptor) {
    struct ucred peer;
    socklen_t length = sizeof peer;
    return getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 ? peer.uid : UINT32_MAX;
}

int tonearm_mode_of_link(const char *path, uint32_t *mode) {
    struct stat status;
    int result = lstat(path, &status);
    if (result == 0) *mode = status.st_mode;
    return result;
}

int tonearm_folder_changes(const char *path) {
    int descriptor = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (descriptor < 0) return -1;
    uint32_t changes = IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_ONLYDIR;
    if (inotify_add_watch(descriptor, path, changes) >= 0) return descriptor;
    int error = errno;
    close(descriptor);
    errno = error;
    return -1;
}

int tonearm_entry_has_changed(int descriptor, const char *name) {
    _Alignas(struct inotify_event) char buffer[4096];
    int has_changed = 0;
    ssize_t count;
    while ((count = read(descriptor, buffer, sizeof buffer)) > 0) {
        for (ssize_t offset = 0; offset < count;) {
            const struct inotify_event *event = (const void *)(buffer + offset);
            // The kernel ends the name with a NUL.
            if (event->mask & IN_Q_OVERFLOW || (event->len > 0 && strcmp(event->name, name) == 0)) has_changed = 1;
            offset += (ssize_t)(sizeof *event + event->len);
        }
    }
    return has_changed;
}
