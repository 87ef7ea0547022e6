import Library

/// The addresses of a track's content. All of them are in one folder, which one signature covers.
struct ContentAddresses: Sendable {
    /// `http://nas:7470`
    var origin: String
    /// `/v1/content/ID/VERSION/`
    var folder: String
    /// `token=…`
    var signature: String
    /// The prefix of the names in the folder: `ContentVariant.prefix`.
    var prefix = ""

    /// - Parameter name: the name of a resource in the folder.
    subscript(_ name: String) -> String { "\(origin)\(folder)\(prefix)\(name)?\(signature)" }

    /// The address of the license server, under the same signature.
    var license: String { "\(origin)\(folder.replacing("/v1/content/", with: "/v1/license/"))?\(signature)" }

    static func folder(of track: Track) -> String { "/v1/content/\(track.id)/\(track.version)/" }
}
