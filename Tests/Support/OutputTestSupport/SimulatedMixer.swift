import SimulatedCard
import Testing

@testable import Output

/// A card's mixer with one control, under the real alsa-lib.
public final class SimulatedMixer {
    public let raw: OpaquePointer

    public init(
        _ range: ClosedRange<Int>, from least: Int32? = nil, step: Int32 = 0, mutesAtFirst: Bool = false,
        hasSwitch: Bool = false
    ) throws {
        raw = try "Digital".withCString { name in
            var volume = simulated_volume()
            volume.name = name
            volume.first = range.lowerBound
            volume.last = range.upperBound
            volume.has_decibels = least != nil
            volume.least_decibels = least ?? 0
            volume.decibels_a_step = step
            volume.mutes_at_first = mutesAtFirst
            volume.has_switch = hasSwitch
            return try #require(simulated_mixer_create(&volume))
        }
    }

    deinit { simulated_mixer_free(raw) }

    public func open(limits: ClosedRange<Int>? = nil) throws -> HardwareMixer {
        try #require(
            HardwareMixer(
                try MixerHandle(adopting: simulated_mixer_control(raw)), limits: limits, card: "Simulated",
                configuration: .builtIn))
    }

    /// Sets both channels, as another program does.
    public func set(_ value: Int) {
        for channel in Int32(0)...1 { simulated_mixer_set_value(raw, channel, value) }
    }

    public var value: Int { simulated_mixer_value(raw, 0) }
    public var isOn: Bool { simulated_mixer_is_on(raw) }
}
