import Database
import Platform

/// Publishes the problems that the system has found, such as mistakes in the image's settings, or an unreadable stick.
/// They are lines `NAME=TEXT` of the file `problems` in the system folder. The system replaces the file as a whole.
///
/// Thread: the daemon's.
final class SystemProblems {
    /// The most names.
    private static let limit = 32

    private let path: String
    private let loop: EventLoop
    private let storage: StorageThread
    private let set: (_ subject: String, _ message: String?) -> Void
    private var monitor: FileMonitor?
    private var shown: [String] = []

    /// - Parameter set: sets a problem, or ends it with nil.
    init(
        folder: String, storage: StorageThread, loop: EventLoop,
        set: @escaping (_ subject: String, _ message: String?) -> Void
    ) {
        path = folder + "/problems"
        self.loop = loop
        self.storage = storage
        self.set = set
    }

    func start() {
        do throws(SystemError) {
            monitor = try FileMonitor(path, loop: loop) { [self] in read() }
        } catch {
            Log.warning("the problems of the system are not watched ([board] system-folder): \(error)")
        }
        read()
    }

    func stop() {
        monitor?.stop()
        monitor = nil
    }

    private func read() {
        let (path, loop) = (path, loop)
        // Safe: only the loop uses it.
        nonisolated(unsafe) let problems = self
        storage.perform {
            let bytes = (try? File.contents(of: path, limit: 64 << 10)) ?? []
            let found = Self.problems(bytes)
            loop.post { problems.show(found) }
        }
    }

    private func show(_ found: [DaemonProblem]) {
        guard monitor != nil || shown.isEmpty else { return }
        for subject in shown where !found.contains(where: { $0.subject.utf8.elementsEqual(subject.utf8) }) {
            set(subject, nil)
        }
        for problem in found { set(problem.subject, problem.message) }
        shown = found.map { $0.subject }
    }

    /// Parses the file. Lines with the same name form one problem.
    static func problems(_ bytes: [UInt8]) -> [DaemonProblem] {
        var found: [DaemonProblem] = []
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            guard let sign = line.firstIndex(of: UInt8(ascii: "=")), sign > line.startIndex, line.endIndex > sign + 1
            else { continue }
            let subject = "system " + String(decoding: line[..<sign], as: UTF8.self)
            let text = String(decoding: line[(sign + 1)...].prefix(1000), as: UTF8.self)
            if let index = found.firstIndex(where: { $0.subject.utf8.elementsEqual(subject.utf8) }) {
                if found[index].message.utf8.count < 4000 { found[index].message += " " + text }
            } else if found.count < limit {
                found.append(DaemonProblem(subject: subject, message: text))
            }
        }
        return found
    }
}
