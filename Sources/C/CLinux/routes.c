#define _GNU_SOURCE
#include "CLinux.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/time.h>

#ifndef SO_BINDTOIFINDEX
#define SO_BINDTOIFINDEX 62
#endif
#ifndef IFLA_PARENT_DEV_NAME
#define IFLA_PARENT_DEV_NAME 56
#endif

// <linux/if_tunnel.h> cannot be included together with <netinet/in.h>. These are numbers of attributes in it.
enum { TUNNEL_LINK = 1, TUNNEL_REMOTE = 3, TUNNEL_EXTERNAL = 19, TUNNEL_MARK = 20 };
enum { GRE_LINK = 1, GRE_REMOTE = 7, GRE_EXTERNAL = 18, GRE_MARK = 20 };
enum { VTI_LINK = 1, VTI_REMOTE = 5, VTI_MARK = 6 };

/// Of an interface, an address or a route in one message of the kernel: the largest one is that of a modem with many
/// virtual functions.
enum { MESSAGE_SIZE = 65536 };

static int ask(const void *request, size_t count) {
    int descriptor = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    if (descriptor < 0) return -1;
    // The kernel answers within the call; the limit is for a kernel that does not.
    struct timeval limit = {.tv_sec = 2};
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
    ssize_t sent = sendto(descriptor, request, count, 0, (struct sockaddr *)&kernel, sizeof kernel);
    if (sent == (ssize_t)count) return descriptor;
    close(descriptor);
    return -1;
}

static void add(struct nlmsghdr *message, unsigned short type, const void *value, unsigned short count) {
    struct rtattr *attribute = (struct rtattr *)((char *)message + NLMSG_ALIGN(message->nlmsg_len));
    attribute->rta_type = type;
    attribute->rta_len = RTA_LENGTH(count);
    memcpy(RTA_DATA(attribute), value, count);
    message->nlmsg_len = NLMSG_ALIGN(message->nlmsg_len) + RTA_ALIGN(attribute->rta_len);
}

static uint32_t number(const struct rtattr *attribute) {
    uint32_t value = 0;
    size_t count = RTA_PAYLOAD(attribute);
    memcpy(&value, RTA_DATA(attribute), count < sizeof value ? count : sizeof value);
    return value;
}

static void copy_text(char *to, size_t size, const struct rtattr *attribute) {
    size_t count = RTA_PAYLOAD(attribute);
    if (count > size - 1) count = size - 1;
    memcpy(to, RTA_DATA(attribute), count);
    to[count] = 0;
}

// MARK: Routes

static int route_type(const struct rtmsg *route, int rest) {
    for (const struct rtattr *one = RTM_RTA(route); RTA_OK(one, rest); one = RTA_NEXT(one, rest))
        if (one->rta_type == RTA_ENCAP) return TONEARM_ROUTE_WRAPPED;
    switch (route->rtm_type) {
    case RTN_LOCAL: return TONEARM_ROUTE_LOCAL;
    case RTN_UNICAST:
    case RTN_ANYCAST:
    case RTN_BROADCAST:
    case RTN_MULTICAST: return TONEARM_ROUTE_OUT;
    default: return TONEARM_ROUTE_NONE;
    }
}

