#pragma once

/// Writes each call that changes files to stderr, as "fsync /path": `fsync`, `fdatasync`, `rename`, `unlink`, `link`,
/// `mkdir`, `pwrite`, `ftruncate`, and `open` where it creates a file. The program's own definitions stand before
/// libc's, also for libraries.
void file_calls_record(void);

/// Ends the process with code 99 instead of the call with this number, from 0, as a power cut does at that point.
/// Earlier writes are on the medium, unless `file_calls_lose_unsynced` was called.
void file_calls_cut(long number);

/// How many such calls there were since `file_calls_cut`.
long file_calls_count(void);

/// A cut loses all that was written and not synced, as a power cut may: also files and folders that were created, until
/// their folder is synced. Names that were removed or replaced stay so.
void file_calls_lose_unsynced(void);
