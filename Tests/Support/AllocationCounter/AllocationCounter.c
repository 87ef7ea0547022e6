#include "AllocationCounter.h"

#include <errno.h>
#include <stddef.h>

static _Thread_local bool counting;
static _Thread_local long calls;

void allocation_counter_start(void) {
    calls = 0;
    counting = true;
}

long allocation_counter_stop(void) {
    counting = false;
    return calls;
}

__attribute__((noinline)) void allocation_counter_hit(void) { calls++; }

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define SANITIZED 1
#endif
#endif

#ifdef SANITIZED

bool allocation_counter_works(void) { return false; }

#else

// glibc's own names of the replaced functions.
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void *memory);

bool allocation_counter_works(void) { return true; }

static inline void count(void) {
    if (counting) allocation_counter_hit();
}

void *malloc(size_t size) {
    count();
    return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
    count();
    return __libc_calloc(number, size);
}

void *realloc(void *memory, size_t size) {
    count();
    return __libc_realloc(memory, size);
}

void free(void *memory) {
    count();
    __libc_free(memory);
}

void *aligned_alloc(size_t alignment, size_t size) {
    count();
    return __libc_memalign(alignment, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size) {
    count();
    *memory = __libc_memalign(alignment, size);
    return *memory ? 0 : ENOMEM;
}

#endif
