# shellcheck shell=bash
# Sysroots of Debian packages, with our own builds of alsa-lib, SQLite, mbedTLS and libcurl in them. Sourced, never run.
# Nothing of a target is executed and nothing needs root.
# shellcheck source=apt.sh
source "$ROOT/tools/lib/apt.sh"

# C library, compiler support, and the libraries of Package.swift except alsa-lib, of which Debian has no static
# archive, no more than of libsoxr, libebur128 and libwavpack, libmpg123, libvorbis, libopus and libmicrohttpd, which
# are built smaller, and mbedTLS and libcurl, whose versions in SUITE are too old
# (docs/decisions/tls-in-what-ships.md). c-ares resolves names for libcurl:
# that of libc needs shared libraries (NSS), and a resolution of it cannot be cancelled.
SYSROOT_PACKAGES=libc6-dev,libgcc-12-dev,libflac-dev,libexpat1-dev,libsqlite3-dev,libjansson-dev,libgpiod-dev
SYSROOT_PACKAGES+=,libc-ares-dev,libfaad-dev
# For tonearm-pictures.
SYSROOT_PACKAGES+=,libturbojpeg0-dev,libpng-dev,zlib1g-dev,libwebp-dev

# A sound card (hw), nothing (null) and a file for tests: the engine opens no other kind of device.
ALSA_OPTIONS=(
    --quiet --prefix=/usr --enable-static --disable-shared
    "--with-pcm-plugins=hw,null,file" --with-ctl-plugins=no --with-libdl=no --without-versioned
    --disable-ucm --disable-topology --disable-rawmidi --disable-hwdep --disable-seq --disable-aload
    --disable-alisp --disable-old-symbols --disable-python
)

# Debian's archive of SQLite has every extension in it and brings the dynamic loader along: 0.6 MB more than this, which
# also leaves out what the engine does not use. What the last two lines leave out was 77 kB.
SQLITE_OPTIONS=(
    -DHAVE_USLEEP=1 -DHAVE_FDATASYNC=1 -DSQLITE_DQS=0 -DSQLITE_DEFAULT_MEMSTATUS=0 -DSQLITE_OMIT_LOAD_EXTENSION
    -DUSE_PREAD=1 -DSQLITE_OMIT_DEPRECATED -DSQLITE_OMIT_JSON -DSQLITE_OMIT_SHARED_CACHE
    -DSQLITE_OMIT_TRACE -DSQLITE_OMIT_COMPLETE -DSQLITE_OMIT_GET_TABLE -DSQLITE_OMIT_DECLTYPE -DSQLITE_OMIT_UTF16
    -DSQLITE_OMIT_AUTHORIZATION -DSQLITE_OMIT_LOCALTIME -DSQLITE_OMIT_INCRBLOB -DSQLITE_OMIT_AUTOVACUUM
    -DSQLITE_OMIT_DESERIALIZE -DSQLITE_OMIT_XFER_OPT -DSQLITE_OMIT_COMPILEOPTION_DIAGS -DSQLITE_UNTESTABLE
    -DSQLITE_OMIT_TCL_VARIABLE -DSQLITE_OMIT_WINDOWFUNC -DSQLITE_OMIT_VIRTUALTABLE
    -DSQLITE_OMIT_VIEW -DSQLITE_OMIT_EXPLAIN -DSQLITE_OMIT_ANALYZE -DSQLITE_OMIT_CTE
)

# A decoder of single frames: tags, gaps, seeks, the index and the rate are the engine's own, and samples are float. It
# has 115 kB; with everything in it there were 250.
MPG123_OPTIONS=(
    --quiet --prefix=/usr --enable-static --disable-shared --disable-components --enable-libmpg123
    --disable-equalizer --disable-downsample --disable-ntom --disable-icy --disable-moreinfo --disable-messages
    --disable-feature_report --disable-16bit --disable-8bit --disable-32bit --disable-layer1 --disable-id3v2
    --disable-string --disable-gapless --disable-lfs-alias --with-seektable=0
)

# Decoders of single packets: containers, seeks and files are the engine's own.
VORBIS_OPTIONS=(
    --quiet --prefix=/usr --enable-static --disable-shared --disable-docs --disable-examples --disable-oggtest
)
OPUS_OPTIONS=(--quiet --prefix=/usr --enable-static --disable-shared --disable-doc --disable-extra-programs)

