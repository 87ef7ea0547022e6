import Board
import Events
import Network
import Output
import Platform
import Player

extension Configuration {
    /// The settings of the daemon's player.
    /// - Parameters:
    ///   - device: the device to play on.
    ///   - sound: the sound settings of the board profile, if there is one. The configuration overrides them.
    public func playerSettings(device: String, sound: BoardSound?) -> PlayerSettings {
        var output = RendererSettings(device: device, sampleFormat: sampleFormat)
        output.bufferMilliseconds = bufferMilliseconds
        output.periodCount = periodCount
        output.settleAtStart = sound?.settleAtStart ?? 0
        output.settleAtRateChange = sound?.settleAtRateChange ?? 0
        output.fades = usesFades
        output.allowsAdaptation = adaptsToDevice
        output.routing = channelRouting
        output.sampleRates = sampleRates
        output.sendsDSD = sendsDSD
        var settings = PlayerSettings(output: output)
        settings.firstVolume = firstVolume
        settings.storesOnlyVolume = true
        settings.mixerControl = mixerControl ?? sound?.mixer
        settings.mixerLimits = sound?.mixerRange
        settings.mixerPreparation = MixerPreparation(switches: sound?.switches ?? [], levels: sound?.levels ?? [])
        // A control that the configuration names applies to every card, and so does the profile's control when the
        // device is named. With `auto`, the profile's control applies only to its own cards.
        if mixerControl == nil, device == DeviceName.automatic, let sound { settings.mixerCards = sound.cards }
        settings.forcesSoftwareVolume = forcesSoftwareVolume
        settings.realtimePriority = realtimePriority
        return settings
    }

    /// The settings of streaming; nil when no content service is configured.
    public var streamingSettings: StreamingSettings? {
        guard let url = serviceURL else { return nil }
        var service = ServiceSettings(baseURL: url, clientName: serviceClient)
        service.readAhead = readAheadBytes
        var settings = StreamingSettings(service: service)
        settings.tokenFile = serviceTokenFile
        settings.loginFolder = stateFolder
        settings.authorities = authorities
        settings.pins = pins
        settings.proxy = proxy
        if cacheBytes > 0 {
            // Without the page there are no thumbnails in the folder.
            let others = webAddress == nil ? 0 : thumbnailBytes
            settings.cache = CacheSettings(folder: cacheFolder, limits: CacheLimits(bytes: cacheBytes - others))
        }
        return settings
    }

    /// The settings of the events for the content service.
    public func eventSettings(version: String, clock: TrustedClock) -> EventSettings {
        var settings = EventSettings(client: serviceClient, version: version, clock: clock)
        settings.consent = eventConsent
        settings.outboxLimit = eventBytes
        return settings
    }

    /// The settings of transfers outside the content service.
    public func networkSettings(_ clock: any CertificateClock) -> NetworkSettings {
        var settings = NetworkSettings(clock: clock)
        settings.extraCAFile = authorities
        settings.pins = pins
        settings.proxy = proxy
        return settings
    }

    /// Returns the web files of a player without a content service.
    /// - Parameter links: which links are metered.
    public func webFiles(_ clock: any CertificateClock, _ links: LinkSettings) -> WebFiles {
        var settings = networkSettings(clock)
        settings.links = links
        return WebFiles(settings, readAhead: readAheadBytes)
    }

    /// The settings of offline copies; nil when no content service is configured.
    public var offlineSettings: OfflineSettings? {
        guard serviceURL != nil else { return nil }
        var settings = OfflineSettings(folder: offlineFolder)
        settings.limits.bytes = offlineBytes
        settings.limits.freeBytes = offlineFreeBytes
        settings.parallelDownloads = offlineDownloads
        return settings
    }
}
