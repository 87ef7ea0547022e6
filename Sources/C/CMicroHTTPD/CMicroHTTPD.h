#include <fcntl.h>
#include <linux/sockios.h>
#include <microhttpd.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

// Swift cannot make variadic calls, and reads unions of C only through names.

/// What a server calls, each with its context.
struct tonearm_http_handlers {
    /// With the target of a request as it was sent. Returns the state of the request.
    void *(*begun)(void *context, const char *target, struct MHD_Connection *connection);
    MHD_AccessHandlerCallback answer;
    MHD_RequestCompletedCallback completed;
    MHD_NotifyConnectionCallback connection;
};

#define TONEARM_HTTP_NOTIFICATIONS(handlers, context) \
    MHD_OPTION_URI_LOG_CALLBACK, (handlers)->begun, (context), \
    MHD_OPTION_NOTIFY_COMPLETED, (handlers)->completed, (context), \
    MHD_OPTION_NOTIFY_CONNECTION, (handlers)->connection, (context)

/// Starts a server with a thread for each connection on a socket that listens.
/// `certificate` and `key` are PEM texts for TLS, both NULL without it. The server closes the socket at its end.
static inline struct MHD_Daemon *tonearm_http_start(
    int listening, const char *certificate, const char *key, unsigned int connections, unsigned int of_client,
    unsigned int idle_seconds, const struct tonearm_http_handlers *handlers, void *context)
{
    unsigned int flags = MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION | MHD_USE_POLL | MHD_USE_ITC
        | MHD_USE_SUPPRESS_DATE_NO_CLOCK | MHD_ALLOW_UPGRADE;
    size_t stack = 512 * 1024;
    if (!certificate || !key) {
        return MHD_start_daemon(
            flags, 0, NULL, NULL, handlers->answer, context, MHD_OPTION_LISTEN_SOCKET, listening,
            MHD_OPTION_CONNECTION_LIMIT, connections, MHD_OPTION_PER_IP_CONNECTION_LIMIT, of_client,
            MHD_OPTION_CONNECTION_TIMEOUT, idle_seconds, MHD_OPTION_THREAD_STACK_SIZE, stack,
            TONEARM_HTTP_NOTIFICATIONS(handlers, context), MHD_OPTION_END);
    }
    return MHD_start_daemon(
        flags | MHD_USE_TLS, 0, NULL, NULL, handlers->answer, context, MHD_OPTION_LISTEN_SOCKET, listening,
        MHD_OPTION_CONNECTION_LIMIT, connections, MHD_OPTION_PER_IP_CONNECTION_LIMIT, of_client,
        MHD_OPTION_CONNECTION_TIMEOUT, idle_seconds, MHD_OPTION_HTTPS_PRIORITIES,
        "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2",
        MHD_OPTION_THREAD_STACK_SIZE, stack, TONEARM_HTTP_NOTIFICATIONS(handlers, context),
        MHD_OPTION_HTTPS_MEM_CERT, certificate, MHD_OPTION_HTTPS_MEM_KEY, key, MHD_OPTION_END);
}

/// Starts a server in the same way that does not listen: it gets its connections from tonearm_http_add.
static inline struct MHD_Daemon *tonearm_http_start_unbound(
    unsigned int connections, unsigned int of_client, unsigned int idle_seconds,
    const struct tonearm_http_handlers *handlers, void *context)
{
    unsigned int flags = MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION | MHD_USE_POLL | MHD_USE_ITC
        | MHD_USE_SUPPRESS_DATE_NO_CLOCK | MHD_ALLOW_UPGRADE | MHD_USE_NO_LISTEN_SOCKET;
    size_t stack = 512 * 1024;
    return MHD_start_daemon(
        flags, 0, NULL, NULL, handlers->answer, context, MHD_OPTION_CONNECTION_LIMIT, connections,
        MHD_OPTION_PER_IP_CONNECTION_LIMIT, of_client, MHD_OPTION_CONNECTION_TIMEOUT, idle_seconds,
        MHD_OPTION_THREAD_STACK_SIZE, stack, TONEARM_HTTP_NOTIFICATIONS(handlers, context), MHD_OPTION_END);
}

/// Gives a server the connection `descriptor` of the client that is at the other end of the TCP socket `client`. The
/// server has a descriptor of its own for it. Whether the server has taken it: 1 or 0.
static inline int tonearm_http_add(struct MHD_Daemon *server, int descriptor, int client)
{
    struct sockaddr_storage address;
    socklen_t length = sizeof address;
    if (getpeername(client, (struct sockaddr *)&address, &length) != 0) return 0;
    int own = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
    if (own < 0) return 0;
    // It closes the descriptor in any case.
    return MHD_add_connection(server, own, (struct sockaddr *)&address, length) == MHD_YES;
}

/// Writes the 16 bytes of the client's address, as IPv6 maps one of IPv4; zeros when it is unknown.
static inline void tonearm_http_client(struct MHD_Connection *connection, unsigned char *bytes)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    const struct sockaddr *address = info ? info->client_addr : NULL;
    memset(bytes, 0, 16);
    if (address && address->sa_family == AF_INET6)
        memcpy(bytes, &((const struct sockaddr_in6 *)address)->sin6_addr, 16);
    if (address && address->sa_family == AF_INET) {
        bytes[10] = bytes[11] = 0xFF;
        memcpy(bytes + 12, &((const struct sockaddr_in *)address)->sin_addr, 4);
    }
}

/// Whether a socket is local to this machine, as those are whose other end has TLS: 1 or 0.
static inline int tonearm_http_is_local(int descriptor)
{
    int family = 0;
    socklen_t length = sizeof family;
    return getsockopt(descriptor, SOL_SOCKET, SO_DOMAIN, &family, &length) == 0 && family == AF_UNIX;
}

/// The socket of a connection, or -1.
static inline int tonearm_http_socket(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info ? info->connect_fd : -1;
}

/// Waits until one of the ends has closed the connection, for so many milliseconds, or with -1 without limit.
/// Greater than 0 when that was so.
static inline int tonearm_http_wait_for_close(int descriptor, int milliseconds)
{
    // POLLRDHUP, which <poll.h> has for _GNU_SOURCE alone.
    struct pollfd waited = {.fd = descriptor, .events = 0x2000};
    return poll(&waited, 1, milliseconds);
}

/// Bytes that the other end has not confirmed, or -1.
static inline int tonearm_http_unsent(int descriptor)
{
    int count = 0;
    return ioctl(descriptor, SIOCOUTQ, &count) == 0 ? count : -1;
}

/// Resets a TCP connection at once: connect(2) with AF_UNSPEC dissolves it. The descriptor stays open.
static inline int tonearm_http_reset(int descriptor)
{
    struct sockaddr address = {.sa_family = AF_UNSPEC};
    return connect(descriptor, &address, sizeof address);
}

/// Lets libmicrohttpd close a connection that speaks another protocol by now. Once only.
static inline void tonearm_http_close_upgraded(struct MHD_UpgradeResponseHandle *connection)
{
    MHD_upgrade_action(connection, MHD_UPGRADE_ACTION_CLOSE);
}
