/// The state of updates of the firmware image, as the system has reported it.
package struct UpdateStatus: Equatable, Sendable {
    package enum Mode: String, CaseIterable, Sendable {
        case idle, downloading
        /// The bundle is checked, and the other slot is written.
        case installing
        /// The next start tries another version.
        case installed
        /// The last update has failed, or its version did not run well.
        case failed
    }

    package struct Problem: Equatable, Sendable {
        /// The code for programs, of `tonearm update` or of the system.
        package var code: String
        /// The message for the user.
        package var text: String
    }

    /// The progress of the download or the installation, in parts of equal size.
    package struct Progress: Equatable, Sendable {
        package var done: Int64
        package var total: Int64
    }

    /// The state of the update; nil while the system has reported nothing.
    package var mode: Mode?
    /// The version of the image that runs.
    package var running: String?
    /// The progress; nil when it is not known, for example if the server does not send the length.
    package var progress: Progress?
    /// The version that the next start tries; nil when that is the running one.
    package var next: String?
    package var problem: Problem?
    /// Whether the system has not begun the last request.
    package var isWaiting = false
    /// The address that is used by a request without an address.
    package var address: UpdateAddress?

    /// Whether the system has begun an update that has not ended.
    var isRunning: Bool { mode == .downloading || mode == .installing }
}

extension UpdateStatus {
    /// The most bytes of a message.
    static let textLimit = 1000
    private static let keys = ["mode", "running", "done", "total", "version", "code", "text"]

    /// Reads the file with the state (docs/decisions/update-by-request.md).
    init(state: [UInt8]) {
        var (done, total): (Int64?, Int64?) = (nil, nil)
        var (code, text): (String?, String?) = (nil, nil)
        SystemReport.read(state, Self.keys) { key, value in
            switch key {
            case 0: mode = SystemReport.word(value) ?? mode
            case 1: running = Self.version(value) ?? running
            case 2: done = Int64(String(decoding: value, as: UTF8.self))
            case 3: total = Int64(String(decoding: value, as: UTF8.self))
            case 4: next = Self.version(value) ?? next
            case 5: code = Self.code(value) ?? code
            default: text = String(decoding: value.prefix(Self.textLimit), as: UTF8.self)
            }
        }
        if isRunning, let done, let total, total > 0, (0...total).contains(done) {
            progress = Progress(done: done, total: total)
        }
        if mode == .failed { problem = Problem(code: code ?? "unknown", text: text ?? "") }
    }

    private static func version(_ bytes: ArraySlice<UInt8>) -> String? {
        let text = String(decoding: bytes, as: UTF8.self)
        return bytes.count <= 64 && UpdateVersion(text) != nil ? text : nil
    }

    private static func code(_ bytes: ArraySlice<UInt8>) -> String? {
        let isWord = bytes.allSatisfy {
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0)
        }
        return isWord && (1...40).contains(bytes.count) ? String(decoding: bytes, as: UTF8.self) : nil
    }
}