# A server of HTTP/1.1 and WebSockets with a thread for each connection, and without TLS, which would be GnuTLS's.
MICROHTTPD_OPTIONS=(
    --quiet --prefix=/usr --enable-static --disable-shared --disable-doc --disable-examples --disable-curl
    --disable-https --disable-dauth --disable-bauth --disable-cookie --disable-postprocessor --disable-messages
    --disable-epoll
)

# What clients and servers of today's TLS and the engine's own ciphers do not need goes. The linker leaves out unused
# functions by itself, but not what a table of ciphers, hashes or curves names.
MBEDTLS_UNSET=(
    MBEDTLS_SELF_TEST MBEDTLS_DEBUG_C MBEDTLS_VERSION_FEATURES MBEDTLS_VERSION_C MBEDTLS_TIMING_C MBEDTLS_NET_C
    # Errors in words: 15 kB. Their numbers do, with <mbedtls/ssl.h>.
    MBEDTLS_ERROR_C MBEDTLS_ERROR_STRERROR_DUMMY
    # DTLS, sessions that servers resume, and what TLS clients do not do. libcurl and libmicrohttpd speak HTTP/1.1
    # alone, so there is no protocol to agree on.
    MBEDTLS_SSL_CACHE_C MBEDTLS_SSL_COOKIE_C MBEDTLS_SSL_TICKET_C MBEDTLS_SSL_RENEGOTIATION
    MBEDTLS_SSL_PROTO_DTLS MBEDTLS_SSL_DTLS_CONNECTION_ID MBEDTLS_SSL_DTLS_CONNECTION_ID_COMPAT
    MBEDTLS_SSL_DTLS_ANTI_REPLAY MBEDTLS_SSL_DTLS_HELLO_VERIFY MBEDTLS_SSL_DTLS_CLIENT_PORT_REUSE
    MBEDTLS_SSL_CONTEXT_SERIALIZATION MBEDTLS_SSL_ALPN MBEDTLS_SSL_MAX_FRAGMENT_LENGTH
    MBEDTLS_SSL_KEYING_MATERIAL_EXPORT
    # Key exchanges without forward secrecy, and the slow one with it.
    MBEDTLS_KEY_EXCHANGE_PSK_ENABLED MBEDTLS_KEY_EXCHANGE_DHE_PSK_ENABLED MBEDTLS_KEY_EXCHANGE_ECDHE_PSK_ENABLED
    MBEDTLS_KEY_EXCHANGE_RSA_PSK_ENABLED MBEDTLS_KEY_EXCHANGE_RSA_ENABLED MBEDTLS_KEY_EXCHANGE_DHE_RSA_ENABLED
    MBEDTLS_KEY_EXCHANGE_ECDH_RSA_ENABLED MBEDTLS_KEY_EXCHANGE_ECDH_ECDSA_ENABLED MBEDTLS_DHM_C
    MBEDTLS_SSL_TLS1_3_KEY_EXCHANGE_MODE_PSK_ENABLED
    # Ciphers and hashes that no server chooses any more, or never did.
    MBEDTLS_CAMELLIA_C MBEDTLS_ARIA_C MBEDTLS_DES_C MBEDTLS_RIPEMD160_C MBEDTLS_LMS_C MBEDTLS_ECJPAKE_C MBEDTLS_CCM_C
    MBEDTLS_CMAC_C MBEDTLS_CIPHER_MODE_CFB MBEDTLS_CIPHER_MODE_OFB MBEDTLS_CIPHER_MODE_XTS MBEDTLS_NIST_KW_C
    MBEDTLS_CIPHER_PADDING_ONE_AND_ZEROS MBEDTLS_CIPHER_PADDING_ZEROS_AND_LEN MBEDTLS_CIPHER_PADDING_ZEROS
    MBEDTLS_SHA1_C MBEDTLS_SHA224_C MBEDTLS_SHA3_C MBEDTLS_ECDSA_DETERMINISTIC MBEDTLS_HMAC_DRBG_C
    # What authorities do not use: they have P-256 and P-384. X25519 is for the exchange of keys.
    MBEDTLS_ECP_DP_SECP192R1_ENABLED MBEDTLS_ECP_DP_SECP224R1_ENABLED MBEDTLS_ECP_DP_SECP192K1_ENABLED
    MBEDTLS_ECP_DP_SECP224K1_ENABLED MBEDTLS_ECP_DP_SECP256K1_ENABLED MBEDTLS_ECP_DP_BP256R1_ENABLED
    MBEDTLS_ECP_DP_BP384R1_ENABLED MBEDTLS_ECP_DP_BP512R1_ENABLED MBEDTLS_ECP_DP_CURVE448_ENABLED
    # Keys in files, passwords of keys, what writes certificates and revokes them, certificates in words.
    MBEDTLS_FS_IO MBEDTLS_PSA_CRYPTO_STORAGE_C MBEDTLS_PSA_ITS_FILE_C MBEDTLS_X509_CREATE_C MBEDTLS_X509_CRT_WRITE_C
    MBEDTLS_X509_CSR_WRITE_C MBEDTLS_X509_CSR_PARSE_C MBEDTLS_X509_CRL_PARSE_C MBEDTLS_PKCS5_C MBEDTLS_PKCS7_C
    MBEDTLS_PKCS12_C MBEDTLS_PEM_WRITE_C MBEDTLS_PK_PARSE_EC_EXTENDED MBEDTLS_PK_RSA_ALT_SUPPORT MBEDTLS_GENPRIME
    MBEDTLS_PADLOCK_C
)
MBEDTLS_SET=(
    # Several threads use PSA's key store, which TLS 1.3 needs.
    MBEDTLS_THREADING_C MBEDTLS_THREADING_PTHREAD
    # Certificates are checked against the time that is trusted, which need not be that of this machine's clock.
    MBEDTLS_PLATFORM_TIME_ALT
    MBEDTLS_X509_REMOVE_INFO
    # AES by the processor (AESNI, AESCE) is on by default; SHA-256 by the processor is not.
    MBEDTLS_SHA256_USE_ARMV8_A_CRYPTO_IF_PRESENT
)

