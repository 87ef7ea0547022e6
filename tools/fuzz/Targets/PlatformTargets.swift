import CLinux

@testable import Platform

/// JSON and text.
let platformTargets = [
    FuzzTarget("json") { bytes in
        guard let value = try? JSONValue.parse(bytes) else { return }
        // A value that was read is written in a way that reads the same.
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
    FuzzTarget("file-name") { bytes in
        // The kernel ends a name at the first 0 byte.
        let name = Array(bytes.prefix { $0 != 0 })
        let text = name.withUnsafeBufferPointer { FileName.text(of: $0) }
        let again = FileName.withBytes(of: text) { Array(UnsafeRawBufferPointer(start: $0, count: strlen($0))) }
        require(again == name, "\(name) became \(again)")
    },
    FuzzTarget("trusted-time") { bytes in
        let numbers = stride(from: 0, to: bytes.count, by: 8).map { start in
            bytes[start..<min(start + 8, bytes.count)].reduce(Int64(0)) { $0 << 8 | Int64($1) }
        }
        guard numbers.count >= 3 else { return }
        // The record is from the database; the clock counts from the start of the system.
        let record = TrustedTime.Record(milliseconds: numbers[0], sinceBoot: numbers[1], boot: "a")
        let isSynchronised = numbers[2] < 0
        var now = SystemTime(
            sinceBoot: numbers[2] & .max, boot: numbers[0] % 2 == 0 ? "a" : "b",
            synchronised: isSynchronised ? numbers[1] : nil)
        var time = TrustedTime(from: record, at: now)
        var observations = 0
        for number in numbers.dropFirst(3) {
            let before = time.milliseconds(at: now)
            // A clock may set back an estimate, and a proved time after two observations.
            let mayMoveBack = number % 2 == 0 && (!time.isProved || observations > 0)
            if number % 2 == 0 { time.observe(now) } else { time.prove(number, at: now) }
            observations += number % 2 == 0 ? 1 : 0
            _ = time.isWorthSaving(after: record, at: now)
            if let before, !mayMoveBack {
                require(time.milliseconds(at: now).map { $0 >= before } == true, "it moves backwards")
            }
            now.sinceBoot += (Int64.max - now.sinceBoot) / 2
        }
    },
    FuzzTarget("form") { bytes in
        guard let fields = FormText.fields(of: bytes) else { return }
        let again = FormText.fields(of: Array(FormText.text(of: fields).utf8)) ?? []
        // A part without a name and a value is written as `=`.
        require(
            again.map { $0.name + "=" + $0.value } == fields.map { $0.name + "=" + $0.value }, "other fields")
    },
    FuzzTarget("numbers") { bytes in
        let text = String(decoding: bytes, as: UTF8.self)
        if let number = Double(decimal: text) { _ = number.fixed(2) }
        _ = Suggestion.nearest(to: text, among: ["play", "pause", "queue", "volume"])
    },
    FuzzTarget("web-socket") { bytes in
        // The first byte chooses the role and the size of the pieces. Pieces and the whole give the same.
        guard let first = bytes.first else { return }
        let role = first & 1 == 0 ? WebSocketMachine.Role.client : .server
        func outputs(_ size: Int) -> [WebSocketMachine.Output] {
            var machine = WebSocketMachine(role, at: 0)
            var outputs: [WebSocketMachine.Output] = []
            var rest = bytes.dropFirst()
            while !rest.isEmpty {
                outputs += Array(rest.prefix(size)).withUnsafeBytes { machine.receive($0, at: 0) }
                rest = rest.dropFirst(size)
            }
            return outputs
        }
        let whole = outputs(.max / 2)
        require(whole == outputs(Int(first >> 1) + 1), "pieces differ")
        for output in whole {
            if case .text(let text) = output { require(text.utf8.count <= 65_536, "a long text") }
        }
    },
]
