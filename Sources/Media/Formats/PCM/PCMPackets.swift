import PCM

/// Plain PCM frames in a part of a source, in packets of whole frames: the common part of WAV and AIFF.
final class PCMPackets: TimedPacketSource {
    let format: PCMFormat
    /// The number of frames, as far as it is known without reading to the end.
    let frameCount: Int64?
    let layout: SampleLayout
    private(set) var isCutShort = false

    private let source: any ByteSource
    private let dataOffset: Int64
    private let bytesPerFrame: Int
    /// The number of frames in the header, or nil for all until the end.
    private let declaredFrames: Int64?
    /// The first frame of the next packet.
    private var position: Int64 = 0
    private let staging: UnsafeMutableRawBufferPointer

    private static let stagingSize = 32_768

    /// - Parameter declaredBytes: the size of the data in the header, or nil for all until the end.
    /// - Parameter declaredFrames: a second limit, if the container has one.
    init(
        _ source: any ByteSource, layout: SampleLayout, channelCount: Int, sampleRate: Int, dataOffset: Int64,
        declaredBytes: Int64?, declaredFrames: Int64? = nil
    ) {
        self.source = source
        self.layout = layout
        self.dataOffset = dataOffset
        format = PCMFormat(sampleRate: sampleRate, channelCount: channelCount, bitDepth: layout.bitDepth)
        bytesPerFrame = layout.byteCount * channelCount

        var declared = declaredBytes.map { [bytesPerFrame] in max(0, $0) / Int64(bytesPerFrame) }
        if let declaredFrames { declared = min(declaredFrames, declared ?? .max) }
        self.declaredFrames = declared
        let present = source.length.map { [bytesPerFrame] in max(0, $0 - dataOffset) / Int64(bytesPerFrame) }
        frameCount = if let present, let declared { min(present, declared) } else { present ?? declared }
        staging = .allocate(byteCount: Self.stagingSize, alignment: 16)
    }

    deinit { staging.deallocate() }

    /// Bits per second.
    var bitRate: Int? { AudioLimits.bitRate(bytesPerFrame: bytesPerFrame, sampleRate: format.sampleRate) }

    func track(in container: AudioProperties.Container, _ metadata: TrackMetadata) -> TrackDescription {
        let properties = AudioProperties(
            format: format, frameCount: frameCount, container: container, codec: layout.codec, bitRate: bitRate)
        return TrackDescription(properties: properties, metadata: metadata)
    }

    func nextPacket() throws(Interruption) -> Packet? {
        let left = declaredFrames.map { max(0, $0 - position) } ?? .max
        let wanted = Int(min(left, Int64(staging.count / bytesPerFrame)))
        let frames = wanted > 0 ? try readFrames(wanted) : 0
        guard frames > 0 else {
            isCutShort = isCutShort || endsEarly
            return nil
        }
        let bytes = UnsafeRawBufferPointer(rebasing: staging[..<(frames * bytesPerFrame)])
        let packet = Packet(bytes: bytes, timeStamp: position, duration: Int64(frames))
        position += Int64(frames)
        return packet
    }

    func seek(toFrame frame: Int64) -> Int64 {
        position = min(max(0, frame), declaredFrames ?? .max)
        return position
    }

    /// Reads whole frames into `staging`. Frames before an error of the source are returned; the next call throws the
    /// error.
    private func readFrames(_ count: Int) throws(Interruption) -> Int {
        let (bytesBefore, overflow) = position.multipliedReportingOverflow(by: Int64(bytesPerFrame))
        let (start, overflow2) = dataOffset.addingReportingOverflow(bytesBefore)
        guard !overflow, !overflow2, start <= .max - Int64(Self.stagingSize) else { return 0 }
        let byteCount = count * bytesPerFrame
        var filled = 0
        while filled < byteCount {
            do throws(Interruption) {
                let rest = UnsafeMutableRawBufferPointer(rebasing: staging[filled..<byteCount])
                guard let got = try source.next(into: rest, at: start + Int64(filled)) else { break }
                filled += got
            } catch {
                if filled >= bytesPerFrame { break }
                throw error
            }
        }
        return filled / bytesPerFrame
    }

    /// Whether the source ends before the frames in the header.
    private var endsEarly: Bool {
        guard let declaredFrames else { return false }
        if position < declaredFrames { return true }
        guard let length = source.length else { return false }
        return max(0, length - dataOffset) / Int64(bytesPerFrame) < declaredFrames
    }
}
