// The crypto half of mbedTLS: only what Mbed TLS 2.28 (Debian 12) and 3.6 (what ships) both declare in the same way.
#include <mbedtls/aes.h>
#include <mbedtls/constant_time.h>
#include <mbedtls/ecdsa.h>
#include <mbedtls/ecp.h>
#include <mbedtls/gcm.h>
#include <mbedtls/hkdf.h>
#include <mbedtls/md.h>
#include <mbedtls/platform_util.h>
#include <mbedtls/version.h>
