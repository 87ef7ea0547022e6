import PCM

/// Native FLAC, decoded by libFLAC, with silence for lost frames and exact seeking.
final class FLACStreamCodec: Codec {
    private(set) var damage = DamageReport()

    private let container: FLACContainer
    /// The first stream of the file, or the appended stream that is played.
    private var stream: FLACStream
    private var extent: FLACExtent

    /// The number, in the stream, of the frame after the last one that was returned or is pending.
    private var position: Int64 = 0
    private var pending: PendingBlock
    /// The frame at which to continue after an interrupted seek or a failed source.
    private var interruptedAt: Int64?
    /// Frames before `position` are dropped: they lead to the target of a seek.
    private var isSkipping = false
    private var hasDecoded = false
    private var isAtEnd = false

    /// The longest gap that is filled with silence: 10 minutes. A number that asks for more is itself damaged.
    private static let longestGapInSeconds: Int64 = 600
    /// The largest possible frame number (RFC 9639, 9.1.5).
    private static let lastFrame: Int64 = 1 << 36

    init(_ container: FLACContainer) throws(Interruption) {
        self.container = container
        let header = container.header
        extent = FLACExtent(header)
        stream = try FLACStream(container, header)
        pending = PendingBlock(header.streamInfo.format)
    }

    func read(into buffer: UnsafeMutableBufferPointer<Int32>) throws(Interruption) -> CodecRun {
        if let target = interruptedAt { try go(to: target) }
        while true {
            if let run = takePending(into: buffer) { return run }
            if isAtEnd { return .end }
            if let count = try decode(into: buffer) { return .frames(count) }
        }
    }

    /// The frames of an appended stream have no numbers in this file: it is reached only by playing.
    func seek(toFrame frame: Int64) throws(Interruption) -> Int64 {
        if stream.header.audioOffset != container.header.audioOffset {
            stream = try FLACStream(container, container.header)
        }
        let target = min(max(0, frame), Self.lastFrame)
        try go(to: target)
        return target
    }

    // MARK: - Decoding

    /// The rest of earlier blocks.
    private func takePending(into buffer: UnsafeMutableBufferPointer<Int32>) -> CodecRun? {
        if let count = pending.takeSilence(into: buffer) {
            damage.silencedFrames += Int64(count)
            return .frames(count)
        }
        return pending.take(from: &stream.library.receiver.kept, into: buffer)
    }

    /// Decodes one block.
    /// - Returns: the number of frames that were written into `buffer`, or nil when something is pending, or at the
    ///   end.
    private func decode(into buffer: UnsafeMutableBufferPointer<Int32>) throws(Interruption) -> Int? {
        if let total = stream.header.streamInfo.frameCount, position == total, try continueWithAppendedStream() {
            return nil
        }
        let expected = isSkipping ? nil : FLACLibrary.Expectation(firstFrame: position, format: pending.announcedFormat)
        let decoded: FLACLibrary.Block?
        do throws(Interruption) {
            decoded = try stream.library.decodeBlock(into: buffer, expected: expected)
        } catch {
            if stream.library.isLost { interruptedAt = position }
            throw error
        }
        container.finishStep()
        guard let block = decoded else {
            try finish()
            return nil
        }
        guard block.isIntact else {
            stream.library.receiver.kept.drop(.max)
            return nil
        }
        return accept(block)
    }

    /// Finds the position of an intact block in the stream.
    private func accept(_ block: FLACLibrary.Block) -> Int? {
        hasDecoded = true
        if isSkipping {
            if block.endFrame <= position {
                stream.library.receiver.kept.drop(.max)
                return nil
            }
            isSkipping = false
            if block.firstFrame < position {
                stream.library.receiver.kept.drop(Int(position - block.firstFrame) * block.format.channelCount)
            }
        }
        let gap = block.firstFrame - position
        if stream.library.receiver.complaints.count > 0 || gap > 0 { damage.incidents += 1 }
        stream.library.receiver.complaints = .init()
        pending.silence = silence(for: gap, before: block)
        position = block.endFrame
        pending.format = block.format
        return block.isDelivered ? block.frameCount : nil
    }

    /// Frames of silence for the missing frames before `block`.
    private func silence(for gap: Int64, before block: FLACLibrary.Block) -> Int64 {
        guard block.format == pending.announcedFormat, gap <= Self.longestGapInSeconds * Int64(block.format.sampleRate)
        else {
            return 0
        }
        if let total = stream.header.streamInfo.frameCount, block.endFrame > total { return 0 }
        return max(0, gap)
    }

