import Fetching
import Manifests
import Media
import Network
import Platform
import Playback

/// The keys of a stream, from the addresses in its manifest and its playbackinfo.
///
/// Thread: the decoder thread; blocks while a key is fetched.
package final class StreamedKeys {
    /// The provider for encrypted samples; nil when the addresses of their keys are unknown.
    package private(set) var licenses: (any LicenseProvider)?

    private let requests: ServiceRequests
    private let licenseURL: String?
    private let provider: (any LicenseProvider)?
    private var fetched: [(url: String, key: [UInt8])] = []
    /// Alternative base addresses of the representation.
    private var bases: [String] = []
    private var patience = Patience.endless

    private static let keySize = 16
    /// Playlists change their keys every few segments.
    private static let mostKeys = 16

    /// - Parameters:
    ///   - licenseURL: the address of a ClearKey license server; nil when there is none.
    ///   - provider: has priority over the manifest; nil when there is none.
    init(_ requests: ServiceRequests, licenseURL: String?, provider: (any LicenseProvider)? = nil) {
        self.provider = provider
        self.requests = requests
        self.licenseURL = licenseURL
    }

    /// Sets the alternatives for keys whose addresses are in a playlist.
    /// - Parameter bases: alternative base addresses.
    func fetchesKeys(at bases: [String], _ patience: Patience) { (self.bases, self.patience) = (bases, patience) }

    /// Takes the encryption of a representation from its manifest.
    /// - Throws: `.protected` when this program supports none of its key systems; `.unsupported` for encrypted samples
    ///   that are not in MP4.
    func take(_ representation: Representation) throws(MediaError) {
        try takeLicenses(representation)
        // Packed audio cannot mark encrypted samples: they would be decoded to noise.
        if case .list(let list) = representation.segments, list.segments.allSatisfy({ $0.initialization == nil }),
            list.declaredProtections.contains(where: { $0.isOfSamples })
        {
            throw .unsupported(what: "SAMPLE-AES outside of MP4")
        }
    }

    private func takeLicenses(_ representation: Representation) throws(MediaError) {
        if let provider {
            licenses = provider
            return
        }
        var protections = representation.contentProtections
        if case .list(let list) = representation.segments { protections += list.declaredProtections }
        // Either samples or whole segments are encrypted; whole segments have keys of their own.
        let ofSamples = protections.filter { !$0.isOfWholeSegments }
        if let licenseURL = licenseURL ?? ofSamples.lazy.filter({ $0.isClearKey }).compactMap({ $0.keyURI }).first {
            let requests = requests
            licenses = ClearKeyLicenses { (request) throws(MediaError) -> [UInt8] in
                try requests.license(request, at: licenseURL)
            }
            return
        }
        let plain = ofSamples.filter { $0.hasPlainKey }
        if !plain.isEmpty {
            licenses = PlaylistKeys(plain, self)
            return
        }
        // Entries without a key system only add to entries with one.
        let names = protections.filter { !$0.hasPlainKey }.compactMap { $0.systemName }
        if let first = names.first { throw .protected(by: first) }
    }

    /// Returns the decrypted bytes of a segment.
    package func decrypted(
        _ source: any ByteSource, _ protections: [ContentProtection]
    ) throws(ByteSourceError) -> any ByteSource {
        guard let protection = protections.first(where: { $0.isOfWholeSegments && $0.hasPlainKey }),
            let url = protection.keyURI
        else { return source }
        guard let vector = protection.initializationVector else {
            throw .integrity(reason: "an encrypted segment without an initialization vector")
        }
        do throws(MediaError) {
            return SegmentDecryption(source, key: try key(at: url), initializationVector: vector)
        } catch {
            if case .source(let error) = error { throw error }
            throw .integrity(reason: "its key is not 16 bytes")
        }
    }

    /// Returns the address of the next key that these protections need and that was not fetched yet; nil when there is
    /// none.
    func missingKey(of protections: [ContentProtection]) -> String? {
        for protection in protections where protection.hasPlainKey {
            if let url = protection.keyURI, DataURL(url) == nil, known(url) == nil { return url }
        }
        return nil
    }

    /// Adds a key that was fetched elsewhere.
    func add(_ key: [UInt8], from url: String) throws(MediaError) {
        guard key.count == Self.keySize else { throw .license(reason: "a key of \(key.count) bytes, not 16") }
        if fetched.count == Self.mostKeys { fetched.removeFirst() }
        fetched.append((url, key))
    }

    private func known(_ url: String) -> [UInt8]? { fetched.first { $0.url.utf8.elementsEqual(url.utf8) }?.key }

    /// Returns the key at an address: 16 bytes.
    fileprivate func key(at url: String) throws(MediaError) -> [UInt8] {
        if let key = known(url) { return key }
        let key: [UInt8]
        if let data = DataURL(url) {
            key = data.bytes
        } else {
            key = try requests.body(
                TransferRequest(url: url),
                at: ResourceAddresses(Alternatives(url, bases: bases), failed: requests.failed, patience))
        }
        try add(key, from: url)
        return key
    }
}

