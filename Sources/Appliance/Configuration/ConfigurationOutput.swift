extension Configuration {
    /// Every setting with its value and its origin, in the form of a configuration file.
    public var shown: String {
        text { setting in
            let line = assignment(setting)
            let blanks = String(repeating: " ", count: max(1, 40 - line.utf8.count))
            return "\(line)\(blanks)# \(origin(of: setting.name).text)\n"
        } heading: { _ in
            ""
        }
    }

    /// The text of `tonearm.conf` as it comes with the program: every setting explained, commented out, with its
    /// default.
    public static var defaultFile: String {
        let standard = Configuration()
        let introduction = """
            # The configuration of Tonearm. Every setting is commented out and shows its default: to change one,
            # remove the # in front of it. `tonearm config check` reports mistakes, `tonearm config show` prints the
            # values in force. SIGHUP (systemctl reload tonearm) reads this file again.


            """
        return introduction
            + standard.text { setting in
                let lines = setting.comment.utf8.split(separator: UInt8(ascii: "\n"))
                let comment = lines.map { "# \(Substring($0))\n" }.joined()
                let restart = setting.changesWhileRunning ? "" : "# Takes effect at the next start.\n"
                let allowed = setting.type == .text ? "" : "# Must be \(setting.type.allowed).\n"
                return "\n\(comment)\(allowed)\(restart)#\(standard.assignment(setting))\n"
            } heading: {
                "# \($0)\n"
            }
    }

    private func assignment(_ setting: Setting) -> String {
        let value = self[setting.name].written
        return value.utf8.isEmpty ? "\(setting.key) =" : "\(setting.key) = \(value)"
    }

    private func text(_ line: (Setting) -> String, heading: (String) -> String) -> String {
        Setting.sections.map { section, about in
            let settings = Setting.all.filter { $0.section.utf8.elementsEqual(section.utf8) }
            return "\(heading(about))[\(section)]\n" + settings.map(line).joined()
        }.joined(separator: "\n")
    }
}
