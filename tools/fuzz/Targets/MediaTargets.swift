@testable import Media

/// Puts the signature where it belongs, so that no time is spent on finding it.
private func signed(_ bytes: [UInt8], _ signature: String, at offset: Int = 0) -> [UInt8] {
    guard bytes.count >= offset + signature.utf8.count else { return bytes }
    var bytes = bytes
    bytes.replaceSubrange(offset..<(offset + signature.utf8.count), with: signature.utf8)
    return bytes
}

private func decode(_ bytes: [UInt8], knowsLength: Bool = true) {
    var exercise = DecoderExercise(frameLimit: 20_000)
    exercise.run(bytes, knowsLength: knowsLength)
}

/// Segments of one second that initialise themselves.
private final class FuzzedSegments: SegmentedSource {
    let initialization: (any ByteSource)? = nil
    let timeline: SegmentTimeline
    private let segments: [[UInt8]]

    init(_ segments: [[UInt8]]) {
        self.segments = segments
        timeline = SegmentTimeline(runs: [.init(start: 0, duration: 1, count: segments.count)], isComplete: true)
    }

    func segment(_ index: Int) throws(ByteSourceError) -> (any ByteSource)? {
        segments.indices.contains(index) ? MemorySource(segments[index], knowsLength: false) : nil
    }
}

/// Returns a key for any content.
private final class AnyKey: LicenseProvider {
    func key(_ request: KeyRequest) throws(MediaError) -> [UInt8] { [UInt8](repeating: 7, count: 16) }
}

/// Decrypts and decodes a file, with a wrong key.
private func decodeEncrypted(_ bytes: [UInt8]) {
    guard let decoder = try? AudioFile.open(MemorySource(bytes), licenses: AnyKey()) else { return }
    let buffer = UnsafeMutableBufferPointer<Int32>.allocate(capacity: 1024 * 8)
    defer { buffer.deallocate() }
    for _ in 0..<20 {
        guard let run = try? decoder.read(into: buffer), run != .end else { return }
    }
}

/// Reads the packets of a file, encrypted ones too.
private func readPackets(_ bytes: [UInt8]) {
    guard let container = try? MP4Container(MemorySource(bytes), tags: TrackMetadata()) else { return }
    for frame in [nil, 0, 100, 5000] as [Int64?] {
        if let frame { _ = try? container.seek(toFrame: frame) }
        var count = 0
        while let packet = try? container.nextPacket(), count < 20_000 {
            require(packet.bytes.count <= bytes.count, "a packet is larger than the file")
            count += 1
        }
        require(count <= bytes.count, "\(count) packets in \(bytes.count) bytes")
    }
}

/// Decodes a packet of ALAC: two bytes of the number of frames, one of depth and channels, three for the codes, and the
/// packet.
private func decodeALAC(_ bytes: [UInt8]) {
    guard bytes.count > 6 else { return }
    let depth = [16, 20, 24, 32][Int(bytes[2] & 3)] as UInt8
    let cookie: [UInt8] =
        [0, 0, bytes[0] & 0x1F, bytes[1], 0, depth, bytes[3], bytes[4], bytes[5], bytes[2] >> 2 & 7 + 1]
        + [UInt8](repeating: 0, count: 12) + [0xAC, 0x44]
    guard let config = try? ALACConfig(cookie) else { return }
    var decoder = ALACDecoder(config)
    let room = config.frameCount * config.format.channelCount
    let target = UnsafeMutablePointer<Int32>.allocate(capacity: room)
    defer { target.deallocate() }
    // A second packet finds the memory as the first one has left it.
    for start in [6, 6 + (bytes.count - 6) / 2] {
        let count = Array(bytes[start...]).withUnsafeBytes { decoder.decode($0, into: target) }
        require(1...config.frameCount ~= count ?? 1, "more frames than a packet has")
    }
}

/// Uses a manifest as a player does.
private func useManifest(_ bytes: [UInt8], _ format: ManifestFormat) {
    guard let manifest = try? Manifest(bytes, format: format, url: "https://h/a/b") else { return }
    require(!manifest.periods.isEmpty, "a manifest without a period")
    for set in manifest.periods.flatMap(\.adaptationSets) {
        require(!set.representations.isEmpty, "a set without a representation")
        for representation in set.representations { useSegments(representation.segments) }
    }
}

