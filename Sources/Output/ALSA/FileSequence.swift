import PCM
import Platform

/// The files of a `file:` device. alsa-lib overwrites its file whenever the device is opened, so the music before a
/// change of the format would be lost. So the music after it goes into a second file, whose name ends with `-2`.
///
/// Thread: one at a time.
struct FileSequence {
    private var device = ""
    private var format: PCMFormat?
    private var number = 1

    /// Returns the name of the device for the next opening.
    mutating func name(for device: String, _ format: PCMFormat) -> String {
        guard let end = Self.end(ofPathIn: device) else { return device }
        if !device.utf8.elementsEqual(self.device.utf8) {
            (self.device, self.format, number) = (device, format, 1)
        } else if self.format != format {
            self.format = format
            number += 1
        }
        guard number > 1 else { return device }
        let bytes = Array(device.utf8)
        let text = String(decoding: bytes[..<end] + Array("-\(number)".utf8) + bytes[end...], as: UTF8.self)
        Log.notice("the format has changed: the music goes on in \(text)")
        return text
    }

    /// Where the name of the file ends, before its extension; nil for other devices, a command, and a name with
    /// placeholders, which may differ by itself.
    private static func end(ofPathIn device: String) -> Int? {
        let bytes = Array(device.utf8)
        guard bytes.starts(with: "file:".utf8), !bytes.contains(UInt8(ascii: "%")) else { return nil }
        var start = "file:".utf8.count
        let mark = Array("FILE=".utf8)
        if let found = bytes.indices.first(where: { bytes[$0...].starts(with: mark) }) { start = found + mark.count }
        guard start < bytes.count else { return nil }
        var stop: [UInt8] = [UInt8(ascii: ",")]
        if bytes[start] == UInt8(ascii: "'") || bytes[start] == UInt8(ascii: "\"") {
            stop = [bytes[start]]
            start += 1
        }
        let end = bytes[start...].firstIndex { stop.contains($0) } ?? bytes.count
        guard end > start, bytes[start] != UInt8(ascii: "|") else { return nil }
        // Files of the system are no music.
        let path = bytes[start..<end]
        if ["/dev/", "/proc/"].contains(where: { path.starts(with: $0.utf8) }) { return nil }
        let name = (bytes[start..<end].lastIndex(of: UInt8(ascii: "/")) ?? start - 1) + 1
        guard let dot = bytes[name..<end].lastIndex(of: UInt8(ascii: ".")), dot > name else { return end }
        return dot
    }
}
