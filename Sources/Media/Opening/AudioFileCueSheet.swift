extension AudioFile {
    /// The cue sheet inside of a FLAC file.
    /// - Returns: nil for a file without one, and for other containers.
    /// - Throws: `.source` when the bytes cannot be read.
    ///
    /// Thread: any. It blocks in `source`, which never returns `.notYet`.
    public static func cueSheet(in source: any ByteSource) throws(MediaError) -> EmbeddedCueSheet? {
        do throws(Interruption) {
            let start = try ID3v2.end(of: source, at: 0)
            guard try SourceReader(source).bytes(4, at: start) == FLACHeader.marker else { return nil }
            let blocks = try FLACBlocks(source, at: start + 4)
            var sheet = EmbeddedCueSheet()
            if let comments = blocks.comments { sheet.text = try VorbisComments.cueSheet(in: source, comments) }
            if let range = blocks.cueSheet, range.count <= EmbeddedCueSheet.mostBytes {
                sheet.block = try SourceReader(source).bytes(range.count, at: range.lowerBound)
            }
            return sheet.text == nil && sheet.block == nil ? nil : sheet
        } catch {
            switch error {
            case .notYet: return nil
            case .failed(let error): throw error
            }
        }
    }
}
