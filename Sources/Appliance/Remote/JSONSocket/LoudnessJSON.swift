import PCM
import Platform
import Player

/// Requests about the measured loudness of files, as JSON. `docs/control.md` documents them.
public enum LoudnessJSON {
    private static let versionNames = ["path", "size", "modified"]
    private static let gainNames = ["trackGain", "trackPeak", "albumGain", "albumPeak"]

    // Safe: built once, never changed, and its closures capture nothing.
    nonisolated(unsafe) static let forms = [
        RequestForm("loudness-known", ["files"]) { fields throws(RequestMistake) in
            .loudness(.known(try files(fields, versionNames).map { $0.file }))
        },
        RequestForm("loudness-keep", ["files"]) { fields throws(RequestMistake) in
            .loudness(.keep(try files(fields, versionNames + gainNames)))
        },
    ]

    /// Returns a file as a request has it.
    public static func value(_ file: MusicFileVersion) -> JSONValue {
        ["path": .string(file.path), "size": .integer(file.size), "modified": .integer(file.modified)]
    }

    /// Returns a file with its loudness as a request has it.
    public static func value(_ result: FileLoudness) -> JSONValue {
        let gain = result.replayGain
        var value = value(result.file)
        for (name, number) in zip(gainNames, [gain.trackGain, gain.trackPeak, gain.albumGain, gain.albumPeak]) {
            value[name] = number.map { .real($0) } ?? .null
        }
        return value
    }

    // MARK: Reading

    private static func files(_ fields: RequestFields, _ names: [String]) throws(RequestMistake) -> [FileLoudness] {
        let allowed = "a list of files, each with \(names.joined(separator: ", "))"
        guard let value = fields.value("files") else { throw .missing(field: "files", allowed: allowed) }
        guard let elements = value.elements, !elements.isEmpty else {
            throw .notAllowed(field: "files", allowed: allowed)
        }
        var files: [FileLoudness] = []
        for (index, element) in elements.enumerated() {
            let place = "files[\(index)]"
            guard let members = element.members else { throw .notAllowed(field: place, allowed: "an object") }
            for member in members where !names.contains(where: { $0.utf8.elementsEqual(member.name.utf8) }) {
                throw .unknownField("\(place).\(member.name)", known: names)
            }
            files.append(FileLoudness(try version(element, place), try replayGain(element, place)))
        }
        return files
    }

    private static func version(_ element: JSONValue, _ place: String) throws(RequestMistake) -> MusicFileVersion {
        guard let path = element["path"]?.string, !path.utf8.contains(0), path.utf8.first == UInt8(ascii: "/")
        else { throw .notAllowed(field: "\(place).path", allowed: "an absolute path, which begins with /") }
        try RequestFields.checkLength(of: path, "\(place).path")
        guard let size = element["size"]?.integer, size >= 0 else {
            throw .notAllowed(field: "\(place).size", allowed: "a number of bytes")
        }
        guard let modified = element["modified"]?.integer else {
            throw .notAllowed(field: "\(place).modified", allowed: "a time in nanoseconds since 1970")
        }
        return MusicFileVersion(path: path, size: size, modified: modified)
    }

    private static func replayGain(_ element: JSONValue, _ place: String) throws(RequestMistake) -> ReplayGain {
        var numbers: [Double?] = []
        for name in gainNames {
            let value = element[name] ?? .null
            let number = value.number
            guard value.isNull || number?.isFinite == true else {
                throw .notAllowed(field: "\(place).\(name)", allowed: "a number or null")
            }
            numbers.append(number)
        }
        return ReplayGain(
            trackGain: numbers[0], trackPeak: numbers[1], albumGain: numbers[2], albumPeak: numbers[3])
    }
}
