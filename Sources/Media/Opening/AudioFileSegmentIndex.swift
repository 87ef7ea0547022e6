extension AudioFile {
    /// The segment index (`sidx`) in some bytes of a file.
    /// - Returns: nil when there is none, or it is cut off.
    ///
    /// Thread: any.
    package static func segmentIndex(in bytes: [UInt8]) -> SegmentIndex? {
        let source = BytesSource(bytes)
        do throws(Interruption) {
            var boxes = MP4Boxes(source, from: 0, to: Int64(bytes.count))
            while let box = try boxes.next() {
                if box.type == "sidx" { return try SegmentIndex(box, of: source) }
            }
        } catch {}
        return nil
    }
}
