import Appliance
import Media
import Platform

extension MPDCommand {
    /// The commands about the connection and the protocol.
    static let connection = [
        MPDCommand("ping", 0...0, .none) { _, _, _ in .done },
        MPDCommand("close", 0...0, .none) { _, client, _ in
            client.hasClosed = true
            return .done
        },
        // The table has `idle` because clients look for it in `commands`. `MPDConversation` carries it out.
        MPDCommand("idle", 0...MPDArguments.limit, .read) { _, _, _ in .done },
        MPDCommand("password", 1...1, .none) { (player, client, arguments) throws(MPDFailure) in
            let now = player.daemon.environment.clock.now() / 1_000_000_000
            let level = try player.passwords.level(of: arguments[0], from: client.address, at: now)
            client.permission = max(level, player.standardPermission)
            return .done
        },
        MPDCommand("commands", 0...0, .none) { _, client, _ in
            .output(names { $0.permission <= client.permission })
        },
        MPDCommand("notcommands", 0...0, .none) { _, client, _ in
            .output(names { $0.permission > client.permission })
        },
        MPDCommand("binarylimit", 1...1, .none) { (_, client, arguments) throws(MPDFailure) in
            let limit = try MPDNumbers.integer(arguments[0], 0...Int(Int32.max))
            guard limit >= MPDClient.binaryLimits.lowerBound else { throw MPDFailure(.argument, "Value too small") }
            client.binaryLimit = min(limit, MPDClient.binaryLimits.upperBound)
            return .done
        },
        MPDCommand("tagtypes", 0...MPDArguments.limit, .none) { (_, client, arguments) throws(MPDFailure) in
            .output(try tagTypes(&client, arguments))
        },
        MPDCommand("urlhandlers", 0...0, .read) { _, _, _ in
            var output = MPDOutput()
            for scheme in ["http://", "https://", "tonearm:"] { output.pair("handler", scheme) }
            return .output(output)
        },
        MPDCommand("decoders", 0...0, .read) { _, _, _ in .output(decoders) },
        MPDCommand("config", 0...0, .admin) { (player, client, _) throws(MPDFailure) in
            guard client.isLocal else { throw MPDFailure(.permission, "Command only permitted to local clients") }
            var output = MPDOutput()
            if let folder = player.paths.onlyFolder { output.pair("music_directory", folder) }
            return .output(output)
        },
        MPDCommand("subscribe", 1...1, .read) { (player, client, arguments) throws(MPDFailure) in
            try player.channels.subscribe(client.number, to: arguments[0])
            player.report(.subscription)
            return .done
        },
        MPDCommand("unsubscribe", 1...1, .read) { (player, client, arguments) throws(MPDFailure) in
            try player.channels.unsubscribe(client.number, from: arguments[0])
            player.report(.subscription)
            return .done
        },
        MPDCommand("channels", 0...0, .read) { player, _, _ in
            var output = MPDOutput()
            for name in player.channels.names { output.pair("channel", name) }
            return .output(output)
        },
        MPDCommand("sendmessage", 2...2, .control) { (player, _, arguments) throws(MPDFailure) in
            let message = MPDChannels.Message(channel: arguments[0], text: arguments[1])
            player.report(.message, to: try player.channels.send(message))
            return .done
        },
        MPDCommand("readmessages", 0...0, .read) { player, client, _ in
            var output = MPDOutput()
            for message in player.channels.take(client.number) {
                output.pair("channel", message.channel)
                output.pair("message", message.text)
            }
            return .output(output)
        },
        MPDCommand("listpartitions", 0...0, .read) { _, _, _ in
            var output = MPDOutput()
            output.pair("partition", "default")
            return .output(output)
        },
        MPDCommand("partition", 1...1, .read) { (_, _, arguments) throws(MPDFailure) in
            guard arguments[0].utf8.elementsEqual("default".utf8) else {
                throw MPDFailure(.noSuchObject, "partition does not exist")
            }
            return .done
        },
    ]

    private static func names(_ isWanted: (MPDCommand) -> Bool) -> MPDOutput {
        var output = MPDOutput()
        for command in all where isWanted(command) { output.pair("command", command.name.text) }
        return output
    }

    private static func tagTypes(
        _ client: inout MPDClient, _ arguments: [String]
    ) throws(MPDFailure) -> MPDOutput {
        var output = MPDOutput()
        guard let verb = arguments.first else {
            for tag in client.tags.list { output.pair("tagtype", tag.text.text) }
            return output
        }
        let isVerb = { (word: StaticString) in word.isEqual(to: verb) }
        if isVerb("all") || isVerb("clear") {
            guard arguments.count == 1 else { throw MPDFailure(.argument, "Too many arguments") }
            client.tags = isVerb("all") ? .all : []
            return output
        }
        guard isVerb("enable") || isVerb("disable") else { throw MPDFailure(.argument, "Unknown sub command") }
        guard arguments.count > 1 else { throw MPDFailure(.argument, "Not enough arguments") }
        var tags: MPDTags = []
        for name in arguments.dropFirst() {
            guard let tag = MPDTags.parse(name) else { throw MPDFailure(.argument, "Unknown tag type") }
            tags.formUnion(tag)
        }
        if isVerb("enable") { client.tags.formUnion(tags) } else { client.tags.subtract(tags) }
        return output
    }

    /// The formats in MPD's form. Clients use the suffixes.
    private static var decoders: MPDOutput {
        var output = MPDOutput()
        for format in FormatTable.all.formats {
            output.pair("plugin", format.container.rawValue)
            for suffix in format.suffixes { output.pair("suffix", suffix.text) }
            for type in format.mediaTypes { output.pair("mime_type", type.text) }
        }
        return output
    }
}
