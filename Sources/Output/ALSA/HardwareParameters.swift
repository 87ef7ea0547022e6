import CALSA
import CLinux
import PCM

/// The capabilities of a device, narrowed step by step until they are installed
/// (`snd_pcm_hw_params_t`; docs/decisions/device-at-its-widest-format.md).
///
/// Thread: that of its handle. It must not outlive the handle.
struct HardwareParameters: ~Copyable {
    private let raw: OpaquePointer
    private let pcm: OpaquePointer

    /// All capabilities of the device itself: rates that need resampling by alsa-lib are left out.
    static func all(of handle: borrowing PCMHandle) throws(ALSAFailure) -> HardwareParameters {
        let all = try HardwareParameters(allocatedFor: handle.raw)
        try ALSAFailure.check(snd_pcm_hw_params_any(all.pcm, all.raw))
        try ALSAFailure.check(snd_pcm_hw_params_set_rate_resample(all.pcm, all.raw, 0))
        return all
    }

    private init(allocatedFor pcm: OpaquePointer) throws(ALSAFailure) {
        var raw: OpaquePointer?
        try ALSAFailure.check(snd_pcm_hw_params_malloc(&raw))
        guard let raw else { throw ALSAFailure(code: -ENOMEM) }
        self.raw = raw
        self.pcm = pcm
    }

    deinit { snd_pcm_hw_params_free(raw) }

    private func copy() throws(ALSAFailure) -> HardwareParameters {
        let other = try HardwareParameters(allocatedFor: pcm)
        snd_pcm_hw_params_copy(other.raw, raw)
        return other
    }

    // MARK: Capabilities

    /// The usual rates, all channel counts and all sample formats, each independently of the others.
    func capabilities() throws(ALSAFailure) -> DeviceCapabilities {
        DeviceCapabilities(
            rates: DeviceCapabilities.usualRates.filter { supports(rate: $0) }, channels: try channelCounts(),
            sampleFormats: sampleFormats())
    }

    /// The capabilities that remain when the device runs at `format`: many drivers have fewer channels or bits at high
    /// rates.
    func capabilities(at format: PCMFormat) throws(ALSAFailure) -> DeviceCapabilities {
        var capabilities = try capabilities()
        guard supports(rate: format.sampleRate) else { return capabilities }
        if !capabilities.rates.contains(format.sampleRate) { capabilities.rates.append(format.sampleRate) }
        let atRate = try copy()
        try atRate.set(rate: format.sampleRate)
        capabilities.channels = try atRate.channelCounts()
        capabilities.sampleFormats = atRate.sampleFormats()
        guard (try? atRate.set(channels: format.channelCount)) != nil else { return capabilities }
        capabilities.sampleFormats = atRate.sampleFormats()
        return capabilities
    }

    private func supports(rate: Int) -> Bool {
        guard let rate = UInt32(exactly: rate) else { return false }
        return snd_pcm_hw_params_test_rate(pcm, raw, rate, 0) == 0
    }

    /// Each count is tested: a device may have 2 and 6, and no count between them.
    private func channelCounts() throws(ALSAFailure) -> [Int] {
        var least: UInt32 = 0
        var most: UInt32 = 0
        try ALSAFailure.check(snd_pcm_hw_params_get_channels_min(raw, &least))
        try ALSAFailure.check(snd_pcm_hw_params_get_channels_max(raw, &most))
        let last = min(most, UInt32(DeviceCapabilities.mostChannels))
        guard least <= last else { return [] }
        return (least...last).filter { snd_pcm_hw_params_test_channels(pcm, raw, $0) == 0 }.map { Int($0) }
    }

    private func sampleFormats() -> [SampleFormat] {
        SampleFormat.allCases.filter { snd_pcm_hw_params_test_format(pcm, raw, $0.alsa) == 0 }
    }

    // MARK: Narrowing

