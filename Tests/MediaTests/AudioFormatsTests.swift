import Testing

@testable import Media

@Suite("Codecs as manifests name them (RFC 6381)")
struct AudioFormatsTests {
    @Test(
        "The formats that are supported",
        arguments: [
            "flac", "fLaC", "FLAC", "mp4a", "mp4a.40", "mp4a.40.2", "mp4a.40.02", "mp4a.40.5", "mp4a.40.05",
            "mp4a.40.29", "MP4A.40.2", "mp4a.67", "mp3", "MP3",
            "mp4a.69", "mp4a.6B", "mp4a.40.34", "alac", "ALAC", "opus", "Opus", "ipcm", "fpcm",
        ])
    func decoded(codec: String) {
        #expect(AudioFormats.hasDecoder(for: codec))
    }

    @Test(
        "The formats that are not",
        arguments: [
            "", "flacx", "mp4", "mp4a.40.1", "mp4a.40.3", "mp4a.40.33", "mp4a.40.39", "mp4a.40.42", "mp4a.40.x",
            "mp4a.40.", "mp4a.66", "mp4a.68", "mp4a.69.1", "mp4a.a6", "ec-3", "ac-4", "mha1.0x0D", "vorbis",
            "alacx", "avc1.42e00a", "mp3.1", "mp2", "mp4a.40.4294967298",
        ])
    func others(codec: String) {
        #expect(!AudioFormats.hasDecoder(for: codec))
    }
}
