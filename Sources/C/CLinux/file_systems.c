#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64

#include "CLinux.h"

#include <linux/magic.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>

int tonearm_reports_changes(const char *path) {
    struct statfs system;
    if (statfs(path, &system) != 0) return 0;
    switch ((uint32_t)system.f_type) {
    case NFS_SUPER_MAGIC:
    case SMB_SUPER_MAGIC:
    case SMB2_SUPER_MAGIC:
    case CIFS_SUPER_MAGIC:
    case AFS_SUPER_MAGIC:
    case V9FS_MAGIC:
    case FUSE_SUPER_MAGIC: return 0;
    }
    return 1;
}

static int64_t bytes_of(uint64_t blocks, uint64_t size) {
    uint64_t bytes;
    if (__builtin_mul_overflow(blocks, size, &bytes)) return INT64_MAX;
    return bytes > INT64_MAX ? INT64_MAX : (int64_t)bytes;
}

int64_t tonearm_free_bytes(const char *path) {
    struct statvfs file_system;
    if (statvfs(path, &file_system) != 0) return -1;
    return bytes_of(file_system.f_bavail, file_system.f_frsize);
}

int64_t tonearm_all_bytes(const char *path) {
    struct statvfs file_system;
    if (statvfs(path, &file_system) != 0) return -1;
    return bytes_of(file_system.f_blocks, file_system.f_frsize);
}

int tonearm_is_kernel_folder(const char *path) {
    struct statfs system;
    if (statfs(path, &system) == 0) {
        switch ((uint32_t)system.f_type) {
        case PROC_SUPER_MAGIC:
        case SYSFS_MAGIC:
        case DEVPTS_SUPER_MAGIC:
        case DEBUGFS_MAGIC:
        case TRACEFS_MAGIC:
        case SECURITYFS_MAGIC:
        case CGROUP_SUPER_MAGIC:
        case CGROUP2_SUPER_MAGIC:
        case BPF_FS_MAGIC:
        case PSTOREFS_MAGIC:
        case EFIVARFS_MAGIC:
        case BINFMTFS_MAGIC:
        case 0x62656570: // configfs
        case 0x65735543: // fusectl
        case 0x19800202: // mqueue
            return 1;
        }
    }
    // devtmpfs has the same number as tmpfs, which may hold music: /dev is recognised by its device.
    struct stat folder, devices, root;
    if (stat(path, &folder) != 0 || stat("/dev", &devices) != 0 || stat("/", &root) != 0) return 0;
    if (folder.st_dev != devices.st_dev) return 0;
    return devices.st_dev != root.st_dev || folder.st_ino == devices.st_ino;
}

int tonearm_folder_changes(const char *path) {
    int descriptor = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (descriptor < 0) return -1;
    uint32_t changes = IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_ONLYDIR;
    if (inotify_add_watch(descriptor, path, changes) >= 0) return descriptor;
    int error = errno;
    close(descriptor);
    errno = error;
    return -1;
}

int tonearm_entry_has_changed(int descriptor, const char *name) {
    _Alignas(struct inotify_event) char buffer[4096];
    int has_changed = 0;
    ssize_t count;
    while ((count = read(descriptor, buffer, sizeof buffer)) > 0) {
        for (ssize_t offset = 0; offset < count;) {
            const struct inotify_event *event = (const void *)(buffer + offset);
            // The kernel ends the name with a NUL.
            if (event->mask & IN_Q_OVERFLOW || (event->len > 0 && strcmp(event->name, name) == 0)) has_changed = 1;
            offset += (ssize_t)(sizeof *event + event->len);
        }
    }
    return has_changed;
}
