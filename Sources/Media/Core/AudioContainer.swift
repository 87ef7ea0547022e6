import Platform

extension AudioProperties {
    /// A container of audio. Each is declared beside the code that reads it, as is its row in the `FormatTable`:
    ///
    ///     extension AudioProperties.Container {
    ///         public static var wavpack: Self { Self(7, "wavpack", mediaType: "audio/x-wavpack") }
    ///     }
    public struct Container: Equatable, Sendable {
        /// Tells it from all others. The index of the library has it, so it never changes.
        package let number: UInt8
        private let name: StaticString
        private let type: StaticString

        /// - Parameters:
        ///   - name: in status, events and JSON, and the ending of the name of a file that is served.
        ///   - mediaType: of its files.
        package init(_ number: UInt8, _ name: StaticString, mediaType: StaticString) {
            self.number = number
            self.name = name
            type = mediaType
        }

        /// The name in status, events and JSON: `wavpack`.
        public var rawValue: String { name.text }
        /// The media type of its files: `audio/x-wavpack`.
        package var mediaType: String { type.text }

        public static func == (one: Self, other: Self) -> Bool { one.number == other.number }
    }
}
