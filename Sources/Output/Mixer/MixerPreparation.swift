import CALSA
import Platform

/// The settings of a card's mixer that it needs to sound at all: some codecs start with their outputs switched off.
public struct MixerPreparation: Equatable, Sendable {
    /// The names of switches to put on.
    public var switches: [String]
    /// The names of volumes to set to 0 dB, or to the next lower setting.
    public var levels: [String]

    public init(switches: [String] = [], levels: [String] = []) {
        self.switches = switches
        self.levels = levels
    }

    /// Sets the switches and levels. A control that the card lacks or refuses is logged.
    ///
    /// Thread: any, but not the audio thread.
    /// - Parameter card: its id or its index.
    public func apply(card: String, configuration: ALSAConfiguration = .available) {
        if switches.isEmpty, levels.isEmpty { return }
        do throws(ALSAFailure) {
            apply(to: try MixerHandle.open(card: card, configuration: configuration))
        } catch {
            Log.warning("the mixer of card \(card): \(error.reason)")
        }
    }

    func apply(to mixer: borrowing MixerHandle) {
        for name in switches {
            set(name, mixer) { element throws(ALSAFailure) in
                try ALSAFailure.check(snd_mixer_selem_set_playback_switch_all(element, 1))
            }
        }
        for name in levels {
            set(name, mixer) { element throws(ALSAFailure) in
                try ALSAFailure.check(snd_mixer_selem_set_playback_dB_all(element, 0, -1))
            }
        }
    }

    private func set(
        _ name: String, _ mixer: borrowing MixerHandle, _ perform: (OpaquePointer) throws(ALSAFailure) -> Void
    ) {
        do throws(ALSAFailure) {
            let controls = mixer.controls().filter { $0.name.utf8.elementsEqual(name.utf8) }
            if controls.isEmpty { throw ALSAFailure(code: -ENOENT) }
            for control in controls { try perform(try mixer.element(of: control)) }
        } catch {
            Log.warning("the mixer's control `\(name)`: \(error.reason)")
        }
    }
}
