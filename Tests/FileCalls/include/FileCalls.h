#pragma once

/// Writes each call that changes a file to stderr, as "fsync /path": `fsync`, `fdatasync`, `rename`, `unlink`, `pwrite`
/// and `ftruncate`. The program's own definitions stand before libc's, also for libraries.
void file_calls_record(void);

/// Ends the process with code 99 instead of the call with this number, from 0, as a power cut does at that point.
/// Earlier writes are on the medium, unless `file_calls_lose_unsynced` was called.
void file_calls_cut(long number);

/// A cut loses all that was written and not synced, as a power cut may. The names of files stay.
void file_calls_lose_unsynced(void);
