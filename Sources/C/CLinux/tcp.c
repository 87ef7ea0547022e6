#define _GNU_SOURCE

#include "CLinux.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

static int close_after_failure(int descriptor) {
    int error = errno;
    close(descriptor);
    errno = error;
    return -1;
}

union tcp_address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
};

// Returns the length of the address, or 0.
static socklen_t tcp_address(const char *text, uint16_t port, union tcp_address *address) {
    memset(address, 0, sizeof *address);
    if (inet_pton(AF_INET, text, &address->v4.sin_addr) == 1) {
        address->v4.sin_family = AF_INET;
        address->v4.sin_port = htons(port);
        return sizeof address->v4;
    }
    if (inet_pton(AF_INET6, text, &address->v6.sin6_addr) == 1) {
        address->v6.sin6_family = AF_INET6;
        address->v6.sin6_port = htons(port);
        return sizeof address->v6;
    }
    errno = EINVAL;
    return 0;
}

int tonearm_is_numeric_address(const char *text) {
    union tcp_address address;
    return tcp_address(text, 0, &address) > 0;
}

int tonearm_tcp_connect(const char *text, uint16_t port, int seconds) {
    union tcp_address address;
    socklen_t length = tcp_address(text, port, &address);
    if (length == 0) return -1;
    int descriptor = socket(address.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0) return -1;
    struct timeval limit = {.tv_sec = seconds};
    setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    if (connect(descriptor, &address.any, length) != 0) return close_after_failure(descriptor);
    return descriptor;
}

int tonearm_tcp_listen(const char *text, uint16_t port) {
    union tcp_address address;
    socklen_t length = tcp_address(text, port, &address);
    if (length == 0) return -1;
    int descriptor = socket(address.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (descriptor < 0) return -1;
    int yes = 1, no = 0;
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (address.any.sa_family == AF_INET6) setsockopt(descriptor, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no);
    // Accepted connections inherit these: answers are small, and a client that has vanished is noticed.
    setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    setsockopt(descriptor, SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof yes);
    if (bind(descriptor, &address.any, length) != 0 || listen(descriptor, 128) != 0)
        return close_after_failure(descriptor);
    return descriptor;
}

int tonearm_tcp_port(int descriptor) {
    union tcp_address address;
    socklen_t length = sizeof address;
    if (getsockname(descriptor, &address.any, &length) != 0) return -1;
    if (address.any.sa_family == AF_INET) return ntohs(address.v4.sin_port);
    return address.any.sa_family == AF_INET6 ? ntohs(address.v6.sin6_port) : -1;
}

static int is_private_v4(const uint8_t *bytes) {
    return bytes[0] == 10 || bytes[0] == 127 || (bytes[0] == 172 && (bytes[1] & 0xF0) == 16)
           || (bytes[0] == 192 && bytes[1] == 168) || (bytes[0] == 169 && bytes[1] == 254);
}

// Whether an address of IPv6 lies in the network of one of this machine's interfaces.
static int is_on_link(const struct in6_addr *peer) {
    struct ifaddrs *all;
    if (getifaddrs(&all) != 0) return 0;
    int found = 0;
    for (struct ifaddrs *own = all; own && !found; own = own->ifa_next) {
        if (!own->ifa_addr || !own->ifa_netmask || own->ifa_addr->sa_family != AF_INET6) continue;
        if (own->ifa_flags & IFF_POINTOPOINT) continue;
        const uint8_t *address = ((struct sockaddr_in6 *)own->ifa_addr)->sin6_addr.s6_addr;
        const uint8_t *mask = ((struct sockaddr_in6 *)own->ifa_netmask)->sin6_addr.s6_addr;
        // A single address has no network.
        if (mask[15] == 0xFF) continue;
        found = 1;
        for (int i = 0; i < 16; i++)
            if ((address[i] ^ peer->s6_addr[i]) & mask[i]) found = 0;
    }
    freeifaddrs(all);
    return found;
}

int tonearm_peer_is_private(int descriptor) {
    union tcp_address address;
    socklen_t length = sizeof address;
    if (getpeername(descriptor, &address.any, &length) != 0) return 0;
    if (address.any.sa_family == AF_INET) return is_private_v4((const uint8_t *)&address.v4.sin_addr);
    if (address.any.sa_family != AF_INET6) return 0;
    const uint8_t *bytes = address.v6.sin6_addr.s6_addr;
    if (IN6_IS_ADDR_V4MAPPED(&address.v6.sin6_addr)) return is_private_v4(bytes + 12);
    return IN6_IS_ADDR_LOOPBACK(&address.v6.sin6_addr) || IN6_IS_ADDR_LINKLOCAL(&address.v6.sin6_addr)
           || (bytes[0] & 0xFE) == 0xFC || is_on_link(&address.v6.sin6_addr);
}

void tonearm_peer_address(int descriptor, uint8_t *bytes) {
    union tcp_address address;
    socklen_t length = sizeof address;
    memset(bytes, 0, 16);
    if (getpeername(descriptor, &address.any, &length) != 0) return;
    if (address.any.sa_family == AF_INET6) memcpy(bytes, &address.v6.sin6_addr, 16);
    if (address.any.sa_family != AF_INET) return;
    bytes[10] = bytes[11] = 0xFF;
    memcpy(bytes + 12, &address.v4.sin_addr, 4);
}