    /// - Returns: whether the device's memory is written directly; otherwise frames are written by a call.
    func setInterleaved(memoryMapping: Bool) throws(ALSAFailure) -> Bool {
        if memoryMapping, snd_pcm_hw_params_set_access(pcm, raw, SND_PCM_ACCESS_MMAP_INTERLEAVED) == 0 { return true }
        try ALSAFailure.check(snd_pcm_hw_params_set_access(pcm, raw, SND_PCM_ACCESS_RW_INTERLEAVED))
        return false
    }

    func set(rate: Int) throws(ALSAFailure) {
        try ALSAFailure.check(snd_pcm_hw_params_set_rate(pcm, raw, UInt32(clamping: rate), 0))
    }

    func set(channels: Int) throws(ALSAFailure) {
        try ALSAFailure.check(snd_pcm_hw_params_set_channels(pcm, raw, UInt32(clamping: channels)))
    }

    func set(sampleFormat: SampleFormat) throws(ALSAFailure) {
        try ALSAFailure.check(snd_pcm_hw_params_set_format(pcm, raw, sampleFormat.alsa))
    }

    /// Requests a buffer of these sizes; the device uses the nearest supported ones.
    func setBuffer(_ wanted: BufferSize) throws(ALSAFailure) {
        // A single period could not be refilled while it is played. A device that does not support two periods is left
        // unchanged.
        var leastPeriods: UInt32 = 2
        var direction: Int32 = 0
        _ = snd_pcm_hw_params_set_periods_min(pcm, raw, &leastPeriods, &direction)
        var buffer = snd_pcm_uframes_t(wanted.bufferFrames)
        try ALSAFailure.check(snd_pcm_hw_params_set_buffer_size_near(pcm, raw, &buffer))
        var period = max(1, buffer / snd_pcm_uframes_t(wanted.periodCount))
        direction = 0
        try ALSAFailure.check(snd_pcm_hw_params_set_period_size_near(pcm, raw, &period, &direction))
    }

    func install() throws(ALSAFailure) {
        try ALSAFailure.check(snd_pcm_hw_params(pcm, raw))
    }

    // MARK: Results, after `install`

    /// The rate in Hz; see `InstalledRate`.
    func installedRate() throws(ALSAFailure) -> Int {
        var rate: UInt32 = 0
        var direction: Int32 = 0
        try ALSAFailure.check(snd_pcm_hw_params_get_rate(raw, &rate, &direction))
        var numerator: UInt32 = 0
        var denominator: UInt32 = 0
        _ = snd_pcm_hw_params_get_rate_numden(raw, &numerator, &denominator)
        return InstalledRate(reported: rate, numerator: numerator, denominator: denominator).hertz
    }

    /// The sizes in frames. They are at least 1, although some drivers report 0 for the period.
    func installedSizes() throws(ALSAFailure) -> (buffer: Int, period: Int) {
        var buffer: snd_pcm_uframes_t = 0
        var period: snd_pcm_uframes_t = 0
        var direction: Int32 = 0
        try ALSAFailure.check(snd_pcm_hw_params_get_buffer_size(raw, &buffer))
        try ALSAFailure.check(snd_pcm_hw_params_get_period_size(raw, &period, &direction))
        return (max(1, Int(clamping: buffer)), max(1, Int(clamping: period)))
    }

    /// Bits that reach the converter, if the driver knows.
    func installedSignificantBits() -> Int? {
        let bits = snd_pcm_hw_params_get_sbits(raw)
        return bits > 0 ? Int(bits) : nil
    }
}

extension SampleFormat {
    var alsa: snd_pcm_format_t {
        switch self {
        case .s32: SND_PCM_FORMAT_S32_LE
        case .s24: SND_PCM_FORMAT_S24_LE
        case .s24Packed: SND_PCM_FORMAT_S24_3LE
        case .s16: SND_PCM_FORMAT_S16_LE
        case .iec958Subframe: SND_PCM_FORMAT_IEC958_SUBFRAME_LE
        }
    }
}
