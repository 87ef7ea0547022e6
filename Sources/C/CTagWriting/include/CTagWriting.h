#ifndef TONEARM_CTAGWRITING_H
#define TONEARM_CTAGWRITING_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A tag of one value, in UTF-8. A null value removes the tag.
struct tonearm_tag {
    const char *name;
    const char *value;
};

/// The kinds of files whose tags can be written.
enum tonearm_tag_file {
    TONEARM_TAG_FILE_FLAC,
    TONEARM_TAG_FILE_WAV,
    TONEARM_TAG_FILE_AIFF,
    TONEARM_TAG_FILE_MP4,
    TONEARM_TAG_FILE_MP3,
    TONEARM_TAG_FILE_OGG_VORBIS,
    TONEARM_TAG_FILE_OGG_OPUS,
    TONEARM_TAG_FILE_OGG_FLAC,
    TONEARM_TAG_FILE_WAVPACK,
    /// Not supported by all versions of TagLib.
    TONEARM_TAG_FILE_DSF,
};

enum {
    TONEARM_TAGS_WRITTEN = 0,
    /// The file is of no kind whose tags can be written. It has not changed.
    TONEARM_TAGS_NOT_SUPPORTED = 1,
    /// The file cannot be written, or its structure is damaged. It may have changed in part.
    TONEARM_TAGS_FAILED = 2,
};

/// Sets tags of the music file at `path` in place, in the format that its kind has: Vorbis comments, ID3v2, APE or MP4.
/// Other tags stay. The kind is that which the player found: TagLib does not guess it.
int tonearm_set_tags(const char *path, enum tonearm_tag_file kind, const struct tonearm_tag *tags, size_t count);

/// Gives the open file `copy` the owner and the group of the open file `original`. Returns 0, or -1 with errno.
int tonearm_copy_owner(int original, int copy);

#ifdef __cplusplus
}
#endif

#endif
