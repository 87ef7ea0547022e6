import PCM
import Platform

/// A track in fragmented MP4 (ISO/IEC 23000-19, CMAF): the boxes around its samples.
///
/// Time is counted in samples of the audio, in the track and in the movie.
struct CMAFTrack: Sendable {
    enum Codec: Equatable, Sendable {
        /// "Encapsulation of FLAC in ISO Base Media File Format".
        /// - Parameter streamInfo: the content of the STREAMINFO block.
        case flac(streamInfo: [UInt8])
        /// ISO/IEC 14496-14.
        /// - Parameter configuration: the AudioSpecificConfig (ISO/IEC 14496-3, 1.6.2.1).
        case aac(configuration: [UInt8])
    }

    /// A sample of the file format: a frame of the codec.
    struct Sample: Equatable, Sendable {
        var byteCount: Int
        /// Samples of the audio.
        var duration: Int
    }

    let codec: Codec
    let format: PCMFormat
    /// The duration of all segments, in samples of the audio.
    let duration: Int64
    /// The part of the duration that is heard; nil for all of it.
    var edit: Range<Int64>?
    var encryption: ContentEncryption?

    private static let trackID: UInt32 = 1
    /// The flags of a frame that can be decoded by itself.
    private static let independentSample: UInt32 = 0x0200_0000
    /// The bytes before the content of `mdat`.
    private static let boxHeader = 8

    // MARK: Initialisation

    /// Returns `ftyp` and `moov`.
    func initialization() -> [UInt8] {
        var file = BoxBytes()
        file.box("ftyp") { box in
            box.ascii("iso6")
            box.u32(0)
            for brand: StaticString in ["iso6", "cmfc", "dash", "mp41"] { box.ascii(brand) }
        }
        file.box("moov") { moov in
            moov.fullBox("mvhd", version: 1) { box in
                box.zeros(16)
                box.u32(UInt32(format.sampleRate))
                box.u64(0)
                box.u32(0x0001_0000)
                box.u16(0x0100)
                box.zeros(10)
                Self.unityMatrix(&box)
                box.zeros(24)
                box.u32(Self.trackID + 1)
            }
            moov.box("trak") { track(&$0) }
            moov.box("mvex") { box in
                box.fullBox("mehd", version: 1) { $0.u64(UInt64(edit.map { Int64($0.count) } ?? duration)) }
                box.fullBox("trex") { box in
                    box.u32(Self.trackID)
                    box.u32(1)
                    box.zeros(8)
                    box.u32(Self.independentSample)
                }
            }
            encryption?.writeSystem(to: &moov)
        }
        return file.bytes
    }

    private func track(_ trak: inout BoxBytes) {
        // Enabled, in the presentation.
        trak.fullBox("tkhd", version: 1, flags: 3) { box in
            box.zeros(16)
            box.u32(Self.trackID)
            box.zeros(4)
            box.u64(0)
            box.zeros(12)
            box.u16(0x0100)
            box.zeros(2)
            Self.unityMatrix(&box)
            box.zeros(8)
        }
        if let edit {
            trak.box("edts") { edts in
                // One edit, at normal speed.
                edts.fullBox("elst", version: 1) { box in
                    box.u32(1)
                    box.u64(UInt64(edit.count))
                    box.u64(UInt64(edit.lowerBound))
                    box.u32(0x0001_0000)
                }
            }
        }
        trak.box("mdia") { mdia in
            mdia.fullBox("mdhd", version: 1) { box in
                box.zeros(16)
                box.u32(UInt32(format.sampleRate))
                box.u64(0)
                // `und`, five bits a letter.
                box.u16(0x55C4)
                box.u16(0)
            }
            mdia.fullBox("hdlr") { box in
                box.zeros(4)
                box.ascii("soun")
                box.zeros(13)
            }
            mdia.box("minf") { minf in
                minf.fullBox("smhd") { $0.zeros(4) }
                minf.box("dinf") { dinf in
                    dinf.fullBox("dref") { box in
                        box.u32(1)
                        // The media is in this file.
                        box.fullBox("url ", flags: 1) { _ in }
                    }
                }
                minf.box("stbl") { stbl in
                    stbl.fullBox("stsd") { box in
                        box.u32(1)
                        sampleEntry(&box)
                    }
                    stbl.fullBox("stts") { $0.u32(0) }
                    stbl.fullBox("stsc") { $0.u32(0) }
                    stbl.fullBox("stsz") { $0.zeros(8) }
                    stbl.fullBox("stco") { $0.u32(0) }
                }
            }
        }
    }

