// mbedTLS: what Mbed TLS 2.28 (Debian 12) and 3.6 (what ships) both declare in the same way, and functions that hide
// the differences. TLS clients are in 3.6 alone.
#include <mbedtls/aes.h>
#include <mbedtls/constant_time.h>
#include <mbedtls/ecdsa.h>
#include <mbedtls/ecp.h>
#include <mbedtls/gcm.h>
#include <mbedtls/hkdf.h>
#include <mbedtls/md.h>
#include <mbedtls/oid.h>
#include <mbedtls/pk.h>
#include <mbedtls/platform_util.h>
#include <mbedtls/ssl.h>
#include <mbedtls/version.h>
#include <mbedtls/x509_crt.h>

#include <errno.h>
#include <sys/random.h>

#if MBEDTLS_VERSION_MAJOR >= 3
#include <mbedtls/platform.h>
#include <psa/crypto.h>

/// What an authority may sign with: mbedTLS's own choice (SHA-256 or longer, RSA of 2048 bits or more, P-256, P-384).
static inline void tonearm_use_default_profile(mbedtls_ssl_config *configuration) {
    mbedtls_ssl_conf_cert_profile(configuration, &mbedtls_x509_crt_profile_default);
}
#endif

/// Fills a buffer from the kernel's generator: a source of random bytes in the form that mbedTLS takes.
static inline int tonearm_tls_random(void *context, unsigned char *bytes, size_t count) {
    (void)context;
    while (count > 0) {
        ssize_t done = getrandom(bytes, count, 0);
        if (done < 0 && errno != EINTR) return MBEDTLS_ERR_SSL_INTERNAL_ERROR;
        if (done > 0) {
            bytes += done;
            count -= done;
        }
    }
    return 0;
}

/// Prepares what TLS 1.3 needs. As often as wanted; 0 or an error.
static inline int tonearm_tls_prepare(void) {
#if MBEDTLS_VERSION_MAJOR >= 3
    return psa_crypto_init();
#else
    return 0;
#endif
}

/// Reads a private key without a password, in PEM that a 0 ends. `count` includes the 0.
static inline int tonearm_tls_parse_key(mbedtls_pk_context *key, const unsigned char *text, size_t count) {
#if MBEDTLS_VERSION_MAJOR >= 3
    return mbedtls_pk_parse_key(key, text, count, NULL, 0, tonearm_tls_random, NULL);
#else
    return mbedtls_pk_parse_key(key, text, count, NULL, 0);
#endif
}

/// Whether a private key is that of a certificate: 0, or an error.
static inline int tonearm_tls_check_pair(const mbedtls_x509_crt *certificate, const mbedtls_pk_context *key) {
#if MBEDTLS_VERSION_MAJOR >= 3
    return mbedtls_pk_check_pair(&certificate->pk, key, tonearm_tls_random, NULL);
#else
    return mbedtls_pk_check_pair(&certificate->pk, key);
#endif
}

/// Whether clients accept a certificate as that of a server, by its usages: 0, or an error.
static inline int tonearm_tls_check_usage(const mbedtls_x509_crt *certificate) {
    int code = mbedtls_x509_crt_check_key_usage(certificate, MBEDTLS_X509_KU_DIGITAL_SIGNATURE);
    if (code != 0) return code;
    return mbedtls_x509_crt_check_extended_key_usage(
        certificate, MBEDTLS_OID_SERVER_AUTH, MBEDTLS_OID_SIZE(MBEDTLS_OID_SERVER_AUTH));
}

/// Refuses versions of TLS before 1.2.
static inline void tonearm_tls_refuse_old_versions(mbedtls_ssl_config *configuration) {
#if MBEDTLS_VERSION_MAJOR >= 3
    mbedtls_ssl_conf_min_tls_version(configuration, MBEDTLS_SSL_VERSION_TLS1_2);
#else
    mbedtls_ssl_conf_min_version(configuration, MBEDTLS_SSL_MAJOR_VERSION_3, MBEDTLS_SSL_MINOR_VERSION_3);
#endif
}

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
