/// A URL with identifiers that are replaced (ISO/IEC 23009-1, 5.3.9.4.4).
public struct URLTemplate: Equatable, Sendable {
    private enum Piece: Equatable, Sendable {
        case text(String)
        case number(width: Int)
        case time(width: Int)
    }

    private let pieces: [Piece]

    private static let widest = 20

    /// - Returns: nil for an identifier that is not known, and for one that does not end.
    init?(_ text: String, representation: String, bandwidth: Int?) {
        var pieces: [Piece] = []
        let parts = Array(text.utf8).split(separator: UInt8(ascii: "$"), omittingEmptySubsequences: false)
        guard parts.count % 2 == 1 else { return nil }
        for (index, part) in parts.enumerated() {
            if index % 2 == 0 {
                pieces.append(.text(String(decoding: part, as: UTF8.self)))
                continue
            }
            let name = part.prefix { $0 != UInt8(ascii: "%") }
            guard let width = Self.width(part.dropFirst(name.count)) else { return nil }
            if name.isEmpty {
                pieces.append(.text("$"))
            } else if name.elementsEqual("RepresentationID".utf8) {
                pieces.append(.text(representation))
            } else if name.elementsEqual("Bandwidth".utf8), let bandwidth {
                pieces.append(.text(Self.digits(Int64(bandwidth), width: width)))
            } else if name.elementsEqual("Number".utf8) {
                pieces.append(.number(width: width))
            } else if name.elementsEqual("Time".utf8) {
                pieces.append(.time(width: width))
            } else {
                return nil
            }
        }
        self.pieces = pieces
    }

    /// - Parameters:
    ///   - number: of the segment.
    ///   - time: at which it begins, in units of the template.
    func text(number: Int64, time: Int64) -> String {
        var text = ""
        for piece in pieces {
            switch piece {
            case .text(let part): text += part
            case .number(let width): text += Self.digits(number, width: width)
            case .time(let width): text += Self.digits(time, width: width)
            }
        }
        return text
    }

    /// The width from `%0[width]d`, or 1 when there is no format.
    private static func width(_ format: ArraySlice<UInt8>) -> Int? {
        if format.isEmpty { return 1 }
        guard format.count >= 4, format.starts(with: "%0".utf8), format.last == UInt8(ascii: "d"),
            let width = XMLValue.integer(String(decoding: format.dropFirst(2).dropLast(), as: UTF8.self)),
            1...Int64(widest) ~= width
        else { return nil }
        return Int(width)
    }

    private static func digits(_ number: Int64, width: Int) -> String {
        let digits = "\(max(0, number))"
        let missing = max(0, width - digits.utf8.count)
        return String(decoding: [UInt8](repeating: UInt8(ascii: "0"), count: missing), as: UTF8.self) + digits
    }
}
