// Downloads one file with libcurl into a file, as it is or sealed by mbedTLS's AES-256-GCM in chunks of 64 KiB: the
// least that a download has to do. tools/bench compares DownloadMeter with it.
//
//     bare-download file|sealed|synced URL AUTHORITY FILE
//
// Prints the bytes, the microseconds from the request to the last byte on the medium, and those of processor time.
#include <curl/curl.h>
#include <fcntl.h>
#include <mbedtls/gcm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

// SYNC: chunks between two syncs, as many as the offline engine writes between two records.
enum { CHUNK = 65536, NONCE = 12, TAG = 16, SYNC = 64 };

static int file;
static int is_sealed;
static int is_synced;
static long long total;
static mbedtls_gcm_context cipher;
static unsigned char chunk[NONCE + CHUNK + TAG];
static size_t filled;
static unsigned long long number;

static int write_all(const void *bytes, size_t count) {
    const char *next = bytes;
    while (count > 0) {
        ssize_t written = write(file, next, count);
        if (written <= 0) return -1;
        next += written;
        count -= (size_t)written;
    }
    return 0;
}

static int seal(void) {
    memcpy(chunk, &number, sizeof number);
    unsigned char *bytes = chunk + NONCE;
    if (mbedtls_gcm_crypt_and_tag(
            &cipher, MBEDTLS_GCM_ENCRYPT, filled, chunk, NONCE, (unsigned char *)&number, sizeof number, bytes, bytes,
            TAG, bytes + filled))
        return -1;
    int code = write_all(chunk, NONCE + filled + TAG);
    number++;
    filled = 0;
    if (is_synced && number % SYNC == 0 && fsync(file)) return -1;
    return code;
}

static size_t receive(char *bytes, size_t size, size_t count, void *context) {
    (void)size, (void)context;
    total += (long long)count;
    if (!is_sealed) return write_all(bytes, count) ? 0 : count;
    for (size_t done = 0; done < count;) {
        size_t part = count - done < CHUNK - filled ? count - done : CHUNK - filled;
        memcpy(chunk + NONCE + filled, bytes + done, part);
        filled += part;
        done += part;
        if (filled == CHUNK && seal()) return 0;
    }
    return count;
}

static long long microseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000LL + now.tv_nsec / 1000;
}

static long long processor_time(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    long long seconds = usage.ru_utime.tv_sec + usage.ru_stime.tv_sec;
    return seconds * 1000000 + usage.ru_utime.tv_usec + usage.ru_stime.tv_usec;
}

int main(int count, char *arguments[]) {
    if (count != 5) return 1;
    is_synced = strcmp(arguments[1], "synced") == 0;
    is_sealed = is_synced || strcmp(arguments[1], "sealed") == 0;
    file = open(arguments[4], O_CREAT | O_TRUNC | O_WRONLY, 0600);
    if (file < 0) return 1;
    unsigned char key[32] = {7};
    mbedtls_gcm_init(&cipher);
    if (mbedtls_gcm_setkey(&cipher, MBEDTLS_CIPHER_ID_AES, key, 256)) return 1;
    curl_global_init(CURL_GLOBAL_DEFAULT);
    long long start = microseconds(), processor = processor_time();
    CURL *transfer = curl_easy_init();
    curl_easy_setopt(transfer, CURLOPT_URL, arguments[2]);
    // mbedTLS as it ships reads no files.
    static char authority[65536];
    int authorities = open(arguments[3], O_RDONLY);
    ssize_t size = read(authorities, authority, sizeof authority - 1);
    struct curl_blob blob = {authority, size < 0 ? 0 : (size_t)size + 1, CURL_BLOB_NOCOPY};
    curl_easy_setopt(transfer, CURLOPT_CAINFO_BLOB, &blob);
    curl_easy_setopt(transfer, CURLOPT_PROXY, "");
    curl_easy_setopt(transfer, CURLOPT_FAILONERROR, 1L);
    // The cipher that the engine prefers with instructions for AES; without them mbedTLS's own order is the same.
    if (getenv("BARE_DOWNLOAD_AES")) curl_easy_setopt(transfer, CURLOPT_TLS13_CIPHERS, "TLS_AES_128_GCM_SHA256");
    curl_easy_setopt(transfer, CURLOPT_WRITEFUNCTION, receive);
    CURLcode code = curl_easy_perform(transfer);
    if (code != CURLE_OK) {
        fprintf(stderr, "%s\n", curl_easy_strerror(code));
        return 1;
    }
    if ((is_sealed && seal()) || fsync(file)) return 1;
    printf("%lld %lld %lld 0\n", total, microseconds() - start, processor_time() - processor);
    return 0;
}
