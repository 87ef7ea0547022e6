#pragma once

/// Writes each call that changes a file to stderr, as "fsync /path": `fsync`, `fdatasync`, `rename`, `unlink`, `pwrite`
/// and `ftruncate`. The program's own definitions stand before libc's, also for libraries.
void file_calls_record(void);

/// Ends the process with code 99 instead of the call with this number, from 0, as a power cut does at that point.
/// Earlier writes are on the medium: the effect of a cut on writes without an fsync is not simulated.
void file_calls_cut(long number);
