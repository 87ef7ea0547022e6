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

int tonearm_is_private_address(const uint8_t *bytes) {
    struct in6_addr address;
    memcpy(&address, bytes, sizeof address);
    if (IN6_IS_ADDR_V4MAPPED(&address)) return is_private_v4(bytes + 12);
    return IN6_IS_ADDR_LOOPBACK(&address) || IN6_IS_ADDR_LINKLOCAL(&address) || (bytes[0] & 0xFE) == 0xFC
           || is_on_link(&address);
}

// Writes the 16 bytes of an address, as IPv6 maps one of IPv4. 1, or 0 for an address of another family.
static int write_address(const union tcp_address *address, uint8_t *bytes) {
    memset(bytes, 0, 16);
    if (address->any.sa_family == AF_INET6) {
        memcpy(bytes, &address->v6.sin6_addr, 16);
        return 1;
    }
    if (address->any.sa_family != AF_INET) return 0;
    bytes[10] = bytes[11] = 0xFF;
    memcpy(bytes + 12, &address->v4.sin_addr, 4);
    return 1;
}

int tonearm_is_local_destination(const struct sockaddr_storage *address) {
    // What translators put before an address of IPv4 (RFC 6052).
    static const uint8_t translated[12] = {0x00, 0x64, 0xFF, 0x9B};
    union tcp_address copy;
    uint8_t bytes[16];
    memcpy(&copy, address, sizeof copy);
    if (!write_address(&copy, bytes)) return 1;
    int is_v4 = IN6_IS_ADDR_V4MAPPED((struct in6_addr *)bytes) || memcmp(bytes, translated, sizeof translated) == 0;
    const uint8_t *v4 = bytes + 12;
    // Linux connects to itself at 0.0.0.0 and ::.
    if (is_v4) return v4[0] == 0 || (v4[0] == 100 && (v4[1] & 0xC0) == 64) || v4[0] >= 224 || is_private_v4(v4);
    return IN6_IS_ADDR_UNSPECIFIED((struct in6_addr *)bytes) || bytes[0] == 0xFF || tonearm_is_private_address(bytes);
}

int tonearm_peer_is_private(int descriptor) {
    union tcp_address address;
    socklen_t length = sizeof address;
    uint8_t bytes[16];
    if (getpeername(descriptor, &address.any, &length) != 0) return 0;
    return write_address(&address, bytes) && tonearm_is_private_address(bytes);
}

void tonearm_peer_address(int descriptor, uint8_t *bytes) {
    union tcp_address address;
    socklen_t length = sizeof address;
    memset(bytes, 0, 16);
    if (getpeername(descriptor, &address.any, &length) == 0) write_address(&address, bytes);
}

int tonearm_is_connected_to(int descriptor, const char *text) {
    union tcp_address own, wanted;
    socklen_t length = sizeof own;
    uint8_t own_bytes[16], wanted_bytes[16];
    if (getsockname(descriptor, &own.any, &length) != 0 || tcp_address(text, 0, &wanted) == 0) return 0;
    return write_address(&own, own_bytes) && write_address(&wanted, wanted_bytes)
           && memcmp(own_bytes, wanted_bytes, 16) == 0;
}

int tonearm_first_byte(int descriptor) {
    uint8_t byte;
    ssize_t count;
    do count = recv(descriptor, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    while (count < 0 && errno == EINTR);
    if (count == 1) return byte;
    return count < 0 && errno == EAGAIN ? TONEARM_NO_BYTE_YET : TONEARM_NO_BYTE;
}

void tonearm_limit_buffers(int descriptor, int bytes) {
    setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
}

void tonearm_limit_unanswered(int descriptor, int milliseconds) {
    unsigned limit = milliseconds > 0 ? (unsigned)milliseconds : 0;
    setsockopt(descriptor, IPPROTO_TCP, TCP_USER_TIMEOUT, &limit, sizeof limit);
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
