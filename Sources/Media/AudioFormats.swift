/// The formats that can be decoded, for messages and for finding files.
public enum AudioFormats {
    #if AAC
        /// For people: behind "Supported: ".
        public static let supported = "FLAC, WAV, AIFF, AAC"
    #else
        /// For people: behind "Supported: ".
        public static let supported = "FLAC, WAV, AIFF"
    #endif

    /// The endings of the names of files with audio, in lower case, without the dot. MP4 is one too: it may have FLAC.
    public static let fileNameEndings = [
        "flac", "fla", "wav", "wave", "aif", "aiff", "aifc", "m4a", "mp4", "aac",
    ]

    /// What is not supported without the package trait, for messages.
    static let missingAAC = "AAC (this program was built without the package trait AAC)"
}
