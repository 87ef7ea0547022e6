#pragma once

/// Writes each call that changes a file to stderr, as "fsync /path": `fsync`, `fdatasync`, `rename`, `unlink`, `pwrite`
/// and `ftruncate`. The program's own definitions stand before libc's, also for libraries.
void file_calls_record(void);

/// Ends the process with code 99 instead of the call with this number, from 0, as a power cut does at that point.
/// Writes before it are on the medium: what a cut does to writes without an fsync is not shown.
void file_calls_cut(long number);
