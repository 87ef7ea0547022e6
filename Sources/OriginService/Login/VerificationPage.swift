import HTTPServer

/// The page of a login: plain HTML, without scripts and external resources.
enum VerificationPage {
    /// - Parameters:
    ///   - code: the code without the dash, if it is known.
    ///   - hasPassword: whether the owner can decide here; otherwise the page names the command to use.
    ///   - mistake: the mistake in the form.
    static func form(code: String?, hasPassword: Bool, status: Int = 200, mistake: String? = nil) -> HTTPAnswer {
        let shown = code.map(UserCode.shown)
        guard hasPassword else {
            return answer(
                """
                <p>To let a player in, run this on the machine of the music, with the code that the player shows:</p>
                <p><code>tonearm-origin approve \(shown ?? "CODE")</code></p>
                """)
        }
        // Relative to the page: a proxy may add a path that this service does not see.
        let action = LoginRoutes.pagePath.dropFirst()
        let alert = mistake.map { "<p role=\"alert\">\(escaped($0))</p>\n" } ?? ""
        return answer(
            """
            \(alert)<p>A player asks for your music. Compare the code with the one that the player shows.</p>
            <form method="post" action="\(action)" autocomplete="off">
            <p><label>Code <input name="code" value="\(shown ?? "")" required maxlength="20"></label></p>
            <p><label>Password <input name="password" type="password" required></label></p>
            <p><button name="decision" value="allow">Let it in</button>
            <button name="decision" value="deny">Refuse</button></p>
            </form>
            """, status: status)
    }

    static func decided(client: String, isAllowed: Bool) -> HTTPAnswer {
        answer("<p>\(escaped(client)) \(isAllowed ? "may play your music now" : "was refused").</p>")
    }

    private static func answer(_ content: String, status: Int = 200) -> HTTPAnswer {
        let page = """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width">
            <title>Tonearm: login of a player</title>
            <style>body { font: 1.2em sans-serif; max-width: 32em; margin: 2em auto; padding: 0 1em }</style>
            </head>
            <body>
            <h1>Login of a player</h1>
            \(content)
            </body>
            </html>

            """
        return HTTPAnswer(
            status: status,
            headers: [
                HTTPField("Content-Type", "text/html; charset=utf-8"), HTTPField("Cache-Control", "no-store"),
                // No other page may show this one in a frame and make the owner click on it.
                HTTPField(
                    "Content-Security-Policy",
                    "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'"),
                HTTPField("Referrer-Policy", "no-referrer"), HTTPField("X-Content-Type-Options", "nosniff"),
            ], body: ContentBody(Array(page.utf8)))
    }

    /// Escapes text, also for attributes.
    private static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
            .replacing("\"", with: "&quot;").replacing("'", with: "&#39;")
    }
}
