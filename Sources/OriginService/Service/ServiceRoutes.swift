import Crypto
import Database
import Glibc
import HTTPServer
import Library
import Media
import PCM
import Platform

/// Answers each request (docs/service.md).
///
/// Thread: any.
struct ServiceRoutes: Sendable {
    let index: MusicIndex
    let settings: OriginSettings
    let signer: URLSigner
    let contents: TrackContents
    /// The logins; nil when players do not log in.
    let logins: DeviceLogins?
    /// Scans files that have changed.
    let scans: ScanRequests?
    /// Takes events.
    let events: EventRoutes?
    /// The WebSockets of players; nil without.
    var privileges: PrivilegeRoutes?
    /// Returns seconds since 1970.
    let now: @Sendable () -> Int64
    private let loginRoutes: LoginRoutes?

    init(
        index: MusicIndex, settings: OriginSettings, signer: URLSigner, contents: TrackContents,
        logins: DeviceLogins? = nil, scans: ScanRequests? = nil, events: EventStore? = nil,
        now: @escaping @Sendable () -> Int64
    ) {
        self.index = index
        self.settings = settings
        self.signer = signer
        self.contents = contents
        self.logins = logins
        self.scans = scans
        self.now = now
        self.events = events.map { EventRoutes(store: $0, now: now) }
        loginRoutes = logins.map { LoginRoutes($0, settings: settings, now: now) }
    }

    /// Returns the limit of a body in bytes. A form of the login is smaller than most; a batch of ten events of 20 KiB
    /// each, with escapes, fits into the other limit.
    static func bodyLimit(of path: String) -> Int { path == EventRoutes.path ? 1 << 20 : 16_384 }

    /// - Parameter socketFault: the fault of a WebSocket after its opening.
    func answer(to request: HTTPRequest, socketFault: DeliveryFault.SocketFault? = nil) -> HTTPAnswer {
        do throws(DatabaseError) {
            if let answer = try loginRoutes?.answer(to: request) { return answer }
            let path = request.components
            if path.count == 4, path[0] == "v1", path[1] == "license" {
                return try license(path[2], version: path[3], request)
            }
            if let events, request.path == EventRoutes.path {
                return try authorised(request) { () throws(DatabaseError) in try events.answer(to: request) }
            }
            if let privileges, request.path == PrivilegeRoutes.socketPath {
                return privileges.socket(request, fault: socketFault)
            }
            if let privileges, request.path == PrivilegeRoutes.connectPath {
                guard case .granted(let login) = try access(of: request) else { return Self.unauthorised }
                return privileges.connect(request, login: login)
            }
            guard request.method != "POST" else { return .wrongMethod("GET and HEAD") }
            guard path.first == "v1" else { return notFound() }
            switch (path.count, path.dropFirst().first) {
            case (5, "content"): return try content(path[2], version: path[3], name: String(path[4]), request)
            case (4, "tracks") where path[3] == "playbackinfo":
                return try authorised(request) { () throws(DatabaseError) in try playbackInfo(path[2], request) }
            default:
                return try authorised(request) { () throws(DatabaseError) in
                    try CatalogueRoutes(index: index).answer(to: request, path.dropFirst()) ?? notFound()
                }
            }
        } catch {
            Log.error("index: \(error.description)")
            return .refusal(500, 999, "The index of the music cannot be read.")
        }
    }

    private func notFound() -> HTTPAnswer { .refusal(404, SubStatus.notFound, "There is nothing of this name.") }

    private enum Access {
        /// - Parameter login: the name of the player that has logged in; nil with the common token, or without one.
        case granted(login: String?)
        case refused
    }

    private func access(of request: HTTPRequest) throws(DatabaseError) -> Access {
        guard settings.token != nil || logins != nil else { return .granted(login: nil) }
        let given = request.headers["authorization"] ?? ""
        guard given.hasPrefix("Bearer ") else { return .refused }
        let token = String(given.dropFirst("Bearer ".count))
        if let only = settings.token, equalInConstantTime(Array(token.utf8), Array(only.utf8)) {
            return .granted(login: nil)
        }
        if let login = try logins?.client(of: token, at: now()) { return .granted(login: login) }
        return .refused
    }

