// Vector instructions that Swift cannot name: minimum, maximum, and rounding to an integer. Each function has the same
// result on every processor.
#pragma once

#include <stdint.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

typedef float tonearm_float4 __attribute__((ext_vector_type(4)));
typedef int32_t tonearm_int4 __attribute__((ext_vector_type(4)));

/// Four samples, whose full scale is from -1 to 1, in 24 bits: rounded to the nearest, a tie to the even number. Beyond
/// full scale they are clipped; anything that is not a number is silence. For every processor.
static inline __attribute__((always_inline)) tonearm_int4 tonearm_in_24_bits_by_sums(tonearm_float4 samples) {
    const float lowest = -8388608.0f, highest = 8388607.0f;
    tonearm_float4 numbers = samples * 8388608.0f;
    numbers = numbers == numbers ? numbers : 0;
    numbers = numbers < lowest ? lowest : numbers;
    numbers = numbers > highest ? highest : numbers;
    // 2^23 with the sign of the number. The sum has no bits left for a fraction, so the processor rounds it. It has its
    // magnitude in the lowest bits.
    tonearm_int4 sign = (tonearm_int4)numbers & INT32_MIN;
    tonearm_int4 bits = (tonearm_int4)(numbers + (tonearm_float4)(sign | 0x4B000000));
    tonearm_int4 magnitude = (bits & INT32_MAX) - 0x4B000000;
    tonearm_int4 mask = bits >> 31;
    return (magnitude ^ mask) - mask;
}

/// As tonearm_in_24_bits_by_sums, in half the time where the processor can convert and round at once.
static inline __attribute__((always_inline)) tonearm_int4 tonearm_in_24_bits(tonearm_float4 samples) {
#if defined(__SSE2__)
    __m128 numbers = samples * 8388608.0f;
    __m128 valid = _mm_and_ps(numbers, _mm_cmpord_ps(numbers, numbers));
    __m128 clipped = _mm_min_ps(_mm_max_ps(valid, _mm_set1_ps(-8388608.0f)), _mm_set1_ps(8388607.0f));
    return (tonearm_int4)_mm_cvtps_epi32(clipped);
#elif defined(__aarch64__)
    // The conversion saturates, and gives 0 for what is not a number.
    int32x4_t rounded = vcvtnq_s32_f32((float32x4_t)(samples * 8388608.0f));
    return (tonearm_int4)vminq_s32(vmaxq_s32(rounded, vdupq_n_s32(-8388608)), vdupq_n_s32(8388607));
#else
    return tonearm_in_24_bits_by_sums(samples);
#endif
}