int tonearm_route(const struct sockaddr *to, int over, int protocol, int *interface) {
    struct {
        struct nlmsghdr head;
        struct rtmsg route;
        char attributes[128];
    } request = {
        .head = {.nlmsg_len = NLMSG_LENGTH(sizeof(struct rtmsg)), .nlmsg_type = RTM_GETROUTE,
                 .nlmsg_flags = NLM_F_REQUEST},
    };
    uint16_t port = 0;
    if (to->sa_family == AF_INET) {
        const struct sockaddr_in *address = (const void *)to;
        request.route = (struct rtmsg){.rtm_family = AF_INET, .rtm_dst_len = 32};
        add(&request.head, RTA_DST, &address->sin_addr, 4);
        port = address->sin_port;
    } else if (to->sa_family == AF_INET6) {
        const struct sockaddr_in6 *address = (const void *)to;
        port = address->sin6_port;
        if (IN6_IS_ADDR_V4MAPPED(&address->sin6_addr)) {
            request.route = (struct rtmsg){.rtm_family = AF_INET, .rtm_dst_len = 32};
            add(&request.head, RTA_DST, address->sin6_addr.s6_addr + 12, 4);
        } else {
            request.route = (struct rtmsg){.rtm_family = AF_INET6, .rtm_dst_len = 128};
            add(&request.head, RTA_DST, &address->sin6_addr, 16);
            if (address->sin6_scope_id && over == 0) over = (int)address->sin6_scope_id;
        }
    } else {
        errno = EAFNOSUPPORT;
        return -1;
    }
    if (over > 0) add(&request.head, RTA_OIF, &over, 4);
    if (protocol > 0) {
        uint8_t value = (uint8_t)protocol;
        add(&request.head, RTA_IP_PROTO, &value, 1);
        if (port) add(&request.head, RTA_DPORT, &port, 2);
    }
    int descriptor = ask(&request, request.head.nlmsg_len);
    if (descriptor < 0) return -1;
    _Alignas(struct nlmsghdr) char answer[8192];
    ssize_t count;
    do count = recv(descriptor, answer, sizeof answer, 0);
    while (count < 0 && errno == EINTR);
    int code = errno;
    close(descriptor);
    const struct nlmsghdr *head = (const void *)answer;
    if (count < 0 || !NLMSG_OK(head, (size_t)count)) {
        errno = count < 0 ? code : EBADMSG;
        return -1;
    }
    // The kernel's answer where there is no route: ENETUNREACH, EHOSTUNREACH, EACCES.
    if (head->nlmsg_type == NLMSG_ERROR) return TONEARM_ROUTE_NONE;
    const struct rtmsg *route = NLMSG_DATA(head);
    *interface = 0;
    int rest = RTM_PAYLOAD(head);
    for (const struct rtattr *one = RTM_RTA(route); RTA_OK(one, rest); one = RTA_NEXT(one, rest))
        if (one->rta_type == RTA_OIF) *interface = (int)number(one);
    int type = route_type(route, RTM_PAYLOAD(head));
    return type == TONEARM_ROUTE_OUT && *interface == 0 ? TONEARM_ROUTE_NONE : type;
}

int tonearm_open_bound_socket(int family, int type, int protocol, int interface) {
    int descriptor = socket(family, type | SOCK_CLOEXEC, protocol);
    if (descriptor < 0) return -1;
    if (setsockopt(descriptor, SOL_SOCKET, SO_BINDTOIFINDEX, &interface, sizeof interface) == 0) return descriptor;
    int code = errno;
    close(descriptor);
    errno = code;
    return -1;
}

int tonearm_address(const char *text, int port, struct sockaddr_storage *address) {
    memset(address, 0, sizeof *address);
    struct sockaddr_in *version4 = (void *)address;
    struct sockaddr_in6 *version6 = (void *)address;
    if (inet_pton(AF_INET, text, &version4->sin_addr) == 1) {
        version4->sin_family = AF_INET;
        version4->sin_port = htons((uint16_t)port);
        return 0;
    }
    // An address of a link has the interface behind it.
    char digits[INET6_ADDRSTRLEN];
    size_t count = strcspn(text, "%");
    if (count >= sizeof digits) return -1;
    memcpy(digits, text, count);
    digits[count] = 0;
    if (inet_pton(AF_INET6, digits, &version6->sin6_addr) != 1) return -1;
    if (text[count] == '%') version6->sin6_scope_id = if_nametoindex(text + count + 1);
    version6->sin6_family = AF_INET6;
    version6->sin6_port = htons((uint16_t)port);
    return 0;
}

int tonearm_address_of_bytes(const uint8_t *bytes, int count, struct sockaddr_storage *address) {
    char text[INET6_ADDRSTRLEN];
    if (count != 4 && count != 16) return -1;
    if (!inet_ntop(count == 4 ? AF_INET : AF_INET6, bytes, text, sizeof text)) return -1;
    return tonearm_address(text, 0, address);
}

// MARK: Interfaces

static void read_remote(struct tonearm_interface *found, const struct rtattr *attribute) {
    size_t count = RTA_PAYLOAD(attribute);
    if (count != 4 && count != 16) return;
    found->remote_count = (uint8_t)count;
    memcpy(found->remote, RTA_DATA(attribute), count);
}

