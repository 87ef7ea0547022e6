import Platform

@testable import Board

/// Board profiles, and the edges that the kernel reports for the lines of buttons and encoders.
let boardTargets = [
    FuzzTarget("board-profile") { _ = try? BoardProfile(parsing: $0, path: "board.conf") },
    FuzzTarget("line-reference") { bytes in
        let names = pieces(of: bytes)
        let line = LineReference(chip: names[0], text: names.last ?? "")
        require(line == LineReference(chip: names[0], text: names.last ?? ""), "not equal to itself")
        _ = line.description
    },
    FuzzTarget("line-events") { bytes in
        do throws(BoardProfileError) {
            for input in try exampleInputs() { exercise(input, bytes) }
        } catch {
            require(false, "the profile of the target is not valid: \(error.description)")
        }
    },
]

private let exampleProfile = """
    [board]
    name = Fuzz
    chip = gpiochip0
    [sound]
    card = auto
    [button one]
    line = 1
    press = play-pause
    long-press = power-off
    double-press = next
    [button two]
    line = 2
    press = volume-up
    [encoder volume]
    line-a = 3
    line-b = 4
    """

private func exampleInputs() throws(BoardProfileError) -> [any BoardInput] {
    let profile = try BoardProfile(parsing: Array(exampleProfile.utf8), path: "board.conf")
    return profile.buttons.map { ButtonInput($0) } + profile.encoders.map { EncoderInput($0) }
}

/// Each group of 9 bytes is an edge or a moment: its kind, and a time in nanoseconds of any value.
private func exercise(_ input: any BoardInput, _ bytes: [UInt8]) {
    _ = input.began(input.lines.map { _ in bytes.first.map { $0 & 1 == 1 } ?? false }, at: 0)
    for start in stride(from: 1, to: bytes.count - 8, by: 9) {
        let time = bytes[start + 1..<start + 9].reduce(Int64(0)) { $0 << 8 | Int64($1) }
        let isActive = bytes[start] & 1 == 1
        if bytes[start] & 2 == 0 {
            let line = Int(bytes[start] >> 2) % input.lines.count
            _ = input.changed(line, LineEdge(isActive: isActive, time: time))
        } else {
            _ = input.timePassed(to: time, active: bytes[start] & 4 == 0 ? nil : isActive)
        }
        _ = input.deadline
    }
}
