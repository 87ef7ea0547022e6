/// A key of a terminal.
enum Key: Equatable {
    case character(UInt8)
    case arrow(Direction, shift: Bool)

    enum Direction: Equatable { case up, down, left, right }
}

/// Decodes the bytes of a terminal into keys (ECMA-48, and xterm's modifiers). A sequence may come in pieces. An
/// unknown sequence is skipped as a whole, so that no part of it counts as a letter.
struct KeyDecoder {
    private enum State {
        case text
        case escape
        /// After `ESC [`, with the parameters so far.
        case sequence(parameters: [UInt8])
        /// After `ESC O`, which arrows send in application mode.
        case singleShift
    }

    private var state = State.text

    mutating func decode(_ bytes: [UInt8]) -> [Key] {
        bytes.compactMap { decode($0) }
    }

    private mutating func decode(_ byte: UInt8) -> Key? {
        switch state {
        case .text:
            return text(byte)
        case .escape:
            switch byte {
            case UInt8(ascii: "["): state = .sequence(parameters: [])
            case UInt8(ascii: "O"): state = .singleShift
            // The key Escape itself, followed by another key.
            default: return text(byte)
            }
            return nil
        case .singleShift:
            state = .text
            return Self.arrow(byte, shift: false)
        case .sequence(let parameters):
            switch byte {
            case 0x20...0x3F:
                // Too long for a key: the terminal answers another question.
                state = .sequence(parameters: parameters.count < 16 ? parameters + [byte] : parameters)
                return nil
            case 0x40...0x7E:
                state = .text
                return Self.arrow(byte, shift: parameters.elementsEqual("1;2".utf8))
            default:
                return text(byte)
            }
        }
    }

    private mutating func text(_ byte: UInt8) -> Key? {
        state = byte == 0x1B ? .escape : .text
        return byte >= 0x20 && byte < 0x7F ? .character(byte) : nil
    }

    private static func arrow(_ final: UInt8, shift: Bool) -> Key? {
        switch final {
        case UInt8(ascii: "A"): .arrow(.up, shift: shift)
        case UInt8(ascii: "B"): .arrow(.down, shift: shift)
        case UInt8(ascii: "C"): .arrow(.right, shift: shift)
        case UInt8(ascii: "D"): .arrow(.left, shift: shift)
        default: nil
        }
    }
}
