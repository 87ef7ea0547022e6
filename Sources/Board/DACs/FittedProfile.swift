import Platform

extension BoardProfile {
    /// A board that has nothing but a DAC on its header.
    public init(headerWith dac: HeaderDAC) {
        self.init(
            name: dac.title, reservedLines: [], buttons: [], encoders: [], lights: [], cellularInterfaces: [])
        self = fitted(with: dac).profile
    }

    /// Returns the profile of a board with `dac` on its header, and the mistakes of that combination, a line each.
    ///
    /// The profile's own `[sound]` and `[amplifier]` count; what it does not have comes from the DAC. Parts of the
    /// profile that need a line of the DAC are left out: a light there could silence it.
    public func fitted(with dac: HeaderDAC) -> (profile: BoardProfile, mistakes: [String]) {
        guard case .supported(let parts) = dac.support else { return (self, []) }
        var profile = self
        profile.sound = sound ?? parts.sound
        profile.isSoundOfDAC = sound == nil
        let texts =
            dac.ownLines + parts.held.compactMap { $0.line.text } + [parts.amplifier?.line.text].compactMap { $0 }
        let chip = self.chip ?? LineReference.headerChip
        let lines = texts.map { LineReference(chip: chip, text: $0) }
        var mistakes: [String] = []
        func isFree(_ subject: String, _ used: LineReference...) -> Bool {
            guard let line = used.first(where: { used in lines.contains { $0 == used } }) else { return true }
            mistakes.append("[\(subject)] is left out: \(dac.name) has \(line)")
            return false
        }
        profile.buttons = buttons.filter { isFree("button \($0.name)", $0.line) }
        profile.encoders = encoders.filter { isFree("encoder \($0.name)", $0.lineA, $0.lineB) }
        profile.lights = lights.filter { isFree($0.subject, $0.line) }
        if amplifier == nil, var amplifier = parts.amplifier {
            amplifier.line.chip = chip
            profile.amplifier = amplifier
            profile.partsOfDAC = [Amplifier.subject]
        }
        let held = parts.held.map { HeldLine(line: LineReference(chip: chip, line: $0.line.line), level: $0.level) }
        profile.heldLines = held.filter { $0.line != profile.amplifier?.line }
        profile.partsOfDAC += profile.heldLines.map { $0.subject }
        return (profile, mistakes)
    }
}
