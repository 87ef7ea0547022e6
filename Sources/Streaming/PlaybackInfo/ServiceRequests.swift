import Account
import Fetching
import Network
import Platform
import Playback

/// Requests whose whole answer fits into memory: playbackinfo, manifests, playlists.
///
/// Thread: a decoder thread. It blocks until the answer has arrived, including all retries; `cancellation` ends it at
/// once.
package struct ServiceRequests {
    /// The longest answer in bytes. A playbackinfo contains its manifest; the manifest of a long video is the largest.
    static let longestAnswer = 4 << 20

    let network: any ServiceNetwork
    let purpose: RetrySchedule.Purpose
    package let cancellation: Cancellation
    let medium: MediumAccess
    /// Checked for each request; nil: any link may be used.
    var permission: MeteredPermission?
    /// The scope of the playbackinfo's content; nil before the playbackinfo has arrived.
    package var space: ContentSpace?
    /// The session that the requests are for; nil when they are for none that is recorded.
    package var session: PlaybackSession?
    /// The addresses that have failed in this session.
    var failed = FailedAddresses()

    package init(
        network: any ServiceNetwork, purpose: RetrySchedule.Purpose, cancellation: Cancellation, medium: MediumAccess,
        permission: MeteredPermission? = nil, space: ContentSpace? = nil, session: PlaybackSession? = nil,
        failed: FailedAddresses = FailedAddresses()
    ) {
        self.network = network
        self.purpose = purpose
        self.cancellation = cancellation
        self.medium = medium
        self.permission = permission
        self.space = space
        self.session = session
        self.failed = failed
    }

    /// - Parameter addresses: the addresses of the same answer; nil for the address of the request alone.
    func answer(
        to request: TransferRequest, at addresses: ResourceAddresses? = nil
    ) throws(ResourceFailure) -> WholeAnswer.Content {
        var request = request
        request.maximumBody = Int64(Self.longestAnswer)
        let arrival: WakeUp
        do throws(SystemError) { arrival = try WakeUp() } catch {
            throw .transfer(.library(code: Int(error.code), reason: error.description))
        }
        let answer = WholeAnswer()
        let transfer = ResourceTransfer(
            request, over: network, for: purpose, continues: false, at: addresses, progress: medium.stream, into: answer
        )
        answer.whenOver { arrival.signal() }
        let outcome = medium.waiting { () -> Cancellation.Outcome in
            do throws(SystemError) {
                return try cancellation.wait(for: arrival.descriptor, .readable, milliseconds: -1)
            } catch {
                return .cancelled
            }
        }
        if outcome == .cancelled {
            transfer.cancel()
            throw .cancelled
        }
        guard let result = answer.result else { preconditionFailure("ServiceRequests: woken before the end") }
        return try result.get()
    }
}

extension ServiceRequests {
    /// Requests playbackinfo; once more with another token when the first one is refused.
    /// - Parameter product: for errors.
    package func playbackInfo(
        for request: PlaybackInfoRequest, of product: MediaProduct, _ settings: ServiceSettings,
        _ credentials: any CredentialsProvider
    ) throws(PlayerError) -> PlaybackInfo {
        let answer: WholeAnswer.Content
        do throws(ResourceFailure) {
            answer = try self.answer(withTokenOf: credentials) { token in
                request.transfer(baseURL: settings.baseURL, clientName: settings.clientName, token: token)
            }
        } catch {
            throw PlayerError(error, product)
        }
        do throws(PlaybackInfo.Malformed) {
            return try PlaybackInfo(parsing: answer.body, request.productType)
        } catch {
            throw PlayerError(error, product)
        }
    }

    private func answer(
        withTokenOf credentials: any CredentialsProvider, to request: (_ token: String?) -> TransferRequest
    ) throws(ResourceFailure) -> WholeAnswer.Content {
        let token = try self.token(insteadOf: nil, of: credentials)
        do throws(ResourceFailure) { return try answer(to: request(token)) } catch {
            guard case .refused(let refusal) = error, refusal.status == 401, let token,
                let other = try self.token(insteadOf: token, of: credentials)
            else { throw error }
            return try answer(to: request(other))
        }
    }

    /// Waits for a token as for an answer, because it may have to be fetched.
    private func token(
        insteadOf rejected: String?, of credentials: any CredentialsProvider
    ) throws(ResourceFailure) -> String? {
        let use = TokenUse(
            purpose: purpose, cancellation: cancellation, progress: medium.stream,
            mayUseMeteredLink: permission?.isGiven ?? true)
        return try medium.waiting { () throws(ResourceFailure) in
            try credentials.token(insteadOf: rejected, for: use)
        }
    }
}
