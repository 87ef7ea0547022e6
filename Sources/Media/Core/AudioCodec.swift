import Platform

extension AudioProperties {
    /// A codec of audio. Each is declared beside its decoder, as is its row in the `FormatTable`:
    ///
    ///     extension AudioProperties.Codec {
    ///         public static var alac: Self { Self(1, "alac", .lossless) }
    ///     }
    public struct Codec: Equatable, Sendable {
        /// The loss that the codec causes.
        package enum Loss: Sendable {
            /// The decoded samples are the encoded ones.
            case lossless
            /// The samples are less precise. Their number stays the same.
            case lossy
            /// The samples are less precise, and the encoder adds some at the beginning and at the end.
            case padded
        }

        /// Tells it from all others. The index of the library has it, so it never changes.
        package let number: UInt8
        private let name: StaticString
        package let loss: Loss

        /// - Parameter name: in status, events and JSON.
        package init(_ number: UInt8, _ name: StaticString, _ loss: Loss) {
            self.number = number
            self.name = name
            self.loss = loss
        }

        /// The name in status, events and JSON: `alac`.
        public var rawValue: String { name.text }
        /// Whether the decoded samples are those that were encoded.
        package var isLossless: Bool { loss == .lossless }

        public static func == (one: Self, other: Self) -> Bool { one.number == other.number }
    }
}
