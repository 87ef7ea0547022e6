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
