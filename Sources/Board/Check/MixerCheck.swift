import Platform

/// Checks a card's mixer against the [sound] section of a profile.
struct MixerCheck {
    private let sound: BoardSound
    private let controls: [CardMixer.Control]
    private let chosen: String?

    static func finding(_ sound: BoardSound, on mixer: CardMixer) -> BoardCheck.Finding {
        let (verdict, message): (BoardCheck.Finding.Verdict, String) =
            switch mixer {
            case .unusable(let reason): (.missing, reason)
            case .controls(let controls, let chosen):
                MixerCheck(sound: sound, controls: controls, chosen: chosen).result
            }
        return BoardCheck.Finding(verdict: verdict, subject: "mixer", message: message)
    }

    private init(sound: BoardSound, controls: [CardMixer.Control], chosen: String?) {
        self.sound = sound
        self.controls = controls
        self.chosen = chosen
    }

    private var result: (BoardCheck.Finding.Verdict, String) {
        guard let name = sound.mixer ?? chosen else {
            guard sound.mixerRange != nil else {
                return (.present, "none that the volume could be set with: it is software")
            }
            return (.missing, "mixer-minimum and mixer-maximum are without a control: name one in `mixer`. \(usable)")
        }
        let named = controls.filter { $0.name.hasSameBytes(as: name) }
        guard !named.isEmpty else { return (.missing, "no control `\(name)`. \(usable)") }
        guard let range = named.lazy.compactMap({ $0.range }).first else {
            if sound.mixerRange == nil, named.contains(where: { $0.hasVolume }) {
                return (.present, "\(name), steps without decibels")
            }
            return (.missing, "`\(name)` has no volume in decibels. \(usable)")
        }
        let all = text(range)
        guard let wanted = sound.mixerRange else { return (.present, "\(name), \(all)") }
        guard wanted.lowerBound >= range.lowerBound, wanted.upperBound <= range.upperBound else {
            return (.missing, "`\(name)` does only \(all): set mixer-minimum and mixer-maximum to a part of that")
        }
        return (.present, "\(name), \(text(wanted)) of \(all)")
    }

    /// The controls that a profile can name instead.
    private var usable: String {
        let names = controls.filter { $0.range != nil }.map { $0.name }
        if !names.isEmpty { return "Controls with decibels here: \(names.joined(separator: ", "))." }
        return "The card has none with decibels: without `mixer` the volume is software."
    }

    private func text(_ range: ClosedRange<Int>) -> String {
        "\(decibels(range.lowerBound)) to \(decibels(range.upperBound)) dB"
    }

    /// `-103.5`
    private func decibels(_ hundredths: Int) -> String {
        let (whole, part) = hundredths.magnitude.quotientAndRemainder(dividingBy: 100)
        let sign = hundredths < 0 ? "-" : ""
        switch (part / 10, part % 10) {
        case (0, 0): return "\(sign)\(whole)"
        case (let tenths, 0): return "\(sign)\(whole).\(tenths)"
        case (let tenths, let rest): return "\(sign)\(whole).\(tenths)\(rest)"
        }
    }
}
