import Platform

extension BoardSound {
    /// Reads the keys of a sound card, in `[sound]` of a profile or in a row of the table of DACs.
    /// - Returns: nil without its card, which is a problem of the reader then.
    init?(reading reader: inout SectionReader) {
        if reader.text("card") == nil { reader.refuse("needs `card`") }
        cards = reader.list("card")
        mixer = reader.text("mixer")
        let decibels = -12_000...2_400
        let least = reader.hundredthsOfDecibels("mixer-minimum", in: decibels)
        let most = reader.hundredthsOfDecibels("mixer-maximum", in: decibels)
        switch (least, most) {
        case (nil, nil): break
        case (let least?, let most?) where least < most: mixerRange = least...most
        default: reader.refuse("needs both `mixer-minimum` and `mixer-maximum`, the first below the second")
        }
        switches = reader.texts("switches")
        levels = reader.texts("levels")
        settleAtStart = reader.milliseconds("settle-at-start", in: 0...5000) ?? 0
        settleAtRateChange = reader.milliseconds("settle-at-rate-change", in: 0...5000) ?? 0
        if cards.isEmpty { return nil }
    }
}

extension SectionReader {
    /// Returns the texts between vertical bars, which may have commas; empty when the section does not have the key.
    mutating func texts(_ key: String) -> [String] {
        guard let value = text(key) else { return [] }
        return value.utf8.split(separator: UInt8(ascii: "|")).map { Self.trimmed($0) }
    }
}

extension BoardAmplifier {
    /// Reads the keys of an amplifier, which begin with `prefix`.
    /// - Parameter isNeeded: whether `role` is.
    init?(reading reader: inout SectionReader, prefix: String, line: LineReference?, isNeeded: Bool) {
        let active = reader.choice("\(prefix)active", of: ActiveLevel.self) ?? .high
        let role = reader.choice("\(prefix)role", of: BoardAmplifier.Role.self)
        if isNeeded, role == nil, reader.text("\(prefix)role") == nil { reader.refuse("needs `\(prefix)role`") }
        let times = 0...10_000
        let beforeStart = reader.milliseconds("\(prefix)mute-before-start", in: times) ?? 0
        let afterStart = reader.milliseconds("\(prefix)unmute-after-start", in: times) ?? 0
        let beforeStop = reader.milliseconds("\(prefix)mute-before-stop", in: times) ?? 0
        guard let line, let role else { return nil }
        self.init(
            line: line, active: active, role: role, muteBeforeStart: beforeStart, unmuteAfterStart: afterStart,
            muteBeforeStop: beforeStop)
    }
}
