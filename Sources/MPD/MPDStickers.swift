import Appliance
import Database

/// The stickers in the state of the appliance. They are stored even if the server is not open.
///
///     let state = try ApplianceState(folder, servers: [MPDStickers.schema])
///     daemon.openLibrary(filesGone: MPDStickers.followFiles)
public enum MPDStickers {
    /// Their table.
    public static let schema = MPDStickerRows.schema

    /// Moves the stickers of renamed files. Call it after a scan that found files missing.
    ///
    /// Thread: any.
    public static let followFiles: @Sendable (LibraryConductor) -> Void = { library in
        MovedStickers(paths: library.uris, storage: library.storage) { library.withIndex($0) }.run()
    }
}
