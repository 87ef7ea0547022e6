#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64

#include "CLinux.h"

#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

int tonearm_open(const char *path, int flags, mode_t mode) { return open(path, flags, mode); }

ssize_t tonearm_pread(int descriptor, void *bytes, size_t count, int64_t offset) {
    return pread(descriptor, bytes, count, offset);
}

ssize_t tonearm_pwrite(int descriptor, const void *bytes, size_t count, int64_t offset) {
    return pwrite(descriptor, bytes, count, offset);
}

int tonearm_truncate(int descriptor, int64_t length) { return ftruncate(descriptor, length); }

int tonearm_mode_of_path(const char *path, uint32_t *mode) {
    struct stat status;
    int result = stat(path, &status);
    if (result == 0) *mode = status.st_mode;
    return result;
}

int tonearm_identity_of_path(const char *path, uint64_t *device, uint64_t *inode) {
    struct stat status;
    int result = stat(path, &status);
    if (result == 0) {
        *device = status.st_dev;
        *inode = status.st_ino;
    }
    return result;
}

int tonearm_version_of_path(const char *path, int64_t *size, int64_t *modified) {
    struct stat status;
    if (stat(path, &status) != 0) return -1;
    if (!S_ISREG(status.st_mode)) {
        errno = EINVAL;
        return -1;
    }
    *size = status.st_size;
    *modified = (int64_t)((uint64_t)status.st_mtim.tv_sec * 1000000000u + (uint64_t)status.st_mtim.tv_nsec);
    return 0;
}

int tonearm_stamp_of_path(const char *path, int64_t *size, int64_t *modified, int64_t *state) {
    struct stat status;
    if (stat(path, &status) != 0) return -1;
    if (!S_ISREG(status.st_mode)) {
        errno = EINVAL;
        return -1;
    }
    *size = status.st_size;
    *modified = (int64_t)((uint64_t)status.st_mtim.tv_sec * 1000000000u + (uint64_t)status.st_mtim.tv_nsec);
    *state = 0;
    struct statfs system;
    if (statfs(path, &system) != 0) return 0;
    uint64_t changed = (uint64_t)status.st_ctim.tv_sec * 1000000000u + (uint64_t)status.st_ctim.tv_nsec;
    switch ((uint32_t)system.f_type) {
    // They do not store this time, and number their files anew with each mount, as many file systems of FUSE do.
    case MSDOS_SUPER_MAGIC:
    case 0x2011BAB0: // exFAT
    case FUSE_SUPER_MAGIC: break;
    case EXT4_SUPER_MAGIC:
    case BTRFS_SUPER_MAGIC:
    case XFS_SUPER_MAGIC:
    case F2FS_SUPER_MAGIC: *state = (int64_t)(changed ^ (uint64_t)status.st_ino * 0x9E3779B97F4A7C15u); break;
    default: *state = (int64_t)changed;
    }
    return 0;
}

int tonearm_time_of_path(const char *path, int64_t *seconds) {
    struct stat status;
    int result = stat(path, &status);
    if (result == 0) *seconds = status.st_mtim.tv_sec;
    return result;
}

int tonearm_has_other_name(const char *path) {
    struct stat status;
    if (lstat(path, &status) != 0) return 0;
    return S_ISLNK(status.st_mode) || status.st_nlink > 1;
}

int tonearm_rename_new(const char *old_path, const char *new_path) {
    return renameat2(AT_FDCWD, old_path, AT_FDCWD, new_path, RENAME_NOREPLACE);
}

int tonearm_status(int descriptor, uint32_t *mode, int64_t *length) {
    struct stat status;
    int result = fstat(descriptor, &status);
    if (result == 0) {
        *mode = status.st_mode;
        *length = status.st_size;
    }
    return result;
}

const char *tonearm_next_name(DIR *folder, int *type) {
    errno = 0;
    struct dirent *entry = readdir(folder);
    if (entry == NULL) return NULL;
    *type = entry->d_type;
    return entry->d_name;
}

int tonearm_is_kernel_log(int descriptor) {
    // Documentation/admin-guide/devices.txt of the kernel.
    const dev_t number = makedev(1, 11);
    struct stat file;
    return fstat(descriptor, &file) == 0 && S_ISCHR(file.st_mode) && file.st_rdev == number;
}

int tonearm_mode_of_link(const char *path, uint32_t *mode) {
    struct stat status;
    int result = lstat(path, &status);
    if (result == 0) *mode = status.st_mode;
    return result;
}
