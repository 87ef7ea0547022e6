import HTTPServer
import Platform

/// Counts the requests of each rule, and injects the faults that are due.
///
/// Thread: any.
/// `@unchecked Sendable` is safe because `lock` guards the counts.
final class FaultInjection: @unchecked Sendable {
    private let rules: [FaultRule]
    /// Returns seconds since 1970.
    private let now: @Sendable () -> Int64
    private let lock = Lock()
    /// The number of requests that have matched each rule.
    private var counts: [Int]

    init(_ plan: FaultPlan, now: @escaping @Sendable () -> Int64) {
        rules = plan.rules
        self.now = now
        counts = Array(repeating: 0, count: plan.rules.count)
    }

    /// - Parameter answer: returns the answer without a fault, except for the fault of its WebSocket.
    func answer(
        to request: HTTPRequest, _ answer: (HTTPRequest, DeliveryFault.SocketFault?) -> HTTPAnswer
    ) -> HTTPAnswer {
        guard let rule = rule(for: request) else { return answer(request, nil) }
        Log.notice("fault \(rule.name): \(request.path)")
        var request = request
        if let manifest = rule.manifest { request.query["manifest"] = manifest.rawValue }
        var result: HTTPAnswer
        if let status = rule.status {
            result = .refusal(status, rule.subStatus, "The fault \(rule.name) was asked for.")
            if let seconds = rule.retryAfter { result.headers.append(HTTPField("Retry-After", "\(seconds)")) }
        } else {
            result = answer(request, rule.delivery.socketFault)
        }
        if rule.clockOffset != 0 {
            result.headers.append(HTTPField("Date", HTTPDate.text(now() + Int64(rule.clockOffset))))
        }
        rule.delivery.inject(into: &result)
        return result
    }

    /// Returns the first rule that is due. The request counts for all rules that it matches.
    private func rule(for request: HTTPRequest) -> FaultRule? {
        guard !rules.isEmpty else { return nil }
        return lock.withLock {
            var due: FaultRule?
            for (index, rule) in rules.enumerated() where rule.matches(request.path) {
                let place = counts[index] - rule.skip
                counts[index] += 1
                if due == nil, place >= 0, rule.count.map({ place < $0 }) ?? true { due = rule }
            }
            return due
        }
    }
}
