import Appliance

/// Why a command failed. MPD's protocol calls it an ACK: `ACK [50@0] {load} No such playlist`.
struct MPDFailure: Error, Equatable {
    /// The numbers of MPD 0.23 (`ack.h`).
    enum Code: Int {
        case argument = 2
        case password = 3
        case permission = 4
        case unknown = 5
        case noSuchObject = 50
        case playlistTooLarge = 51
        case system = 52
        case playerSync = 55
        case exists = 56
    }

    let code: Code
    /// The text for the user. Clients compare some texts, so MPD's own text is used if there is one.
    let message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The line that ends the answer.
    /// - Parameters:
    ///   - place: the index of the command in its command list, from 0.
    ///   - command: the name of the command; empty for an unknown one.
    func line(at place: Int, command: String) -> [UInt8] {
        Array("ACK [\(code.rawValue)@\(place)] {\(command)} \(message)\n".utf8)
    }
}
