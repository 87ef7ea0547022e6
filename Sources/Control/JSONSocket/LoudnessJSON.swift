import Appliance
import PCM
import Platform
import Player

/// Requests about the measured loudness of files, as JSON. `docs/control.md` documents them.
public enum LoudnessJSON {
    private static let versionNames = ["path", "size", "modified"]
    private static let gainNames = ["trackGain", "trackPeak", "albumGain", "albumPeak"]

    // Safe: built once, never changed, and its closures capture nothing.
    nonisolated(unsafe) static let forms = [
        RequestForm("loudness-known", .music, ["files"]) { fields throws(RequestMistake) in
            .later(.loudness(.known(try files(fields, versionNames).map { $0.file })))
        },
        RequestForm("loudness-keep", .music, ["files"]) { fields throws(RequestMistake) in
            .later(.loudness(.keep(try files(fields, versionNames + gainNames))))
        },
    ]

    /// Returns a file in the form of a request.
    public static func value(_ file: MusicFileVersion) -> JSONValue {
        [
            "path": .string(file.path), "size": .integer(file.size), "modified": .integer(file.modified),
            "content": .integer(file.content),
        ]
    }

    /// Returns a file with its loudness in the form of a request.
    public static func value(_ result: FileLoudness) -> JSONValue {
        let gain = result.replayGain
        var value = value(result.file)
        for (name, number) in zip(gainNames, [gain.trackGain, gain.trackPeak, gain.albumGain, gain.albumPeak]) {
            value[name] = number.map { .real($0) } ?? .null
        }
        return value
    }

    static func members(_ known: [KnownLoudness?]) -> [JSONValue.Member] {
        [
            JSONValue.Member("known", .array(known.map { .boolean($0 != nil) })),
            JSONValue.Member("albumGain", .array(known.map { $0?.albumGain.map { .real($0) } ?? .null })),
        ]
    }

    // MARK: Reading

    private static func files(_ fields: RequestFields, _ names: [String]) throws(RequestMistake) -> [FileLoudness] {
        let allowed = "a list of files, each with \(names.joined(separator: ", "))"
        guard let elements = fields.value("files")?.elements, !elements.isEmpty else {
            throw .notAllowed(field: "files", allowed: allowed)
        }
        var files: [FileLoudness] = []
        for (index, element) in elements.enumerated() {
            let place = "files[\(index)]"
            guard let file = file(element, names) else {
                let form = "an absolute path, a number of bytes, and a time in nanoseconds"
                throw .notAllowed(field: place, allowed: "an object with \(names.joined(separator: ", ")): \(form)")
            }
            try RequestFields.checkLength(of: file.file.path, "\(place).path")
            files.append(file)
        }
        return files
    }

    /// - Returns: nil unless the element is a file with these members.
    private static func file(_ element: JSONValue, _ names: [String]) -> FileLoudness? {
        guard let members = element.members,
            members.allSatisfy({ member in
                (names + ["content"]).contains { $0.utf8.elementsEqual(member.name.utf8) }
            }),
            let path = element["path"]?.string, !path.utf8.contains(0), path.utf8.first == UInt8(ascii: "/"),
            let size = element["size"]?.integer, size >= 0, let modified = element["modified"]?.integer,
            let content = (element["content"] ?? .integer(0)).integer
        else { return nil }
        let values = gainNames.map { element[$0] ?? .null }
        guard values.allSatisfy({ $0.isNull || $0.number?.isFinite == true }) else { return nil }
        return FileLoudness(
            MusicFileVersion(path: path, size: size, modified: modified, content: content),
            ReplayGain(
                trackGain: values[0].number, trackPeak: values[1].number, albumGain: values[2].number,
                albumPeak: values[3].number))
    }
}
