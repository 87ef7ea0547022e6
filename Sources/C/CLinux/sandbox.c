#define _GNU_SOURCE

#include "CLinux.h"

#include <grp.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

ssize_t tonearm_receive_with_files(int connection, void *bytes, size_t size, int *files) {
    struct iovec packet = {.iov_base = bytes, .iov_len = size};
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(2 * sizeof(int))];
    } control;
    memset(&control, 0, sizeof control);
    struct msghdr message = {
        .msg_iov = &packet, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    files[0] = files[1] = -1;
    ssize_t count;
    do {
        count = recvmsg(connection, &message, MSG_CMSG_CLOEXEC);
    } while (count < 0 && errno == EINTR);
    if (count < 0) return -1;
    int received = 0;
    for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); header; header = CMSG_NXTHDR(&message, header)) {
        if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
        for (size_t at = 0; CMSG_LEN(at + sizeof(int)) <= header->cmsg_len && received < 2; at += sizeof(int))
            memcpy(&files[received++], CMSG_DATA(header) + at, sizeof(int));
    }
    if ((message.msg_flags & (MSG_CTRUNC | MSG_TRUNC)) == 0) return count;
    for (int index = 0; index < received; index++) close(files[index]);
    files[0] = files[1] = -1;
    errno = EPROTO;
    return -1;
}

int tonearm_limit_resource(enum tonearm_resource resource, uint64_t most) {
    static const int numbers[] = {
        [tonearm_resource_address_space] = RLIMIT_AS,     [tonearm_resource_descriptors] = RLIMIT_NOFILE,
        [tonearm_resource_file_size] = RLIMIT_FSIZE,      [tonearm_resource_processes] = RLIMIT_NPROC,
        [tonearm_resource_core] = RLIMIT_CORE,
    };
    struct rlimit limit = {.rlim_cur = (rlim_t)most, .rlim_max = (rlim_t)most};
    return setrlimit(numbers[resource], &limit);
}

int tonearm_limit_processor_time(int seconds) {
    struct timespec used;
    struct rlimit limit;
    // Not getrlimit(2), which is another system call on 32-bit ARM.
    if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used) != 0 || prlimit(0, RLIMIT_CPU, NULL, &limit) != 0) return -1;
    rlim_t wanted = (rlim_t)used.tv_sec + 1 + (rlim_t)seconds;
    limit.rlim_cur = wanted < limit.rlim_max ? wanted : limit.rlim_max;
    return prlimit(0, RLIMIT_CPU, &limit, NULL);
}

int tonearm_set_nice(int value) { return setpriority(PRIO_PROCESS, 0, value); }

int tonearm_renounce_privileges(void) { return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); }

int tonearm_become_user(uint32_t user, uint32_t group, const uint32_t *others, size_t count, uint64_t realtime) {
    struct rlimit limit = {.rlim_cur = (rlim_t)realtime, .rlim_max = (rlim_t)realtime};
    if (setrlimit(RLIMIT_RTPRIO, &limit) != 0) return -1;
    // While there is the right to: CAP_SETPCAP, CAP_SETGID, CAP_SETUID.
    for (unsigned long right = 0; prctl(PR_CAPBSET_READ, right, 0, 0, 0) >= 0; right++)
        if (prctl(PR_CAPBSET_DROP, right, 0, 0, 0) != 0) return -1;
    gid_t groups[32];
    if (count > sizeof groups / sizeof groups[0]) {
        errno = EINVAL;
        return -1;
    }
    for (size_t index = 0; index < count; index++) groups[index] = others[index];
    if (setgroups(count, groups) != 0) return -1;
    if (setresgid(group, group, group) != 0 || setresuid(user, user, user) != 0) return -1;
    // Another user has none but those that may be inherited.
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct none[2] = {{0}};
    if (syscall(SYS_capset, &header, none) != 0) return -1;
    return tonearm_renounce_privileges();
}

int tonearm_filter_system_calls(const uint64_t *instructions, size_t count) {
    struct sock_filter program[256];
    if (count > sizeof program / sizeof program[0]) {
        errno = EINVAL;
        return -1;
    }
    for (size_t index = 0; index < count; index++) {
        uint64_t bits = instructions[index];
        program[index] = (struct sock_filter){
            .code = (uint16_t)bits,
            .jt = (uint8_t)(bits >> 16),
            .jf = (uint8_t)(bits >> 24),
            .k = (uint32_t)(bits >> 32),
        };
    }
    struct sock_fprog filter = {.len = (unsigned short)count, .filter = program};
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0);
}

void tonearm_return_memory_early(void) {
    // Setting one of them ends their adjustment to what was freed.
    mallopt(M_MMAP_THRESHOLD, 128 << 10);
    mallopt(M_TRIM_THRESHOLD, 128 << 10);
}