# HTTP/1.1 and WebSocket over TLS. Redirects, credentials, cookies and compression are not libcurl's here
# (docs/decisions/libcurl-on-an-event-loop.md).
CURL_OPTIONS=(
    --quiet --prefix=/usr --enable-static --disable-shared --with-mbedtls --enable-ares --disable-websockets
    --without-ca-bundle --without-ca-path --without-zlib --without-brotli --without-zstd --without-libpsl
    --without-libidn2 --without-nghttp2 --without-libssh2 --without-librtmp --without-zsh-functions-dir
    --without-fish-functions-dir
    --disable-ftp --disable-file --disable-ldap --disable-rtsp --disable-dict --disable-telnet --disable-tftp
    --disable-pop3 --disable-imap --disable-smb --disable-smtp --disable-gopher --disable-mqtt --disable-ipfs
    --disable-manual --disable-docs --disable-unix-sockets --disable-ntlm --disable-kerberos-auth
    --disable-negotiate-auth --disable-bearer-auth --disable-digest-auth --disable-aws --disable-netrc
    --disable-progress-meter --disable-doh --disable-alt-svc --disable-hsts --disable-cookies --disable-mime
    --disable-form-api --disable-dateparse --disable-get-easy-options --disable-headers-api --disable-libcurl-option
    --disable-verbose --disable-socketpair
)

# Small, and in sections, so that the linker can leave out what the engine does not call. Nothing is ever thrown through
# C, so there is nothing to unwind.
LIBRARY_CFLAGS=(-Oz -ffunction-sections -fdata-sections -fno-asynchronous-unwind-tables -fno-unwind-tables)

# patch_alsa SOURCE
patch_alsa() { patch --directory="$1" --strip=1 --fuzz=0 <"$ROOT/tools/lib/alsa-lib.patch"; }

# amalgamate_sqlite SOURCE: makes SOURCE/sqlite3.c, all of SQLite in one file, as its authors want it compiled. Its
# parser is generated here, so it takes the options, too.
amalgamate_sqlite() {
    cd "$1" || return
    ./configure --quiet --disable-tcl --disable-readline
    make sqlite3.c OPTS="${SQLITE_OPTIONS[*]}"
}

# trim_vorbis SOURCE: without the functions of the encoder that the tables of the decoder name, and what they need.
trim_vorbis() {
    sed --in-place --regexp-extended 's/^  &mapping0_(pack|forward),$/  0,/' "$1/lib/mapping0.c"
    sed --in-place 's/^  &floor1_pack,/  0,/' "$1/lib/floor1.c"
    sed --in-place --regexp-extended 's/^  &res[0-2]_(pack|class|forward),$/  0,/' "$1/lib/res0.c"
    sed --in-place 's/^  if(encp){/  if(0){/' "$1/lib/block.c"
}

