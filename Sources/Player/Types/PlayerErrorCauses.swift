import Database
import Media
import Output
import PCM
import Platform

// The one place where errors of the modules below become the player's public ones.

extension PlayerError {
    /// A product that cannot be decoded, or not any further.
    init(_ error: MediaError, _ product: MediaProduct) {
        let name = product.productId
        switch error {
        case .notAudio(let looksLike):
            let guess = looksLike.map { " (looks like \($0))" } ?? ""
            self.init(.unexpected, code: "m1", message: "\(name): not audio\(guess). Supported: FLAC, WAV, AIFF.")
        case .unsupported(let what):
            self.init(
                .unexpected, code: "m2", message: "\(name): \(what) is not supported. Supported: FLAC, WAV, AIFF.")
        case .damaged(let what):
            self.init(.unexpected, code: "m3", message: "\(name): damaged: \(what).")
        case .empty:
            self.init(.unexpected, code: "m4", message: "\(name): the file is empty.")
        case .source(.cancelled):
            self.init(.unexpected, code: "m5", message: "\(name): cancelled.")
        case .source(.medium(let error)):
            self.init(error, product)
            return
        case .source(.network(let reason)):
            self.init(.network, code: "n1", message: "\(name): the network failed: \(reason).")
        case .source(.status(let status)):
            self.init(.unexpected, code: "h\(status)", message: "\(name): the server answered with status \(status).")
        case .source(.integrity(let reason)):
            self.init(.unexpected, code: "m6", message: "\(name): the content is damaged: \(reason).")
        }
        mediaProduct = product
    }

    /// A file or a resource of the system that cannot be had.
    init(_ error: SystemError, _ product: MediaProduct) {
        self.init(
            .unexpected, code: "s\(error.code)", message: "\(product.productId): \(error.reason)", mediaProduct: product
        )
    }

    /// A product whose format needs more memory than there is.
    init(_ error: OutOfMemory, _ product: MediaProduct) {
        self.init(.unexpected, code: "m6", message: "\(product.productId): \(error).", mediaProduct: product)
    }

    /// A resource of the system that the player itself needs.
    init(_ error: SystemError) {
        self.init(.unexpected, code: "s\(error.code)", message: error.description)
    }

    /// The state that persists cannot be read.
    init(_ error: DatabaseError) {
        self.init(.unexpected, code: "b\(error.code & 0xFF)", message: error.description)
    }

    /// The state that persists is not for this program.
    init(_ refusal: StorageThread.Refusal) {
        switch refusal {
        case .newerSchema(let error): self.init(error)
        case .system(let error): self.init(error)
        case .held: self.init(.unexpected, code: "b5", message: "another process uses the state folder")
        }
    }

    /// A device that cannot play what it is asked to.
    init(_ error: DeviceError) {
        let code =
            switch error {
            case .absent: "d1"
            case .busy: "d2"
            case .noPermission: "d3"
            case .rateNotSupported: "d4"
            case .channelsNotSupported: "d5"
            case .sampleFormatNotSupported: "d6"
            case .refused: "d7"
            }
        self.init(.unexpected, code: code, message: error.description)
    }
}
