// For a process that works on foreign bytes and gives up what it does not need.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// Receives a packet of a UNIX socket with the two files that come with it. Both are closed on exec.
/// files: -1 for those that did not come; more than two, and their packet, are refused with EPROTO.
/// Returns the bytes of the packet, 0 at the end of the connection, or -1 with errno.
ssize_t tonearm_receive_with_files(int connection, void *bytes, size_t size, int *files);

/// A resource of setrlimit(2).
enum tonearm_resource {
    tonearm_resource_address_space,
    tonearm_resource_descriptors,
    tonearm_resource_file_size,
    tonearm_resource_processes,
    tonearm_resource_core,
};
/// Limits a resource of this process, for ever. Returns 0, or -1 with errno.
int tonearm_limit_resource(enum tonearm_resource resource, uint64_t most);
/// From now on this process may use the processor for so many seconds, rounded up. Then SIGXCPU ends it.
int tonearm_limit_processor_time(int seconds);
/// Sets the nice value of this process, -20 to 19.
int tonearm_set_nice(int value);
/// Nothing that this process executes may gain privileges.
int tonearm_renounce_privileges(void);
/// The process becomes that of another user, for ever: without any capability, also for what it executes, and with
/// real-time priorities up to `realtime`. Needs root. Returns 0, or -1 with errno.
/// others: its further groups, at most 32.
int tonearm_become_user(uint32_t user, uint32_t group, const uint32_t *others, size_t count, uint64_t realtime);
/// Puts a filter of system calls before this process, for ever: the instructions of linux/filter.h, each as code in
/// bits 0 to 15, jumps in bits 16 to 23 (true) and 24 to 31 (false), and the constant in bits 32 to 63. Needs
/// tonearm_renounce_privileges. Returns 0, or -1 with errno: EINVAL when the kernel has no such filters.
int tonearm_filter_system_calls(const uint64_t *instructions, size_t count);
/// Allocations of more than 128 kB return to the kernel as soon as they are freed.
void tonearm_return_memory_early(void);
