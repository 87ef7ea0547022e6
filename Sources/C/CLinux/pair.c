#define _GNU_SOURCE

#include "CLinux.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/time.h>

int tonearm_local_pair(int *descriptors, int seconds) {
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, descriptors) != 0) return -1;
    struct timeval limit = {.tv_sec = seconds};
    setsockopt(descriptors[1], SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    setsockopt(descriptors[1], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    return fcntl(descriptors[0], F_SETFL, O_NONBLOCK);
}

void tonearm_shut_down(int descriptor) { shutdown(descriptor, SHUT_RDWR); }
