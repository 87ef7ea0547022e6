import Platform

/// Interprets the sections of a table of DACs.
struct DACTableParser {
    private let text: SectionedText
    private(set) var problems: [SectionedText.Problem]

    init(_ text: SectionedText) {
        self.text = text
        problems = text.problems
    }

    /// Reads every row without a mistake.
    mutating func dacs() -> [HeaderDAC] {
        var dacs: [HeaderDAC] = []
        for section in text.sections {
            var reader = SectionReader(section)
            let dac = Self.dac(&reader)
            reader.finish()
            problems += reader.problems
            guard let dac, reader.problems.isEmpty else { continue }
            let taken = ([dac.name] + dac.otherNames).first { name in dacs.contains { $0.isCalled(name) } }
            if let taken {
                problems.append(SectionedText.Problem(line: section.line, message: "`\(taken)` is a name already"))
            }
            dacs.append(dac)
        }
        return dacs
    }

    private static func dac(_ reader: inout SectionReader) -> HeaderDAC? {
        let title = reader.requiredText("title")
        let otherNames = reader.list("names")
        let products = reader.texts("products")
        let identifiers = reader.list("uuids")
        let readings = readings(&reader)
        let ownLines = reader.list("lines")
        let note = reader.text("note")
        let reason = reader.text("unsupported")
        let sound = sound(&reader, isNeeded: reason == nil)
        if reason != nil, sound != nil { reader.refuse("unsupported", "stands beside `overlay`: one of them is wrong") }
        guard let title,
            let support = reason.map({ .unsupported($0) }) ?? sound.map({ HeaderDAC.Support.supported($0) })
        else { return nil }
        return HeaderDAC(
            name: reader.section.title, title: title, otherNames: otherNames, products: products,
            identifiers: identifiers, readings: readings, ownLines: ownLines, note: note, support: support)
    }

    private static func readings(_ reader: inout SectionReader) -> [[RegisterReading]] {
        reader.list("read").map { alternative in
            alternative.utf8.split(separator: UInt8(ascii: "&")).compactMap { part in
                let text = SectionReader.trimmed(part)
                let reading = RegisterReading(text)
                if reading == nil {
                    reader.refuse("read", "has `\(text)`, which is no reading. An example: 4d/28=02.")
                }
                return reading
            }
        }
    }

    private static func sound(_ reader: inout SectionReader, isNeeded: Bool) -> HeaderDAC.Sound? {
        let overlay = isNeeded ? reader.requiredText("overlay") : reader.text("overlay")
        let sound = isNeeded || overlay != nil ? BoardSound(reading: &reader) : nil
        let amplifier = amplifier(&reader)
        let held =
            reader.list("high").map { HeldLine(line: LineReference(chip: "", text: $0), level: .high) }
            + reader.list("low").map { HeldLine(line: LineReference(chip: "", text: $0), level: .low) }
        guard let overlay, let sound else { return nil }
        return HeaderDAC.Sound(overlay: overlay, sound: sound, amplifier: amplifier, held: held)
    }

    private static func amplifier(_ reader: inout SectionReader) -> BoardAmplifier? {
        let line = reader.text("amplifier-line")
        let amplifier = BoardAmplifier(
            reading: &reader, prefix: "amplifier-", line: line.map { LineReference(chip: "", text: $0) },
            isNeeded: line != nil)
        return amplifier
    }
}
