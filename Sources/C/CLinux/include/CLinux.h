// The C library and the kernel's interfaces as one module, the same for the host and for Embedded Swift (which has no
// Glibc module). Functions of our own are only what Swift cannot say: variadic calls, errno and macros.
#pragma once

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <regex.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "arguments.h"
#include "sandbox.h"

/// The calling thread's errno.
int tonearm_errno(void);
/// Makes it 0, for calls that tell of an error in no other way.
void tonearm_clear_errno(void);
/// open(2), which is variadic in C.
int tonearm_open(const char *path, int flags, mode_t mode);
/// pread(2), pwrite(2), stat(2), fstat(2) and readdir(3) with 64-bit offsets and inodes, which on 32-bit ARM are not
/// what these names stand for. A name is null at the end of the folder, and errno is then 0 unless it
/// could not be read; `type` is a DT_ constant.
ssize_t tonearm_pread(int descriptor, void *bytes, size_t count, int64_t offset);
ssize_t tonearm_pwrite(int descriptor, const void *bytes, size_t count, int64_t offset);
int tonearm_truncate(int descriptor, int64_t length);
int tonearm_mode_of_path(const char *path, uint32_t *mode);
/// For root: becomes the owner of a file or folder, so that what is created belongs to them. Does nothing for others,
/// and for what belongs to root. Returns 0 or -1 with errno.
int tonearm_become_owner(const char *path);
int tonearm_identity_of_path(const char *path, uint64_t *device, uint64_t *inode);
/// The size of a regular file, and the time of its last change in nanoseconds since 1970. -1 and errno; EINVAL for
/// anything else than a file.
int tonearm_version_of_path(const char *path, int64_t *size, int64_t *modified);
/// As tonearm_version_of_path. `state` changes with the file's number and the time of the last change of its status; it
/// is 0 where the file system does not keep them from one mount to the next.
int tonearm_stamp_of_path(const char *path, int64_t *size, int64_t *modified, int64_t *state);
/// The time of the last change of a file or folder, in seconds since 1970. -1 and errno.
int tonearm_time_of_path(const char *path, int64_t *seconds);
/// Whether a name is a link, or its file has another name, too.
int tonearm_has_other_name(const char *path);
/// Whether inotify(7) reports all changes in a folder: other machines change network file systems, too.
int tonearm_reports_changes(const char *path);
/// Whether a folder belongs to the kernel: /proc, /sys, /dev and what is mounted below them.
int tonearm_is_kernel_folder(const char *path);
/// Renames a file unless there is one with the new name: -1 and EEXIST then. Every other error as renameat2(2).
int tonearm_rename_new(const char *old_path, const char *new_path);
/// How many bytes a process without privileges can still write to the file system of `path`. -1 and errno.
int64_t tonearm_free_bytes(const char *path);
/// The size of the whole file system, used or not. -1 on failure.
int64_t tonearm_all_bytes(const char *path);
int tonearm_status(int descriptor, uint32_t *mode, int64_t *length);
/// The offset of `part` in `bytes`, or -1. memmem(3) is a GNU extension.
ptrdiff_t tonearm_find(const uint8_t *bytes, size_t count, const uint8_t *part, size_t part_count);
const char *tonearm_next_name(DIR *folder, int *type);
/// pthread_setname_np(3) for the calling thread: a GNU extension. At most 15 characters.
int tonearm_name_this_thread(const char *name);
/// Gives the calling thread the lowest ordinary priority, for the processor and the disk.
void tonearm_use_background_priority(void);
/// Puts the calling thread under SCHED_FIFO; what it forks starts with normal priority again. Returns 0 or errno.
int tonearm_use_realtime_priority(int priority);
/// RLIMIT_RTPRIO of this process: the highest real-time priority that it may ask for.
unsigned long tonearm_realtime_priority_limit(void);
/// Reads the register `reg` of the chip at `address` of an open I2C bus. Returns its value, or -1 where none answers.
int tonearm_i2c_read(int descriptor, int address, int reg);
/// Whether the kernel says that its clock is synchronised (STA_UNSYNC is clear).
int tonearm_clock_is_synchronised(void);
/// strtod(3) and snprintf(3) with "%.*f" in the C locale, independent of the locale of the process.
double tonearm_parse_double(const char *text, char **end);
int tonearm_format_fixed(char *buffer, size_t size, double value, int decimals);
/// Sends a datagram to a UNIX socket by its path, or by its abstract name behind an @. Returns 0, or -1 with errno.
int tonearm_notify(const char *address, const char *bytes, size_t count);
/// Runs a command line with sh(1) and does not wait for it: its parent is init. Returns 0 or errno.
/// running: gets a descriptor that hangs up when the command has ended; the caller closes it.
int tonearm_run_command(const char *command, int *running);
/// Starts a program without arguments and environment, that works for this process. Its descriptor 0 is a socket of
/// packets (SOCK_SEQPACKET), 1 is /dev/null, 2 is this process's, and it has no others. Returns its process, or -1 with
/// errno. connection: gets the other end, which the caller closes.
pid_t tonearm_start_companion(const char *path, const char *name, int *connection);
/// Waits until a child has ended, and leaves it for tonearm_forget_process: its number is not used again until then.
void tonearm_await_end(pid_t process);
void tonearm_forget_process(pid_t process);
/// Sends a packet with two descriptors, without a wait. Returns 0, or -1 with errno.
int tonearm_send_with_files(int connection, const void *bytes, size_t count, int first, int second);
/// The bytes of the next packet, 0 at the end; -1 and errno, EAGAIN when there is none. Descriptors in it are closed.
ssize_t tonearm_receive_packet(int connection, void *bytes, size_t size);
/// A file in memory, closed on exec. -1 and errno.
int tonearm_open_memory(const char *name);
/// Columns of the terminal behind a descriptor (TIOCGWINSZ); 0 when it is none or does not know.
int tonearm_terminal_columns(int descriptor);
/// From now on a trap, an abort or a fault gives the terminal these settings back before it ends the process.
void tonearm_restore_terminal_at_crash(int descriptor, const struct termios *settings);
/// The terminal has its settings back.
void tonearm_forget_terminal(void);
/// Whether the process was started with this signal ignored, as nohup(1) and shells without job control do.
int tonearm_signal_is_ignored(int signal);
/// Ignores a signal: SIG_IGN is a macro with a cast.
void tonearm_ignore_signal(int signal);
/// The process leaves no memory image when it crashes, and no other process of its user may read its memory: keys and
/// tokens are there.
void tonearm_hide_memory(void);
/// Whether a descriptor is the kernel's log, /dev/kmsg.
int tonearm_is_kernel_log(int descriptor);
/// Lets signals that the calling thread has blocked do to the process what they do by default.
void tonearm_release_signals(const int *signals, int count);
/// Sends the process a signal after a time, by a timer of the kernel. Returns 0, or -1 with errno.
int tonearm_signal_later(int number, int milliseconds);
/// Ends the process as this signal does by default, so that a shell knows that it was one.
void tonearm_die_of_signal(int signal);
/// UNIX stream sockets (unix(7)), closed on exec. -1 and errno on failure, as of the calls that they stand for; a path
/// that does not fit into an address is ENAMETOOLONG. What a socket that is bound creates has the permissions `mode`,
/// from the first moment. Nothing raises SIGPIPE.
/// Connecting, and each sending afterwards, fails with EAGAIN after `seconds`.
int tonearm_local_connect(const char *path, int seconds);
int tonearm_local_listen(const char *path, mode_t mode);
int tonearm_local_accept(int descriptor);
/// Connects two sockets. The first one does not block. The second one fails with EAGAIN after `seconds`.
int tonearm_local_pair(int *descriptors, int seconds);
/// Ends both directions of a connection. Calls that wait for it return.
void tonearm_shut_down(int descriptor);
/// A TCP socket that listens at a numeric address of IPv4 or IPv6 (EINVAL for another text); `::` stands for both.
int tonearm_tcp_listen(const char *address, uint16_t port);
/// Connects to a port, within `seconds` (EAGAIN afterwards, also for each sending).
int tonearm_tcp_connect(const char *address, uint16_t port, int seconds);
/// Whether the text is a numeric address of IPv4 or IPv6: 1 or 0.
int tonearm_is_numeric_address(const char *text);
/// The local port of a TCP socket; -1 for another one.
int tonearm_tcp_port(int descriptor);
/// Whether the other end of a TCP connection has a private address, or one of IPv6 in a network of this machine's own
/// interfaces: 1 or 0.
int tonearm_peer_is_private(int descriptor);
/// Writes the 16 bytes of the other end's address, as IPv6 maps one of IPv4; zeros when it is unknown.
void tonearm_peer_address(int descriptor, uint8_t *bytes);
/// As tonearm_peer_is_private, for the 16 bytes of an address.
int tonearm_is_private_address(const uint8_t *bytes);
/// Whether this machine's end of a TCP connection has the numeric address `text`: 1 or 0.
int tonearm_is_connected_to(int descriptor, const char *text);
enum {
    TONEARM_NO_BYTE_YET = -1,
    /// The other end has closed, or the connection has failed.
    TONEARM_NO_BYTE = -2,
};
/// The next byte that a socket has received, which stays there; or one of the above.
int tonearm_first_byte(int descriptor);
/// Limits what the kernel keeps of bytes that a socket has sent and the other end has not read. It doubles the number.
void tonearm_limit_buffers(int descriptor, int bytes);
ssize_t tonearm_send(int descriptor, const void *bytes, size_t count);
int tonearm_finish_sending(int descriptor);

