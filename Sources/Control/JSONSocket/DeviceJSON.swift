import Appliance
import Output
import PCM
import Platform

/// Sound cards as JSON, for the request `devices` and for `tonearm devices --json`. `docs/control.md` documents them.
public enum DeviceJSON {
    /// Returns a card with its devices and the controls of its mixer.
    public static func value(of card: SoundCard) -> JSONValue {
        [
            "id": .string(card.id), "index": .integer(Int64(card.index)), "name": .string(card.name),
            "devices": .array(card.devices.map { value(of: $0) }),
            "mixerControls": .array(card.mixerControls.map { value(of: $0) }),
        ]
    }

    private static func value(of device: SoundCardDevice) -> JSONValue {
        var capabilities: DeviceCapabilities?
        var problem: String?
        switch device.availability {
        case .available(let known): capabilities = known
        case .busy: break
        case .unusable(let error): problem = error.description
        }
        return [
            "device": .string(device.device), "name": .string(device.name),
            "kind": .string(device.kind.text), "rank": JSONValue(device.kind.rank),
            "busy": .boolean(device.availability == .busy), "error": JSONValue(problem),
            "rates": list(capabilities?.rates.map { .integer(Int64($0)) }),
            "sampleFormats": list(capabilities?.sampleFormats.map { .string("\($0.name)") }),
            "minimumChannels": JSONValue(capabilities?.channels.first),
            "maximumChannels": JSONValue(capabilities?.channels.last),
        ]
    }

    private static func value(of control: MixerControl) -> JSONValue {
        [
            "name": .string(control.name), "index": .integer(Int64(control.index)),
            "minimumDecibels": decibels(control.decibelRange?.lowerBound),
            "maximumDecibels": decibels(control.decibelRange?.upperBound), "mute": .boolean(control.hasSwitch),
        ]
    }

    private static func decibels(_ hundredths: Int?) -> JSONValue { JSONValue(hundredths.map { Double($0) / 100 }) }
    private static func list(_ values: [JSONValue]?) -> JSONValue { values.map { .array($0) } ?? .null }
}
