#define _GNU_SOURCE

#include "CLinux.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>

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