/// A descriptor that does not block and becomes readable whenever an entry of a folder is written, replaced or removed.
/// -1 and errno.
int tonearm_folder_changes(const char *path);
/// Takes all that has arrived at that descriptor. 1 when an entry of this name has changed, or changes were lost.
int tonearm_entry_has_changed(int descriptor, const char *name);

/// A socket that does not block and becomes readable whenever a link, a route or a rule has changed. -1 and errno.
int tonearm_network_changes(void);
/// Takes all that has arrived at that socket. 1 when there was more than changes of links, or messages were lost.
int tonearm_route_has_changed(int descriptor);
/// Ends a TCP connection whose other end has acknowledged nothing for so many milliseconds (TCP_USER_TIMEOUT).
void tonearm_limit_unanswered(int descriptor, int milliseconds);
/// Whether an interface that is up and has a carrier has the IP address `text`; also 1 when the kernel does not say.
int tonearm_is_local_address(const char *text);

/// What the kernel says about the way to an address.
enum {
    TONEARM_ROUTE_NONE,
    /// The address is one of this machine.
    TONEARM_ROUTE_LOCAL,
    /// Over an interface.
    TONEARM_ROUTE_OUT,
    /// Packets are wrapped into others on that way, whose way is another one.
    TONEARM_ROUTE_WRAPPED,
};
/// The way of a packet of this process to an address and its port, by all tables and rules. Does not wait.
/// over: the interface that it is to be over; 0 for any. protocol: IPPROTO_TCP or IPPROTO_UDP; 0 for any.
/// interface: its number. Returns one of the above, or -1 with errno.
int tonearm_route(const struct sockaddr *to, int over, int protocol, int *interface);
/// A socket whose packets leave over one interface only (SO_BINDTOIFINDEX), closed on exec. -1 and errno.
int tonearm_open_bound_socket(int family, int type, int protocol, int interface);
/// The address of `text`, in digits. 0, or -1 when it is none.
int tonearm_address(const char *text, int port, struct sockaddr_storage *address);
/// Whether an address is of this machine or of a network that is not the internet: private, shared (RFC 6598),
/// link-local, unspecified, or in the network of an interface with IPv6. 1 or 0.
int tonearm_is_local_destination(const struct sockaddr_storage *address);
/// The address of 4 or 16 bytes. 0, or -1.
int tonearm_address_of_bytes(const uint8_t *bytes, int count, struct sockaddr_storage *address);

