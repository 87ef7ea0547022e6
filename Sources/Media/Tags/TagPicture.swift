/// A picture in a tag: where its bytes are. They are never loaded here.
public struct TagPicture: Equatable, Sendable {
    /// In the file.
    public var offset: Int64
    public var length: Int64
    /// "image/jpeg", as the tag says it; nil when it does not.
    public var mediaType: String?
    /// Whether it is the front cover.
    public var isFront: Bool

    public init(offset: Int64, length: Int64, mediaType: String?, isFront: Bool) {
        self.offset = offset
        self.length = length
        self.mediaType = mediaType
        self.isFront = isFront
    }
}
