extension AudioProperties.Codec {
    public static var aac: Self { Self(5, "aac", .padded) }
}

#if AAC
    extension TrackDescription {
        /// The description with the properties that only the AAC stream itself contains.
        func with(_ stream: AACStream) -> TrackDescription {
            var description = self
            description.properties.aacObjectType = stream.objectType
            return description
        }
    }
#endif
