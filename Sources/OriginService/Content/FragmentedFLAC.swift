import Media
import PCM
import Platform

/// FLAC in fragmented MP4 (ISO/IEC 23000-19, CMAF; "Encapsulation of FLAC in ISO Base Media File Format"):
/// the frames of a file as they are, and boxes around them.
struct FragmentedFLAC {
    let table: SegmentTable
    let format: PCMFormat

    private static let trackID: UInt32 = 1
    /// Each sample of FLAC can be decoded by itself.
    private static let independentSample: UInt32 = 0x0200_0000

    // MARK: Initialisation

    /// `ftyp` and `moov`.
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
                box.fullBox("mehd", version: 1) { $0.u64(UInt64(table.sampleCount)) }
                box.fullBox("trex") { box in
                    box.u32(Self.trackID)
                    box.u32(1)
                    box.zeros(8)
                    box.u32(Self.independentSample)
                }
            }
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

    private func sampleEntry(_ stsd: inout BoxBytes) {
        stsd.box("fLaC") { entry in
            entry.zeros(6)
            entry.u16(1)
            entry.zeros(8)
            entry.u16(UInt16(format.channelCount))
            entry.u16(UInt16(format.bitDepth))
            entry.zeros(4)
            // 16.16 bits: a higher rate is divided until it fits; STREAMINFO has it in full.
            var rate = UInt32(format.sampleRate)
            while rate > 0xFFFF { rate /= 2 }
            entry.u32(rate << 16)
            entry.fullBox("dfLa") { box in
                // The last metadata block, of type 0, with its length.
                box.u8(0x80)
                box.u8(0)
                box.u16(UInt16(table.streamInfo.count))
                box.raw(table.streamInfo)
            }
        }
    }

    private static func unityMatrix(_ box: inout BoxBytes) {
        for value: UInt32 in [0x0001_0000, 0, 0, 0, 0x0001_0000, 0, 0, 0, 0x4000_0000] { box.u32(value) }
    }

    // MARK: Segments

    /// `moof` and `mdat` of a segment; its frames are read from the file when they are sent.
    /// - Parameter number: from 1.
    /// - Throws: `.damaged` when the file has other frames than the table says.
    func segment(_ number: Int, of file: OpenedFile) throws(MediaError) -> ContentBody? {
        guard number > 0, number <= table.segments.count else { return nil }
        let segment = table.segments[number - 1]
        var frames = try FLACFrames(file)
        frames.continueAt(offset: segment.offset, firstSample: segment.firstSample)
        var sizes: [(bytes: Int, samples: Int)] = []
        var end = segment.offset
        while end < segment.offset + segment.byteCount, let frame = try frames.next() {
            sizes.append((frame.byteCount, frame.sampleCount))
            end += Int64(frame.byteCount)
        }
        guard end == segment.offset + segment.byteCount else {
            throw .damaged(what: "FLAC whose frames have changed")
        }
        // `moof` needs its own size for the offset of the data: it does not depend on the value.
        let size = fragment(number, segment, sizes, dataOffset: 0).count
        var head = BoxBytes()
        head.raw(fragment(number, segment, sizes, dataOffset: UInt32(size + 8)))
        head.u32(UInt32(segment.byteCount + 8))
        head.ascii("mdat")
        return ContentBody([.bytes(head.bytes), .file(file, segment.offset..<end)])
    }

    private func fragment(
        _ number: Int, _ segment: SegmentTable.Segment, _ sizes: [(bytes: Int, samples: Int)], dataOffset: UInt32
    ) -> [UInt8] {
        var file = BoxBytes()
        let duration = sizes.first?.samples ?? 0
        let isUniform = sizes.allSatisfy { $0.samples == duration }
        file.box("moof") { moof in
            moof.fullBox("mfhd") { $0.u32(UInt32(number)) }
            moof.box("traf") { traf in
                // Offsets count from the moof; a default duration.
                traf.fullBox("tfhd", flags: 0x02_0000 | 0x08) { box in
                    box.u32(Self.trackID)
                    box.u32(UInt32(duration))
                }
                traf.fullBox("tfdt", version: 1) { $0.u64(UInt64(segment.firstSample)) }
                // The offset of the data; sizes, and durations if they differ.
                traf.fullBox("trun", flags: 0x01 | 0x200 | (isUniform ? 0 : 0x100)) { box in
                    box.u32(UInt32(sizes.count))
                    box.u32(dataOffset)
                    for size in sizes {
                        if !isUniform { box.u32(UInt32(size.samples)) }
                        box.u32(UInt32(size.bytes))
                    }
                }
            }
        }
        return file.bytes
    }
}
