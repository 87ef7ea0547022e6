import Appliance
import HTTPServer

/// Redirects users in the machine's own network to the page, where they choose the Wi-Fi network of their house.
///
/// A phone that joins a network requests a page of its vendor. If it gets another page, it shows that page. In the
/// machine's network every name resolves to the machine's address, so the request arrives here. RFC 8908 and RFC 8910
/// define a newer way, which needs a certificate that the phone trusts.
struct CaptivePage: Sendable {
    let folder: WiFiFolder
    /// The port of the web server.
    let port: UInt16

    /// - Parameter request: a request for a host that is not this machine.
    /// - Returns: nil while the machine has no network of its own.
    func answer(to request: HTTPRequest) -> HTTPAnswer? {
        guard request.method.utf8.elementsEqual("GET".utf8), let address = folder.address else { return nil }
        let authority = port == 80 ? address : address + ":" + String(port)
        return HTTPAnswer(
            status: 302,
            headers: [HTTPField("Location", "http://" + authority + "/#wifi"), HTTPField("Cache-Control", "no-store")])
    }
}
