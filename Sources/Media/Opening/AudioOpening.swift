import PCM

/// The opening of one source, or of segments. It can be repeated when bytes were missing.
///
/// Thread: only the decoder thread.
public final class AudioOpening {
    private let steps: StepSource
    /// The segments; nil for one source.
    private let chain: SegmentChain?
    private let licenses: (any LicenseProvider)?
    private let recognition: FormatRecognition

    /// - Parameter licenses: for encrypted content.
    public convenience init(_ source: any ByteSource, licenses: (any LicenseProvider)? = nil) {
        self.init(source, licenses: licenses, FormatTable.all)
    }

    /// - Parameter table: the formats that are played.
    init(_ source: any ByteSource, licenses: (any LicenseProvider)? = nil, _ table: FormatTable) {
        chain = nil
        steps = StepSource(source)
        self.licenses = licenses
        recognition = FormatRecognition(table: table)
    }

    /// Segments of ISO base media, packed AAC or MP3, or one segment with a file of any kind.
    /// - Parameter licenses: for encrypted content.
    public init(_ segments: any SegmentedSource, licenses: (any LicenseProvider)? = nil) {
        let chain = SegmentChain(segments)
        self.chain = chain
        steps = StepSource(chain)
        self.licenses = licenses
        recognition = FormatRecognition(table: FormatTable.all)
    }

    /// Opens the source.
    /// - Returns: nil when bytes are not there yet. Repeat it when the source is readable; it continues where it
    ///   stopped.
    /// - Throws: as `AudioFile.open`.
    public func attempt() throws(MediaError) -> (any AudioDecoder)? {
        do throws(Interruption) {
            let decoder = if let chain { try open(chain) } else { try open(steps) }
            steps.finishStep()
            return decoder
        } catch {
            switch error {
            case .notYet: return nil
            case .failed(let error): throw error
            }
        }
    }

    /// Checks only the first bytes.
    /// - Returns: nil when bytes are not there yet.
    func attemptToRecognise() throws(MediaError) -> AudioProperties.Container? {
        do throws(Interruption) { return try recognition.finding(in: steps).format.container } catch {
            switch error {
            case .notYet: return nil
            case .failed(let error): throw error
            }
        }
    }

    /// Calls `wake` once, from any thread, when an `attempt` that returned nil should be repeated.
    public func whenReadable(_ wake: @escaping @Sendable () -> Void) { steps.whenReadable(wake) }

    /// - Parameter source: reads through `steps`.
    private func open(_ source: any ByteSource) throws(Interruption) -> any AudioDecoder {
        let found = try recognition.finding(in: source)
        return try found.format.open(
            FormatInput(
                source: found.start > 0 ? SourceSlice(source, from: found.start) : source, start: found.start,
                tags: try ID3v2.read(from: source, from: 0, upTo: found.tagsEnd), steps: steps, licenses: licenses))
    }

    private func open(_ chain: SegmentChain) throws(Interruption) -> any AudioDecoder {
        let first = SegmentChain.offsets(of: SegmentChain.firstRegion).lowerBound
        if chain.hasInitialization {
            let start = SegmentChain.offsets(of: SegmentChain.initializationRegion).lowerBound
            let head = try SourceReader(steps).bytes(AudioFormat.headSize, at: start)
            // MPEG-TS may have an initialization segment, too.
            if Signature.isTransportStream(head) { throw .unsupported(what: "segments of MPEG-TS") }
        } else {
            guard try chain.hasSegment(SegmentChain.firstRegion) else { throw .failed(.empty) }
            let head = try SourceReader(steps).bytes(AudioFormat.headSize, at: first)
            guard recognition.table.format(beginning: head)?.container == .mp4 else {
                if let start = try startOfMPEG(at: first), try chain.hasSegment(SegmentChain.firstRegion + 1) {
                    return try MP3Container(steps, tags: TrackMetadata(), base: start, chain: chain).decoder(steps)
                }
                if try PackedSegments.firstPacket(of: steps, at: first) != nil {
                    return try ADTSContainer(steps, tags: TrackMetadata(), chain: chain).decoder(steps)
                }
                guard try !chain.hasSegment(SegmentChain.firstRegion + 1) else {
                    throw .unsupported(
                        what: Signature.name(of: head).map { "segments of \($0)" }
                            ?? "segments that are neither MP4, AAC nor MP3")
                }
                return try open(SourceSlice(steps, from: first))
            }
        }
        return try MP4Container(steps, tags: TrackMetadata(), chain: chain).decoder(steps, licenses)
    }

    /// The first frame of MPEG audio in a segment, after its tags; nil for a segment of another kind.
    private func startOfMPEG(at offset: Int64) throws(Interruption) -> Int64? {
        let start = try MPEGTags.end(of: steps, at: offset)
        return try MPEGSync(PagePairSource(steps)).stream(at: start) != nil ? start : nil
    }
}
