#define _GNU_SOURCE
#include "FileCalls.h"

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

static atomic_bool recording;
static atomic_long remaining = -1;
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
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void file_calls_record(void) { recording = 1; }
void file_calls_cut(long number) { remaining = number; }
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

static void forget(int descriptor) {
    struct stat file;
    if (!losing || fstat(descriptor, &file) != 0) return;
    pthread_mutex_lock(&lock);
    for (struct change **place = &changes; *place;) {
        struct change *change = *place;
        if (change->file.st_dev == file.st_dev && change->file.st_ino == file.st_ino) {
            *place = change->before;
            free(change);
        } else {
            place = &change->before;
        }
    }
    pthread_mutex_unlock(&lock);
}

// Undoes what is not synced. Names stay: a file system may have written them.
static void lose(void) {
    pthread_mutex_lock(&lock);
    for (struct change *change = changes; change; change = change->before) {
        struct stat file;
        int descriptor = open(change->path, O_WRONLY | O_CLOEXEC);
        if (descriptor < 0) continue;
        if (fstat(descriptor, &file) == 0 && file.st_ino == change->file.st_ino) {
            if (change->count > 0) syscall(SYS_pwrite64, descriptor, change->bytes, change->count, change->offset);
            syscall(SYS_ftruncate, descriptor, change->file.st_size);
        }
        close(descriptor);
    }
}

static void step(const char *call, const char *path) {
    if (recording) dprintf(STDERR_FILENO, "%s %s\n", call, path);
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

int rename(const char *old, const char *new) {
    step("rename", new);
    return (int)syscall(SYS_renameat2, -100, old, -100, new, 0);
}

int unlink(const char *path) {
    step("unlink", path);
    return (int)syscall(SYS_unlinkat, -100, path, 0);
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
