import CLinux
import Platform
import Player

/// Distinguishes a missing medium from a missing file (docs/decisions/missing-medium.md).
enum MissingMedium {
    /// Returns whether an error means that the medium is missing. A lack of descriptors or threads for reading counts
    /// as a missing medium too.
    /// - Parameter media: the media of the queue.
    static func isReason(for error: PlayerError, _ media: MusicMedia = MusicMedia()) -> Bool {
        guard case .system(let failure) = error.cause, let path = error.mediaProduct?.productId else { return false }
        switch failure.code {
        case ENOENT, ENOTDIR:
            return isMissing(Folder.containing(SheetTrack.file(of: path))) || media.isMissing(for: path)
        // The medium was there a moment ago.
        case EIO, ENXIO, ENODEV, ESTALE, ENOTCONN, EHOSTDOWN: return true
        // A lack of resources makes all other entries fail too, until it ends.
        default: return failure.isOfResources
        }
    }

    /// Returns whether the folder of a missing file is missing too, or empty. A mount point without its medium is an
    /// empty folder.
    private static func isMissing(_ folder: String) -> Bool {
        FileKind(at: folder) != .folder || Folder.isEmpty(folder)
    }
}