    private static var unauthorised: HTTPAnswer {
        var refusal = HTTPAnswer.refusal(401, SubStatus.wrongToken, "The token is missing or wrong, or has expired.")
        refusal.headers.append(HTTPField("WWW-Authenticate", "Bearer"))
        return refusal
    }

    private func authorised(
        _ request: HTTPRequest, _ answer: () throws(DatabaseError) -> HTTPAnswer
    ) throws(DatabaseError) -> HTTPAnswer {
        guard case .granted = try access(of: request) else { return Self.unauthorised }
        return try answer()
    }

    /// Returns a track whose file is there and matches the index.
    private func track(_ id: Substring) throws(DatabaseError) -> Result<(Track, OpenedFile), Unavailable> {
        guard let number = Int64(id), let track = try index.track(number) else { return .failure(.unknown) }
        do throws(SystemError) {
            guard let stamp = try FileStamp(reading: track.path) else { return .failure(.unknown) }
            let file = try OpenedFile(track.path)
            guard stamp == track.stamp else {
                scans?.add(track.path)
                return .failure(.changed)
            }
            return .success((track, file))
        } catch {
            if error.meansNoFile { return .failure(.unknown) }
            Log.warning(error.description)
            return .failure(.unreadable)
        }
    }

    private enum Unavailable: Error {
        case unknown
        case changed
        /// The file is there, but the medium, its permissions or the process's limits prevent reading it. A player
        /// takes 404 as final.
        case unreadable

        var answer: HTTPAnswer {
            switch self {
            case .unknown: return .refusal(404, SubStatus.notFound, "There is no track of this number.")
            case .changed: return Self.later("The file has changed and is read again.", seconds: 2)
            case .unreadable: return Self.later("The file cannot be read now.", seconds: 10)
            }
        }

        private static func later(_ message: String, seconds: Int) -> HTTPAnswer {
            var answer = HTTPAnswer.refusal(503, SubStatus.notReady, message)
            answer.headers.append(HTTPField("Retry-After", "\(seconds)"))
            return answer
        }
    }

    // MARK: Playbackinfo

    private static let audioQualities = ["LOW", "HIGH", "LOSSLESS", "HI_RES", "HI_RES_LOSSLESS"]

    private func playbackInfo(_ id: Substring, _ request: HTTPRequest) throws(DatabaseError) -> HTTPAnswer {
        let quality = request.query["audioquality"] ?? "LOSSLESS"
        guard Self.audioQualities.contains(quality) else { return .wrongParameter("audioquality") }
        let mode = request.query["playbackmode"] ?? "STREAM"
        guard mode == "STREAM" || mode == "OFFLINE" else { return .wrongParameter("playbackmode") }
        let kind = request.query["manifest"].map(ServedManifest.Kind.init(rawValue:)) ?? settings.manifest
        guard let kind else { return .wrongParameter("manifest") }
        let origin = settings.publicAddress ?? request.origin
        guard let origin else { return .wrongParameter("Host") }
        switch try track(id) {
        case .failure(let reason): return reason.answer
        case .success(let (track, file)):
            let content = try contents.content(track, file, EncodedQuality(serviceName: quality))
            let variant = ContentVariant(
                encoding: content.quality, isEncrypted: content.segmented?.track.encryption != nil)
            let addresses = addresses(of: track, origin, variant)
            let sessionId = request.headers["x-tidal-streamingsessionid"]
            return .json(
                playbackInfo(
                    track, content, manifest(kind, of: track, content, at: addresses), addresses, sessionId: sessionId,
                    isOffline: mode == "OFFLINE"))
        }
    }

    private func addresses(of track: Track, _ origin: String, _ variant: ContentVariant) -> ContentAddresses {
        let folder = ContentAddresses.folder(of: track)
        return ContentAddresses(
            origin: origin, folder: folder,
            signature: signer.signature(of: folder, until: now() + settings.addressLifetime), prefix: variant.prefix)
    }

