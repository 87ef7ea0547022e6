import Platform

/// Why a board profile cannot be used: all mistakes in it.
public struct BoardProfileError: Error, Equatable, Sendable {
    /// The path of the file, for messages.
    public var path: String
    /// The mistakes in the order of the file's lines; never empty.
    public var problems: [SectionedText.Problem]
}

extension BoardProfileError: CustomStringConvertible {
    /// One line for each problem: ``/etc/tonearm/board.conf:12: `bias` cannot be…``
    public var lines: [String] {
        problems.map { $0.line == 0 ? "\(path): \($0.message)" : "\(path):\($0.line): \($0.message)" }
    }

    public var description: String { lines.joined(separator: "\n") }
}

extension BoardProfile {
    /// Reads a profile's file.
    /// - Throws: an error that the file cannot be read, or all mistakes in it at once.
    public init(path: String) throws(BoardProfileError) {
        let text: [UInt8]
        do throws(SystemError) {
            text = try File.contents(of: path, limit: 1 << 20)
        } catch {
            throw BoardProfileError(path: path, problems: [SectionedText.Problem(line: 0, message: error.reason)])
        }
        try self.init(parsing: text, path: path)
    }

    /// Reads what can be used of a profile's file, and all mistakes in it. A part (button, encoder, light, amplifier)
    /// with a mistake is left out.
    /// - Returns: no profile where it has no board, or cannot be read.
    public static func readAround(path: String) -> (profile: BoardProfile?, mistakes: [String]) {
        let text: [UInt8]
        do throws(SystemError) {
            text = try File.contents(of: path, limit: 1 << 20)
        } catch {
            return (nil, ["\(path): \(error.reason)"])
        }
        return readAround(text, path: path)
    }

    static func readAround(_ text: [UInt8], path: String) -> (profile: BoardProfile?, mistakes: [String]) {
        var parser = BoardProfileParser(SectionedText(parsing: text))
        var profile = parser.profile()
        profile?.notices = parser.notices.map { "\(path):\($0.line): \($0.message)" }
        if parser.problems.isEmpty { return (profile, []) }
        return (profile, BoardProfileError(path: path, problems: parser.problems.sorted { $0.line < $1.line }).lines)
    }

    /// Parses a profile. It does not access the hardware; `BoardCheck` does that.
    /// - Parameter path: the path for messages.
    /// - Throws: all mistakes at once.
    public init(parsing text: [UInt8], path: String) throws(BoardProfileError) {
        var parser = BoardProfileParser(SectionedText(parsing: text))
        let profile = parser.profile()
        guard parser.problems.isEmpty, let profile else {
            var problems = parser.problems
            problems.sort { $0.line < $1.line }
            throw BoardProfileError(path: path, problems: problems)
        }
        self = profile
        notices = parser.notices.map { "\(path):\($0.line): \($0.message)" }
    }
}

/// Interprets the sections of a profile.
private struct BoardProfileParser {
    let text: SectionedText
    var problems: [SectionedText.Problem]
    /// Old forms that the file uses.
    var notices: [SectionedText.Problem] = []
    /// The chip of sections that name none.
    private var defaultChip: String?
    /// The lines in use, with the sections that use them.
    private var uses: [(line: LineReference, section: String)] = []

    init(_ text: SectionedText) {
        self.text = text
        problems = text.problems
    }

    /// Returns nil only when there are problems.
    mutating func profile() -> BoardProfile? {
        refuseUnknownSections()
        let board = single("board") { $0.board(&$1) }
        let sound = text.has("sound") ? single("sound") { BoardSound(reading: &$1) } : nil
        let amplifier = text.has("amplifier") ? single("amplifier") { $0.amplifier(&$1) } : nil
        let buttons = every("button") { $0.button(&$1, named: $2) }
        let encoders = every("encoder") { $0.encoder(&$1, named: $2) }
        let lights = every("light") { $0.light(&$1, named: $2) }
        let network = text.has("network") ? single("network") { ($1.list("cellular"), $1.list("unmetered")) } : nil
        guard let board else { return nil }
        return BoardProfile(
            name: board.name, chip: defaultChip, reservedLines: board.reserved, sound: sound,
            amplifier: amplifier ?? nil,
            buttons: buttons, encoders: encoders, lights: lights, cellularInterfaces: network?.0 ?? [],
            unmeteredInterfaces: network?.1 ?? [])
    }

