#define _GNU_SOURCE
#include "CLinux.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#ifndef IP_MULTICAST_ALL
#define IP_MULTICAST_ALL 49
#endif
#ifndef IPV6_MULTICAST_ALL
#define IPV6_MULTICAST_ALL 29
#endif

enum { HOPS = 255 };

union multicast_address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
};

// Room for the interface and the address of a packet, of either version.
union packet_information {
    char bytes[CMSG_SPACE(sizeof(struct in6_pktinfo)) + CMSG_SPACE(sizeof(struct in_pktinfo))];
    struct cmsghdr head;
};

static int set(int descriptor, int level, int name, int value) {
    return setsockopt(descriptor, level, name, &value, sizeof value);
}

static int open_version4(int descriptor, uint16_t port) {
    // Packets of other programs' groups do not arrive here.
    set(descriptor, IPPROTO_IP, IP_MULTICAST_ALL, 0);
    set(descriptor, IPPROTO_IP, IP_MULTICAST_TTL, HOPS);
    set(descriptor, IPPROTO_IP, IP_TTL, HOPS);
    if (set(descriptor, IPPROTO_IP, IP_PKTINFO, 1) != 0) return -1;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    return bind(descriptor, (struct sockaddr *)&address, sizeof address);
}

static int open_version6(int descriptor, uint16_t port) {
    set(descriptor, IPPROTO_IPV6, IPV6_MULTICAST_ALL, 0);
    set(descriptor, IPPROTO_IPV6, IPV6_MULTICAST_HOPS, HOPS);
    set(descriptor, IPPROTO_IPV6, IPV6_UNICAST_HOPS, HOPS);
    if (set(descriptor, IPPROTO_IPV6, IPV6_V6ONLY, 1) != 0) return -1;
    if (set(descriptor, IPPROTO_IPV6, IPV6_RECVPKTINFO, 1) != 0) return -1;
    struct sockaddr_in6 address = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
    return bind(descriptor, (struct sockaddr *)&address, sizeof address);
}

