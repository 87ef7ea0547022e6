@testable import Output

/// Names of devices, from the command line and the configuration.
let outputTargets = [
    FuzzTarget("device-name") { bytes in
        // A C library reads it up to the first 0 byte, as it is passed.
        let name = String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        _ = DeviceName.cardReference(of: name)
        // No file plug-in: a name that the fuzzer finds must not write files.
        if name.utf8.starts(with: "hw:".utf8), !name.utf8.contains(UInt8(ascii: "{")) {
            _ = DeviceName.absence(of: name)
        }
    }
]
