#define _GNU_SOURCE
#include "FileCalls.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

static atomic_bool recording;
static atomic_long remaining = -1;
static atomic_long number_of_calls;
static atomic_bool losing;

// What a write has replaced and is not synced yet, the latest first.
struct change {
    struct change *before;
    struct stat file;
    char path[PATH_MAX];
    off64_t offset;
    ssize_t count;
    unsigned char bytes[];
};
static struct change *changes;

// A file or folder that was created, and whose folder was not synced since; the latest first.
struct name {
    struct name *before;
    char path[PATH_MAX];
};
static struct name *names;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void file_calls_record(void) { recording = 1; }
void file_calls_cut(long number) {
    number_of_calls = 0;
    remaining = number;
}
long file_calls_count(void) { return number_of_calls; }
void file_calls_lose_unsynced(void) { losing = 1; }

static void path_of(int descriptor, char *path) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, path, PATH_MAX - 1);
    path[length < 0 ? 0 : length] = 0;
}

// Before `count` bytes at `offset` change, and with them the length.
static void remember(int descriptor, off64_t offset, size_t count) {
    struct stat file;
    if (!losing || fstat(descriptor, &file) != 0 || !S_ISREG(file.st_mode)) return;
    struct change *change = malloc(sizeof *change + count);
    change->file = file;
    change->offset = offset;
    change->count = syscall(SYS_pread64, descriptor, change->bytes, count, offset);
    path_of(descriptor, change->path);
    // SQLite maps this file into memory, creates it again at each start, and would trap without its bytes.
    size_t length = strlen(change->path);
    if (length > 4 && strcmp(change->path + length - 4, "-shm") == 0) {
        free(change);
        return;
    }
    pthread_mutex_lock(&lock);
    change->before = changes;
    changes = change;
    pthread_mutex_unlock(&lock);
}

// What was written to this file counts no more: it is synced, or the file is gone.
static void forget_changes(const struct stat *file) {
    pthread_mutex_lock(&lock);
    for (struct change **place = &changes; *place;) {
        struct change *change = *place;
        if (change->file.st_dev == file->st_dev && change->file.st_ino == file->st_ino) {
            *place = change->before;
            free(change);
        } else {
            place = &change->before;
        }
    }
    pthread_mutex_unlock(&lock);
}

// Whether a path leads to something, also to a broken link.
static bool exists(const char *path) {
    struct stat file;
    return lstat(path, &file) == 0;
}

static void remember_name(const char *path) {
    struct name *name = malloc(sizeof *name);
    if (!realpath(path, name->path)) {
        free(name);
        return;
    }
    pthread_mutex_lock(&lock);
    name->before = names;
    names = name;
    pthread_mutex_unlock(&lock);
}

// Forgets the names in this folder, or this name alone.
static void forget_names(const char *folder, const char *path) {
    pthread_mutex_lock(&lock);
    for (struct name **place = &names; *place;) {
        struct name *name = *place;
        size_t length = (size_t)(strrchr(name->path, '/') - name->path);
        bool is_in_folder = folder && strlen(folder) == length && strncmp(folder, name->path, length) == 0;
        if (is_in_folder || (path && strcmp(path, name->path) == 0)) {
            *place = name->before;
            free(name);
        } else {
            place = &name->before;
        }
    }
    pthread_mutex_unlock(&lock);
}

// A file or folder is synced.
static void forget(int descriptor) {
    struct stat file;
    if (!losing || fstat(descriptor, &file) != 0) return;
    forget_changes(&file);
    if (!S_ISDIR(file.st_mode)) return;
    char path[PATH_MAX];
    path_of(descriptor, path);
    forget_names(path, NULL);
}

static int remove_one(const char *path, const struct stat *file, int type, struct FTW *place) {
    (void)file;
    (void)place;
    syscall(SYS_unlinkat, AT_FDCWD, path, type == FTW_DP ? AT_REMOVEDIR : 0);
    return 0;
}

