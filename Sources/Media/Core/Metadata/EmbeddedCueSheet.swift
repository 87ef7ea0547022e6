/// The bytes of a cue sheet inside of a file (docs/decisions/cue-sheets.md). `AudioFile.cueSheet` reads them, and
/// `CueSheet` of the module Manifests parses them.
public struct EmbeddedCueSheet: Sendable {
    /// The comment `CUESHEET`: the text of a cue sheet.
    public var text: [UInt8]?
    /// The block CUESHEET of FLAC (RFC 9639, 8.7).
    public var block: [UInt8]?

    /// More bytes are no cue sheet.
    package static let mostBytes = 1 << 20
}