/// Keys of samples whose addresses are in a playlist (SAMPLE-AES with KEYFORMAT "identity").
private final class PlaylistKeys: LicenseProvider {
    private let protections: [ContentProtection]
    private let keys: StreamedKeys

    init(_ protections: [ContentProtection], _ keys: StreamedKeys) {
        self.protections = protections
        self.keys = keys
    }

    /// Returns a key by its ID. A playlist with a single key may omit the ID.
    func key(_ request: KeyRequest) throws(MediaError) -> [UInt8] {
        let first = protections.first
        let hasOneKey = protections.allSatisfy {
            ($0.keyURI ?? "").utf8.elementsEqual((first?.keyURI ?? "").utf8)
        }
        let found = protections.first { $0.defaultKeyID == request.keyID } ?? (hasOneKey ? first : nil)
        guard let url = found?.keyURI else { throw .missingKey(id: request.keyID) }
        return try keys.key(at: url)
    }
}

extension ServiceRequests {
    fileprivate func license(_ request: [UInt8], at url: String) throws(MediaError) -> [UInt8] {
        let request = TransferRequest(.post(body: request, contentType: "application/json"), url: url)
        guard let session else { return try body(request) }
        return try session.reporting(.license) { () throws(MediaError) in try body(request) }
    }

    fileprivate func body(
        _ request: TransferRequest, at addresses: ResourceAddresses? = nil
    ) throws(MediaError) -> [UInt8] {
        do throws(ResourceFailure) { return try answer(to: request, at: addresses).body } catch {
            throw .source(error.byteSourceError)
        }
    }
}

extension ContentProtection {
    /// Whether whole segments are encrypted, not their samples.
    package var isOfWholeSegments: Bool { value.map { $0.utf8.elementsEqual("AES-128".utf8) } ?? false }

    /// Whether only the samples of HLS segments are encrypted.
    fileprivate var isOfSamples: Bool { value.map { $0.utf8.starts(with: "SAMPLE-AES".utf8) } ?? false }

    /// Whether the key itself is at `keyURI`.
    fileprivate var hasPlainKey: Bool { scheme.utf8.elementsEqual("identity".utf8) && keyURI != nil }

    fileprivate var isClearKey: Bool { system.map { $0.name.utf8.elementsEqual("ClearKey".utf8) } ?? false }

    /// The name for users; nil for a protection without a key system.
    fileprivate var systemName: String? {
        if scheme.utf8.elementsEqual("com.apple.streamingkeydelivery".utf8) { return "FairPlay" }
        if scheme.utf8.elementsEqual("com.microsoft.playready".utf8) { return "PlayReady" }
        return system?.name
    }

    private var system: KeySystem? {
        guard scheme.utf8.starts(with: "urn:uuid:".utf8) else { return nil }
        let digits = scheme.utf8.dropFirst(9).filter { $0 != UInt8(ascii: "-") }
        return Hexadecimal.bytes(String(decoding: digits, as: UTF8.self)).map { KeySystem(id: $0) }
    }
}
