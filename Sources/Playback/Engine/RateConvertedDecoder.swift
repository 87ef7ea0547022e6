import Media
import PCM
import Platform

/// A decoder whose frames the device supports. Their rate is one of the device's, and DSD becomes PCM where the device
/// does not take its words. Frames of a supported rate pass unchanged, at no cost.
///
/// Positions are in frames of the first format of `source`.
///
/// Thread: only the decoder thread.
final class RateConvertedDecoder {
    /// How the frames of the decoder are converted for the device.
    private enum State {
        case unchanged
        case converting(Conversion)
    }

    /// Why the conversion returns its last frames.
    private enum End {
        case end
        case format(PCMFormat)
    }

    /// A conversion, with the frames that it has not consumed yet.
    private final class Conversion {
        var converter: RateConverter
        let source: PCMFormat
        let target: Int
        let input: UnsafeMutableBufferPointer<Int32>
        /// Samples of `input`.
        var pending: Range<Int> = 0..<0
        /// Set when no input follows.
        var end: End?
        /// The frames of the output before the requested one.
        var skipped: Int64 = 0

        private static let inputFrames = 4096

        init(_ source: PCMFormat, to target: Int, _ quality: RateQuality) throws(OutOfMemory) {
            (self.source, self.target) = (source, target)
            converter = try RateConverter(
                from: source.sampleRate, to: target, channelCount: source.channelCount, quality: quality)
            input = .allocate(capacity: Self.inputFrames * source.channelCount)
        }

        deinit { input.deallocate() }

        func reset() {
            converter.reset()
            (pending, end, skipped) = (0..<0, nil, 0)
        }
    }

    /// The decoder that delivers PCM, and the decoder that delivers the words of DSD.
    private let decoders: (pcm: any AudioDecoder, words: (any AudioDecoder)?)
    /// The decoder whose frames are read.
    private(set) var source: any AudioDecoder
    private let takesDSD: (PCMFormat) -> Bool
    private let quality: RateQuality
    private let deviceRate: (Int) -> Int
    private var state = State.unchanged
    /// The format of the decoder's next frames.
    private(set) var sourceFormat: PCMFormat

    /// Decoding begins this many milliseconds before the target of a seek, so that the filter of the conversion is full
    /// at the target.
    private static let preroll = 100

    /// - Parameters:
    ///   - takesDSD: whether the device gets words of DSD of a format.
    ///   - deviceRate: the rate at which audio of a rate is played, in Hz.
    init(
        _ decoder: any AudioDecoder, quality: RateQuality, takesDSD: @escaping (PCMFormat) -> Bool,
        deviceRate: @escaping (Int) -> Int
    ) {
        decoders = (decoder, decoder.dsdWords)
        source = decoder
        (self.quality, self.takesDSD, self.deviceRate) = (quality, takesDSD, deviceRate)
        sourceFormat = decoder.properties.format
    }

    /// Chooses `source` for the device as it is known now. `begin` must follow.
    func chooseSource() {
        guard let words = decoders.words else { return }
        source = takesDSD(words.properties.format) ? words : decoders.pcm
        sourceFormat = source.properties.format
    }

    /// The format of the next frames after the conversion.
    var format: PCMFormat {
        switch state {
        case .unchanged: sourceFormat
        case .converting(let conversion): Self.format(of: conversion)
        }
    }

    /// All 32 bits of converted frames carry signal.
    private static func format(of conversion: Conversion) -> PCMFormat {
        PCMFormat(sampleRate: conversion.target, channelCount: conversion.source.channelCount, bitDepth: 32)
    }