int tonearm_multicast_open(int is_version6, uint16_t port) {
    int family = is_version6 ? AF_INET6 : AF_INET;
    int descriptor = socket(family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (descriptor < 0) return -1;
    // Other responders and queriers of this machine have the same port.
    set(descriptor, SOL_SOCKET, SO_REUSEADDR, 1);
    set(descriptor, SOL_SOCKET, SO_REUSEPORT, 1);
    if ((is_version6 ? open_version6 : open_version4)(descriptor, port) == 0) return descriptor;
    int code = errno;
    close(descriptor);
    errno = code;
    return -1;
}

static bool fill(union multicast_address *address, const struct tonearm_datagram *datagram) {
    memset(address, 0, sizeof *address);
    if (datagram->address_count == 4) {
        address->v4.sin_family = AF_INET;
        address->v4.sin_port = htons(datagram->port);
        memcpy(&address->v4.sin_addr, datagram->address, 4);
        return true;
    }
    address->v6.sin6_family = AF_INET6;
    address->v6.sin6_port = htons(datagram->port);
    memcpy(&address->v6.sin6_addr, datagram->address, 16);
    if (IN6_IS_ADDR_LINKLOCAL(&address->v6.sin6_addr) || IN6_IS_ADDR_MULTICAST(&address->v6.sin6_addr))
        address->v6.sin6_scope_id = (uint32_t)datagram->interface;
    return false;
}

int tonearm_multicast_join(int descriptor, const struct tonearm_datagram *group) {
    union multicast_address address;
    int result;
    if (fill(&address, group)) {
        struct ip_mreqn request = {.imr_multiaddr = address.v4.sin_addr, .imr_ifindex = group->interface};
        result = setsockopt(descriptor, IPPROTO_IP, IP_ADD_MEMBERSHIP, &request, sizeof request);
    } else {
        struct ipv6_mreq request = {.ipv6mr_multiaddr = address.v6.sin6_addr,
                                    .ipv6mr_interface = (unsigned)group->interface};
        result = setsockopt(descriptor, IPPROTO_IPV6, IPV6_JOIN_GROUP, &request, sizeof request);
    }
    return result == 0 || errno == EADDRINUSE ? 0 : -1;
}

int tonearm_multicast_send(int descriptor, const void *bytes, size_t count, const struct tonearm_datagram *to) {
    union multicast_address address;
    union packet_information information;
    memset(&information, 0, sizeof information);
    bool is_version4 = fill(&address, to);
    struct iovec part = {.iov_base = (void *)bytes, .iov_len = count};
    struct msghdr message = {
        .msg_name = &address,
        .msg_namelen = is_version4 ? sizeof address.v4 : sizeof address.v6,
        .msg_iov = &part,
        .msg_iovlen = 1,
        .msg_control = &information,
        .msg_controllen = sizeof information,
    };
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    if (is_version4) {
        struct in_pktinfo over = {.ipi_ifindex = to->interface};
        head->cmsg_level = IPPROTO_IP;
        head->cmsg_type = IP_PKTINFO;
        head->cmsg_len = CMSG_LEN(sizeof over);
        memcpy(CMSG_DATA(head), &over, sizeof over);
        message.msg_controllen = CMSG_SPACE(sizeof over);
    } else {
        struct in6_pktinfo over = {.ipi6_ifindex = (unsigned)to->interface};
        head->cmsg_level = IPPROTO_IPV6;
        head->cmsg_type = IPV6_PKTINFO;
        head->cmsg_len = CMSG_LEN(sizeof over);
        memcpy(CMSG_DATA(head), &over, sizeof over);
        message.msg_controllen = CMSG_SPACE(sizeof over);
    }
    ssize_t sent;
    do sent = sendmsg(descriptor, &message, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent == (ssize_t)count ? 0 : -1;
}

static void read_information(struct msghdr *message, struct tonearm_datagram *from) {
    for (struct cmsghdr *head = CMSG_FIRSTHDR(message); head; head = CMSG_NXTHDR(message, head)) {
        if (head->cmsg_level == IPPROTO_IP && head->cmsg_type == IP_PKTINFO) {
            struct in_pktinfo over;
            memcpy(&over, CMSG_DATA(head), sizeof over);
            from->interface = over.ipi_ifindex;
            from->is_multicast = IN_MULTICAST(ntohl(over.ipi_addr.s_addr));
        }
        if (head->cmsg_level == IPPROTO_IPV6 && head->cmsg_type == IPV6_PKTINFO) {
            struct in6_pktinfo over;
            memcpy(&over, CMSG_DATA(head), sizeof over);
            from->interface = (int32_t)over.ipi6_ifindex;
            from->is_multicast = IN6_IS_ADDR_MULTICAST(&over.ipi6_addr) != 0;
        }
    }
}

ssize_t tonearm_multicast_receive(int descriptor, void *bytes, size_t size, struct tonearm_datagram *from) {
    union multicast_address address;
    union packet_information information;
    struct iovec part = {.iov_base = bytes, .iov_len = size};
    struct msghdr message = {
        .msg_name = &address,
        .msg_namelen = sizeof address,
        .msg_iov = &part,
        .msg_iovlen = 1,
        .msg_control = &information,
        .msg_controllen = sizeof information,
    };
    memset(&address, 0, sizeof address);
    memset(from, 0, sizeof *from);
    ssize_t count;
    do count = recvmsg(descriptor, &message, 0);
    while (count < 0 && errno == EINTR);
    if (count < 0) return -1;
    read_information(&message, from);
    bool is_version4 = address.any.sa_family == AF_INET;
    from->address_count = is_version4 ? 4 : 16;
    from->port = ntohs(is_version4 ? address.v4.sin_port : address.v6.sin6_port);
    if (is_version4) memcpy(from->address, &address.v4.sin_addr, 4);
    else memcpy(from->address, &address.v6.sin6_addr, 16);
    // What was cut off cannot be understood.
    return message.msg_flags & MSG_TRUNC ? 0 : count;
}
