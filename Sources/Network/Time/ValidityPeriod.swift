/// The time in which all certificates of a server are valid, in seconds since 1970, including both ends (RFC 5280,
/// 4.1.2.5).
struct ValidityPeriod: Equatable, Sendable {
    var notBefore: Int64
    var notAfter: Int64

    /// The meaning of the date of a server's first response over a connection.
    enum Judgement: Equatable {
        case nothing
        /// The date is the present time.
        case proves(Int64)
        /// The certificate is not valid at that time, or not at any known time.
        case refuses(TLSFailure)
    }

    /// Judges certificates that were accepted at `time`. If `time` is not proved, they may begin later: they are
    /// checked again at the date that the server itself reports.
    /// - Parameter date: the value of the field Date; nil without one.
    func judge(date: Int64?, at time: CertificateTime) -> Judgement {
        let isEarly = notBefore > time.seconds
        guard let date else { return isEarly ? .refuses(.notYetValid) : .nothing }
        if (notBefore...max(notBefore, notAfter)).contains(date) { return .proves(date) }
        // A proved time has priority over the date of one server.
        if time.isProved { return .nothing }
        if date > notAfter { return .refuses(.expired) }
        return isEarly ? .refuses(.notYetValid) : .nothing
    }
}
