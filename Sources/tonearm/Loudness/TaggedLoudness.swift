#if TagWriting
    import CLinux
    import CTagWriting
    import Media
    import PCM
    import Platform
    import Player

    /// The tags of the measured files themselves. A file is replaced by a copy with the tags. Results that cannot be
    /// written there are stored elsewhere.
    final class TaggedLoudness: LoudnessStore {
        private let rest: any LoudnessStore
        private let open: LoudnessScan.Opening

        /// - Parameter rest: for results that cannot be written as tags.
        init(else rest: any LoudnessStore, open: @escaping LoudnessScan.Opening) {
            self.rest = rest
            self.open = open
        }

        /// Returns nothing, because the tags show what was measured: the scan skips files that have them.
        func known(_ files: [MusicFileVersion]) throws(LoudnessFailure) -> [KnownLoudness?] { files.map { _ in nil } }

        func keep(_ results: [FileLoudness]) throws(LoudnessFailure) -> [String?] {
            var folder = ""
            let refusals: [String?] = results.map { result in
                let path = result.file.path
                // A file without a gain gets no tags.
                guard result.replayGain.trackGain != nil else { return nil }
                do throws(SystemError) {
                    let parent = Folder.containing(path)
                    if !parent.utf8.elementsEqual(folder.utf8) {
                        folder = parent
                        try FileReplacement.removeLeftovers(in: parent)
                    }
                    return try write(result)
                } catch {
                    return "the tags cannot be written: \(error.reason)"
                }
            }
            let refused = zip(results, refusals).filter { $1 != nil }.map { result, _ in result }
            if !refused.isEmpty { _ = try rest.keep(refused) }
            return zip(results, refusals).map { result, refusal in
                refusal.map { "\(result.file.path): \($0). The result is stored for `tonearm play` instead." }
            }
        }

        /// - Returns: why the tags cannot be written; nil when they are.
        private func write(_ result: FileLoudness) throws(SystemError) -> String? {
            let path = result.file.path
            guard let properties = properties(path) else { return Self.damaged }
            guard let kind = Self.kind(of: properties) else { return Self.unsupported }
            let original = try File(reading: path)
            var replacement = try FileReplacement(of: path, mode: 0o600)
            try Self.copy(original, to: &replacement)
            let tags = Tags(result.replayGain, areR128: properties.codec == .opus)
            let code = withExtendedLifetime(tags) {
                FileName.withBytes(of: replacement.path) { tonearm_set_tags($0, kind, tags.all, tags.all.count) }
            }
            if code == Int32(TONEARM_TAGS_NOT_SUPPORTED) { return Self.unsupported }
            if code != Int32(TONEARM_TAGS_WRITTEN) { return Self.damaged }
            // The copy must be the same music.
            guard let written = self.properties(replacement.path), written.container == properties.container,
                written.format == properties.format, written.frameCount == properties.frameCount
            else { return Self.damaged }
            guard try MusicFileVersion(at: path).isSame(as: result.file) else {
                return "it has changed while it was measured: measure it again"
            }
            try replacement.commit()
            return nil
        }

        private static let unsupported = "tags of this kind of file cannot be written"
        private static let damaged = "the tags cannot be written: the file is damaged, or the medium is full"

        private func properties(_ path: String) -> AudioProperties? {
            do throws(PlayerError) { return try open(path).decoder.properties } catch { return nil }
        }

        /// - Returns: nil when the tags of such a file cannot be written.
        private static func kind(of properties: AudioProperties) -> tonearm_tag_file? {
            switch properties.container {
            case .flac: TONEARM_TAG_FILE_FLAC
            case .wav: TONEARM_TAG_FILE_WAV
            case .aiff: TONEARM_TAG_FILE_AIFF
            case .mp4: TONEARM_TAG_FILE_MP4
            case .mp3: TONEARM_TAG_FILE_MP3
            case .wavpack: TONEARM_TAG_FILE_WAVPACK
            case .dsf: TONEARM_TAG_FILE_DSF
            case .ogg:
                switch properties.codec {
                case .vorbis: TONEARM_TAG_FILE_OGG_VORBIS
                case .opus: TONEARM_TAG_FILE_OGG_OPUS
                case .flac: TONEARM_TAG_FILE_OGG_FLAC
                default: nil
                }
            default: nil
            }
        }

        /// Copies the bytes, the permissions and, if this user may do so, the owner.
        private static func copy(_ original: borrowing File, to copy: inout FileReplacement) throws(SystemError) {
            let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 16)
            defer { buffer.deallocate() }
            var offset: Int64 = 0
            while case let count = try original.read(into: buffer, at: offset), count > 0 {
                try copy.append(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
                offset += Int64(count)
            }
            let file = try File(updating: copy.path)
            _ = tonearm_copy_owner(original.descriptor, file.descriptor)
            try file.setPermissions(try original.permissions())
        }

        /// Tags in the form of C.
        private final class Tags {
            let all: [tonearm_tag]

            /// - Parameter areR128: whether to write R128 gains (RFC 7845, 5.2.1) instead of ReplayGain. The tags of
            ///   the other standard are removed, so that a player does not find two gains.
            init(_ gain: ReplayGain, areR128: Bool) {
                let values: [(name: String, value: String?)] = [
                    ("REPLAYGAIN_TRACK_GAIN", areR128 ? nil : Self.decibels(gain.trackGain)),
                    ("REPLAYGAIN_TRACK_PEAK", areR128 ? nil : gain.trackPeak?.fixed(6)),
                    ("REPLAYGAIN_ALBUM_GAIN", areR128 ? nil : Self.decibels(gain.albumGain)),
                    ("REPLAYGAIN_ALBUM_PEAK", areR128 ? nil : gain.albumPeak?.fixed(6)),
                    ("R128_TRACK_GAIN", areR128 ? Self.r128(gain.trackGain) : nil),
                    ("R128_ALBUM_GAIN", areR128 ? Self.r128(gain.albumGain) : nil),
                ]
                all = values.map { name, value in
                    tonearm_tag(name: strdup(name), value: value.map { UnsafePointer(strdup($0)) })
                }
            }

            deinit {
                for tag in all {
                    free(UnsafeMutableRawPointer(mutating: tag.name))
                    free(UnsafeMutableRawPointer(mutating: tag.value))
                }
            }

            private static func decibels(_ value: Double?) -> String? { value.map { "\($0.fixed(2)) dB" } }

            /// Returns the gain to −23 LUFS in steps of 1/256 dB.
            private static func r128(_ gain: Double?) -> String? {
                gain.map { "\(Int16(clamping: Int((max(-200, min(200, $0 - 5)) * 256).rounded())))" }
            }
        }
    }
#endif