/// What a tunnel says of its other end. A mark, or a packet that brings its own way, leads to where nobody knows.
static void read_tunnel(struct tonearm_interface *found, const struct rtattr *data) {
    const char *kind = found->kind;
    bool is_plain = !strcmp(kind, "ipip") || !strcmp(kind, "sit") || !strcmp(kind, "ip6tnl");
    bool is_gre = strstr(kind, "gre") || strstr(kind, "erspan");
    bool is_vti = !strcmp(kind, "vti") || !strcmp(kind, "vti6");
    bool is_vxlan = !strcmp(kind, "vxlan"), is_geneve = !strcmp(kind, "geneve");
    int rest = RTA_PAYLOAD(data);
    for (const struct rtattr *one = RTA_DATA(data); RTA_OK(one, rest); one = RTA_NEXT(one, rest)) {
        int type = one->rta_type & NLA_TYPE_MASK;
        bool is_link = (is_plain && type == TUNNEL_LINK) || (is_gre && type == GRE_LINK) || (is_vti && type == VTI_LINK)
                       || (is_vxlan && type == IFLA_VXLAN_LINK);
        bool is_remote = (is_plain && type == TUNNEL_REMOTE) || (is_gre && type == GRE_REMOTE)
                         || (is_vti && type == VTI_REMOTE)
                         || (is_vxlan && (type == IFLA_VXLAN_GROUP || type == IFLA_VXLAN_GROUP6))
                         || (is_geneve && (type == IFLA_GENEVE_REMOTE || type == IFLA_GENEVE_REMOTE6));
        bool is_mark = (is_plain && type == TUNNEL_MARK) || (is_gre && type == GRE_MARK)
                       || (is_vti && type == VTI_MARK);
        // Flags without a value, but for that of VXLAN.
        bool is_external = (is_plain && type == TUNNEL_EXTERNAL) || (is_gre && type == GRE_EXTERNAL)
                           || (is_vxlan && type == IFLA_VXLAN_COLLECT_METADATA && number(one))
                           || (is_geneve && type == IFLA_GENEVE_COLLECT_METADATA);
        if (is_link) found->tunnel_link = (int32_t)number(one);
        if (is_remote) read_remote(found, one);
        if (is_external || (is_mark && number(one))) found->is_unpredictable = 1;
    }
}

static void read_interface(struct tonearm_interface *found, const struct nlmsghdr *head) {
    const struct ifinfomsg *info = NLMSG_DATA(head);
    memset(found, 0, sizeof *found);
    found->index = info->ifi_index;
    found->flags = info->ifi_flags;
    found->hardware = info->ifi_type;
    const struct rtattr *data = NULL;
    int rest = IFLA_PAYLOAD(head);
    for (const struct rtattr *one = IFLA_RTA(info); RTA_OK(one, rest); one = RTA_NEXT(one, rest)) {
        switch (one->rta_type & NLA_TYPE_MASK) {
        case IFLA_IFNAME: copy_text(found->name, sizeof found->name, one); break;
        case IFLA_LINK: found->lower = (int32_t)number(one); break;
        case IFLA_MASTER: found->master = (int32_t)number(one); break;
        case IFLA_LINK_NETNSID: found->is_lower_elsewhere = 1; break;
        case IFLA_PARENT_DEV_NAME: found->has_device = 1; break;
        case IFLA_LINKINFO: {
            int left = RTA_PAYLOAD(one);
            for (const struct rtattr *part = RTA_DATA(one); RTA_OK(part, left); part = RTA_NEXT(part, left)) {
                if (part->rta_type == IFLA_INFO_KIND) copy_text(found->kind, sizeof found->kind, part);
                if (part->rta_type == IFLA_INFO_DATA) data = part;
            }
            break;
        }
        default: break;
        }
    }
    if (data) read_tunnel(found, data);
}

int tonearm_interfaces(struct tonearm_interface *all, int limit) {
    struct {
        struct nlmsghdr head;
        struct ifinfomsg info;
    } request = {
        .head = {.nlmsg_len = sizeof request, .nlmsg_type = RTM_GETLINK, .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP},
    };
    int descriptor = ask(&request, sizeof request);
    if (descriptor < 0) return -1;
    char *answer = malloc(MESSAGE_SIZE);
    int found = 0;
    bool is_over = !answer;
    while (!is_over) {
        ssize_t count = recv(descriptor, answer, MESSAGE_SIZE, 0);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) break;
        size_t rest = (size_t)count;
        for (const struct nlmsghdr *head = (void *)answer; NLMSG_OK(head, rest); head = NLMSG_NEXT(head, rest)) {
            if (head->nlmsg_type == NLMSG_DONE || head->nlmsg_type == NLMSG_ERROR) is_over = true;
            if (head->nlmsg_type == RTM_NEWLINK && found < limit) read_interface(&all[found++], head);
        }
    }
    free(answer);
    close(descriptor);
    return is_over && answer ? found : -1;
}

// MARK: Addresses