private func useSegments(_ addressing: SegmentAddressing) {
    func use(_ timeline: SegmentTimeline, _ segment: (Int) -> SegmentReference?) {
        _ = timeline.duration
        for seconds in [-1, 0, 3.5, 1e9, .infinity] {
            guard let index = timeline.index(at: seconds) else { continue }
            _ = timeline.start(of: index)
            _ = segment(index)
        }
        for index in [timeline.firstIndex, 0, 7, .max, .min] { _ = segment(index) }
    }
    switch addressing {
    case .file(let file): _ = try? file.segments(fromIndex: Array(file.url.utf8))
    case .list(let list):
        use(list.timeline, list.segment)
        let spans = list.spans
        require(spans.flatMap(\.segments).count == list.segments.count, "spans that are not the whole list")
        for (one, other) in zip(spans, spans.dropFirst()) { _ = one.continued(by: other) }
    case .template(let template):
        if let list = template.list { require(list.segments.count <= 50_000, "too many segments") }
        for now in [nil, 0, 1.8e9, 1e300] { use(template.timeline(now: now), template.segment) }
    case .playlist: break
    }
}

/// Uses a cue sheet as a player does.
private func useSheet(_ sheet: CueSheet) {
    require(sheet.tracks.count <= CueSheet.mostTracks, "too many tracks")
    for (index, track) in sheet.tracks.enumerated() {
        _ = sheet.tracksSharingFile(with: index)
        guard let place = track.place else { continue }
        require(sheet.files.indices.contains(place.file), "a track in no file")
        for rate in [8000, 44_100, 1_536_000] {
            require(place.start.frame(rate: rate) >= 0 && place.end?.frame(rate: rate) ?? 0 >= 0, "a negative time")
        }
    }
    for file in sheet.files.indices {
        _ = sheet.fileName(file)
        _ = sheet.entry(file, in: "/m")
    }
}

