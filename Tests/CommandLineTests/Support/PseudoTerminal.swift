import CLinux
import Foundation
import Platform
import ProgramTestSupport
import TestSupport
@testable import tonearm

/// A terminal that a test reads and types on, with `tonearm` as the session on it.
final class PseudoTerminal {
    private let controller: Int32
    /// The terminal's own side, held open so that its settings can be read when the program is gone.
    private let line: Int32
    private let process: TestProcess
    private(set) var text = ""

    /// TIOCSPTLCK and TIOCGPTN of ioctl_tty(2), which Swift does not see.
    private static let setLock: UInt = 0x4004_5431
    private static let getNumber: UInt = 0x8004_5430

    /// Starts `tonearm` as the leader of a session, which `setsid` from util-linux gives this terminal.
    init(_ program: Program, columns: UInt16 = 250, _ arguments: [String]) throws {
        controller = tonearm_open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC, 0)
        var isLocked: Int32 = 0
        var number: Int32 = 0
        guard controller >= 0, ioctl(controller, Self.setLock, &isLocked) == 0,
            ioctl(controller, Self.getNumber, &number) == 0
        else { throw SystemError.last("open", "/dev/ptmx") }
        line = tonearm_open("/dev/pts/\(number)", O_RDWR | O_NOCTTY | O_CLOEXEC, 0)
        var size = winsize(ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        guard line >= 0, ioctl(line, UInt(TIOCSWINSZ), &size) == 0 else {
            throw SystemError.last("open", "pseudo-terminal")
        }
        process = try TestProcess(
            "/usr/bin/setsid", ["--ctty", "--wait", Program.path()] + arguments, environment: program.environment,
            in: program.folder.path, input: .descriptor(line), output: .descriptor(line), errors: .descriptor(line))
    }

    deinit {
        close(line)
        close(controller)
    }

    /// The terminal's settings: local modes and the characters that matter to reading.
    var settings: [UInt32] {
        var settings = termios()
        tcgetattr(line, &settings)
        return withUnsafeBytes(of: settings.c_cc) { characters in
            [
                settings.c_iflag, settings.c_oflag, settings.c_lflag, UInt32(characters[Int(VMIN)]),
                UInt32(characters[Int(VTIME)]),
            ]
        }
    }

    /// Sends a signal to the program in front: the terminal's group, which its controlling side knows.
    func send(_ signal: Int32) throws {
        let group = tcgetpgrp(controller)
        // kill(2) takes -1 for every process that there is.
        guard group > 1 else { throw SystemError.last("tcgetpgrp") }
        kill(group, signal)
    }

    func type(_ keys: String) {
        let bytes = Array(keys.utf8)
        write(controller, bytes, bytes.count)
    }

    /// The text of the last line, as far as the output was read.
    var shownLine: String {
        let erased = text.split(separator: "\u{1B}[K", omittingEmptySubsequences: false).last ?? ""
        return String(erased.prefix { $0 != "\r" && $0 != "\r\n" })
    }

    /// Reads the program's output until the last line is as wanted. It may have arrived only in part.
    func waitForLine(where isWanted: (String) -> Bool) throws {
        let deadline = Deadline()
        while !isWanted(shownLine) { try readMore(until: deadline) }
    }

    /// Reads the program's output until all of it is as wanted.
    func waitForText(where isWanted: (String) -> Bool) throws {
        let deadline = Deadline()
        while !isWanted(text) { try readMore(until: deadline) }
    }

    private func readMore(until deadline: Deadline) throws {
        do {
            try waitForDescriptor(controller, "text on the terminal", until: deadline)
            if deadline.hasPassed { throw deadline.timedOut("text on the terminal") }
        } catch {
            process.kill()
            throw Unexpected("\(error); last it showed: \(text.suffix(300))")
        }
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = read(controller, &buffer, buffer.count)
        guard count > 0 else { throw Unexpected("the terminal is closed; last it showed: \(text.suffix(300))") }
        text += String(decoding: buffer[..<count], as: UTF8.self)
    }

    /// Waits for the program's end.
    /// - Returns: its exit code, as setsid passes it on.
    func finish() throws -> Int32 { try process.waitUntilExit() }
}