    private func manifest(
        _ kind: ServedManifest.Kind, of track: Track, _ content: TrackContents.Content, at addresses: ContentAddresses
    ) -> ServedManifest {
        guard let segmented = content.segmented else { return .bts(track, at: addresses) }
        // Only the file itself is one resource.
        let isAsItIs = addresses.prefix.isEmpty
        return switch kind {
        case .bts: isAsItIs ? .bts(track, at: addresses) : .dash(segmented, at: addresses)
        case .dash: .dash(segmented, at: addresses)
        case .hls: .hls(segmented, at: addresses)
        case .emu: .emu(at: addresses)
        }
    }

    // MARK: Content

    private static let keptForAWeek = "private, max-age=604800, immutable"

    private func content(
        _ id: Substring, version: Substring, name: String, _ request: HTTPRequest
    ) throws(DatabaseError) -> HTTPAnswer {
        let folder = "/v1/content/\(id)/\(version)/"
        let token = request.query["token"] ?? ""
        guard signer.isValid(token, of: folder, at: now()) else {
            return .refusal(403, SubStatus.wrongSignature, "The address has expired, or it is not from this service.")
        }
        let (track, file): (Track, OpenedFile)
        switch try self.track(id) {
        case .success(let found): (track, file) = found
        case .failure(.unreadable): return Unavailable.unreadable.answer
        case .failure: return notFound()
        }
        guard track.version == version else { return notFound() }
        func resource(_ body: ContentBody, _ type: String) -> HTTPAnswer {
            ServedResource(
                body: body, contentType: type, entityTag: "\"\(track.version)-\(name)\"",
                lastModified: track.stamp.modifiedSeconds, cacheControl: Self.keptForAWeek
            ).answer(to: request)
        }
        if name == track.fileName {
            // Encrypted content is not served plain as well.
            if contents.secret != nil, try contents.content(track, file, nil).segmented != nil { return notFound() }
            return resource(ContentBody([.file(file, 0..<track.stamp.size)]), track.mimeType)
        }
        var part = Substring(name)
        let variant = ContentVariant(parsing: &part)
        guard let content = try contents.content(track, file, variant) else { return notFound() }
        switch part {
        case "init.mp4": return resource(ContentBody(content.track.initialization()), "audio/mp4")
        case "playlist.m3u8":
            guard let origin = settings.publicAddress ?? request.origin else { return .wrongParameter("Host") }
            let addresses = ContentAddresses(
                origin: origin, folder: folder, signature: "token=\(token)", prefix: variant.prefix)
            // The address contains a signature for this client that expires.
            return HTTPAnswer(
                headers: [
                    HTTPField("Content-Type", ServedManifest.Kind.hls.mimeType), HTTPField("Cache-Control", "no-store"),
                ],
                body: ContentBody(Array(ServedManifest.hls(content, at: addresses).text.utf8)))
        default:
            guard part.hasSuffix(".mp4"), let number = Int(part.dropLast(4)) else { return notFound() }
            do throws(MediaError) {
                guard let body = try content.segment(number) else { return notFound() }
                return resource(body, "audio/mp4")
            } catch {
                Log.warning("\(track.path): a segment cannot be served: \(error.reason)")
                return Unavailable.changed.answer
            }
        }
    }

    /// Answers as the license server, for clients with the signature of the content.
    private func license(
        _ id: Substring, version: Substring, _ request: HTTPRequest
    ) throws(DatabaseError) -> HTTPAnswer {
        guard request.method == "POST" else { return .wrongMethod("POST") }
        guard signer.isValid(request.query["token"] ?? "", of: "/v1/content/\(id)/\(version)/", at: now()) else {
            return .refusal(403, SubStatus.wrongSignature, "The address has expired, or it is not from this service.")
        }
        guard let secret = contents.secret else { return notFound() }
        let track: Track
        switch try self.track(id) {
        case .success(let found): track = found.0
        case .failure(.unreadable): return Unavailable.unreadable.answer
        case .failure: return notFound()
        }
        guard track.version == version else { return notFound() }
        return LicenseAnswer.answer(to: request.body, secret.encryption(of: track)) ?? .wrongParameter("kids")
    }
}
