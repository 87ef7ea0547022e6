import Account
import Crypto
import Fetching
import Network
import Platform

/// Fetches the cover of a product of the service: its description in the catalogue, and the picture that it names
/// (docs/decisions/covers-of-the-service.md). Nothing is retried: the client asks again.
///
/// Thread: one that may block, for at most `patience` each.
package struct CoverTransfer: Sendable {
    let network: any ServiceNetwork
    let service: ServiceSettings
    let credentials: any CredentialsProvider
    package let cancellation: Cancellation
    /// The most milliseconds of both requests together.
    package var patience = Self.standardPatience
    package static let standardPatience = 8000
    /// The permission for metered links, checked for each request; nil if any link may be used.
    var permission: MeteredPermission?

    /// The largest description of a product, in bytes.
    private static let longestDescription: Int64 = 1 << 20

    package init(
        _ network: any ServiceNetwork, _ service: ServiceSettings, _ credentials: any CredentialsProvider,
        _ cancellation: Cancellation, permission: MeteredPermission? = nil
    ) {
        (self.network, self.service, self.credentials) = (network, service, credentials)
        (self.cancellation, self.permission) = (cancellation, permission)
    }

    package func fetch(_ entry: CatalogueEntry) throws(CoverFailure) -> FetchedPicture {
        let deadline = SystemMonotonicClock().now() + Int64(patience) * 1_000_000
        let (address, token) = try address(of: entry, until: deadline)
        var request = TransferRequest(url: address.url, maximumBody: Int64(FetchedPicture.mostBytes))
        request.headers = [HeaderField("Accept", "image/jpeg, image/png, image/webp")]
        if address.isOfService { request.headers.append(service.identity(token)) }
        request.cacheScope = .wholeAddress
        request.mayUseMeteredLink = permission?.isGiven ?? true
        let answer = try answer(to: request, until: deadline)
        guard answer.status == 200 else { throw CoverFailure(status: answer.status) }
        let picture: FetchedPicture?
        do throws(CryptoError) { picture = try FetchedPicture(answer) } catch {
            throw .away("there is no memory for it")
        }
        guard let picture else { throw .unusable("it is not a JPEG, PNG or WebP") }
        return picture
    }

    /// Returns the address of the picture, and the token with which the service has answered.
    private func address(
        of entry: CatalogueEntry, until deadline: Int64
    ) throws(CoverFailure) -> (CoverAddress, token: String?) {
        var token = try self.token(insteadOf: nil)
        var answer = try answer(to: description(of: entry, token), until: deadline)
        if answer.status == 401, let former = token, let other = try self.token(insteadOf: former) {
            token = other
            answer = try self.answer(to: description(of: entry, other), until: deadline)
        }
        guard answer.status == 200 else { throw CoverFailure(status: answer.status) }
        guard let description = try? JSONValue.parseForeign(answer.read(answer.length, at: 0)),
            description.members != nil
        else {
            throw .away("the answer is not that of a service")
        }
        guard let reference = entry.cover(in: description), let address = CoverAddress(reference, of: service) else {
            throw .none
        }
        return (address, token)
    }

    private func description(of entry: CatalogueEntry, _ token: String?) -> TransferRequest {
        var request = CatalogueRequest(path: entry.path).transfer(service, token: token)
        request.maximumBody = Self.longestDescription
        request.mayUseMeteredLink = permission?.isGiven ?? true
        return request
    }

    private func token(insteadOf rejected: String?) throws(CoverFailure) -> String? {
        let use = TokenUse(
            purpose: .command, cancellation: cancellation, mayUseMeteredLink: permission?.isGiven ?? true)
        do throws(ResourceFailure) { return try credentials.token(insteadOf: rejected, for: use) } catch {
            throw CoverFailure(error)
        }
    }

    private func answer(to request: TransferRequest, until deadline: Int64) throws(CoverFailure) -> CoverAnswer {
        let answer: CoverAnswer
        do throws(SystemError) { answer = try CoverAnswer() } catch { throw .away(error.description) }
        let transfer = network.begin(request, into: answer)
        let left = max(0, deadline - SystemMonotonicClock().now()) / 1_000_000
        let outcome = try? cancellation.wait(for: answer.arrival.descriptor, .readable, milliseconds: Int(left))
        guard case .ready = outcome else {
            transfer.cancel()
            throw outcome == .timedOut ? CoverFailure.slow : CoverFailure.away("the player ends")
        }
        if let error = answer.error { throw CoverFailure(error) }
        return answer
    }
}