static void read_address(struct tonearm_interface_address *found, const struct nlmsghdr *head) {
    const struct ifaddrmsg *info = NLMSG_DATA(head);
    memset(found, 0, sizeof *found);
    found->interface = (int32_t)info->ifa_index;
    found->prefix_length = info->ifa_prefixlen;
    uint32_t flags = info->ifa_flags;
    const struct rtattr *address = NULL;
    int rest = IFA_PAYLOAD(head);
    for (const struct rtattr *one = IFA_RTA(info); RTA_OK(one, rest); one = RTA_NEXT(one, rest)) {
        // The own one; where there is another end, IFA_ADDRESS is that one's.
        if (one->rta_type == IFA_LOCAL || (one->rta_type == IFA_ADDRESS && !address)) address = one;
        if (one->rta_type == IFA_FLAGS) flags = number(one);
    }
    size_t count = info->ifa_family == AF_INET ? 4 : 16;
    if (address && RTA_PAYLOAD(address) >= count) {
        memcpy(found->address, RTA_DATA(address), count);
        found->address_count = (uint8_t)count;
    }
    found->is_unusable = (flags & (IFA_F_TENTATIVE | IFA_F_DADFAILED)) != 0;
    // On an address of IPv4, the bit of a temporary one means that it is not the first of its network.
    uint32_t lasting = info->ifa_family == AF_INET ? 0 : IFA_F_TEMPORARY;
    found->is_passing = (flags & (lasting | IFA_F_DEPRECATED)) != 0;
}

int tonearm_interface_addresses(struct tonearm_interface_address *all, int limit) {
    struct {
        struct nlmsghdr head;
        struct ifaddrmsg info;
    } request = {
        .head = {.nlmsg_len = sizeof request, .nlmsg_type = RTM_GETADDR, .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP},
    };
    int descriptor = ask(&request, sizeof request);
    if (descriptor < 0) return -1;
    _Alignas(struct nlmsghdr) char answer[16384];
    int found = 0;
    bool is_over = false;
    while (!is_over) {
        ssize_t count = recv(descriptor, answer, sizeof answer, 0);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) break;
        size_t rest = (size_t)count;
        for (const struct nlmsghdr *head = (void *)answer; NLMSG_OK(head, rest); head = NLMSG_NEXT(head, rest)) {
            if (head->nlmsg_type == NLMSG_DONE || head->nlmsg_type == NLMSG_ERROR) is_over = true;
            if (head->nlmsg_type == RTM_NEWADDR && found < limit) read_address(&all[found++], head);
        }
    }
    close(descriptor);
    return is_over ? found : -1;
}

// MARK: Changes

/// Rules have numbers of groups beyond the 32 of the old mask.
static int join(int descriptor, int group) {
    return setsockopt(descriptor, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &group, sizeof group);
}

static int open_changes(const int *groups, size_t group_count) {
    struct sockaddr_nl address = {.nl_family = AF_NETLINK};
    int descriptor = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
    if (descriptor < 0) return -1;
    int result = bind(descriptor, (struct sockaddr *)&address, sizeof address);
    for (size_t index = 0; index < group_count && result == 0; index++)
        result = join(descriptor, groups[index]);
    if (result == 0) return descriptor;
    int code = errno;
    close(descriptor);
    errno = code;
    return -1;
}

int tonearm_network_changes(void) {
    static const int groups[] = {RTNLGRP_LINK,       RTNLGRP_IPV4_ROUTE, RTNLGRP_IPV6_ROUTE,
                                 RTNLGRP_IPV4_RULE,  RTNLGRP_IPV6_RULE};
    return open_changes(groups, sizeof groups / sizeof *groups);
}

int tonearm_address_changes(void) {
    static const int groups[] = {RTNLGRP_LINK, RTNLGRP_IPV4_IFADDR, RTNLGRP_IPV6_IFADDR};
    return open_changes(groups, sizeof groups / sizeof *groups);
}

int tonearm_route_has_changed(int descriptor) {
    _Alignas(struct nlmsghdr) char bytes[16384];
    int has_changed = 0;
    while (true) {
        ssize_t count = recv(descriptor, bytes, sizeof bytes, 0);
        if (count < 0 && errno == EINTR) continue;
        // Messages were lost because there were too many.
        if (count < 0 && errno == ENOBUFS) {
            has_changed = 1;
            continue;
        }
        if (count <= 0) return has_changed;
        size_t rest = (size_t)count;
        for (const struct nlmsghdr *head = (void *)bytes; NLMSG_OK(head, rest); head = NLMSG_NEXT(head, rest)) {
            bool is_of_link = head->nlmsg_type == RTM_NEWLINK || head->nlmsg_type == RTM_DELLINK;
            if (!is_of_link) has_changed = 1;
        }
    }
}
