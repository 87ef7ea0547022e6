// libopus, 1.3 or later. Its requests to a decoder are variadic calls, which Swift cannot make.
#pragma once

#include <opus/opus_multistream.h>

/// Forgets all packets.
static inline int tonearm_opus_reset(OpusMSDecoder *decoder) {
    return opus_multistream_decoder_ctl(decoder, OPUS_RESET_STATE);
}

/// The gain of all output, in 1/256 dB.
static inline int tonearm_opus_set_gain(OpusMSDecoder *decoder, opus_int32 gain) {
    return opus_multistream_decoder_ctl(decoder, OPUS_SET_GAIN(gain));
}
