import CLinux
import Network
import Platform

/// One question to a server, and the answer that is expected.
struct ServerCheck {
    enum Answer: Equatable {
        case text(String)
        case file
        case refused(TransferError)
        /// No TLS is agreed on, and no other attempt would end otherwise.
        case noTLS
        /// A failure because of the certificate itself, for any reason.
        case badCertificate
    }

    let name: String
    let server: String
    let answers: [Answer]
    var path = "/session"
    var scheme = "https"
    /// An authority of the system or of the test, and another one beside it.
    var authority = "authority"
    var extra: String?
    /// The server whose key `localhost` must have.
    var pin: String?
    /// The time in the settings, in seconds since 1970.
    var now = Int64(time(nil))
    /// Whether that is known. Otherwise it is the earliest possible time.
    var isProved = true
    /// Whether a server has proved the present time at the end.
    var provesTime = false
}

/// A time that is proved once, by a server.
/// `@unchecked Sendable` is safe because `lock` guards the time.
private final class CheckClock: CertificateClock, @unchecked Sendable {
    private let lock = Lock()
    private var time: CertificateTime
    private var proof: Int64?

    init(_ time: CertificateTime) { self.time = time }

    func now() -> CertificateTime { lock.withLock { time } }

    func serverProves(_ seconds: Int64) {
        lock.withLock {
            proof = seconds
            if !time.isProved { time = CertificateTime(seconds, isProved: true) }
        }
    }

    func serverReports(_ seconds: Int64) {}

    /// The time that the last server has proved.
    var proved: Int64? { lock.withLock { proof } }
}

extension ServerCheck {
    /// Asks as often as there are answers, with a new connection each time.
    /// - Returns: nil, or how the answer differs.
    func failure(_ servers: Servers) -> String? {
        let clock = CheckClock(CertificateTime(now, isProved: isProved))
        var settings = NetworkSettings(clock: clock)
        settings.caFile = authority == "system" ? NetworkSettings.systemAuthorities : servers.authority(authority)
        settings.extraCAFile = extra.map { servers.authority($0) }
        if let pin {
            guard let pin = HostPin(host: "localhost", keys: [servers.pin(of: pin)]) else { return "no pin" }
            settings.pins = [pin]
        }
        let network: Network
        do throws(NetworkSetupError) { network = try Network(settings) } catch { return error.description }
        defer { network.stop() }
        let request = TransferRequest(
            url: servers.url(path, of: server, scheme: scheme), headers: [HeaderField("Connection", "close")])
        for answer in answers {
            if let difference = difference(from: answer, request, network, servers) { return difference }
        }
        // The servers run on this machine, and the check takes seconds.
        let isProved = clock.proved.map { abs($0 - Int64(time(nil))) < 60 } ?? false
        return isProved == provesTime || self.isProved ? nil : "the time was proved: \(isProved)"
    }

    private func difference(
        from answer: Answer, _ request: TransferRequest, _ network: Network, _ servers: Servers
    ) -> String? {
        guard let cancellation = try? Cancellation() else { return "no descriptor" }
        let response: Response
        do throws(TransferError) {
            response = try network.fetch(request, maximumBody: 1 << 24, cancellation: cancellation)
        } catch {
            switch (answer, error) {
            case (.refused(let expected), _) where expected == error: return nil
            case (.noTLS, .tls(.handshake(_, isFinal: true))), (.badCertificate, .tls(.certificate)): return nil
            default: return error.description
            }
        }
        switch answer {
        case .text(let text) where response.body.elementsEqual(text.utf8): break
        case .file where response.body == servers.file: break
        case .text, .file: return "another answer: \(String(decoding: response.body.prefix(80), as: UTF8.self))"
        case .refused, .noTLS, .badCertificate: return "not refused"
        }
        return response.head.isVerifiedTLS ? nil : "not said to be verified"
    }
}
