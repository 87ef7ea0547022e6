#define _GNU_SOURCE

#include "CLinux.h"

#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>

pid_t tonearm_start_companion(const char *path, const char *name, int *connection) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return -1;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 0);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    // The others close at exec; a library may have opened one that does not.
    posix_spawn_file_actions_addclosefrom_np(&actions, 3);
    posix_spawnattr_t attributes;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    pid_t process = -1;
    char *arguments[] = {(char *)name, NULL};
    char *environment[] = {NULL};
    int code = posix_spawn(&process, path, &actions, &attributes, arguments, environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    if (code != 0) {
        close(ends[0]);
        errno = code;
        return -1;
    }
    *connection = ends[0];
    return process;
}

void tonearm_await_end(pid_t process) {
    siginfo_t information;
    while (waitid(P_PID, (id_t)process, &information, WEXITED | WNOWAIT) != 0 && errno == EINTR) {}
}

void tonearm_forget_process(pid_t process) {
    while (waitpid(process, NULL, 0) < 0 && errno == EINTR) {}
}

int tonearm_send_with_files(int connection, const void *bytes, size_t count, int first, int second) {
    struct iovec packet = {.iov_base = (void *)bytes, .iov_len = count};
    int files[2] = {first, second};
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof files)];
    } control;
    memset(&control, 0, sizeof control);
    struct msghdr message = {
        .msg_iov = &packet, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof files);
    memcpy(CMSG_DATA(header), files, sizeof files);
    return sendmsg(connection, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)count ? 0 : -1;
}

ssize_t tonearm_receive_packet(int connection, void *bytes, size_t size) {
    return recv(connection, bytes, size, MSG_DONTWAIT);
}

int tonearm_open_memory(const char *name) { return memfd_create(name, MFD_CLOEXEC); }