    private static func unityMatrix(_ box: inout BoxBytes) {
        for value: UInt32 in [0x0001_0000, 0, 0, 0, 0x0001_0000, 0, 0, 0, 0x4000_0000] { box.u32(value) }
    }

    // MARK: Sample entry

    private func sampleEntry(_ stsd: inout BoxBytes) {
        let type: StaticString =
            switch codec {
            case .flac: "fLaC"
            case .aac: "mp4a"
            }
        stsd.box(encryption == nil ? type : "enca") { entry in
            entry.zeros(6)
            entry.u16(1)
            entry.zeros(8)
            entry.u16(UInt16(format.channelCount))
            entry.u16(UInt16(format.bitDepth))
            entry.zeros(4)
            // 16.16 bits: a higher rate is divided until it fits; the codec's box has it in full.
            var rate = UInt32(format.sampleRate)
            while rate > 0xFFFF { rate /= 2 }
            entry.u32(rate << 16)
            switch codec {
            case .flac(let streamInfo):
                entry.fullBox("dfLa") { box in
                    // The last metadata block, of type 0, with its length.
                    box.u8(0x80)
                    box.u8(0)
                    box.u16(UInt16(streamInfo.count))
                    box.raw(streamInfo)
                }
            case .aac(let configuration): Self.elementaryStream(configuration, &entry)
            }
            encryption?.writeScheme(of: type, to: &entry)
        }
    }

    /// `esds`: descriptors inside each other, each a tag and a size (ISO/IEC 14496-1, 7.2.6).
    private static func elementaryStream(_ configuration: [UInt8], _ entry: inout BoxBytes) {
        let specific = [0x05, UInt8(configuration.count)] + configuration
        // Object type: MPEG-4 audio; stream type: audio. No size of a buffer and no bit rates.
        let decoder: [UInt8] = [0x40, 0x15] + [UInt8](repeating: 0, count: 11) + specific
        let stream: [UInt8] = [0, 0, 0, 0x04, UInt8(decoder.count)] + decoder + [0x06, 1, 0x02]
        entry.fullBox("esds") { $0.raw([0x03, UInt8(stream.count)] + stream) }
    }

    // MARK: Segments

    /// Returns a segment up to the content of its `mdat`.
    /// - Parameters:
    ///   - number: the number of the segment, from 1.
    ///   - firstSample: the first sample of the audio.
    func segmentHead(_ number: Int, from firstSample: Int64, _ samples: [Sample]) -> [UInt8] {
        // `moof` needs its own size for the offset of the data. The size does not depend on the offset.
        let size = fragment(number, firstSample, samples, dataOffset: 0).count
        var head = BoxBytes()
        head.raw(fragment(number, firstSample, samples, dataOffset: UInt32(size + Self.boxHeader)))
        head.u32(UInt32(samples.reduce(Self.boxHeader) { $0 + $1.byteCount }))
        head.ascii("mdat")
        return head.bytes
    }

    private func fragment(
        _ number: Int, _ firstSample: Int64, _ samples: [Sample], dataOffset: UInt32
    ) -> [UInt8] {
        var file = BoxBytes()
        let duration = samples.first?.duration ?? 0
        let isUniform = samples.allSatisfy { $0.duration == duration }
        file.box("moof") { moof in
            moof.fullBox("mfhd") { $0.u32(UInt32(number)) }
            moof.box("traf") { traf in
                // Offsets count from the moof; the default duration is present.
                traf.fullBox("tfhd", flags: 0x02_0000 | 0x08) { box in
                    box.u32(Self.trackID)
                    box.u32(UInt32(duration))
                }
                traf.fullBox("tfdt", version: 1) { $0.u64(UInt64(firstSample)) }
                // The offset of the data; sizes, and durations if they differ.
                traf.fullBox("trun", flags: 0x01 | 0x200 | (isUniform ? 0 : 0x100)) { box in
                    box.u32(UInt32(samples.count))
                    box.u32(dataOffset)
                    for sample in samples {
                        if !isUniform { box.u32(UInt32(sample.duration)) }
                        box.u32(UInt32(sample.byteCount))
                    }
                }
                // No `senc`: all samples use the vector of `tenc`, and none begins with plain bytes (ISO/IEC 23001-7,
                // 7.2). ffmpeg refuses an empty one.
            }
        }
        return file.bytes
    }
}
