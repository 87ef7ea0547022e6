import PCM

/// Plain PCM frames in a part of a source: what WAV and AIFF have in common.
final class PCMFrameReader {
    let format: PCMFormat
    /// Frames that are there, as far as it is known without reading to the end.
    let frameCount: Int64?
    private(set) var damage = DamageReport()

    private let reader: SourceReader
    private let layout: SampleLayout
    private let dataOffset: Int64
    private let bytesPerFrame: Int
    /// Whether the header asks for more than the source has.
    private let isCutShort: Bool
    private var position: Int64 = 0
    private let staging: UnsafeMutableRawBufferPointer

    private static let stagingSize = 32_768

    /// - Parameter declaredBytes: what the header says the data takes, or nil for all that is there.
    /// - Parameter declaredFrames: a second limit, where the container has one.
    init(
        _ source: any ByteSource, layout: SampleLayout, channelCount: Int, sampleRate: Int, dataOffset: Int64,
        declaredBytes: Int64?, declaredFrames: Int64? = nil
    ) {
        reader = SourceReader(source)
        self.layout = layout
        self.dataOffset = dataOffset
        format = PCMFormat(sampleRate: sampleRate, channelCount: channelCount, bitDepth: layout.bitDepth)
        let bytesPerFrame = layout.byteCount * channelCount
        self.bytesPerFrame = bytesPerFrame

        let present = source.length.map { max(0, $0 - dataOffset) / Int64(bytesPerFrame) }
        var declared = declaredBytes.map { max(0, $0) / Int64(bytesPerFrame) }
        if let declaredFrames { declared = min(declaredFrames, declared ?? .max) }
        isCutShort = if let present, let declared { present < declared } else { false }
        frameCount = if let present, let declared { min(present, declared) } else { present ?? declared }
        staging = .allocate(byteCount: Self.stagingSize, alignment: 16)
    }

    deinit { staging.deallocate() }

    /// Bits per second.
    var bitRate: Int { bytesPerFrame * 8 * format.sampleRate }

    func read(into buffer: UnsafeMutableBufferPointer<Int32>) throws(MediaError) -> DecodedRun {
        let left = frameCount.map { max(0, $0 - position) } ?? .max
        let room = min(buffer.count / format.channelCount, staging.count / bytesPerFrame)
        let wanted = Int(min(left, Int64(room)))
        guard wanted > 0 else { return end() }

        let frames = try readFrames(wanted)
        guard frames > 0 else { return end() }
        layout.unpack(
            UnsafePointer(staging.baseAddress!.assumingMemoryBound(to: UInt8.self)),
            sampleCount: frames * format.channelCount, into: buffer.baseAddress!)
        position += Int64(frames)
        return .frames(frames)
    }

    func seek(toFrame frame: Int64) {
        position = max(0, frame)
        if let frameCount { position = min(position, frameCount) }
    }

    /// Brings whole frames into `staging`. What came before a source failed is good; the next call meets the failure.
    private func readFrames(_ count: Int) throws(MediaError) -> Int {
        let (bytesBefore, overflow) = position.multipliedReportingOverflow(by: Int64(bytesPerFrame))
        let (start, overflow2) = dataOffset.addingReportingOverflow(bytesBefore)
        guard !overflow, !overflow2 else { return 0 }
        let byteCount = count * bytesPerFrame
        var filled = 0
        while filled < byteCount {
            do throws(ByteSourceError) {
                let rest = UnsafeMutableRawBufferPointer(rebasing: staging[filled..<byteCount])
                let got = try reader.source.read(into: rest, at: start + Int64(filled))
                if got == 0 { break }
                filled += got
            } catch {
                if filled >= bytesPerFrame { break }
                throw .source(error)
            }
        }
        return filled / bytesPerFrame
    }

    private func end() -> DecodedRun {
        if isCutShort { damage.truncated = true }
        if let frameCount, position < frameCount { damage.truncated = true }
        return .end
    }
}
