import Foundation
import Testing
import TestSupport
@testable import Platform

@Suite("Log")
struct LogTests {
    @Test(
        "journald gets the level as a number, a terminal in words",
        arguments: [
            (Log.Level.error, "<3>card gone\n", "tonearm: error: card gone\n"),
            (.warning, "<4>card gone\n", "tonearm: warning: card gone\n"),
            (.notice, "<5>card gone\n", "tonearm: card gone\n"),
            (.info, "<6>card gone\n", "tonearm: card gone\n"),
            (.debug, "<7>card gone\n", "tonearm: debug: card gone\n"),
        ])
    func format(level: Log.Level, journal: String, terminal: String) {
        #expect(text(level, "card gone", isTerminal: false) == journal)
        #expect(text(level, "card gone", isTerminal: true) == terminal)
    }

    @Test("a message is one line and cannot steer a terminal")
    func escaping() {
        // Not arguments of the test: its own log would send them to the terminal.
        let table = [
            ("a\nb", #"a\nb"#), ("a\r\nb", #"a\r\nb"#), ("\u{1B}[2J", #"\x1b[2J"#), ("\u{0}\u{7F}", #"\x00\x7f"#),
            ("\u{9B}2J\u{85}", #"\u009b2J\u0085"#), ("\u{202E}\u{2028}", #"\u202e\u2028"#),
            ("caf\u{EFE9}", #"caf\xe9"#),
            ("tab\tstays, Größe stays", "tab\tstays, Größe stays"), ("", ""),
        ]
        for (message, shown) in table {
            #expect(text(.error, message, isTerminal: false) == "<3>\(shown)\n")
        }
    }

    @Test("lines of several threads never mix")
    func concurrent() throws {
        let pipe = try Pipe()
        let output = LogOutput(descriptor: pipe.input)
        let threads = try (0..<4).map { thread in
            try NamedThread.start(name: "writer") {
                for _ in 0..<50 { output.write(.info, String(repeating: "\(thread)", count: 100)) }
            }
        }
        for thread in threads { thread.joinOrEndRun() }
        let lines = pipe.read().split(separator: "\n")
        let whole = (0..<4).map { "<6>" + String(repeating: "\($0)", count: 100) }
        #expect(lines.count == 200)
        #expect(lines.allSatisfy { whole.contains(String($0)) })
    }

    @Test("a line for the kernel's log is there at once", .enabled(if: canReadKernelLog, "/dev/kmsg needs root"))
    func kernelLog() throws {
        let (input, output) = (open("/dev/kmsg", O_WRONLY | O_CLOEXEC), open("/dev/kmsg", O_RDONLY | O_NONBLOCK))
        defer {
            close(input)
            close(output)
        }
        let marker = "tonearm test \(UInt64.random(in: .min ... .max))"
        lseek(output, 0, SEEK_END)
        LogOutput(descriptor: input).write(.debug, marker)
        // Each read(2) gives one record; others may write, too.
        var records: [String] = []
        var bytes = [UInt8](repeating: 0, count: 8192)
        while case let count = read(output, &bytes, bytes.count), count > 0 {
            records.append(String(decoding: bytes[..<count], as: UTF8.self))
        }
        #expect(records.contains { $0.contains(marker) }, "\(records)")
    }

    private static let canReadKernelLog =
        access("/dev/kmsg", R_OK | W_OK) == 0
        && {
            let descriptor = open("/dev/kmsg", O_RDWR | O_NONBLOCK | O_CLOEXEC)
            if descriptor >= 0 { close(descriptor) }
            return descriptor >= 0
        }()

    @Test("messages below the minimum level are not even made")
    func minimum() {
        let before = Log.minimumLevel
        defer { Log.minimumLevel = before }
        Log.minimumLevel = .error
        var made = 0
        func message() -> String {
            made += 1
            return "made"
        }
        Log.debug(message())
        Log.warning(message())
        #expect(made == 0)
        #expect(Log.Level.debug < .info && .warning < Log.Level.error)
    }

    private func text(_ level: Log.Level, _ message: String, isTerminal: Bool) -> String {
        String(decoding: LogOutput.line(level, message, isTerminal: isTerminal), as: UTF8.self)
    }

    @Test("a line fits into what a pipe takes at once")
    func longLine() {
        for letter in ["x", "é", "\u{9B}"] {
            let line = LogOutput.line(.info, String(repeating: letter, count: 10_000), isTerminal: true)
            #expect(line.count <= 4096 && line.count > 4000 && line.last == 0x0A)
            #expect(String(validating: line, as: UTF8.self)?.hasSuffix("…\n") == true)
        }
    }

    @Test("a stalled reader blocks no thread; dropped lines are counted, and the order stays")
    func stalledReader() throws {
        let pipe = try Pipe()
        let output = LogOutput(descriptor: pipe.input)
        // Far more than pipe and buffer hold. This returns without a reader.
        let count = 40_000
        for number in 0..<count { output.write(.info, "\(number)") }
        let received = Recorder<String>()
        let reader = try NamedThread.start(name: "reader") {
            var text = ""
            expectSoon("the report") {
                text += pipe.read()
                return text.contains("messages are missing")
            }
            received.record(text)
        }
        reader.joinOrEndRun()
        let lines = received.elements[0].split(separator: "\n")
        let numbers = lines.compactMap { $0.hasPrefix("<6>") ? Int($0.dropFirst(3)) : nil }
        #expect(numbers == Array(0..<numbers.count), "those before the gap, in their order")
        let report = try #require(lines.last { $0.hasPrefix("<4>") })
        #expect(report == "<4>\(count - numbers.count) messages are missing here: the log was not read fast enough")
        // The thread ends, and lines go straight again.
        output.write(.info, "after")
        try waitUntil("the line") { pipe.read().contains("<6>after\n") }
    }
}
