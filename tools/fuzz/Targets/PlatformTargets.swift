@testable import Platform

/// JSON, text, and what the kernel reports.
let platformTargets = [
    FuzzTarget("json") { bytes in
        guard let value = try? JSONValue.parse(bytes) else { return }
        // What is read is written in a way that reads the same.
        let written = value.serialized()
        let again = try? JSONValue.parse(written)
        require(again?.serialized() == written, "cannot read what was written: \(written)")
    },
    FuzzTarget("sectioned-text") { bytes in
        let text = SectionedText(parsing: bytes)
        for section in text.sections {
            var reader = SectionReader(section)
            for key in ["a", "b", "key", "name"] {
                _ = reader.integer(key, in: -1000...1000)
                _ = reader.milliseconds(key, in: 0...60_000)
                _ = reader.hundredthsOfDecibels(key, in: -10_000...0)
                _ = reader.list(key)
                _ = reader.requiredText(key)
            }
            reader.finish()
        }
    },
    FuzzTarget("routes") { bytes in
        // The two files of the kernel, with a 0 byte between them.
        let texts = bytes.split(separator: 0, maxSplits: 1, omittingEmptySubsequences: false).map { Array($0) }
        let routes = DefaultRoute.all(version4: texts[0], version6: texts.count > 1 ? texts[1] : [])
        _ = NetworkState(routes, meteredInterfaces: ["wlan0"]) { $0.utf8.count % 2 == 0 }
    },
    FuzzTarget("numbers") { bytes in
        let text = String(decoding: bytes, as: UTF8.self)
        if let number = Double(decimal: text) { _ = number.fixed(2) }
        _ = Suggestion.nearest(to: text, among: ["play", "pause", "queue", "volume"])
    },
]
