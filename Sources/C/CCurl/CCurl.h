// libcurl, 7.88 (Debian 12) or later. Setting an option and reading a value are variadic calls, which Swift cannot
// make: there is a function for each kind of argument.
#pragma once

#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>
#include <sys/socket.h>
#include <unistd.h>

static inline CURLcode tonearm_curl_set_number(CURL *transfer, CURLoption option, long value) {
    return curl_easy_setopt(transfer, option, value);
}

static inline CURLcode tonearm_curl_set_size(CURL *transfer, CURLoption option, curl_off_t value) {
    return curl_easy_setopt(transfer, option, value);
}

/// libcurl copies the text.
static inline CURLcode tonearm_curl_set_text(CURL *transfer, CURLoption option, const char *value) {
    return curl_easy_setopt(transfer, option, value);
}

/// libcurl keeps the pointer.
static inline CURLcode tonearm_curl_set_pointer(CURL *transfer, CURLoption option, void *value) {
    return curl_easy_setopt(transfer, option, value);
}

/// libcurl keeps the pointer to the bytes, not to what describes them.
static inline CURLcode tonearm_curl_set_bytes(CURL *transfer, CURLoption option, const void *bytes, size_t count) {
    struct curl_blob blob = {.data = (void *)bytes, .len = count, .flags = CURL_BLOB_NOCOPY};
    return curl_easy_setopt(transfer, option, &blob);
}

/// The type of CURLOPT_HEADERFUNCTION and CURLOPT_WRITEFUNCTION.
typedef size_t (*tonearm_curl_bytes)(char *bytes, size_t size, size_t count, void *context);

/// What libcurl calls with the answer of a transfer; the context is also that of tonearm_curl_context.
static inline CURLcode tonearm_curl_set_answer_callbacks(
    CURL *transfer, tonearm_curl_bytes header, tonearm_curl_bytes body, void *context) {
    CURLcode codes[] = {
        curl_easy_setopt(transfer, CURLOPT_HEADERFUNCTION, header),
        curl_easy_setopt(transfer, CURLOPT_HEADERDATA, context),
        curl_easy_setopt(transfer, CURLOPT_WRITEFUNCTION, body),
        curl_easy_setopt(transfer, CURLOPT_WRITEDATA, context),
        curl_easy_setopt(transfer, CURLOPT_PRIVATE, context),
    };
    for (size_t index = 0; index < sizeof codes / sizeof *codes; index++)
        if (codes[index] != CURLE_OK) return codes[index];
    return CURLE_OK;
}

/// What libcurl calls while it connects, each with the same context.
struct tonearm_curl_callbacks {
    curl_resolver_start_callback resolving;
    curl_opensocket_callback connecting;
    curl_prereq_callback connected;
};

static inline CURLcode tonearm_curl_set_callbacks(
    CURL *transfer, struct tonearm_curl_callbacks callbacks, void *context) {
    CURLcode codes[] = {
        curl_easy_setopt(transfer, CURLOPT_RESOLVER_START_FUNCTION, callbacks.resolving),
        curl_easy_setopt(transfer, CURLOPT_RESOLVER_START_DATA, context),
        curl_easy_setopt(transfer, CURLOPT_OPENSOCKETFUNCTION, callbacks.connecting),
        curl_easy_setopt(transfer, CURLOPT_OPENSOCKETDATA, context),
        curl_easy_setopt(transfer, CURLOPT_PREREQFUNCTION, callbacks.connected),
        curl_easy_setopt(transfer, CURLOPT_PREREQDATA, context),
    };
    for (size_t index = 0; index < sizeof codes / sizeof *codes; index++)
        if (codes[index] != CURLE_OK) return codes[index];
    return CURLE_OK;
}

static inline CURLcode tonearm_curl_set_tls_callback(CURL *transfer, curl_ssl_ctx_callback callback, void *context) {
    CURLcode code = curl_easy_setopt(transfer, CURLOPT_SSL_CTX_FUNCTION, callback);
    return code == CURLE_OK ? curl_easy_setopt(transfer, CURLOPT_SSL_CTX_DATA, context) : code;
}

/// The context of the callbacks.
static inline void *tonearm_curl_context(CURL *transfer) {
    void *context = NULL;
    curl_easy_getinfo(transfer, CURLINFO_PRIVATE, &context);
    return context;
}

/// 0 when there is none.
static inline long tonearm_curl_number(CURL *transfer, CURLINFO name) {
    long value = 0;
    curl_easy_getinfo(transfer, name, &value);
    return value;
}

/// The socket of a connection that was made with CURLOPT_CONNECT_ONLY, or CURL_SOCKET_BAD.
static inline curl_socket_t tonearm_curl_socket(CURL *transfer) {
    curl_socket_t descriptor = CURL_SOCKET_BAD;
    if (curl_easy_getinfo(transfer, CURLINFO_ACTIVESOCKET, &descriptor) != CURLE_OK) return CURL_SOCKET_BAD;
    return descriptor;
}

/// NULL when there is none; libcurl owns the text.
static inline const char *tonearm_curl_text(CURL *transfer, CURLINFO name) {
    char *value = NULL;
    curl_easy_getinfo(transfer, name, &value);
    return value;
}

/// A socket that processes started by this one do not get.
static inline curl_socket_t tonearm_curl_open_socket(const struct curl_sockaddr *address) {
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

/// The address of `addrlen` bytes: the struct ends with the first of them.
static inline const struct sockaddr *tonearm_curl_address(const struct curl_sockaddr *address) {
    return &address->addr;
}

static inline CURLMcode tonearm_curl_multi_set_number(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}

/// What libcurl asks an event loop for.
static inline void tonearm_curl_multi_set_callbacks(
    CURLM *multi, curl_socket_callback socket, curl_multi_timer_callback timer, void *context) {
    curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, socket);
    curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, context);
    curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, timer);
    curl_multi_setopt(multi, CURLMOPT_TIMERDATA, context);
}

/// The transfer that has ended, and how; NULL when no other one has.
static inline CURL *tonearm_curl_multi_ended(CURLM *multi, CURLcode *result) {
    int left;
    CURLMsg *message = curl_multi_info_read(multi, &left);
    while (message && message->msg != CURLMSG_DONE) message = curl_multi_info_read(multi, &left);
    if (!message) return NULL;
    *result = message->data.result;
    return message->easy_handle;
}

/// What transfers share: TLS sessions. They all belong to one thread, so nothing locks.
static inline CURLSH *tonearm_curl_share_sessions(void) {
    CURLSH *share = curl_share_init();
    if (share) curl_share_setopt(share, CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION);
    return share;
}