/// An interface as rtnetlink(7) has it. Texts end with a 0.
struct tonearm_interface {
    int32_t index;
    /// IFLA_LINK and IFLA_MASTER; 0 for none.
    int32_t lower;
    int32_t master;
    /// IFF_…
    uint32_t flags;
    /// ARPHRD_…
    uint16_t hardware;
    /// `lower` is a number in another network namespace.
    uint8_t is_lower_elsewhere;
    /// There is a device on a bus.
    uint8_t has_device;
    char name[16];
    /// IFLA_INFO_KIND: "bridge", "ipip"; empty for devices.
    char kind[16];
    /// Of a tunnel: the interface that it is bound to, and the other end (0, 4 or 16 bytes).
    int32_t tunnel_link;
    uint8_t remote_count;
    uint8_t remote[16];
    /// Its packets bring a mark or a way of their own.
    uint8_t is_unpredictable;
};
/// The interfaces of the calling thread's network namespace, at most `limit`. Returns how many, or -1.
int tonearm_interfaces(struct tonearm_interface *all, int limit);

/// An address of an interface as rtnetlink(7) has it.
struct tonearm_interface_address {
    int32_t interface;
    uint8_t prefix_length;
    /// 4, 16, or 0 where the kernel says none.
    uint8_t address_count;
    uint8_t address[16];
    /// Another machine has it, or may have it.
    uint8_t is_unusable;
    /// It is deprecated, or made to be replaced soon (RFC 8981).
    uint8_t is_passing;
};
/// All addresses of the calling thread's network namespace, at most `limit`. Returns how many, or -1.
int tonearm_interface_addresses(struct tonearm_interface_address *all, int limit);
/// A socket like that of tonearm_network_changes, for changes of links and addresses. `tonearm_route_has_changed` takes
/// what has arrived.
int tonearm_address_changes(void);

/// The other end of a datagram, and the interface that it goes over.
struct tonearm_datagram {
    int32_t interface;
    uint16_t port;
    /// 4 or 16.
    uint8_t address_count;
    uint8_t address[16];
    /// Of a received one: it was sent to a group.
    uint8_t is_multicast;
};
/// A UDP socket that does not block, at a port that others may have, too; it tells the interface of each datagram and
/// sends with 255 hops. -1 and errno.
int tonearm_multicast_open(int is_version6, uint16_t port);
/// Receives what is sent to a group on an interface. 0, also when it does so already, or -1 and errno.
int tonearm_multicast_join(int descriptor, const struct tonearm_datagram *group);
/// Sends over `to->interface`. Returns 0, or -1 with errno.
int tonearm_multicast_send(int descriptor, const void *bytes, size_t count, const struct tonearm_datagram *to);
/// The bytes of the next datagram: 0 for one that does not fit, -1 and errno when there is none.
ssize_t tonearm_multicast_receive(int descriptor, void *bytes, size_t size, struct tonearm_datagram *from);

/// The process at the other end of a connected UNIX socket; 0 where that is not known.
int tonearm_peer_process(int descriptor);
/// The user who connected (SO_PEERCRED); UINT32_MAX where that is not known.
uint32_t tonearm_peer_user(int descriptor);
/// As tonearm_mode_of_path, for a link itself.
int tonearm_mode_of_link(const char *path, uint32_t *mode);