    // MARK: Sections

    private static let singles = ["board", "sound", "amplifier", "network"]
    private static let repeated = ["button", "encoder", "light"]

    private mutating func refuseUnknownSections() {
        for section in text.sections {
            if Self.singles.contains(where: { $0.hasSameBytes(as: section.kind) }) {
                if section.name != nil { refuse(section, "has no name: write [\(section.kind)]") }
            } else if Self.repeated.contains(where: { $0.hasSameBytes(as: section.kind) }) {
                if section.name == nil { refuse(section, "needs a name: [\(section.kind) NAME]") }
            } else {
                let allowed = (Self.singles + Self.repeated.map { "\($0) NAME" }).map { "[\($0)]" }
                refuse(section, "is no section of a board profile. Allowed: \(allowed.joined(separator: ", ")).")
            }
        }
    }

    private mutating func refuse(_ section: SectionedText.Section, _ message: String) {
        problems.append(SectionedText.Problem(line: section.line, message: "[\(section.title)] \(message)"))
    }

    private mutating func single<Result>(
        _ kind: String, _ read: (inout Self, inout SectionReader) -> Result?
    ) -> Result? {
        guard let section = text.sections.first(where: { $0.kind.hasSameBytes(as: kind) }) else {
            problems.append(SectionedText.Problem(line: 0, message: "there is no section [\(kind)]"))
            return nil
        }
        return self.read(section, read)
    }

    private mutating func every<Result>(
        _ kind: String, _ read: (inout Self, inout SectionReader, String) -> Result?
    ) -> [Result] {
        var results: [Result] = []
        for section in text.sections where section.kind.hasSameBytes(as: kind) {
            guard let name = section.name else { continue }
            if let result = self.read(section, { read(&$0, &$1, name) }) { results.append(result) }
        }
        return results
    }

    private mutating func read<Result>(
        _ section: SectionedText.Section, _ read: (inout Self, inout SectionReader) -> Result?
    ) -> Result? {
        var reader = SectionReader(section)
        let result = read(&self, &reader)
        reader.finish()
        problems += reader.problems
        // A half-understood part could mute the amplifier for good. Without its card, a profile says nothing.
        let isPart = !["board", "sound", "network"].contains { $0.hasSameBytes(as: section.kind) }
        return isPart && !reader.problems.isEmpty ? nil : result
    }

    // MARK: Contents of the sections

    private mutating func board(_ reader: inout SectionReader) -> (name: String, reserved: [LineReference])? {
        let name = reader.requiredText("name")
        defaultChip = reader.text("chip")
        var reserved: [LineReference] = []
        for line in reader.list("reserved") {
            guard let chip = defaultChip else {
                reader.refuse("reserved", "needs `chip` beside it")
                break
            }
            let reference = LineReference(chip: chip, text: line)
            claim(reference, "reserved", &reader)
            reserved.append(reference)
        }
        guard let name else { return nil }
        return (name, reserved)
    }

    private mutating func amplifier(_ reader: inout SectionReader) -> BoardAmplifier? {
        BoardAmplifier(reading: &reader, prefix: "", line: line("line", &reader), isNeeded: true)
    }

    /// Reads an action by its name. An old name is accepted with a notice.
    private mutating func action(_ key: String, _ reader: inout SectionReader) -> ButtonAction? {
        guard let value = reader.text(key),
            let old = ButtonAction.oldNames.first(where: { $0.name.hasSameBytes(as: value) })
        else { return reader.choice(key, of: ButtonAction.self) }
        let message = "`\(key)`: `\(old.name)` is deprecated. Write `\(old.action.rawValue)`."
        let line = reader.section.entries.first { $0.key.hasSameBytes(as: key) }?.line ?? reader.section.line
        notices.append(SectionedText.Problem(line: line, message: message))
        return old.action
    }

