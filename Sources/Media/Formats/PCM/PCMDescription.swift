import PCM

/// PCM as a container describes it.
struct PCMDescription: Equatable {
    let layout: SampleLayout
    let channelCount: Int
    let sampleRate: Int

    var bytesPerFrame: Int { layout.byteCount * channelCount }

    var format: PCMFormat {
        PCMFormat(sampleRate: sampleRate, channelCount: channelCount, bitDepth: layout.bitDepth)
    }
}