    /// libFLAC has reached the end of the file.
    private func finish() throws(Interruption) {
        let total = stream.header.streamInfo.frameCount
        if let total, position < total, !isSkipping {
            // Not cut off: the last frames are there, with wrong checksums.
            let missing = total - position
            if missing <= Int64(stream.library.receiver.complaints.badChecksums) * stream.header.streamInfo.largestBlock
            {
                pending.silence = missing
                position = total
                damage.incidents += 1
            }
        }
        isAtEnd = true
        isSkipping = false
        if let total, position < total { damage.truncated = true }
        guard hasDecoded else {
            throw .damaged(what: stream.header.reasonForNoFrame(fileLength: container.source.length))
        }
    }

    /// Another stream may follow this one in the file. Each has a header with its format, and numbers its frames from
    /// 0.
    private func continueWithAppendedStream() throws(Interruption) -> Bool {
        guard let next = stream.fileOffset, next > stream.header.audioOffset else { return false }
        guard let appended = try container.appendedHeader(at: next) else { return false }
        do throws(Interruption) { stream = try FLACStream(container, appended) } catch {
            stream.resume(atFileOffset: next)
            if error.isOfSource { throw error }
            return false
        }
        extent.isFollowed(at: next)
        position = 0
        return true
    }

    // MARK: - Seeking

    private func go(to frame: Int64) throws(Interruption) {
        pending.silence = 0
        stream.library.receiver.kept.drop(.max)
        stream.library.receiver.complaints = .init()
        isAtEnd = false
        isSkipping = false
        position = frame
        interruptedAt = frame
        try find(frame)
        interruptedAt = nil
    }

    /// libFLAC searches, and its result is checked. When it fails, there are three other methods.
    private func find(_ frame: Int64) throws(Interruption) {
        if frame == 0 { return stream.rewind() }
        if let total = stream.header.streamInfo.frameCount, frame >= total {
            isAtEnd = true
            return
        }
        if try land(on: frame) { return }
        // The seek table may be wrong: it is not used from now on.
        if stream.header.seekTable != nil {
            stream.header.dropSeekTable()
            stream = try FLACStream(container, stream.header)
            if try land(on: frame) { return }
        }
        // The frame may be lost: find one before it, and count the missing frames by the numbers.
        isSkipping = true
        var step = Int64(stream.header.streamInfo.format.sampleRate)
        while step < frame {
            if try land(on: frame - step) { return }
            step *= 4
        }
        // A source of unknown length cannot be searched.
        stream.rewind()
    }

    private func land(on frame: Int64) throws(Interruption) -> Bool {
        try extent.examine(container.source, stream.header, with: stream)
        var found = try stream.seek(toFrame: frame, before: extent.end)
        if let offset = found == nil ? container.source.length : stream.fileOffset,
            try extent.isLeft(at: offset, in: container.source)
        {
            found = try stream.seek(toFrame: frame, before: extent.end)
        }
        guard let block = found else { return false }
        stream.library.receiver.complaints = .init()
        _ = accept(block)
        return true
    }
}

/// Frames that were decoded and not returned yet: silence for lost ones, then the samples of a block, with a change of
/// format between them.
private struct PendingBlock {
    /// The format that the caller knows; that of the silence, too.
    private(set) var announcedFormat: PCMFormat
    /// The format of the block.
    var format: PCMFormat
    /// Silent frames to return before the block.
    var silence: Int64 = 0

    init(_ format: PCMFormat) {
        announcedFormat = format
        self.format = format
    }

    /// Writes silence, as much as has room.
    /// - Returns: how many frames; nil when none is left.
    mutating func takeSilence(into buffer: UnsafeMutableBufferPointer<Int32>) -> Int? {
        guard silence > 0 else { return nil }
        let count = Int(min(silence, Int64(buffer.count / announcedFormat.channelCount)))
        buffer[..<(count * announcedFormat.channelCount)].update(repeating: 0)
        silence -= Int64(count)
        return count
    }

    /// Takes samples of the block, after its format if that is new.
    /// - Returns: nil when there are none.
    mutating func take(from kept: inout SampleStore, into buffer: UnsafeMutableBufferPointer<Int32>) -> CodecRun? {
        guard kept.count > 0 else { return nil }
        if format != announcedFormat {
            announcedFormat = format
            return .format(announcedFormat)
        }
        let channelCount = announcedFormat.channelCount
        let taken = kept.take(buffer.count / channelCount * channelCount, into: buffer)
        return .frames(taken / channelCount)
    }
}
