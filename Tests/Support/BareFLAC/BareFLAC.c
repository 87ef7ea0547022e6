// Decodes FLAC files with libFLAC, without checking their MD5, and writes 16-bit samples to stdout: the least that a
// player of FLAC has to do. tools/bench compares the engine with it.
#include <FLAC/stream_decoder.h>
#include <stdio.h>

static int16_t interleaved[65536 * 2];

static FLAC__StreamDecoderWriteStatus write_frame(
    const FLAC__StreamDecoder *decoder, const FLAC__Frame *frame, const FLAC__int32 *const channels[], void *client) {
    (void)decoder, (void)client;
    size_t count = frame->header.blocksize;
    if (frame->header.channels != 2 || frame->header.bits_per_sample != 16)
        return FLAC__STREAM_DECODER_WRITE_STATUS_ABORT;
    for (size_t index = 0; index < count; index++) {
        interleaved[2 * index] = (int16_t)channels[0][index];
        interleaved[2 * index + 1] = (int16_t)channels[1][index];
    }
    return fwrite(interleaved, 4, count, stdout) == count ? FLAC__STREAM_DECODER_WRITE_STATUS_CONTINUE
                                                          : FLAC__STREAM_DECODER_WRITE_STATUS_ABORT;
}

static void fail(const FLAC__StreamDecoder *decoder, FLAC__StreamDecoderErrorStatus status, void *client) {
    (void)decoder;
    fprintf(stderr, "%s\n", FLAC__StreamDecoderErrorStatusString[status]);
    *(int *)client = 1;
}

int main(int count, char *files[]) {
    int has_failed = 0;
    for (int file = 1; file < count; file++) {
        FLAC__StreamDecoder *decoder = FLAC__stream_decoder_new();
        if (decoder == NULL) return 1;
        if (FLAC__stream_decoder_init_file(decoder, files[file], write_frame, NULL, fail, &has_failed) != 0 ||
            !FLAC__stream_decoder_process_until_end_of_stream(decoder)) {
            fprintf(stderr, "%s: not decoded\n", files[file]);
            has_failed = 1;
        }
        FLAC__stream_decoder_delete(decoder);
    }
    return has_failed;
}
