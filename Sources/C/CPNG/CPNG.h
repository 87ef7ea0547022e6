// libpng reports errors by longjmp(3), which may not leave functions of Swift: these functions return instead.
#pragma once

#include <png.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/// A picture that is read row by row.
struct tonearm_png {
    png_structp png;
    png_infop info;
    /// The picture's bytes, which are the caller's.
    const uint8_t *bytes;
    size_t count;
    size_t offset;
    uint32_t width;
    uint32_t height;
    /// 3 (RGB) or 4 (RGBA), 8 bits each.
    int channels;
    /// How often all rows are read: more than once when the picture is interlaced.
    int passes;
};

static inline void tonearm_png_failed(png_structp png, png_const_charp message) {
    (void)message;
    png_longjmp(png, 1);
}

static inline void tonearm_png_warned(png_structp png, png_const_charp message) {
    (void)png;
    (void)message;
}

static inline void tonearm_png_take(png_structp png, png_bytep to, size_t count) {
    struct tonearm_png *reader = (struct tonearm_png *)png_get_io_ptr(png);
    if (count > reader->count - reader->offset) png_error(png, "cut");
    memcpy(to, reader->bytes + reader->offset, count);
    reader->offset += count;
}

/// Reads up to the pixels. Returns 0, or -1 when the picture is damaged; the reader is to be closed in both cases.
static inline int tonearm_png_open(struct tonearm_png *reader, const uint8_t *bytes, size_t count) {
    memset(reader, 0, sizeof *reader);
    reader->bytes = bytes;
    reader->count = count;
    reader->png = png_create_read_struct(PNG_LIBPNG_VER_STRING, NULL, tonearm_png_failed, tonearm_png_warned);
    if (!reader->png) return -1;
    reader->info = png_create_info_struct(reader->png);
    if (!reader->info) return -1;
    if (setjmp(png_jmpbuf(reader->png))) return -1;
    png_set_read_fn(reader->png, reader, tonearm_png_take);
    // No texts and profiles, which may unpack to any size; transparency stays.
    png_set_keep_unknown_chunks(reader->png, PNG_HANDLE_CHUNK_NEVER, NULL, -1);
    png_set_chunk_malloc_max(reader->png, 1 << 20);
    png_read_info(reader->png, reader->info);
    reader->width = png_get_image_width(reader->png, reader->info);
    reader->height = png_get_image_height(reader->png, reader->info);
    png_set_scale_16(reader->png);
    png_set_expand(reader->png);
    png_set_gray_to_rgb(reader->png);
    reader->passes = png_set_interlace_handling(reader->png);
    return 0;
}

/// Prepares for the rows, after the width and the height were found good. Returns 0 or -1.
static inline int tonearm_png_start(struct tonearm_png *reader) {
    if (setjmp(png_jmpbuf(reader->png))) return -1;
    png_read_update_info(reader->png, reader->info);
    reader->channels = png_get_channels(reader->png, reader->info);
    if (png_get_bit_depth(reader->png, reader->info) != 8 || reader->channels < 3 || reader->channels > 4) return -1;
    return png_get_rowbytes(reader->png, reader->info) == (size_t)reader->width * (size_t)reader->channels ? 0 : -1;
}

/// Reads the next row. Of an interlaced picture, `row` has what earlier passes left in it. Returns 0 or -1.
static inline int tonearm_png_row(struct tonearm_png *reader, uint8_t *row) {
    if (setjmp(png_jmpbuf(reader->png))) return -1;
    png_read_row(reader->png, row, NULL);
    return 0;
}

static inline void tonearm_png_close(struct tonearm_png *reader) {
    png_destroy_read_struct(&reader->png, &reader->info, NULL);
}
