import Platform

/// The DACs on the header that are known: `board/dacs`.
///
/// ```swift
/// let table = try DACTable(path: DACTable.usualPath)
/// let dac = try table.dac(named: "hifiberry-dacplus-std")
/// ```
public struct DACTable: Sendable {
    /// Where package and images have the table.
    public static let usualPath = "/usr/share/tonearm/dacs"

    /// The rows. The first one counts where two fit the readings of a bus.
    public let dacs: [HeaderDAC]

    init(_ dacs: [HeaderDAC]) { self.dacs = dacs }

    /// Reads a table.
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

    /// Parses a table.
    /// - Parameter path: the path for messages.
    /// - Throws: all mistakes at once.
    public init(parsing text: [UInt8], path: String) throws(BoardProfileError) {
        var parser = DACTableParser(SectionedText(parsing: text))
        dacs = parser.dacs()
        guard parser.problems.isEmpty else {
            throw BoardProfileError(path: path, problems: parser.problems.sorted { $0.line < $1.line })
        }
    }

    /// Returns the row that a person means by `name`.
    /// - Throws: the name is unknown, or the DAC makes no sound here.
    public func dac(named name: String) throws(UnusableDAC) -> HeaderDAC {
        guard let dac = dacs.first(where: { $0.isCalled(name) }) else {
            throw .unknown(name, suggestion: Suggestion.text(for: name, among: dacs.map { $0.name }))
        }
        if case .unsupported(let reason) = dac.support { throw .unsupported(dac.name, reason: reason) }
        return dac
    }
}

/// Why a DAC of a configuration cannot be used.
public enum UnusableDAC: Error, Equatable, Sendable {
    /// There is no row of that name; the suggestion is a sentence, or empty.
    case unknown(String, suggestion: String)
    case unsupported(String, reason: String)
}

extension UnusableDAC: CustomStringConvertible {
    /// A sentence for people.
    public var description: String {
        switch self {
        case .unknown(let name, let suggestion):
            "dac `\(name)` is unknown.\(suggestion) The names are those of the overlays of Raspberry Pi OS; "
                + "`tonearm board dac list` shows them."
        case .unsupported(let name, let reason): "dac `\(name)` is not supported: \(reason)"
        }
    }
}
