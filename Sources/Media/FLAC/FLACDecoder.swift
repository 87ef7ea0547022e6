import PCM

/// FLAC through libFLAC: what it decodes, with silence where frames were lost, and exact seeking.
final class FLACDecoder: AudioDecoder {
    let properties: AudioProperties
    let metadata: TrackMetadata
    private(set) var damage = DamageReport()

    private let source: any ByteSource
    private let header: FLACHeader
    private var stream: FLACStream
    /// Other than `header` while a stream is played that was appended to the first one.
    private var currentHeader: FLACHeader
    private var extent: FLACExtent

    /// The frame, as the stream numbers it, that comes after what was handed out or is pending.
    private var position: Int64 = 0
    /// What the caller knows the format to be.
    private var announcedFormat: PCMFormat
    /// The format of the pending frames.
    private var pendingFormat: PCMFormat
    /// Silent frames that go out before the kept ones.
    private var pendingSilence: Int64 = 0
    /// Where to go before decoding on, after a seek that was disturbed or a source that failed.
    private var interruptedAt: Int64?
    /// Frames before `position` are dropped, not played: on the way to the target of a seek.
    private var isSkipping = false
    private var hasDecoded = false
    private var isAtEnd = false

    /// Silence that is believed at one place: 10 minutes. A number that asks for more is itself damaged.
    private static let longestGapInSeconds: Int64 = 600
    /// The largest number that a frame can have (RFC 9639, 9.1.5).
    private static let lastFrame: Int64 = 1 << 36

    /// - Parameter tags: what stood before the stream; the stream's own tags win over it.
    init(_ source: any ByteSource, tags: TrackMetadata) throws(MediaError) {
        self.source = source
        header = try FLACHeader(source, at: 0)
        currentHeader = header
        extent = FLACExtent(header)
        stream = try FLACStream(source, header: header)
        announcedFormat = header.streamInfo.format
        pendingFormat = announcedFormat
        if let comments = header.comments {
            metadata = tags.overridden(by: try VorbisComments.read(from: source, in: comments))
        } else {
            metadata = tags
        }
        properties = AudioProperties(
            format: header.streamInfo.format, frameCount: header.streamInfo.frameCount, container: .flac, codec: .flac,
            bitRate: header.averageBitRate(fileLength: source.length))
    }

    func read(into buffer: UnsafeMutableBufferPointer<Int32>) throws(MediaError) -> DecodedRun {
        if let target = interruptedAt { try go(to: target) }
        while true {
            if let run = takePending(into: buffer) { return run }
            if isAtEnd { return .end }
            if let count = try decode(into: buffer) { return .frames(count) }
        }
    }

    /// The frames of an appended stream have no numbers of their own here: it is reached by playing.
    func seek(toFrame frame: Int64) throws(MediaError) {
        if currentHeader.audioOffset != header.audioOffset {
            stream = try FLACStream(source, header: header)
            currentHeader = header
        }
        try go(to: min(max(0, frame), Self.lastFrame))
    }

    // MARK: - Decoding

    /// What is left of earlier blocks: silence first, then the kept samples, with a change of format before them.
    private func takePending(into buffer: UnsafeMutableBufferPointer<Int32>) -> DecodedRun? {
        if pendingSilence > 0 {
            let count = Int(min(pendingSilence, Int64(buffer.count / announcedFormat.channelCount)))
            buffer[..<(count * announcedFormat.channelCount)].update(repeating: 0)
            pendingSilence -= Int64(count)
            damage.silencedFrames += Int64(count)
            return .frames(count)
        }
        guard stream.kept.count > 0 else { return nil }
        if pendingFormat != announcedFormat {
            announcedFormat = pendingFormat
            return .format(announcedFormat)
        }
        let channelCount = announcedFormat.channelCount
        let taken = stream.kept.take(buffer.count / channelCount * channelCount, into: buffer)
        return .frames(taken / channelCount)
    }

    /// Decodes one block.
    /// - Returns: the number of frames that went into `buffer`, or nil when something is pending, or the end was met.
    private func decode(into buffer: UnsafeMutableBufferPointer<Int32>) throws(MediaError) -> Int? {
        if let total = currentHeader.streamInfo.frameCount, position == total, try continueWithAppendedStream() {
            return nil
        }
        let expected = isSkipping ? nil : FLACStream.Expectation(firstFrame: position, format: announcedFormat)
        let decoded: FLACStream.Block?
        do throws(MediaError) {
            decoded = try stream.decodeBlock(into: buffer, expected: expected)
        } catch {
            if case .source = error { interruptedAt = position }
            throw error
        }
        guard let block = decoded else {
            try finish()
            return nil
        }
        guard block.isIntact else {
            stream.kept.drop(.max)
            return nil
        }
        return accept(block)
    }

