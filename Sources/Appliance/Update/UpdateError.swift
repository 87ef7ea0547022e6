import Platform

/// Why an update is not installed.
public enum UpdateError: Error, Equatable, Sendable {
    /// This is no firmware image: a file of every image is missing.
    case noImage(SystemError)
    /// The file of the image at this path cannot be parsed.
    case damagedImage(path: String)
    /// The image was built without a key and cannot be updated.
    case noKey
    /// The bundle cannot be read.
    case unreadable(SystemError)
    /// The bundle is shorter than its signature and manifest.
    case tooShort(path: String)
    case wrongSignature(path: String)
    /// The signature is right, but this version does not know the form of the manifest.
    case unknownForm(path: String)
    case otherBoard(update: String, running: String)
    case older(update: String, running: String)
    /// The slot has fewer bytes than the update needs.
    case doesNotFit(needed: Int64, slot: Int64)
    /// Bytes are missing at the end, or differ from the signed checksums.
    case damaged(path: String)
    /// The running version is itself on trial, so only the other slot is known to work.
    case onTrial
    case running
    /// The other slot cannot be written.
    case unwritable(SystemError)
    /// The slot reads back differently from the written bytes.
    case worn(path: String)
    /// The boot state cannot be changed.
    case notSwitched
    case cancelled

    /// The code for programs, stable between versions.
    public var code: String {
        switch self {
        case .noImage: "noImage"
        case .damagedImage: "damagedImage"
        case .noKey: "noKey"
        case .unreadable: "unreadable"
        case .tooShort: "tooShort"
        case .wrongSignature: "wrongSignature"
        case .unknownForm: "unknownForm"
        case .otherBoard: "otherBoard"
        case .older: "older"
        case .doesNotFit: "doesNotFit"
        case .damaged: "damaged"
        case .onTrial: "onTrial"
        case .running: "running"
        case .unwritable: "unwritable"
        case .worn: "worn"
        case .notSwitched: "notSwitched"
        case .cancelled: "cancelled"
        }
    }
}

extension UpdateError: CustomStringConvertible {
    /// The failure, its reason and the solution.
    public var description: String {
        switch self {
        case .noImage(let error):
            "\(error). Only a firmware image can be updated; packages are updated with apt."
        case .damagedImage(let path): "\(path) is damaged. Write the image to the card again."
        case .noKey:
            "This image takes no updates: it was built without a key to check them. Write a newer image to the card."
        case .unreadable(let error): error.description
        case .tooShort(let path): "\(path) is not an update: it is too short."
        case .wrongSignature(let path):
            "The signature of \(path) is wrong: it is damaged, or not from the maker of this player. Download it again."
        case .unknownForm(let path): "\(path) has a form that this version does not know. Write the image to the card."
        case .otherBoard(let update, let running): "The update is for the board \(update). This board is \(running)."
        case .older(let update, let running):
            "Version \(update) is older than \(running), which runs. Use --force to go back."
        case .doesNotFit(let needed, let slot):
            "The update needs a slot of \(needed) bytes; this card's have \(slot). Write the image to the card again."
        case .damaged(let path): "\(path) is damaged or not complete. Copy or download it again."
        case .onTrial: "The running version is still on trial. Try again in a few minutes."
        case .running: "Another update is running. Wait for its end."
        case .unwritable(let error): "\(error).\(Self.advice(for: error))"
        case .worn(let path): "\(path) does not keep what is written to it. Replace the card."
        case .cancelled: "The update was cancelled."
        case .notSwitched: "The boot state cannot be written, so the update does not start. Try again."
        }
    }

    /// Returns the advice for a failed write, beginning with a blank.
    private static func advice(for error: SystemError) -> String {
        if error.isRefused { return " The update needs the rights of root." }
        if error.isOfMedium { return " Try again; when it fails again, replace the card." }
        return error.isOutOfSpace ? " Make room there, and try again." : ""
    }
}