# make_sysroot APT DIR: for the target in use. A mirror may lack an architecture's updates, or be halfway through
# fetching them: then the release alone has to do, and $DIR.without-updates says so.
make_sysroot() {
    local apt=$1 dir=$2
    rm -f "$dir.without-updates"
    if ! unpack_packages "$dir" "$apt/binary.list"; then
        grep " $SUITE main$" "$apt/binary.list" >"$dir.list"
        unpack_packages "$dir" "$dir.list"
        : >"$dir.without-updates"
    fi
    drop_unwind_tables "$dir"
}

# unpack_packages DIR SOURCES: dependencies included; no script of theirs is run.
unpack_packages() {
    rm -rf "$1"
    mkdir -p "$1"
    mmdebstrap --mode=chrootless --variant=extract --arch="$DEBIAN_ARCH" --include="$SYSROOT_PACKAGES" \
        "$SUITE" "$1" "$2"
}

# drop_unwind_tables SYSROOT: threads end by returning and nothing is thrown, so nothing reads how to unwind through
# Debian's archives: 95 kB of the arm64 engine. With these archives, pthread_exit and pthread_cancel abort.
drop_unwind_tables() {
    local archive
    # Some are not archives but scripts for the linker.
    find "$1/usr/lib" -name '*.a' -exec grep --files-with-matches --text '^!<arch>' {} + | while read -r archive; do
        llvm-objcopy --remove-section=.eh_frame "$archive"
    done
}

# build_alsa SOURCE BUILD SYSROOT: a static alsa-lib for the target in use, installed into its sysroot.
build_alsa() {
    local source=$1 build=$2 sysroot=$3 part
    rm -rf "$build"
    mkdir -p "$build"
    cd "$build" || return
    "$source/configure" --host="$MULTIARCH" --libdir="/usr/lib/$MULTIARCH" "${ALSA_OPTIONS[@]}" \
        CC="clang --target=$CLANG_TARGET --sysroot=$sysroot -fuse-ld=lld" CFLAGS="${LIBRARY_CFLAGS[*]}" \
        AR=llvm-ar RANLIB=llvm-ranlib
    for part in include src; do
        make -j2 -C "$part"
        make -C "$part" install DESTDIR="$sysroot"
    done
    make -C utils install DESTDIR="$sysroot"
}

# build_sqlite SOURCE SYSROOT: for the target in use, in place of the archive of libsqlite3-dev.
build_sqlite() {
    local source=$1 sysroot=$2 object=$2/tmp/sqlite3.o library=$2/usr/lib/$MULTIARCH/libsqlite3.a
    clang "--target=$CLANG_TARGET" "--sysroot=$sysroot" "${LIBRARY_CFLAGS[@]}" "${SQLITE_OPTIONS[@]}" -w \
        -c "$source/sqlite3.c" -o "$object"
    rm "$library"
    llvm-ar rcs "$library" "$object"
    cp "$source/sqlite3.h" "$sysroot/usr/include/"
}

# build_mpg123 SOURCE BUILD SYSROOT: a static libmpg123 for the target in use, installed into its sysroot.
build_mpg123() {
    local source=$1 build=$2 sysroot=$3
    rm -rf "$build"
    mkdir -p "$build"
    cd "$build" || return
    "$source/configure" --host="$MULTIARCH" --libdir="/usr/lib/$MULTIARCH" "${MPG123_OPTIONS[@]}" \
        --with-cpu="$MPG123_CPU" CC="clang --target=$CLANG_TARGET --sysroot=$sysroot -fuse-ld=lld ${MACHINE_FLAGS[*]}" \
        CFLAGS="${LIBRARY_CFLAGS[*]}" AR=llvm-ar RANLIB=llvm-ranlib
    # Most of the time of a decoder goes by in layer III, which is mostly tables. The program lies at a fixed address,
    # so they can be addressed directly: together with vector code this takes 5 % less.
    make src/libmpg123/libmpg123_la-layer3.lo CFLAGS="${LIBRARY_CFLAGS[*]/-Oz/-O2} -fno-pie"
    make -j2 src/libmpg123/libmpg123.la
    cp src/libmpg123/.libs/libmpg123.a "$sysroot/usr/lib/$MULTIARCH/"
    mkdir -p "$sysroot/usr/lib/$MULTIARCH/pkgconfig"
    cp libmpg123.pc "$sysroot/usr/lib/$MULTIARCH/pkgconfig/"
    cp src/libmpg123/mpg123.h "$source/src/libmpg123/fmt123.h" "$sysroot/usr/include/"
}