    /// Puts an intact block in its place.
    private func accept(_ block: FLACStream.Block) -> Int? {
        hasDecoded = true
        if isSkipping {
            if block.endFrame <= position {
                stream.kept.drop(.max)
                return nil
            }
            isSkipping = false
            if block.firstFrame < position {
                stream.kept.drop(Int(position - block.firstFrame) * block.format.channelCount)
            }
        }
        let gap = block.firstFrame - position
        if stream.complaints.count > 0 || gap > 0 { damage.incidents += 1 }
        stream.complaints = .init()
        if gap > 0, block.format == announcedFormat, isPlausible(gap, before: block) { pendingSilence = gap }
        position = block.endFrame
        pendingFormat = block.format
        return block.isDelivered ? block.frameCount : nil
    }

    private func isPlausible(_ gap: Int64, before block: FLACStream.Block) -> Bool {
        if let total = currentHeader.streamInfo.frameCount, block.endFrame > total { return false }
        return gap <= Self.longestGapInSeconds * Int64(block.format.sampleRate)
    }

    /// libFLAC has come to the end of the file.
    private func finish() throws(MediaError) {
        let total = currentHeader.streamInfo.frameCount
        if let total, position < total, !isSkipping {
            // Not cut off: the last frames are there, with wrong checksums.
            let missing = total - position
            if missing <= Int64(stream.complaints.badChecksums) * currentHeader.streamInfo.largestBlock {
                pendingSilence = missing
                position = total
                damage.incidents += 1
            }
        }
        isAtEnd = true
        isSkipping = false
        if let total, position < total { damage.truncated = true }
        guard hasDecoded else {
            throw .damaged(what: currentHeader.reasonForNoFrame(fileLength: source.length))
        }
    }

    /// Another stream may have been put behind this one. Each has a header that tells its format, and numbers its
    /// frames anew.
    private func continueWithAppendedStream() throws(MediaError) -> Bool {
        guard let next = stream.fileOffset, next > currentHeader.audioOffset else { return false }
        let start = try ID3v2.end(of: source, at: next)
        guard try SourceReader(source).bytes(4, at: start) == FLACHeader.marker else { return false }
        do throws(MediaError) {
            let appended = try FLACHeader(source, at: start)
            stream = try FLACStream(source, header: appended)
            currentHeader = appended
        } catch {
            if case .source = error { throw error }
            return false
        }
        extent.isFollowed(at: next)
        position = 0
        return true
    }

    // MARK: - Seeking

    private func go(to frame: Int64) throws(MediaError) {
        pendingSilence = 0
        stream.kept.drop(.max)
        stream.complaints = .init()
        isAtEnd = false
        isSkipping = false
        position = frame
        interruptedAt = frame
        try find(frame)
        interruptedAt = nil
    }

    /// libFLAC searches; its answer is checked, and where it fails there are three other ways.
    private func find(_ frame: Int64) throws(MediaError) {
        if frame == 0 { return stream.rewind() }
        if let total = currentHeader.streamInfo.frameCount, frame >= total {
            isAtEnd = true
            return
        }
        if try land(on: frame) { return }
        // The seek table may lie: do without it from now on.
        if currentHeader.seekTable != nil {
            currentHeader.dropSeekTable()
            stream = try FLACStream(source, header: currentHeader)
            if try land(on: frame) { return }
        }
        // The frame may be lost: find one before it, and let the numbers tell what is missing.
        isSkipping = true
        var step = Int64(currentHeader.streamInfo.format.sampleRate)
        while step < frame {
            if try land(on: frame - step) { return }
            step *= 4
        }
        // A source of unknown length cannot be searched at all.
        stream.rewind()
    }

    private func land(on frame: Int64) throws(MediaError) -> Bool {
        try extent.examine(source, currentHeader, with: stream)
        var found = try stream.seek(toFrame: frame, before: extent.end)
        if let offset = found == nil ? source.length : stream.fileOffset, try extent.isLeft(at: offset, in: source) {
            found = try stream.seek(toFrame: frame, before: extent.end)
        }
        guard let block = found else { return false }
        stream.complaints = .init()
        _ = accept(block)
        return true
    }
}