/// Containers, codecs and tags.
let mediaTargets = [
    FuzzTarget("playlist") { bytes in
        for list in [PlaylistFile(parsing: bytes, in: "/m"), try? PlaylistFile(recognising: bytes, in: "/m")] {
            guard let list else { continue }
            for entry in list.entries {
                for path in [entry.path].compactMap({ $0 }) + entry.alternatives {
                    require(path.utf8.first == UInt8(ascii: "/"), "a path that is not absolute")
                }
            }
            for path in list.paths {
                guard let line = PlaylistLine.bytes(of: path, in: "/m/lists") else { continue }
                var read: [String?] = []
                PlaylistFile.eachLine(of: Array("#EXTM3U\n".utf8) + line, in: "/m/lists") {
                    read.append($0.entry(in: "/m/lists")?.path)
                }
                require(read == [path], "a path that is not read as it was written")
            }
            require((list.otherAddress == nil) == (list.otherAddressCount == 0), "an address that is not counted")
        }
    },
    FuzzTarget("cue") { bytes in
        useSheet(CueSheet(parsing: bytes))
        useSheet(CueSheet(block: bytes))
        if let sheet = try? CueSheet.embedded(in: MemorySource(signed(bytes, "fLaC"))) { useSheet(sheet) }
    },
    FuzzTarget("flac") { decode(signed($0, "fLaC")) },
    FuzzTarget("wav") { decode(signed(signed($0, $0.first == 0x46 ? "RF64" : "RIFF"), "WAVE", at: 8)) },
    FuzzTarget("wave64") { bytes in
        var bytes = bytes
        let head = Array("riff".utf8) + [0x2E, 0x91, 0xCF, 0x11, 0xA5, 0xD6, 0x28, 0xDB, 4, 0xC1, 0, 0]
        let type = Array("wave".utf8) + [0xF3, 0xAC, 0xD3, 0x11, 0x8C, 0xD1, 0, 0xC0, 0x4F, 0x8E, 0xDB, 0x8A]
        guard bytes.count >= 40 else { return }
        bytes.replaceSubrange(0..<16, with: head)
        bytes.replaceSubrange(24..<40, with: type)
        decode(bytes)
    },
    FuzzTarget("aiff") { decode(signed(signed($0, "FORM"), $0.first == 0x43 ? "AIFC" : "AIFF", at: 8)) },
    FuzzTarget("mp4") { bytes in
        let file = signed(bytes, "ftyp", at: 4)
        decode(file)
        readPackets(file)
        decodeEncrypted(file)
    },
    FuzzTarget("alac", decodeALAC),
    FuzzTarget("clear-key") { bytes in
        guard let keys = try? ClearKey.keys(in: bytes) else { return }
        require(keys.allSatisfy { $0.id.count == 16 && $0.value.count == 16 }, "a key of another size")
    },
    FuzzTarget("hls-segment") { bytes in
        let key = [UInt8](repeating: 7, count: 16)
        let source = SegmentDecryption(MemorySource(bytes), key: key, initializationVector: key)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 100, alignment: 1)
        defer { buffer.deallocate() }
        for offset in [0, 1, 16, 40, bytes.count - 17, bytes.count, .max] {
            guard case .bytes(let count)? = try? source.read(into: buffer, at: Int64(offset)) else { continue }
            require(count > 0 && offset + count < bytes.count, "more than there is")
        }
    },
    FuzzTarget("adts") { bytes in
        var bytes = bytes
        if bytes.count >= 2 { bytes.replaceSubrange(0..<2, with: [0xFF, 0xF1]) }
        decode(bytes)
    },
    FuzzTarget("mp3") { bytes in
        var bytes = bytes
        if bytes.count >= 2, bytes[0] != 0x49 { bytes.replaceSubrange(0..<1, with: [0xFF]) }
        decode(bytes)
    },
    FuzzTarget("mp3-tags") { bytes in
        let source = MemorySource(bytes)
        let tags = try? TrailingTags(of: source, length: Int64(bytes.count), base: 0)
        require(0...Int64(bytes.count) ~= tags?.start ?? 0, "tags begin outside of the file")
        for picture in (tags?.ape?.pictures ?? []) + (tags?.id3v2?.pictures ?? []) {
            let isInside = picture.offset >= 0 && picture.length >= 0 && picture.offset + picture.length <= bytes.count
            require(isInside, "a picture outside of the file")
        }
    },
    // Pages get right checksums, or few mutations would reach their content. One page in eight keeps its own.
    FuzzTarget("ogg") { bytes in
        var bytes = bytes
        if bytes.count >= 4, bytes[0] != 0x49 { bytes.replaceSubrange(0..<4, with: Array("OggS".utf8)) }
        var start = 0
        while start + OggPage.fixedSize <= bytes.count {
            let page = bytes[start...].withUnsafeBytes { OggPage($0, at: Int64(start)) }
            guard let page, start + page.headerSize <= bytes.count else {
                start += 1
                continue
            }
            let lacing = bytes[(start + OggPage.fixedSize)..<(start + page.headerSize)]
            let end = start + page.headerSize + lacing.reduce(0) { $0 + Int($1) }
            guard end <= bytes.count else { break }
            if page.checksum & 7 != 7 {
                for place in OggPage.checksumPlace { bytes[start + place] = 0 }
                let checksum = bytes[start..<end].withUnsafeBytes { OggChecksum.of($0) }
                for index in 0..<4 {
                    bytes[start + OggPage.checksumPlace.lowerBound + index] = UInt8(
                        truncatingIfNeeded: checksum >> UInt32(8 * index))
                }
            }
            start = end
        }
        decode(bytes)
    },
    // Blocks get right markers and checksums, as pages do.
    FuzzTarget("wavpack") { bytes in
        var bytes = bytes
        var start = 0
        while start + WavPackHeader.size <= bytes.count {
            bytes.replaceSubrange(start..<(start + 4), with: Array("wvpk".utf8))
            guard let header = WavPackHeader(Array(bytes[start..<(start + WavPackHeader.size)])),
                start + header.byteCount <= bytes.count
            else { break }
            let end = start + header.byteCount
            if bytes[start + 28] & 7 != 7, header.byteCount > WavPackHeader.size + 6, bytes[end - 6] & 0x3F == 0x2F {
                var sum = UInt32.max
                for place in stride(from: start, to: end - 6, by: 2) {
                    sum = sum &* 3 &+ (UInt32(bytes[place]) | UInt32(bytes[place + 1]) << 8)
                }
                for index in 0..<4 { bytes[end - 4 + index] = UInt8(truncatingIfNeeded: sum >> UInt32(8 * index)) }
            }
            start = end
        }
        decode(bytes)
    },
    FuzzTarget("dsf") { decode(signed(signed($0, "DSD "), "fmt ", at: 28)) },
    FuzzTarget("dff") { decode(signed(signed($0, "FRM8"), "DSD ", at: 12)) },
    FuzzTarget("matroska") { bytes in
        var bytes = bytes
        if bytes.count >= 4, bytes[0] != 0x49 { bytes.replaceSubrange(0..<4, with: [0x1A, 0x45, 0xDF, 0xA3]) }
        decode(bytes)
        decode(bytes, knowsLength: false)
    },
    FuzzTarget("packed-aac") { bytes in
        let third = bytes.count / 3
        let segments = (0..<3).map { place in
            // Each begins like a tag that contains the rest.
            signed(Array(bytes[(place * third)..<((place + 1) * third)]), "ID3")
        }
        guard let decoder = try? AudioFile.open(FuzzedSegments(segments)) else { return }
        let buffer = UnsafeMutableBufferPointer<Int32>.allocate(capacity: 1024 * 8)
        defer { buffer.deallocate() }
        for frame in [nil, 1_000_000, 0, 5000] as [Int64?] {
            if let frame { _ = try? decoder.seek(toFrame: frame) }
            for _ in 0..<20 {
                guard let run = try? decoder.read(into: buffer), run != .end else { break }
            }
        }
    },
    FuzzTarget("aac-config") { bytes in
        guard let config = try? AudioSpecificConfig(bytes) else { return }
        require(1...8 ~= config.channelCount && config.coreSampleRate > 0, "a configuration without sound")
        let same = try? AudioSpecificConfig(config.bytes)
        require(
            same?.bytes == config.bytes && same?.channelCount == config.channelCount && same?.hasSBR == config.hasSBR,
            "the decoder gets another meaning")
        // Higher rates have no SBR.
        guard config.coreSampleRate <= 48_000 else { return }
        let other = try? AudioSpecificConfig(config.withSBR)
        require(other?.hasSBR == true && other?.channelCount == config.channelCount, "SBR changes the core")
    },
    FuzzTarget("esds") { bytes in
        guard let stream = MP4ElementaryStream(bytes) else { return }
        require(stream.config?.count ?? 0 <= bytes.count, "more than there is")
        _ = try? stream.codec
    },
    FuzzTarget("file") { decode($0, knowsLength: false) },
    FuzzTarget("flac-frames") { decode([0] + $0) },
    FuzzTarget("flac-frame-list") { bytes in
        guard var frames = try? FLACFrames(MemorySource(signed(bytes, "fLaC"))) else { return }
        var end = frames.audioOffset
        var sample: Int64 = 0
        while let frame = try? frames.next() {
            require(frame.offset == end && frame.firstSample == sample, "a gap between frames")
            require(frame.byteCount > 0 && frame.sampleCount > 0, "an empty frame")
            end += Int64(frame.byteCount)
            sample += Int64(frame.sampleCount)
        }
        require(end <= Int64(bytes.count), "a frame behind the end")
    },
    FuzzTarget("not-yet") { bytes in
        var exercise = DecoderExercise(frameLimit: 20_000)
        exercise.run(bytes, knowsLength: bytes.count % 2 == 0, notYetEvery: 2 + bytes.count % 7)
    },
    FuzzTarget("signature") {
        _ = FormatTable.all.format(beginning: $0)
        _ = Signature.name(of: $0)
        _ = try? AudioFile.container(of: MemorySource($0))
    },
    FuzzTarget("dash") { useManifest($0, .dash) },
    FuzzTarget("hls") { bytes in
        let playlist =
            Array("#EXTM3U\n".utf8) + (bytes.starts(with: "#EXTM3U\n".utf8) ? bytes.dropFirst(8) : bytes[...])
        useManifest(playlist, .hls)
        _ = try? MediaPlaylist(playlist, url: "https://h/a/b")
    },
    FuzzTarget("bts") { bytes in
        if bytes.first == 0x45 { useManifest(Array(bytes.dropFirst()), .emu) } else { useManifest(bytes, .bts) }
    },
    FuzzTarget("riff-info") {
        _ = try? RIFFInfo.read(from: MemorySource(signed($0, "INFO")), in: 0..<Int64($0.count))
    },
    FuzzTarget("id3") { bytes in
        let tag = try? ID3v2.read(from: MemorySource(signed(bytes, "ID3")), at: 0)
        for picture in tag?.pictures ?? [] {
            require(picture.offset > 0 && picture.length > 0, "an impossible picture")
        }
    },
    FuzzTarget("vorbis-comments") {
        let tag = try? VorbisComments.read(from: MemorySource($0), in: 0..<Int64($0.count))
        for picture in tag?.pictures ?? [] {
            require(picture.offset + picture.length <= $0.count, "a picture outside of the comments")
        }
    },
]