// Undoes what is not synced. A name that was removed or replaced stays so: a file system may have written that.
static void lose(void) {
    pthread_mutex_lock(&lock);
    for (struct change *change = changes; change; change = change->before) {
        struct stat file;
        int descriptor = (int)syscall(SYS_openat, AT_FDCWD, change->path, O_WRONLY | O_CLOEXEC, 0);
        if (descriptor < 0) continue;
        if (fstat(descriptor, &file) == 0 && file.st_ino == change->file.st_ino) {
            if (change->count > 0) syscall(SYS_pwrite64, descriptor, change->bytes, change->count, change->offset);
            syscall(SYS_ftruncate, descriptor, change->file.st_size);
        }
        close(descriptor);
    }
    // A folder goes with all that is in it.
    for (struct name *name = names; name; name = name->before) nftw(name->path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void step(const char *call, const char *path) {
    if (recording) dprintf(STDERR_FILENO, "%s %s\n", call, path);
    number_of_calls++;
    if (remaining < 0 || remaining-- != 0) return;
    lose();
    // Not by _exit: the thread sanitizer would end first what it believes to be open, and with a code of its own.
    syscall(SYS_exit_group, 99);
}

static void step_of(const char *call, int descriptor) {
    char path[PATH_MAX];
    path_of(descriptor, path);
    step(call, path);
}

int fsync(int descriptor) {
    step_of("fsync", descriptor);
    int result = (int)syscall(SYS_fsync, descriptor);
    forget(descriptor);
    return result;
}

int fdatasync(int descriptor) {
    step_of("fdatasync", descriptor);
    int result = (int)syscall(SYS_fdatasync, descriptor);
    forget(descriptor);
    return result;
}

// The canonical name of what a path leads to; empty when it leads nowhere.
static void resolve(const char *path, char *resolved) {
    if (!losing || !realpath(path, resolved)) resolved[0] = 0;
}

int rename(const char *old, const char *new) {
    step("rename", new);
    char before[PATH_MAX];
    resolve(old, before);
    int result = (int)syscall(SYS_renameat2, AT_FDCWD, old, AT_FDCWD, new, 0);
    if (result == 0 && before[0]) forget_names(NULL, before);
    return result;
}

int unlink(const char *path) {
    step("unlink", path);
    char before[PATH_MAX];
    resolve(path, before);
    struct stat file;
    bool is_known = losing && lstat(path, &file) == 0;
    int result = (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
    if (result != 0 || !is_known) return result;
    // Another file may get the same number.
    if (file.st_nlink == 1) forget_changes(&file);
    if (before[0]) forget_names(NULL, before);
    return result;
}

int link(const char *old, const char *new) {
    step("link", new);
    int result = (int)syscall(SYS_linkat, AT_FDCWD, old, AT_FDCWD, new, 0);
    if (result == 0 && losing) remember_name(new);
    return result;
}

int mkdir(const char *path, mode_t mode) {
    step("mkdir", path);
    int result = (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
    if (result == 0 && losing) remember_name(path);
    return result;
}

// A file that is there already is opened without a change.
static int open_at(const char *path, int flags, mode_t mode) {
    int problem = errno;
    bool creates = (flags & O_CREAT) && !exists(path);
    errno = problem;
    if (creates) step("open", path);
    int descriptor = (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
    if (descriptor >= 0 && creates && losing) remember_name(path);
    return descriptor;
}

// Only with these flags there is a third argument.
#define MODE_AFTER(flags, mode) \
    mode_t mode = 0; \
    if (((flags) & O_CREAT) || ((flags) & O_TMPFILE) == O_TMPFILE) { \
        va_list arguments; \
        va_start(arguments, flags); \
        mode = va_arg(arguments, mode_t); \
        va_end(arguments); \
    }

int open(const char *path, int flags, ...) {
    MODE_AFTER(flags, mode)
    return open_at(path, flags, mode);
}

int open64(const char *path, int flags, ...) {
    MODE_AFTER(flags, mode)
    return open_at(path, flags | O_LARGEFILE, mode);
}

static ssize_t write_at(int descriptor, const void *bytes, size_t count, off64_t offset) {
    step_of("pwrite", descriptor);
    remember(descriptor, offset, count);
    return syscall(SYS_pwrite64, descriptor, bytes, count, offset);
}

ssize_t pwrite(int descriptor, const void *bytes, size_t count, off_t offset) {
    return write_at(descriptor, bytes, count, offset);
}

ssize_t pwrite64(int descriptor, const void *bytes, size_t count, off64_t offset) {
    return write_at(descriptor, bytes, count, offset);
}

static int truncate_to(int descriptor, off64_t length) {
    step_of("ftruncate", descriptor);
    struct stat file;
    if (losing && fstat(descriptor, &file) == 0 && file.st_size > length)
        remember(descriptor, length, (size_t)(file.st_size - length));
    else
        remember(descriptor, length, 0);
    return (int)syscall(SYS_ftruncate, descriptor, length);
}

int ftruncate(int descriptor, off_t length) { return truncate_to(descriptor, length); }
int ftruncate64(int descriptor, off64_t length) { return truncate_to(descriptor, length); }
