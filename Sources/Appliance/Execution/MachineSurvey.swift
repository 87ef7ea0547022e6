import Database
import Discovery
import Platform

/// Looks at the machine for clients: its addresses, the room on its media, and the report of the system.
///
/// Thread: the daemon's; answers follow later on the same thread. Files are read on the storage thread.
struct MachineSurvey {
    /// The most bytes of the report.
    private static let reportLimit = 4096
    /// The most media.
    private static let volumeLimit = 32

    private let name: String
    /// The folders of the music and of the state.
    private let folders: [String]
    private let report: String?
    private let storage: StorageThread
    private let loop: EventLoop

    init(_ configuration: Configuration, storage: StorageThread, loop: EventLoop) {
        name = configuration.announcedName ?? OperatingSystem.hostName
        folders = [configuration.stateFolder] + configuration.libraryFolders
        report = configuration.systemFolder.map { $0 + "/report" }
        self.storage = storage
        self.loop = loop
    }

    /// - Parameter answer: called once, later.
    func perform(_ answer: @escaping (Result<RemoteReply, RemoteFailure>) -> Void) {
        loop.assertOnLoop()
        // Safe: the storage thread passes it back to the loop and does not call it.
        nonisolated(unsafe) let passed = answer
        let (name, folders, report, loop) = (name, folders, report, loop)
        let willAnswer = storage.perform {
            let status = MachineStatus(
                name: name, addresses: OwnAddresses.texts(), volumes: Self.volumes(folders),
                report: report.flatMap { Self.text(at: $0) })
            loop.post { passed(.success(.machine(status))) }
        }
        if !willAnswer { answer(.failure(.ending)) }
    }

    /// Returns the file systems of the folders, and the file systems that are mounted in them, such as sticks in
    /// /media.
    static func volumes(_ folders: [String]) -> [MachineStatus.Volume] {
        var volumes: [MachineStatus.Volume] = []
        func add(_ path: String) {
            guard volumes.count < volumeLimit, !volumes.contains(where: { $0.path.utf8.elementsEqual(path.utf8) })
            else { return }
            do throws(SystemError) {
                let (free, all) = (try Folder.freeBytes(at: path), try Folder.allBytes(at: path))
                volumes.append(MachineStatus.Volume(path: path, freeBytes: free, allBytes: all))
            } catch {}
        }
        for folder in folders {
            guard FileKind(at: folder) == .folder else { continue }
            var mounted: [String] = []
            do throws(SystemError) {
                for entry in try Folder.entries(of: folder) where MountPoint.isMounted("\(folder)/\(entry.name)") {
                    mounted.append("\(folder)/\(entry.name)")
                }
            } catch {}
            // A folder that contains mount points, such as the image's /media, has no files of the user itself.
            if mounted.isEmpty { add(MountPoint.containing(folder) ?? "/") }
            mounted.forEach(add)
        }
        return volumes
    }

    /// Returns the end of the report, beginning with a whole line.
    private static func text(at path: String) -> String? {
        guard let bytes = try? File.contents(of: path, limit: 1 << 20), !bytes.isEmpty else { return nil }
        var end = bytes.suffix(reportLimit)
        if end.count < bytes.count { end = end.drop { $0 != UInt8(ascii: "\n") }.dropFirst() }
        return String(decoding: end, as: UTF8.self)
    }
}
