// Counts the heap calls of one thread: malloc, calloc, realloc, free, posix_memalign and aligned_alloc, from any code
// that makes them: Swift's runtime, the C library, alsa-lib. Linking this target replaces them for the whole test
// program.
#pragma once

#include <stdbool.h>

/// Whether heap calls can be counted. False under a sanitizer, which has its own allocator.
bool allocation_counter_works(void);

/// Starts counting at zero, for the calling thread alone.
void allocation_counter_start(void);

/// Stops counting for the calling thread.
/// Returns the heap calls since `allocation_counter_start` on this thread.
long allocation_counter_stop(void);

/// Called at every counted heap call: the place for a debugger's breakpoint.
void allocation_counter_hit(void);
