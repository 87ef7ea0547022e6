import CLinux
import Output
import PCM
import Platform

/// The device to play on. It is checked before any file is loaded.
struct OutputDevice {
    /// Why the device cannot be used, and the solution.
    struct Problem: Error {
        let message: String
    }

    /// The name for alsa-lib.
    let name: String

    /// - Parameters:
    ///   - requested: the name of the device; nil: the first usable card.
    ///   - sampleFormat: a format that the device must support.
    init(_ requested: String?, sampleFormat: SampleFormat?) throws(Problem) {
        if let requested { name = requested } else { name = try Self.first() }
        if let file = Self.unwritableFile(of: name) { throw Problem(message: file) }
        switch SoundCardDevice.Availability(of: name) {
        case .busy:
            throw Problem(message: DeviceError.busy(device: name).description)
        case .unusable(let error):
            throw Problem(message: error.description)
        case .available(let capabilities):
            guard let sampleFormat, !capabilities.sampleFormats.contains(sampleFormat) else { return }
            let names = capabilities.sampleFormats.map { "\($0.name)" }.joined(separator: ", ")
            throw Problem(message: "\(name): does not take \(sampleFormat.name). It takes: \(names).")
        }
    }

    private static func first() throws(Problem) -> String {
        if let device = try? DeviceName.resolved(DeviceName.automatic) { return device }
        throw Problem(message: "no sound card here. To write a file instead: --device file:FILE=music.wav,FORMAT=wav")
    }

    /// Checks the file of the `file` plug-in, which opens it only when the first frames arrive.
    private static func unwritableFile(of device: String) -> String? {
        guard let path = filePath(of: device) else { return nil }
        let slash = path.utf8.lastIndex(of: UInt8(ascii: "/"))
        let folder = slash.map { String(path[...$0]) } ?? "."
        if FileKind(at: path) == .folder { return "\(device): cannot write \(path): it is a folder" }
        guard access(path, F_OK) == 0 ? access(path, W_OK) != 0 : access(folder, W_OK) != 0 else { return nil }
        return "\(device): cannot write \(path): \(String(cString: strerror(tonearm_errno())))"
    }

    /// Returns the file of `file:FILE=path,FORMAT=raw` or `file:path,raw`; nil for other devices, and for a command.
    static func filePath(of device: String) -> String? {
        let prefix = "file:"
        guard device.utf8.starts(with: prefix.utf8) else { return nil }
        var path: Substring.UTF8View?
        var isFirst = true
        for argument in device.utf8.dropFirst(prefix.utf8.count).split(separator: UInt8(ascii: ",")) {
            if argument.starts(with: "FILE=".utf8) {
                path = argument.dropFirst(5)
            } else if isFirst, !argument.contains(UInt8(ascii: "=")) {
                path = argument
            }
            isFirst = false
        }
        guard let path, let first = path.first, first != UInt8(ascii: "|"), !path.contains(UInt8(ascii: "%")),
            first != UInt8(ascii: "'"), first != UInt8(ascii: "\"")
        else { return nil }
        return String(Substring(path))
    }
}
