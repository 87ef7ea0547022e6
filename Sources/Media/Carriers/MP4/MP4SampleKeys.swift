/// The boxes of a run of samples that describe the encryption of each sample, not read yet.
struct MP4KeyBoxes {
    fileprivate var vectors: MP4Box?
    fileprivate var sizes: MP4Box?
    fileprivate var offsets: MP4Box?
    fileprivate var groups: [MP4Box] = []
    fileprivate var groupDescriptions: [MP4Box] = []

    private static let mostBoxes = 16

    mutating func add(_ box: MP4Box) {
        switch box.type {
        case "senc": vectors = box
        case "saiz": sizes = sizes ?? box
        case "saio": offsets = offsets ?? box
        case "sbgp" where groups.count < Self.mostBoxes: groups.append(box)
        case "sgpd" where groupDescriptions.count < Self.mostBoxes: groupDescriptions.append(box)
        default: break
        }
    }
}

/// The initialization vectors and subsamples of a run of samples: in `senc`, or where `saiz` and `saio` point to
/// (ISO/IEC 23001-7, 7.2; ISO/IEC 14496-12, 8.7.8 and 8.7.9).
struct MP4SampleKeys {
    /// The parameters of `seig` groups, for the fragments of the track.
    let groupParameters: [MP4KeyParameters]

    private let source: any ByteSource
    private let entries: [MP4SampleEntry]
    private let groups: MP4KeyGroups
    /// `senc`: whether each sample has a list of subsamples.
    private var listsSubsamples: Bool?
    private var sizes: MP4KeySizes
    private var offsets: MP4KeyOffsets

    /// An audio packet has one; more than this is damage.
    private static let mostSubsamples = 1024
    /// The most samples that a seek counts through.
    private static let mostSamples: Int64 = 16_777_216
    /// The most of these samples that may have an empty entry.
    private static let mostEmptyEntries = 65_536

    /// - Parameters:
    ///   - base: the offset to which offsets are relative.
    ///   - entries: the descriptions of the track's samples.
    ///   - groups: `groupParameters` of the track, for a fragment.
    init(
        _ boxes: MP4KeyBoxes, of source: any ByteSource, base: Int64, entries: [MP4SampleEntry],
        groups trackGroups: [MP4KeyParameters]?
    ) throws(Interruption) {
        self.source = source
        self.entries = entries
        groups = try MP4KeyGroups(
            boxes.groups, boxes.groupDescriptions, of: source, trackParameters: trackGroups)
        groupParameters = trackGroups ?? groups.parameters
        if let box = boxes.vectors, let fields = MP4Fields(try box.bytes(of: source, limit: 8)) {
            listsSubsamples = fields.flags & 2 != 0
            sizes = MP4KeySizes(of: source)
            offsets = MP4KeyOffsets(box.content.lowerBound + 8, of: source)
        } else if let sizeBox = boxes.sizes, let offsetBox = boxes.offsets {
            sizes = try MP4KeySizes(sizeBox, of: source) ?? MP4KeySizes(of: source)
            offsets = try MP4KeyOffsets(offsetBox, of: source, base: base) ?? MP4KeyOffsets(nil, of: source)
        } else {
            sizes = MP4KeySizes(of: source)
            offsets = MP4KeyOffsets(nil, of: source)
        }
    }

