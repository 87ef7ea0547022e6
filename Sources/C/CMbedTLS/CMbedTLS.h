// mbedTLS: only what Mbed TLS 2.28 (Debian 12) and 3.6 (what ships) both declare in the same way, and TLS in 3.6 alone.
#include <mbedtls/aes.h>
#include <mbedtls/constant_time.h>
#include <mbedtls/ecdsa.h>
#include <mbedtls/ecp.h>
#include <mbedtls/gcm.h>
#include <mbedtls/hkdf.h>
#include <mbedtls/md.h>
#include <mbedtls/platform_util.h>
#include <mbedtls/version.h>

#if MBEDTLS_VERSION_MAJOR >= 3
#include <mbedtls/platform.h>
#include <mbedtls/ssl.h>
#include <mbedtls/x509_crt.h>

/// What an authority may sign with: mbedTLS's own choice (SHA-256 or longer, RSA of 2048 bits or more, P-256, P-384).
static inline void tonearm_use_default_profile(mbedtls_ssl_config *configuration) {
    mbedtls_ssl_conf_cert_profile(configuration, &mbedtls_x509_crt_profile_default);
}
#endif

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

/// Whether the processor has instructions for AES and for the multiplication of GCM. mbedTLS uses them then: on x86-64
/// and on arm64, and not in 32-bit programs.
static inline int tonearm_processor_has_aes(void) {
#if defined(__x86_64__)
    unsigned a, b, c = 0, d;
    unsigned wanted = bit_AES | bit_PCLMUL;
    return __get_cpuid(1, &a, &b, &c, &d) && (c & wanted) == wanted;
#elif defined(__aarch64__)
    unsigned long wanted = HWCAP_AES | HWCAP_PMULL;
    return (getauxval(AT_HWCAP) & wanted) == wanted;
#else
    return 0;
#endif
}