    /// Prepares the frames from a position on, for the current rates of the device.
    /// - Parameter frame: the position in the decoder's first format; nil for the decoder's current position.
    func begin(at frame: Int64?) throws(MediaError) {
        try choose()
        guard let frame else { return }
        guard case .converting(let conversion) = state else { return try source.seek(toFrame: frame) }
        conversion.reset()
        // Chooses a whole number of frames at both rates, if possible.
        let (first, target) = (Int64(source.properties.format.sampleRate), Int64(conversion.target))
        let step = first / Self.greatestDivisor(first, target)
        let wanted = first * Int64(Self.preroll) / 1000
        let preroll = step > first ? wanted : (wanted + step - 1) / step * step
        let start = max(0, frame - preroll)
        try source.seek(toFrame: start)
        conversion.skipped = (2 * (frame - start) * target + first) / (2 * first)
    }

    private func choose() throws(MediaError) {
        guard !sourceFormat.isDSD else { return state = .unchanged }
        let target = deviceRate(sourceFormat.sampleRate)
        guard target != sourceFormat.sampleRate else { return state = .unchanged }
        if case .converting(let conversion) = state, conversion.target == target, conversion.source == sourceFormat {
            return
        }
        do throws(OutOfMemory) { state = .converting(try Conversion(sourceFormat, to: target, quality)) } catch {
            throw .source(.medium(SystemError(code: SystemError.outOfMemory, operation: "convert the sample rate")))
        }
    }

    private static func greatestDivisor(_ one: Int64, _ other: Int64) -> Int64 {
        var (large, small) = (one, other)
        while small > 0 { (large, small) = (small, large % small) }
        return max(1, large)
    }

    /// Reads like `AudioDecoder.read`.
    func read(into buffer: UnsafeMutableBufferPointer<Int32>) throws(MediaError) -> DecodedRun {
        while true {
            switch state {
            case .unchanged:
                let run = try source.read(into: buffer)
                guard case .format(let new) = run else { return run }
                if let change = try changed(to: new) { return .format(change) }
            case .converting(let conversion):
                if let run = try read(conversion, into: buffer) { return run }
            }
        }
    }

    /// - Returns: nil when the same call has to be repeated.
    private func read(
        _ conversion: Conversion, into buffer: UnsafeMutableBufferPointer<Int32>
    ) throws(MediaError) -> DecodedRun? {
        if conversion.pending.isEmpty, conversion.end == nil {
            switch try source.read(into: conversion.input) {
            case .frames(let count): conversion.pending = 0..<(count * conversion.source.channelCount)
            case .notYet: return .notYet
            case .end: conversion.end = .end
            case .format(let new): conversion.end = .format(new)
            }
        }
        let produced: Int
        if conversion.pending.isEmpty {
            produced = conversion.converter.finish(into: buffer)
            if produced == 0 {
                guard case .format(let new)? = conversion.end else { return .end }
                return try changed(to: new).map { .format($0) }
            }
        } else {
            let input = UnsafeBufferPointer(rebasing: conversion.input[conversion.pending])
            let result = conversion.converter.convert(input, into: buffer)
            let start = conversion.pending.lowerBound + result.consumed * conversion.source.channelCount
            conversion.pending = start..<conversion.pending.upperBound
            produced = result.produced
        }
        let kept = skip(produced, of: conversion, in: buffer)
        return kept > 0 ? .frames(kept) : nil
    }

    /// Drops the frames before the target of a seek.
    private func skip(_ count: Int, of conversion: Conversion, in buffer: UnsafeMutableBufferPointer<Int32>) -> Int {
        guard conversion.skipped > 0 else { return count }
        let skipped = Int(min(conversion.skipped, Int64(count)))
        conversion.skipped -= Int64(skipped)
        let channels = conversion.source.channelCount
        for place in 0..<((count - skipped) * channels) { buffer[place] = buffer[place + skipped * channels] }
        return count - skipped
    }

    /// Handles another format of the decoder's next frames.
    /// - Returns: the format of the converted frames; nil when it does not change.
    private func changed(to new: PCMFormat) throws(MediaError) -> PCMFormat? {
        let old = format
        sourceFormat = new
        try choose()
        if case .converting(let conversion) = state { conversion.reset() }
        return format == old ? nil : format
    }
}
