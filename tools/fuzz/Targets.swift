// What libFuzzer calls. FUZZ_TARGET in the environment names the parser.

import Glibc

@testable import Media

private let target = getenv("FUZZ_TARGET").map { String(cString: $0) } ?? "flac"

/// Puts the signature where it belongs, so that no time is spent on finding it.
private func signed(_ bytes: [UInt8], _ signature: String, at offset: Int = 0) -> [UInt8] {
    guard bytes.count >= offset + signature.utf8.count else { return bytes }
    var bytes = bytes
    bytes.replaceSubrange(offset..<(offset + signature.utf8.count), with: signature.utf8)
    return bytes
}

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    let bytes = Array(UnsafeBufferPointer(start: data, count: count))
    var exercise = DecoderExercise(frameLimit: 20_000)
    switch target {
    case "flac": exercise.run(signed(bytes, "fLaC"))
    case "wav": exercise.run(signed(signed(bytes, bytes.first == 0x46 ? "RF64" : "RIFF"), "WAVE", at: 8))
    case "aiff": exercise.run(signed(signed(bytes, "FORM"), bytes.first == 0x43 ? "AIFC" : "AIFF", at: 8))
    case "file": exercise.run(bytes, knowsLength: false)
    case "not-yet": exercise.run(bytes, knowsLength: count % 2 == 0, notYetEvery: 2 + count % 7)
    case "flac-frames": exercise.run([0] + bytes)
    case "signature":
        _ = Signature.container(of: bytes)
        _ = Signature.name(of: bytes)
        _ = try? AudioFile.container(of: MemorySource(bytes))
    case "id3": _ = try? ID3v2.read(from: MemorySource(signed(bytes, "ID3")), at: 0)
    case "riff-info": _ = try? RIFFInfo.read(from: MemorySource(signed(bytes, "INFO")), in: 0..<Int64(count))
    case "vorbis-comments": _ = try? VorbisComments.read(from: MemorySource(bytes), in: 0..<Int64(count))
    default: fatalError("no target \(target)")
    }
    return 0
}
