import PCM

// The decisions when a device is opened, without the calls that carry them out.

extension DeviceCapabilities {
    /// The sample format for a request: the requested one, or the widest one, so that no bit is lost that the device
    /// could play. `self` has the capabilities at the request's rate and channel count.
    /// - Throws: `.rateNotSupported`, `.channelsNotSupported`, `.sampleFormatNotSupported`.
    func sampleFormat(for request: DeviceRequest) throws(DeviceError) -> SampleFormat {
        let (rate, channelCount) = (request.format.sampleRate, request.format.channelCount)
        guard rates.contains(rate) else {
            throw .rateNotSupported(device: request.device, rate: rate, supported: rates)
        }
        guard channels.contains(channelCount) else {
            throw .channelsNotSupported(device: request.device, channels: channelCount, supported: channels)
        }
        let candidates = SampleFormat.allCases.filter {
            sampleFormats.contains($0) && (request.sampleFormat ?? $0) == $0
                && (!request.format.isDSD || $0.carriesDSD)
        }
        guard let widest = candidates.first else {
            throw .sampleFormatNotSupported(device: request.device, requested: request.sampleFormat)
        }
        return widest
    }
}

/// The requested sizes; a device may have to use others.
struct BufferSize: Equatable {
    let bufferFrames: Int
    let periodCount: Int

    /// At least two periods of at least one frame.
    init(for request: DeviceRequest) {
        let milliseconds = max(1, min(request.bufferMilliseconds, 10_000))
        let frames = Int(clamping: FrameCount.lasting(milliseconds: milliseconds, at: request.format.sampleRate))
        periodCount = max(2, min(request.periodCount, 1024))
        bufferFrames = max(periodCount, frames)
    }
}

/// The rate that a device was set up with.
struct InstalledRate: Equatable {
    /// The rate in Hz.
    let hertz: Int

    /// - Parameters:
    ///   - reported: the rate in Hz, as the driver names it.
    ///   - numerator: with `denominator`, the exact rate of the device's clock; 0 over 0 when it is not known. When it
    ///     differs from the reported rate by less than a hertz, the reported rate is used; otherwise it is not.
    init(reported: UInt32, numerator: UInt32, denominator: UInt32) {
        guard denominator > 0 else {
            hertz = Int(clamping: reported)
            return
        }
        let (exact, expected) = (UInt64(numerator), UInt64(reported) * UInt64(denominator))
        hertz =
            max(exact, expected) - min(exact, expected) < UInt64(denominator)
            ? Int(clamping: reported) : Int(clamping: numerator / denominator)
    }
}
