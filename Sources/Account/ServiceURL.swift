/// The address of a content service as the user writes it.
package enum ServiceURL {
    private static let schemes = ["https://", "http://"]

    /// Returns why it cannot be used, to follow the name of the setting or option; nil when it can. Secrets are not
    /// repeated.
    package static func fault(in text: String) -> String? {
        guard let scheme = schemes.first(where: { text.utf8.starts(with: $0.utf8) }) else {
            return " \(text): must be an address that begins with https:// or http://"
        }
        let authority = text.utf8.dropFirst(scheme.utf8.count).prefix { byte in
            byte != UInt8(ascii: "/") && byte != UInt8(ascii: "?") && byte != UInt8(ascii: "#")
        }
        if authority.contains(UInt8(ascii: "@")) {
            return
                ": must not have a user or a password before an @. Log in with `tonearm login`, or name a file with a "
                + "token"
        }
        if authority.isEmpty { return " \(text): the name of the server is missing" }
        return nil
    }
}
