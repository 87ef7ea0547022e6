import Platform

/// How long a stored response is fresh, and how old it is (RFC 9111, 4.2). Seconds.
///
/// Without `max-age` and `Expires` a response is stale at once. An estimate from the date of the last change could play
/// content that its owner has replaced.
struct Freshness: Equatable {
    let lifetime: Int64
    /// The age when the response arrived.
    private let initialAge: Int64
    private let received: Int64
    let control: CacheControl

    init(_ response: CachedResponse) {
        received = response.received
        control = CacheControl(response.values(of: "cache-control"))
        let date = response.value(of: "date").flatMap { HTTPDate.seconds(of: $0, now: response.received) }
        if let age = control.maximumAge {
            lifetime = age
        } else if let expires = response.value(of: "expires") {
            // An invalid date counts as expired (RFC 9111, 5.3).
            let end = HTTPDate.seconds(of: expires, now: response.received) ?? 0
            lifetime = max(0, end - (date ?? response.received))
        } else {
            lifetime = 0
        }
        let apparent = max(0, response.received - (date ?? response.received))
        let delay = max(0, response.received - response.requested)
        initialAge = max(apparent, Self.age(response) + delay)
    }

    /// Returns the field Age; 0 when it is missing or invalid (RFC 9111, 5.1).
    private static func age(_ response: CachedResponse) -> Int64 {
        guard let text = response.value(of: "age"), !text.isEmpty, text.utf8.allSatisfy({ $0.digit != nil }) else {
            return 0
        }
        return min(Int64(text) ?? .max, 2_147_483_648)
    }

    /// Returns nil when `now` is before the arrival of the response.
    func age(at now: Int64) -> Int64? {
        guard now >= received else { return nil }
        let (age, overflow) = initialAge.addingReportingOverflow(now - received)
        return overflow ? .max : age
    }

    /// Returns whether the response is fresh; false while the time is only the earliest possible one, because ages are
    /// unknown then.
    func isFresh(at now: CertificateTime) -> Bool {
        guard now.isProved, !control.isAlwaysRevalidated, let age = age(at: now.seconds) else { return false }
        return age < lifetime
    }

    /// Returns whether the response may replace an error of the server or of the network (RFC 5861, 4).
    func maySubstituteError(at now: CertificateTime) -> Bool {
        guard !control.mustRevalidate, !control.isAlwaysRevalidated, let grace = control.staleIfError else {
            return false
        }
        // With a wrong clock, the age is at least 0.
        let age = age(at: now.seconds) ?? 0
        return age - lifetime <= grace
    }
}
