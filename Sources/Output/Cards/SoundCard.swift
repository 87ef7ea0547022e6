import PCM

/// A sound card as `tonearm devices` shows it.
public struct SoundCard: Equatable, Sendable {
    /// The id to open it with, as in `hw:CARD=id`.
    public var id: String
    /// The kernel's number, which may be different after the next start.
    public var index: Int
    public var name: String
    public var devices: [SoundCardDevice]
    public var mixerControls: [MixerControl]

    /// The cards of this machine, by ascending index. Opens each device for a moment; takes milliseconds.
    ///
    /// Thread: any, but not the audio thread.
    public static func all(configuration: ALSAConfiguration = .available) -> [SoundCard] {
        CardControl.all(configuration: configuration).map { card in
            SoundCard(
                id: card.id, index: card.index, name: card.name,
                devices: SoundCardDevice.all(card, configuration: configuration),
                mixerControls: MixerHandle.controls(card: card.id, configuration: configuration))
        }
    }
}

/// A playback device of a card.
public struct SoundCardDevice: Equatable, Sendable {
    public enum Availability: Equatable, Sendable {
        case available(DeviceCapabilities)
        /// Another program uses it, so its capabilities are unknown.
        case busy
        case unusable(DeviceError)
    }

    public var number: Int
    public var name: String
    public var kind: OutputKind
    /// The name to open it with: `hw:CARD=id,DEV=number`.
    public var device: String
    public var availability: Availability

    static func all(_ card: CardControl.Identity, configuration: ALSAConfiguration) -> [SoundCardDevice] {
        guard let control = try? CardControl(card: card.id, configuration: configuration) else { return [] }
        let survey = OutputSurvey(configuration: configuration)
        return control.playbackDevices().map { number, name in
            let device = DeviceName.device(card.id, number)
            return SoundCardDevice(
                number: number, name: name, kind: survey.kind(of: card, number, name), device: device,
                availability: Availability(of: device, configuration: configuration))
        }
    }
}

extension SoundCardDevice.Availability {
    /// Opens `device` for a moment.
    public init(of device: String, configuration: ALSAConfiguration = .available) {
        let handle: PCMHandle
        do throws(ALSAFailure) {
            handle = try PCMHandle(opening: device, configuration: configuration)
        } catch {
            switch DeviceError(opening: device, failure: error, configuration: configuration) {
            case .busy: self = .busy
            case let reason: self = .unusable(reason)
            }
            return
        }
        do throws(ALSAFailure) {
            self = .available(try HardwareParameters.all(of: handle).capabilities())
        } catch {
            self = .unusable(DeviceError(using: device, failure: error))
        }
    }
}
