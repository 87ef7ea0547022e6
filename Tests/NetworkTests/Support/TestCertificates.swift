import Foundation
import TestSupport

/// Authorities and certificates for a server on this machine, made by openssl.
struct TestCertificates {
    /// The fault in the certificate of a server.
    enum Kind: String, CaseIterable {
        case good, expired, future, otherHost, otherAuthority
    }

    let folder: ScratchFolder

    init() throws {
        folder = try ScratchFolder()
        for authority in ["authority", "stranger"] {
            try run(
                "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 30 -subj /CN=Tonearm-\(authority)"
                    + " -addext keyUsage=critical,keyCertSign -keyout \(authority).key -out \(authority).pem")
        }
        try write(
            """
            [ca]
            default_ca = tests
            [tests]
            database = index
            new_certs_dir = .
            rand_serial = yes
            default_md = sha256
            policy = policy
            copy_extensions = copy
            unique_subject = no
            email_in_dn = no
            [policy]
            commonName = supplied
            """, to: "ca.conf")
        for kind in Kind.allCases { try make(kind) }
    }

    func path(_ name: String) -> String { folder[name] }
    var authority: String { path("authority.pem") }
    var stranger: String { path("stranger.pem") }

    /// SHA-256 of the public key of a server's certificate, in base64.
    func pin(of kind: Kind) throws -> String {
        let command = "openssl x509 -in \(kind.rawValue).pem -noout -pubkey | openssl pkey -pubin -outform der"
        return try shell("\(command) | openssl dgst -sha256 -binary | base64")
            .trimmingCharacters(in: .whitespacesAndNewlines)
    }

    private func make(_ kind: Kind) throws {
        let name = kind.rawValue
        let hosts = kind == .otherHost ? "DNS:elsewhere.example" : "DNS:localhost,IP:127.0.0.1,IP:::1"
        try run(
            "req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=server"
                + " -addext subjectAltName=\(hosts) -keyout \(name).key -out \(name).csr")
        let authority = kind == .otherAuthority ? "stranger" : "authority"
        let dates =
            switch kind {
            case .expired: "-startdate 20200101000000Z -enddate 20200201000000Z"
            case .future: "-startdate 20900101000000Z -enddate 20910101000000Z"
            default: "-days 20"
            }
        try write("", to: "index")
        try run(
            "ca -batch -notext -config ca.conf -cert \(authority).pem -keyfile \(authority).key -in \(name).csr"
                + " -out \(name).pem \(dates)")
    }

    private func write(_ text: String, to name: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: path(name)))
    }

    private func run(_ arguments: String) throws { _ = try shell("openssl \(arguments)") }

    @discardableResult
    private func shell(_ command: String) throws -> String {
        let result = try TestProcess.run("/bin/sh", ["-c", command], in: folder.path)
        guard result.code == 0 else { throw ServerFailure(reason: result.errors) }
        return result.text
    }
}

/// Why a server for tests does not run.
struct ServerFailure: Error, CustomStringConvertible {
    let reason: String
    var description: String { reason }
}
