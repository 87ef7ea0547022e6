# shellcheck shell=bash
# An nginx on the loopback interface with certificates of its own, good ones and bad ones. Sourced by
# tools/test-binaries; Tests/Support/SelfCheck knows the names.
#
# An authority `authority` (P-256), one `modern` (P-384), and one that nobody knows (`stranger`), all valid from 2000 to
# 2037. For each server NAME there are NAME.pem and NAME.key, and its port is in the file `ports`.

# Server, its authority, key, host, first day, last day ("-": valid now), versions of TLS.
TLS_SERVERS=(
    "good authority P-256 localhost - - TLSv1.3"
    "older authority P-256 localhost - - TLSv1.2"
    "rsa modern 2048 localhost - - TLSv1.3"
    "older-rsa modern 2048 localhost - - TLSv1.2"
    "large-rsa modern 4096 localhost - - TLSv1.3"
    "p384 authority P-384 localhost - - TLSv1.3"
    "p521 authority P-521 localhost - - TLSv1.3"
    "older-p521 modern P-521 localhost - - TLSv1.2"
    "ed25519 authority Ed25519 localhost - - TLSv1.3"
    "older-ed25519 authority Ed25519 localhost - - TLSv1.2"
    "oldest authority P-256 localhost - - TLSv1.1"
    "short-key modern 1024 localhost - - TLSv1.2"
    "past authority P-256 localhost 20200101 20200201 TLSv1.3"
    "future authority P-256 localhost 20350101 20350201 TLSv1.3"
    "other-host authority P-256 elsewhere.example - - TLSv1.3"
    "unknown stranger P-256 localhost - - TLSv1.3"
    "older-unknown stranger P-256 localhost - - TLSv1.2"
)

# openssl_key KIND FILE: a curve, Ed25519, or the bits of RSA.
openssl_key() {
    case $1 in
    P-*) openssl genpkey -algorithm EC -pkeyopt "ec_paramgen_curve:$1" -out "$2" ;;
    Ed*) openssl genpkey -algorithm "$1" -out "$2" ;;
    *) openssl genpkey -algorithm RSA -pkeyopt "rsa_keygen_bits:$1" -out "$2" ;;
    esac
}

# sign DIR NAME AUTHORITY FROM UPTO OPTION…: NAME.pem from NAME.csr.
sign() {
    local dir=$1 name=$2 authority=$3 from=$4 upto=$5
    : >"$dir/index"
    (cd "$dir" && openssl ca -batch -notext -config ca.conf -keyfile "$authority.key" -in "$name.csr" -out "$name.pem" \
        -startdate "${from}000000Z" -enddate "${upto}000000Z" "${@:6}")
}

# make_tls_certificates DIR
make_tls_certificates() {
    local dir=$1 authority curve entry name key host from upto
    cat >"$dir/ca.conf" <<END
[ca]
default_ca = tests
[tests]
database = index
new_certs_dir = .
rand_serial = yes
default_md = sha384
policy = policy
copy_extensions = copy
unique_subject = no
email_in_dn = no
[policy]
commonName = supplied
END
    for authority in authority modern stranger; do
        curve=P-256
        if [ "$authority" = modern ]; then curve=P-384; fi
        openssl_key "$curve" "$dir/$authority.key"
        openssl req -new -key "$dir/$authority.key" -subj "/CN=Tonearm $authority" -out "$dir/$authority.csr" \
            -addext basicConstraints=critical,CA:TRUE -addext keyUsage=critical,keyCertSign
        sign "$dir" "$authority" "$authority" 20000101 20370101 -selfsign
    done
    for entry in "${TLS_SERVERS[@]}"; do
        read -r name authority key host from upto _ <<<"$entry"
        if [ "$from" = - ]; then
            from=$(date --utc --date=yesterday +%Y%m%d)
            upto=$(date --utc --date='20 days' +%Y%m%d)
        fi
        openssl_key "$key" "$dir/$name.key"
        openssl req -new -key "$dir/$name.key" -subj /CN=server -addext "subjectAltName=DNS:$host" -out "$dir/$name.csr"
        sign "$dir" "$name" "$authority" "$from" "$upto" -cert "$authority.pem"
        openssl x509 -in "$dir/$name.pem" -noout -pubkey | openssl pkey -pubin -outform der |
            openssl dgst -sha256 -binary | base64 >"$dir/$name.pin"
    done
}

# start_tls_server DIR: on free ports. With `daemon on`, nginx returns when its sockets listen.
start_tls_server() {
    local dir=$1 entry name versions port part
    python3 - "${TLS_SERVERS[@]%% *}" plain >"$dir/ports" <<'END'
import socket, sys
sockets = [socket.create_server(("127.0.0.1", 0)) for _ in sys.argv[1:]]
for name, listener in zip(sys.argv[1:], sockets):
    print(name, listener.getsockname()[1])
END
    head --bytes=3000000 /dev/urandom >"$dir/file"
    part=$(printf '%03000d' 0)
    {
        cat <<END
user $(id -un); pid $dir/nginx.pid; worker_processes 1; error_log $dir/nginx.log;
events { worker_connections 256; }
http {
    access_log off; default_type application/octet-stream; ssl_session_cache shared:tests:1m;
    client_body_temp_path $dir/t1; proxy_temp_path $dir/t2; fastcgi_temp_path $dir/t3; uwsgi_temp_path $dir/t4;
    scgi_temp_path $dir/t5;
END
        while read -r name port; do
            versions=""
            for entry in "${TLS_SERVERS[@]}"; do
                if [ "${entry%% *}" = "$name" ]; then versions=${entry##* }; fi
            done
            echo "server {"
            if [ -n "$versions" ]; then
                echo "    listen 127.0.0.1:$port ssl; ssl_protocols $versions; ssl_ciphers DEFAULT@SECLEVEL=0;"
                echo "    ssl_certificate $dir/$name.pem; ssl_certificate_key $dir/$name.key;"
            else
                echo "    listen 127.0.0.1:$port;"
            fi
            cat <<END
    location = /file { alias $dir/file; }
    location = /session { return 200 "\$ssl_session_reused \$ssl_protocol"; }
    location = /cipher { return 200 "\$ssl_cipher"; }
    location = /moved { return 302 /session; }
    location = /long-field {
        set \$part $part;
        set \$long \$part\$part\$part\$part\$part\$part\$part\$part;
        add_header X-Long \$long\$long\$long\$long\$long; return 200 "x";
    }
}
END
        done <"$dir/ports"
        echo "}"
    } >"$dir/nginx.conf"
    /usr/sbin/nginx -p "$dir" -c nginx.conf -e nginx.log
}

# stop_tls_server DIR
stop_tls_server() { if [ -s "$1/nginx.pid" ]; then kill "$(cat "$1/nginx.pid")"; fi; }
