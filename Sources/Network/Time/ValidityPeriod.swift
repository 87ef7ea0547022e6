/// When all certificates of a server are valid, in seconds since 1970, both ends included (RFC 5280, 4.1.2.5).
struct ValidityPeriod: Equatable, Sendable {
    var notBefore: Int64
    var notAfter: Int64

    /// What the date of a server's first response over a connection means.
    enum Judgement: Equatable {
        case nothing
        /// It is that time.
        case proves(Int64)
        /// The certificate is not valid at that time, or at no time that is known.
        case refuses(TLSFailure)
    }

    /// The certificates have been accepted at `time`. While that is not proved, they may begin later: they are judged
    /// again by the date that the server itself reports.
    /// - Parameter date: of the field Date; nil without one.
    func judge(date: Int64?, at time: CertificateTime) -> Judgement {
        let isEarly = notBefore > time.seconds
        guard let date else { return isEarly ? .refuses(.notYetValid) : .nothing }
        if (notBefore...max(notBefore, notAfter)).contains(date) { return .proves(date) }
        // A known time counts more than the date of one server.
        if time.isProved { return .nothing }
        if date > notAfter { return .refuses(.expired) }
        return isEarly ? .refuses(.notYetValid) : .nothing
    }
}
