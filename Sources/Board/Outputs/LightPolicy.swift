/// A condition that a light can show. The raw value is its name in a board profile.
public enum LightCondition: String, CaseIterable, Sendable {
    // The most urgent first: a light shows the first current condition that it has a pattern for.
    case error, boot, stalled, offline, paused, playing
}

/// The pattern of a light. The raw value is its name in a board profile.
public enum LightPattern: String, CaseIterable, Sendable {
    case off
    case on
    /// One second lit, one second dark.
    case slow
    /// A fifth of a second lit, a fifth dark.
    case fast
    /// A short flash every two seconds.
    case flash

    /// The lit and the dark time in milliseconds, beginning lit; nil for a pattern that does not blink.
    var cycle: (lit: Int, dark: Int)? {
        switch self {
        case .off, .on: nil
        case .slow: (1000, 1000)
        case .fast: (200, 200)
        case .flash: (100, 1900)
        }
    }
}

/// Decides which lights are lit. Time is an argument, in nanoseconds of any one clock. Apply `isLit` after each call,
/// and call `advance` at `deadline`.
public struct LightPolicy {
    private struct Light {
        let patterns: [LightCondition: LightPattern]
        var pattern = LightPattern.off
        var isLit = false
        var nextChange: Int64?
    }

    private var lights: [Light]

    /// Makes all lights dark, until conditions are shown.
    public init(_ lights: [BoardLight]) { self.lights = lights.map { Light(patterns: $0.patterns) } }

    /// Whether each light is lit, in the order of the profile.
    public var isLit: [Bool] { lights.map { $0.isLit } }

    /// When to call `advance`; nil when no light blinks.
    public var deadline: Int64? { lights.compactMap { $0.nextChange }.min() }

    /// Replaces the current conditions. A light whose pattern stays the same continues to blink in its rhythm.
    public mutating func show(_ conditions: Set<LightCondition>, at now: Int64) {
        for index in lights.indices {
            let patterns = lights[index].patterns
            let shown = LightCondition.allCases.first { conditions.contains($0) && patterns[$0] != nil }
            let pattern = shown.flatMap { patterns[$0] } ?? .off
            guard pattern != lights[index].pattern else { continue }
            lights[index].pattern = pattern
            lights[index].isLit = pattern != .off
            lights[index].nextChange = pattern.cycle.map { now + Int64($0.lit) * 1_000_000 }
        }
    }

    /// Switches the blinking lights that are due.
    public mutating func advance(to now: Int64) {
        for index in lights.indices {
            guard let due = lights[index].nextChange, due <= now else { continue }
            guard let cycle = lights[index].pattern.cycle else { continue }
            lights[index].isLit.toggle()
            let length = Int64(lights[index].isLit ? cycle.lit : cycle.dark) * 1_000_000
            // A late call does not catch up on missed changes.
            lights[index].nextChange = due + length > now ? due + length : now + length
        }
    }
}