    /// How the sample is encrypted; nil when it is not.
    /// - Parameters:
    ///   - descriptionIndex: from 1.
    ///   - run: the number of its chunk or fragment run.
    ///   - offset: of its entry; moves to the next one. nil: of the first sample.
    mutating func encryption(
        of sample: Int64, descriptionIndex: Int64, run: Int64, isFirstOfRun: Bool, at offset: inout Int64?
    ) throws(Interruption) -> PacketEncryption? {
        guard let protection = protection(descriptionIndex) else { return nil }
        let parameters = groups.parameters(of: sample) ?? protection.parameters
        if isFirstOfRun, offsets.isByRun { offset = try offsets.start(ofRun: run) }
        var encryption = PacketEncryption(
            scheme: protection.scheme, keyID: parameters.keyID, initializationVector: parameters.constantVector,
            encryptedBlocks: parameters.encryptedBlocks, plainBlocks: parameters.plainBlocks)
        if let place = offset ?? offsets.first {
            let entry = try entry(of: sample, at: place, parameters)
            offset = place + entry.size
            if parameters.vectorSize > 0 { encryption.initializationVector = entry.vector }
            encryption.subsamples = entry.subsamples
        }
        guard parameters.isProtected else { return nil }
        guard !encryption.initializationVector.isEmpty else {
            throw .damaged(what: "MP4 with an encrypted sample without an initialization vector")
        }
        return encryption
    }

    /// The offset of a sample's entry, from which the later ones follow.
    /// - Parameter firstOfRun: the first sample of its run.
    mutating func offset(
        of sample: Int64, descriptionIndex: Int64, run: Int64, firstOfRun: Int64
    ) throws(Interruption) -> Int64? {
        guard let protection = protection(descriptionIndex) else { return nil }
        let isByRun = offsets.isByRun
        guard var place = isByRun ? try offsets.start(ofRun: run) : offsets.first else { return nil }
        let first = isByRun ? firstOfRun : 0
        guard sample - first <= Self.mostSamples else { throw Self.isCutOff }
        if listsSubsamples == nil, sizes.common > 0 { return place + sizes.common * (sample - first) }
        var emptyEntries = 0
        for earlier in first..<sample {
            let parameters = groups.parameters(of: earlier) ?? protection.parameters
            let size = try entry(of: earlier, at: place, parameters).size
            if size == 0 { emptyEntries += 1 }
            guard emptyEntries <= Self.mostEmptyEntries else { throw Self.isCutOff }
            place += size
        }
        return place
    }

    private func protection(_ descriptionIndex: Int64) -> MP4Protection? {
        guard 1...Int64(max(1, entries.count)) ~= descriptionIndex, !entries.isEmpty else { return nil }
        return entries[Int(descriptionIndex) - 1].protection
    }

    private struct Entry {
        var vector: [UInt8]
        var subsamples: [PacketEncryption.Subsample] = []
        var size: Int64
    }

    private mutating func entry(
        of sample: Int64, at offset: Int64, _ parameters: MP4KeyParameters
    ) throws(Interruption) -> Entry {
        var size = Int64(parameters.vectorSize)
        var hasSubsamples = listsSubsamples ?? false
        if listsSubsamples == nil {
            size = try sizes.size(of: sample)
            guard size > 0 else { return Entry(vector: [], size: 0) }
            hasSubsamples = size > Int64(parameters.vectorSize)
        }
        let reader = SourceReader(source)
        let vector = try reader.bytes(parameters.vectorSize, at: offset)
        guard vector.count == parameters.vectorSize else { throw Self.isCutOff }
        var entry = Entry(vector: vector, size: size)
        guard hasSubsamples else { return entry }
        let listOffset = offset + Int64(vector.count)
        var head = ByteReader(try reader.bytes(2, at: listOffset))
        guard let count = head.bigEndian(UInt16.self), count <= Self.mostSubsamples else { throw Self.isCutOff }
        var list = ByteReader(try reader.bytes(6 * Int(count), at: listOffset + 2))
        for _ in 0..<count {
            guard let plain = list.bigEndian(UInt16.self), let encrypted = list.bigEndian(UInt32.self) else {
                throw Self.isCutOff
            }
            entry.subsamples.append(
                .init(plainBytes: Int(plain), encryptedBytes: Int(truncatingIfNeeded: min(encrypted, 0x7FFF_FFFF))))
        }
        if listsSubsamples != nil { entry.size += 2 + 6 * Int64(count) }
        return entry
    }

    private static let isCutOff = Interruption.damaged(what: "MP4 with encryption data that is cut off")
}
