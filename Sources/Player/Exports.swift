// The player's public face is one module for its users: `import Player` also brings the public types of the engines.
@_exported import Account
@_exported import Fetching
@_exported import Offline
@_exported import Playback
@_exported import Streaming
