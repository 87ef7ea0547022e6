@testable import Media

/// Puts the signature where it belongs, so that no time is spent on finding it.
private func signed(_ bytes: [UInt8], _ signature: String, at offset: Int = 0) -> [UInt8] {
    guard bytes.count >= offset + signature.utf8.count else { return bytes }
    var bytes = bytes
    bytes.replaceSubrange(offset..<(offset + signature.utf8.count), with: signature.utf8)
    return bytes
}

private func decode(_ bytes: [UInt8], knowsLength: Bool = true) {
    var exercise = DecoderExercise(frameLimit: 20_000)
    exercise.run(bytes, knowsLength: knowsLength)
}

/// Containers, codecs and tags.
let mediaTargets = [
    FuzzTarget("flac") { decode(signed($0, "fLaC")) },
    FuzzTarget("wav") { decode(signed(signed($0, $0.first == 0x46 ? "RF64" : "RIFF"), "WAVE", at: 8)) },
    FuzzTarget("aiff") { decode(signed(signed($0, "FORM"), $0.first == 0x43 ? "AIFC" : "AIFF", at: 8)) },
    FuzzTarget("file") { decode($0, knowsLength: false) },
    FuzzTarget("id3") { _ = try? ID3v2.read(from: MemorySource(signed($0, "ID3")), at: 0) },
    FuzzTarget("vorbis-comments") {
        _ = try? VorbisComments.read(from: MemorySource($0), in: 0..<Int64($0.count))
    },
]