# Of libsoxr: conversion in double precision alone. Without its parts of single precision, but with that of variable
# rates, it would use the latter for everything.
SOXR_SOURCES=(soxr data-io dbesi0 filter fft4g64 cr cr64)
SOXR_OPTIONS=(
    AVCODEC_FOUND=0 AVUTIL_FOUND=0 WITH_PFFFT=0 HAVE_FENV_H=1 HAVE_STDBOOL_H=1 HAVE_STDINT_H=1 HAVE_LRINT=1
    HAVE_BIGENDIAN=0 WITH_CR32=0 WITH_CR32S=0 WITH_CR64=1 WITH_CR64S=0 WITH_VR32=0 WITH_HI_PREC_CLOCK=1
    WITH_FLOAT_STD_PREC_CLOCK=0 WITH_DEV_TRACE=0)

# build_soxr SOURCE BUILD SYSROOT: a static libsoxr for the target in use, installed into its sysroot.
build_soxr() {
    local source=$1 build=$2 sysroot=$3 name flags
    local library=$3/usr/lib/$MULTIARCH/libsoxr.a
    rm -rf "$build" "$library"
    mkdir -p "$build" "$sysroot/usr/lib/$MULTIARCH/pkgconfig"
    # Its own configuration needs cmake.
    printf '#define %s\n' "${SOXR_OPTIONS[@]/=/ }" >"$build/soxr-config.h"
    for name in "${SOXR_SOURCES[@]}"; do
        flags=("${LIBRARY_CFLAGS[@]}")
        # Here most of the time of a conversion goes by.
        case $name in cr64 | fft4g64) flags=("${flags[@]/-Oz/-O2}") ;; esac
        clang "--target=$CLANG_TARGET" "--sysroot=$sysroot" "${MACHINE_FLAGS[@]}" "${flags[@]}" -w -DSOXR_LIB \
            "-I$build" "-I$source/src" -c "$source/src/$name.c" -o "$build/$name.o"
    done
    llvm-ar rcs "$library" "$build"/*.o
    cp "$source/src/soxr.h" "$sysroot/usr/include/"
    printf 'Name: soxr\nDescription: sample rates\nVersion: 0.1.3\nLibs: -lsoxr\n' \
        >"$sysroot/usr/lib/$MULTIARCH/pkgconfig/soxr.pc"
}

# build_ebur128 SOURCE BUILD SYSROOT: a static libebur128 for the target in use, installed into its sysroot.
build_ebur128() {
    local source=$1 build=$2 sysroot=$3
    local library=$3/usr/lib/$MULTIARCH/libebur128.a
    rm -rf "$build" "$library"
    mkdir -p "$build" "$sysroot/usr/lib/$MULTIARCH/pkgconfig"
    # The engine has sin and cos anyway: tan would be 7 kB more.
    printf '%s\n' '#include <math.h>' 'static double own_tan(double x) { return sin(x) / cos(x); }' \
        '#define tan own_tan' >"$build/own-tan.h"
    clang "--target=$CLANG_TARGET" "--sysroot=$sysroot" "${MACHINE_FLAGS[@]}" "${LIBRARY_CFLAGS[@]}" -w \
        -include "$build/own-tan.h" "-I$source/ebur128/queue" -c "$source/ebur128/ebur128.c" -o "$build/ebur128.o"
    llvm-ar rcs "$library" "$build/ebur128.o"
    cp "$source/ebur128/ebur128.h" "$sysroot/usr/include/"
    printf 'Name: libebur128\nDescription: loudness\nVersion: 1.2.6\nLibs: -lebur128\n' \
        >"$sysroot/usr/lib/$MULTIARCH/pkgconfig/libebur128.pc"
}

# build_vorbis SOURCE BUILD SYSROOT: a static libvorbis for the target in use, installed into its sysroot.
build_vorbis() {
    local source=$1 build=$2 sysroot=$3
    configure_autotools "$source" "$build" "$sysroot" "${VORBIS_OPTIONS[@]}"
    # What all samples go through; with the options that its configure adds.
    make -C lib mdct.lo floor1.lo res0.lo codebook.lo block.lo \
        CFLAGS="-ffast-math -fsigned-char ${LIBRARY_CFLAGS[*]/-Oz/-O2}"
    make -j2 -C lib libvorbis.la
    cp lib/.libs/libvorbis.a "$sysroot/usr/lib/$MULTIARCH/"
    cp vorbis.pc "$sysroot/usr/lib/$MULTIARCH/pkgconfig/"
    mkdir -p "$sysroot/usr/include/vorbis"
    cp "$source/include/vorbis/codec.h" "$sysroot/usr/include/vorbis/"
}

# build_opus SOURCE BUILD SYSROOT: a static libopus for the target in use, installed into its sysroot.
build_opus() {
    local source=$1 build=$2 sysroot=$3
    configure_autotools "$source" "$build" "$sysroot" "${OPUS_OPTIONS[@]}"
    make -j2 libopus.la
    cp .libs/libopus.a "$sysroot/usr/lib/$MULTIARCH/"
    cp opus.pc "$sysroot/usr/lib/$MULTIARCH/pkgconfig/"
    mkdir -p "$sysroot/usr/include/opus"
    cp "$source"/include/opus*.h "$sysroot/usr/include/opus/"
}

# Of libwavpack: the decoder of blocks in memory, without tags and the formats before version 4. 27 kB.
WAVPACK_SOURCES=(
    common_utils decorr_utils entropy_utils open_raw open_utils read_words unpack unpack_dsd unpack_floats unpack_utils
)
WAVPACK_OPTIONS=(-DNO_TAGS -DENABLE_DSD -DHAVE___BUILTIN_CLZ -DHAVE___BUILTIN_CTZ)

# build_wavpack SOURCE BUILD SYSROOT: a static libwavpack for the target in use, installed into its sysroot.
build_wavpack() {
    local source=$1 build=$2 sysroot=$3 name
    local library=$3/usr/lib/$MULTIARCH/libwavpack.a
    rm -rf "$build" "$library"
    mkdir -p "$build" "$sysroot/usr/lib/$MULTIARCH/pkgconfig" "$sysroot/usr/include/wavpack"
    for name in "${WAVPACK_SOURCES[@]}"; do
        clang "--target=$CLANG_TARGET" "--sysroot=$sysroot" "${MACHINE_FLAGS[@]}" "${LIBRARY_CFLAGS[@]}" -w \
            "${WAVPACK_OPTIONS[@]}" "-I$source/include" -c "$source/src/$name.c" -o "$build/$name.o"
    done
    llvm-ar rcs "$library" "$build"/*.o
    cp "$source/include/wavpack.h" "$sysroot/usr/include/wavpack/"
    printf 'Name: wavpack\nDescription: WavPack\nVersion: 5.6.0\nLibs: -lwavpack\n' \
        >"$sysroot/usr/lib/$MULTIARCH/pkgconfig/wavpack.pc"
}

# build_microhttpd SOURCE BUILD SYSROOT: a static libmicrohttpd for the target in use, installed into its sysroot.
build_microhttpd() {
    local source=$1 build=$2 sysroot=$3
    configure_autotools "$source" "$build" "$sysroot" "${MICROHTTPD_OPTIONS[@]}"
    make -j2 -C src/microhttpd libmicrohttpd.la
    cp src/microhttpd/.libs/libmicrohttpd.a "$sysroot/usr/lib/$MULTIARCH/"
    cp libmicrohttpd.pc "$sysroot/usr/lib/$MULTIARCH/pkgconfig/"
    cp "$source/src/include/microhttpd.h" "$sysroot/usr/include/"
}

# configure_autotools SOURCE BUILD SYSROOT OPTION…: for the target in use, and goes into BUILD. Nothing of this
# machine's pkg-config is looked at.
configure_autotools() {
    local source=$1 build=$2 sysroot=$3
    rm -rf "$build"
    mkdir -p "$build" "$sysroot/usr/lib/$MULTIARCH/pkgconfig"
    cd "$build" || return
    PKG_CONFIG_LIBDIR=$sysroot/usr/lib/$MULTIARCH/pkgconfig PKG_CONFIG_SYSROOT_DIR=$sysroot \
        "$source/configure" --host="$MULTIARCH" --libdir="/usr/lib/$MULTIARCH" "${@:4}" \
        CC="clang --target=$CLANG_TARGET --sysroot=$sysroot -fuse-ld=lld ${MACHINE_FLAGS[*]}" \
        CFLAGS="${LIBRARY_CFLAGS[*]}" AR=llvm-ar RANLIB=llvm-ranlib
}

# patch_mbedtls SOURCE: a later version that no longer needs it, or has it, is left as it is: tools/test-binaries says
# whether that was right.
patch_mbedtls() {
    local options=(--directory="$1" --strip=1 --fuzz=0 --forward)
    if patch "${options[@]}" --dry-run <"$ROOT/tools/lib/mbedtls.patch"; then
        patch "${options[@]}" <"$ROOT/tools/lib/mbedtls.patch"
    fi
    # The lower seven bits of the error, which are free, say which alert a server has sent: see
    # Sources/Network/Transfers/HandshakeFailure.swift.
    sed --in-place 's/return \(MBEDTLS_ERR_SSL_FATAL_ALERT_MESSAGE\);/return \1 - (ssl->in_msg[1] \& 0x7F);/' \
        "$1/library/ssl_msg.c"
}

# configure_mbedtls SOURCE: the options above, in the header that the library and its users read.
configure_mbedtls() {
    local option
    for option in "${MBEDTLS_UNSET[@]}"; do python3 "$1/scripts/config.py" unset "$option"; done
    for option in "${MBEDTLS_SET[@]}"; do python3 "$1/scripts/config.py" set "$option"; done
}

# build_mbedtls SOURCE BUILD SYSROOT: mbedTLS as static libraries for the target in use, installed into its sysroot.
build_mbedtls() {
    local source=$1 build=$2 sysroot=$3
    local libraries=(libmbedcrypto.a libmbedx509.a libmbedtls.a)
    # What runs over every byte of music is worth 10 KB: AES-GCM is 1.5 times as fast.
    local ciphers=(aes.o aesce.o aesni.o chacha20.o cipher.o gcm.o md5.o poly1305.o sha256.o)
    rm -rf "$build"
    mkdir -p "$build"
    cp -r "$source"/{include,library,3rdparty,scripts,framework} "$build"
    # Nothing is generated: the released source has the generated files in it.
    local make=(make -j2 -C "$build/library" GEN_FILES= AR=llvm-ar RANLIB=llvm-ranlib
        CC="clang --target=$CLANG_TARGET --sysroot=$sysroot ${MACHINE_FLAGS[*]}")
    "${make[@]}" "${ciphers[@]}" CFLAGS="${LIBRARY_CFLAGS[*]/-Oz/-O2}"
    "${make[@]}" "${libraries[@]}" CFLAGS="${LIBRARY_CFLAGS[*]}"
    (cd "$build/library" && cp "${libraries[@]}" "$sysroot/usr/lib/$MULTIARCH/")
    rm -rf "$sysroot"/usr/include/{mbedtls,psa}
    cp -r "$build"/include/{mbedtls,psa} "$sysroot/usr/include/"
}

# build_curl SOURCE BUILD SYSROOT: a static libcurl for the target in use, installed into its sysroot. Its configure
# would find this machine's libraries with pkg-config.
build_curl() {
    local source=$1 build=$2 sysroot=$3
    rm -rf "$build"
    mkdir -p "$build"
    cd "$build" || return
    "$source/configure" --host="$MULTIARCH" --libdir="/usr/lib/$MULTIARCH" "${CURL_OPTIONS[@]}" PKG_CONFIG=false \
        CC="clang --target=$CLANG_TARGET --sysroot=$sysroot -fuse-ld=lld ${MACHINE_FLAGS[*]}" \
        CFLAGS="${LIBRARY_CFLAGS[*]}" AR=llvm-ar RANLIB=llvm-ranlib
    make -j2 -C lib libcurl.la
    make -C lib install-libLTLIBRARIES DESTDIR="$sysroot"
    make -C include install DESTDIR="$sysroot"
    # SwiftPM refuses this option, which is for Windows.
    sed --in-place 's/ *-DCURL_STATICLIB//' libcurl.pc
    make install-pkgconfigDATA DESTDIR="$sysroot"
}