    private mutating func button(_ reader: inout SectionReader, named name: String) -> BoardButton? {
        let line = line("line", &reader)
        let active = reader.choice("active", of: ActiveLevel.self) ?? .low
        let bias = reader.choice("bias", of: LineBias.self) ?? .asIs
        let press = action("press", &reader)
        let longPress = action("long-press", &reader)
        let doublePress = action("double-press", &reader)
        if !["press", "long-press", "double-press"].contains(where: { reader.text($0) != nil }) {
            reader.refuse("does nothing: it needs `press`, `long-press` or `double-press`")
        }
        var timing = ButtonTiming()
        timing.debounce = reader.milliseconds("debounce", in: 0...200) ?? timing.debounce
        timing.longPress = reader.milliseconds("long-press-after", in: 200...10_000) ?? timing.longPress
        timing.doublePress = reader.milliseconds("double-press-within", in: 100...1000) ?? timing.doublePress
        timing.repeatDelay = reader.milliseconds("repeat-after", in: 100...5000) ?? timing.repeatDelay
        timing.repeatInterval = reader.milliseconds("repeat-every", in: 50...5000) ?? timing.repeatInterval
        timing.stuck = reader.milliseconds("stuck-after", in: 11_000...600_000) ?? timing.stuck
        guard let line else { return nil }
        return BoardButton(
            name: name, line: line, active: active, bias: bias, press: press, longPress: longPress,
            doublePress: doublePress, timing: timing)
    }

    private mutating func encoder(_ reader: inout SectionReader, named name: String) -> BoardEncoder? {
        let lineA = line("line-a", &reader)
        let lineB = line("line-b", &reader)
        let active = reader.choice("active", of: ActiveLevel.self) ?? .low
        let bias = reader.choice("bias", of: LineBias.self) ?? .asIs
        let steps = reader.integer("steps-per-detent", in: 1...4) ?? 4
        if steps == 3 { reader.refuse("steps-per-detent", "cannot be `3`. Allowed: 1, 2, 4.") }
        let clockwise = action("clockwise", &reader) ?? .volumeUp
        let counterClockwise = action("counter-clockwise", &reader) ?? .volumeDown
        guard let lineA, let lineB else { return nil }
        return BoardEncoder(
            name: name, lineA: lineA, lineB: lineB, active: active, bias: bias, stepsPerDetent: steps,
            clockwise: clockwise, counterClockwise: counterClockwise)
    }

    private mutating func light(_ reader: inout SectionReader, named name: String) -> BoardLight? {
        let line = line("line", &reader)
        let active = reader.choice("active", of: ActiveLevel.self) ?? .high
        var patterns: [LightCondition: LightPattern] = [:]
        for condition in LightCondition.allCases {
            patterns[condition] = reader.choice(condition.rawValue, of: LightPattern.self)
        }
        guard let line else { return nil }
        return BoardLight(name: name, line: line, active: active, patterns: patterns)
    }

    // MARK: Lines

    /// Reads a line of the section's chip, or else of the board's.
    private mutating func line(_ key: String, _ reader: inout SectionReader) -> LineReference? {
        let chip = reader.text("chip") ?? defaultChip
        guard let text = reader.requiredText(key) else { return nil }
        guard let chip else {
            reader.refuse(key, "needs `chip`, here or in [board]")
            return nil
        }
        let line = LineReference(chip: chip, text: text)
        claim(line, key, &reader)
        return line
    }

    private mutating func claim(_ line: LineReference, _ key: String, _ reader: inout SectionReader) {
        if let use = uses.first(where: { $0.line == line }) {
            reader.refuse(key, "is \(line), which [\(use.section)] has already")
        } else {
            uses.append((line, reader.section.title))
        }
    }
}

extension SectionedText {
    fileprivate func has(_ kind: String) -> Bool { sections.contains { $0.kind.hasSameBytes(as: kind) } }
}
