import Foundation
import TestSupport
import Testing

/// Files of noise, made by ffmpeg.
struct LoudFiles {
    static let needsFFmpeg = ConditionTrait.enabled(
        if: FileManager.default.isExecutableFile(atPath: "/usr/bin/ffmpeg"), "needs `ffmpeg`: apt-get install ffmpeg")

    let folder: ScratchFolder

    /// - Parameters:
    ///   - level: in dB.
    ///   - options: of the encoder.
    func make(
        _ name: String, seconds: Double = 1.5, rate: Int = 44_100, channels: Int = 2, level: Double = 0,
        _ options: [String] = []
    ) throws {
        let parent = (folder[name] as NSString).deletingLastPathComponent
        try FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: true)
        // Louder in the middle, so that the gates have work.
        let source = "anoisesrc=d=\(seconds):c=pink:r=\(rate):a=0.5:seed=\(name.utf8.count)"
        let filter = "volume='\(pow(10, level / 20))*(0.2+0.8*between(t,0.4,1.1))':eval=frame"
        try ffmpeg(["-f", "lavfi", "-i", source, "-af", filter, "-ac", "\(channels)"] + options + [folder[name]])
    }

    @discardableResult
    func ffmpeg(_ arguments: [String]) throws -> (output: String, errors: String) {
        let process = try TestProcess(
            "/usr/bin/ffmpeg", ["-nostats", "-hide_banner", "-y"] + arguments)
        let result = try process.finish()
        try #require(result.code == 0, "\(result.errors)")
        return (result.text, result.errors)
    }

    /// The integrated loudness in LUFS and the true peak in dBFS, as ffmpeg measures them.
    func reference(_ name: String) throws -> (loudness: Double, peak: Double) {
        let (output, errors) = try ffmpeg([
            "-i", folder[name], "-af", "ebur128=metadata=1:peak=true,ametadata=mode=print:key=lavfi.r128.I:file=-",
            "-f", "null", "-",
        ])
        let loudness = try #require(output.split(separator: "\n").last { $0.hasPrefix("lavfi.r128.I=") })
        let peak = try #require(errors.split(separator: "\n").last { $0.contains("Peak:") })
        return (
            try #require(Double(loudness.dropFirst("lavfi.r128.I=".count))),
            try #require(peak.split(separator: " ").compactMap { Double($0) }.first)
        )
    }
}
