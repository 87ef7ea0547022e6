import Foundation

/// The certificate of a server at 127.0.0.1 and `localhost`, with its key, made by openssl. An authority has signed
/// another one, which has signed the certificate.
public final class ServerCertificate: Sendable {
    /// The kind of the server's key, as `openssl genpkey` has it.
    public enum Kind: String, CaseIterable, Sendable {
        case p256 = "-algorithm EC -pkeyopt ec_paramgen_curve:P-256"
        case p384 = "-algorithm EC -pkeyopt ec_paramgen_curve:P-384"
        case rsa = "-algorithm RSA -pkeyopt rsa_keygen_bits:2048"
        case ed25519 = "-algorithm ED25519"
    }

    private static let made = MadeOnce<ServerCertificate>()
    /// All tests of a run have the same authority.
    private static let making = NSLock()
    private let folder: ScratchFolder

    /// The certificate of the authority, for clients.
    public var authority: String { folder["authority.pem"] }
    /// The certificate of the server, and the one between.
    public var chain: String { folder["chain.pem"] }
    /// The key in PKCS #8, and in the older form that names its algorithm.
    public var key: String { folder["server.key"] }
    public var olderKey: String { folder["older.key"] }
    /// The key with a password.
    public var lockedKey: String { folder["locked.key"] }
    /// The same key, in a certificate that may sign others, and nothing else.
    public var signing: String { folder["signing.pem"] }
    /// The same key, in a certificate that ended in January 2020.
    public var expired: String { folder["expired.pem"] }

    /// Returns the certificate of a kind, which is made once in a run.
    public static func of(_ kind: Kind) throws -> ServerCertificate {
        try making.withLock { try made.value("\(kind)") { try ServerCertificate(kind) } }
    }

    private init(_ kind: Kind) throws {
        folder = try ScratchFolder()
        let script = """
            set -e
            authority="-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -addext basicConstraints=critical,CA:TRUE"
            openssl req -x509 $authority -days 9 -subj /CN=authority -keyout authority.key -out authority.pem
            openssl req -new $authority -subj /CN=between -keyout between.key -out between.csr
            openssl x509 -req -in between.csr -CA authority.pem -CAkey authority.key -copy_extensions copyall -days 9 \
                -out between.pem
            openssl genpkey \(kind.rawValue) -out server.key
            openssl req -new -key server.key -subj /CN=server -addext subjectAltName=DNS:localhost,IP:127.0.0.1 \
                -out server.csr
            openssl x509 -req -in server.csr -CA between.pem -CAkey between.key -copy_extensions copyall -days 9 \
                -out server.pem
            cat server.pem between.pem > chain.pem
            openssl pkey -in server.key -traditional -out older.key || cp server.key older.key
            openssl pkey -in server.key -aes128 -passout pass:secret -out locked.key
            openssl req -x509 -key server.key -subj /CN=server -addext keyUsage=keyCertSign -days 9 -out signing.pem
            touch index
            printf '[ca]\\ndefault_ca=c\\n[c]\\ndatabase=index\\nnew_certs_dir=.\\nrand_serial=yes\\n' >ca
            printf 'default_md=sha256\\npolicy=p\\n[p]\\ncommonName=supplied\\n' >>ca
            openssl ca -batch -notext -config ca -cert between.pem -keyfile between.key -in server.csr \
                -out expired.pem -startdate 20200101000000Z -enddate 20200131120000Z
            """
        let made = try TestProcess.run("/bin/sh", ["-c", script], in: folder.path)
        guard made.code == 0 else { throw Unexpected("openssl: \(made.errors)") }
    }

    /// Python: `half_closed(plain, context, request)` sends a request and close_notify over a connected socket, and
    /// returns the bytes that arrive up to the server's close_notify. OpenSSL's own sockets can refuse such bytes.
    public static let halfClosedClient = """
        import socket, ssl
        def half_closed(plain, context, request):
            incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
            tls = context.wrap_bio(incoming, outgoing, server_hostname="localhost")
            def complete(call):
                while True:
                    try:
                        return call()
                    except ssl.SSLWantReadError:
                        plain.sendall(outgoing.read())
                        part = plain.recv(65536)
                        if not part:
                            raise EOFError("no close_notify")
                        incoming.write(part)
            complete(tls.do_handshake)
            if request:
                tls.write(request)
            try:
                tls.unwrap()
            except ssl.SSLWantReadError:
                pass
            plain.sendall(outgoing.read())
            received = b""
            try:
                while part := complete(lambda: tls.read(65536)):
                    received += part
            except ssl.SSLZeroReturnError:
                pass
            return received

        """

    public static func bytes(_ path: String) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(fileURLWithPath: path)))
    }
}
