import Crypto
import Media
import PCM
import Platform

/// Decodes all of a file that was just downloaded. A file becomes an offline copy only if it plays to its end.
///
/// Thread: the download's.
struct ContentVerification {
    /// The metadata and the keys that the decoder found.
    struct Result {
        var metadata: TrackMetadata
        /// The keys that the content needed.
        var keys: [ContentKeys.Key]
    }

    /// Frames of one read.
    private static let frames = 4096

    let source: any ByteSource
    let parts: [OfflineCopyPart]
    /// The licenses of each part; nil for a part without encryption.
    let licenses: [(any LicenseProvider)?]
    let cancellation: Cancellation

    /// - Throws: `.media` for content that does not play to its end, or whose samples are not those of the encoder;
    ///   `.stopped`.
    func run() throws(OfflineFailure) -> Result {
        let recorded = licenses.map { $0.map { RecordedLicenses($0) } }
        do throws(MediaError) {
            let decoder = try parts.open(source, cancellation: cancellation) { recorded[$0] }
            let count = try decodeAll(decoder)
            let damage = decoder.damage
            guard damage.isEmpty else {
                throw .damaged(what: damage.truncated ? "content that is cut off" : "frames that cannot be decoded")
            }
            try check(count, decoder.properties)
            return Result(metadata: decoder.metadata, keys: recorded.flatMap { $0?.keys ?? [] })
        } catch {
            throw error == .source(.cancelled) ? .stopped : .media(error)
        }
    }

    private func check(_ count: Int64, _ properties: AudioProperties) throws(MediaError) {
        guard let expected = properties.frameCount else { return }
        let rate = Double(properties.format.sampleRate)
        let tolerance = properties.container == .mp4 ? Int64(rate * properties.lengthTolerance) : 0
        guard expected - count <= tolerance else { throw .damaged(what: "\(count) frames instead of \(expected)") }
    }

    /// - Returns: the number of frames, converted to the rate of the first format.
    private func decodeAll(_ decoder: any AudioDecoder) throws(MediaError) -> Int64 {
        let (format, expected) = (decoder.properties.format, decoder.properties.sampleDigest)
        let buffer = UnsafeMutableBufferPointer<Int32>.allocate(capacity: Self.frames * 8)
        defer { buffer.deallocate() }
        var digest = try SampleDigest(format)
        var hasOneFormat = true
        var rate = format.sampleRate
        var (count, countOfRate): (Int64, Int64) = (0, 0)
        func counted() -> Int64 {
            count + Int64((Double(countOfRate) * Double(format.sampleRate) / Double(rate)).rounded())
        }
        reading: while true {
            if cancellation.isCancelled { throw .source(.cancelled) }
            switch try decoder.read(into: buffer) {
            case .frames(let frames):
                countOfRate += Int64(frames)
                guard expected != nil, hasOneFormat else { continue }
                try digest.add(UnsafeBufferPointer(rebasing: buffer[..<(frames * format.channelCount)]))
            case .format(let other):
                hasOneFormat = false
                (count, countOfRate, rate) = (counted(), 0, other.sampleRate)
            case .notYet: preconditionFailure("ContentVerification: a file that waits for bytes")
            case .end: break reading
            }
        }
        if let expected, hasOneFormat, try digest.finish() != expected {
            throw .damaged(what: "samples that are not those of the encoder (MD5)")
        }
        return counted()
    }
}

/// Hands out the keys of another provider, and remembers them.
private final class RecordedLicenses: LicenseProvider {
    private let provider: any LicenseProvider
    private(set) var keys: [ContentKeys.Key] = []

    init(_ provider: any LicenseProvider) { self.provider = provider }

    func key(_ request: KeyRequest) throws(MediaError) -> [UInt8] {
        let value = try provider.key(request)
        keys.append(.init(id: request.keyID, value: value))
        return value
    }
}

/// The MD5 of decoded samples as FLAC counts it: interleaved, in as many whole bytes as a sample needs, the least
/// significant one first (RFC 9639, 8.2).
private struct SampleDigest: ~Copyable {
    private var md5: MD5
    private let shift: Int32
    private let byteCount: Int
    private var bytes: [UInt8] = []

    init(_ format: PCMFormat) throws(MediaError) {
        do throws(CryptoError) { md5 = try MD5() } catch { throw Self.withoutMemory }
        shift = Int32(32 - format.bitDepth)
        byteCount = (format.bitDepth + 7) / 8
    }

    mutating func add(_ samples: UnsafeBufferPointer<Int32>) throws(MediaError) {
        if bytes.count < samples.count * byteCount {
            bytes = [UInt8](repeating: 0, count: samples.count * byteCount)
        }
        let (shift, byteCount) = (shift, byteCount)
        bytes.withUnsafeMutableBufferPointer { Self.pack(samples, shift, byteCount, into: $0) }
        do throws(CryptoError) {
            try bytes.withUnsafeBufferPointer { (all) throws(CryptoError) in
                try md5.update(
                    UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: all[..<(samples.count * byteCount)])))
            }
        } catch {
            throw Self.withoutMemory
        }
    }

    /// Runs over every sample of a download: most have 16 bits, and that loop is vector code.
    private static func pack(
        _ samples: UnsafeBufferPointer<Int32>, _ shift: Int32, _ byteCount: Int,
        into bytes: UnsafeMutableBufferPointer<UInt8>
    ) {
        guard var next = bytes.baseAddress else { return }
        if byteCount == 2 {
            next.withMemoryRebound(to: Int16.self, capacity: samples.count) { words in
                for index in 0..<samples.count {
                    words[index] = Int16(truncatingIfNeeded: samples[index] &>> shift).littleEndian
                }
            }
            return
        }
        for sample in samples {
            var value = sample &>> shift
            for index in 0..<byteCount {
                next[index] = UInt8(truncatingIfNeeded: value)
                value &>>= 8
            }
            next += byteCount
        }
    }

    consuming func finish() throws(MediaError) -> [UInt8] {
        do throws(CryptoError) { return try md5.finish() } catch { throw Self.withoutMemory }
    }

    private static var withoutMemory: MediaError {
        .source(.medium(SystemError(code: SystemError.outOfMemory, operation: "verify")))
    }
}
