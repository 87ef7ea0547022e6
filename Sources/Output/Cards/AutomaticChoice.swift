import Platform

/// The choice of a device for `auto`.
///
/// The best kind that can play is chosen (`OutputKind`). Among several of a kind, the device that played last is
/// preferred, then the first in the kernel's order. A better device that another program uses is waited for: players at
/// the start of a system, or a sound server, may use it for a moment.
struct AutomaticChoice: Equatable {
    /// How long a device that is in use is waited for, in nanoseconds.
    static let patience: Int64 = 2_000_000_000

    enum Result: Equatable {
        case device(String)
        /// This device is in use: choose again in a moment.
        case wait(String)
        case none
    }

    /// The time since which the best device is in use.
    private var waitingSince: Int64?

    /// - Parameters:
    ///   - last: the device that played last.
    ///   - now: the monotonic time in nanoseconds.
    ///   - patience: how long a device that is in use is waited for.
    ///   - availability: opens a device for a moment.
    mutating func choose(
        among candidates: [OutputCandidate], last: String?, now: Int64, patience: Int64 = AutomaticChoice.patience,
        availability: (String) -> SoundCardDevice.Availability
    ) -> Result {
        var busy: String?
        let ranked = Self.ranked(candidates, last: last)
        for candidate in ranked {
            switch availability(candidate.device) {
            case .available(let capabilities) where capabilities.canPlay:
                if let busy, waits(now, patience) { return .wait(busy) }
                waitingSince = nil
                return .device(candidate.device)
            case .busy: busy = busy ?? candidate.device
            case .available, .unusable: continue
            }
        }
        waitingSince = nil
        // When none can be used, opening the first one reports the reason.
        return (busy ?? ranked.first?.device).map { .device($0) } ?? .none
    }

    private mutating func waits(_ now: Int64, _ patience: Int64) -> Bool {
        let since = waitingSince ?? now
        waitingSince = since
        return now - since < patience
    }

    /// Whether a better kind of device than that of `device` can play. Devices of the same kind are not asked.
    static func hasBetter(
        than device: String, among candidates: [OutputCandidate],
        availability: (String) -> SoundCardDevice.Availability
    ) -> Bool {
        guard let current = candidates.first(where: { $0.device.utf8.elementsEqual(device.utf8) }) else { return false }
        return candidates.contains { candidate in
            guard candidate.kind.rawValue < current.kind.rawValue else { return false }
            guard case .available(let capabilities) = availability(candidate.device) else { return false }
            return capabilities.canPlay
        }
    }

    private static func ranked(_ candidates: [OutputCandidate], last: String?) -> [OutputCandidate] {
        var ranked: [OutputCandidate] = []
        for kind in OutputKind.allCases where kind != .notForPeople {
            let ofKind = candidates.filter { $0.kind == kind }
            func isLast(_ candidate: OutputCandidate) -> Bool {
                last.map { $0.utf8.elementsEqual(candidate.device.utf8) } ?? false
            }
            ranked += ofKind.filter(isLast) + ofKind.filter { !isLast($0) }
        }
        return ranked
    }
}
