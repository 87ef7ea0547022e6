// The tracks of the library that the page has seen, and lists of the daemon that come in pages. Needs the requests of
// `server.js`.

const MOST_ENTRIES = 500;
const MOST_KNOWN = 5000;

// The tracks of the library that the page has seen, by path, for the titles of queue entries.
const library = {
  tracks: new Map(),
  folders: new Map(),
  favourites: null,

  forget() {
    this.tracks.clear();
    this.folders.clear();
    this.favourites = null;
  },

  // Looks up the music at `path`, with its whole folder. Returns its track, or null when the library has none.
  async find(path) {
    if (path[0] !== "/") return null;
    const folder = folderOf(path);
    if (!this.folders.has(folder)) this.folders.set(folder, this.loadFolder(folder));
    await this.folders.get(folder);
    return this.tracks.get(path) || null;
  },

  async loadFolder(folder) {
    try {
      (await allEntries("library-list", { list: "tracks", of: folder })).forEach(track => this.add(track));
    } catch (refusal) {
      // Without a library, entries have the names of their files.
    }
  },

  add(track) {
    if (this.tracks.size > MOST_KNOWN) this.forget();
    this.tracks.set(track.path, track);
  },

  // Music outside of the library can be a favourite, too.
  async isFavourite(path) {
    const track = await this.find(path);
    if (track) return track.favourite;
    if (!this.favourites) this.favourites = request("library-list", { list: "favourites", count: MOST_ENTRIES });
    return (await this.favourites).entries.some(entry => entry.path === path);
  },

  mark(path, isFavourite) {
    this.favourites = null;
    if (this.tracks.has(path)) this.tracks.get(path).favourite = isFavourite;
  }
};

// Returns the folder of a file; the folder of a cue sheet for one of its tracks.
function folderOf(path) {
  const folder = path.slice(0, path.lastIndexOf("/"));
  return /\.cue$/i.test(folder) ? folder.slice(0, folder.lastIndexOf("/")) : folder;
}

// Returns all entries of a list that comes in pages.
async function allEntries(name, fields) {
  const entries = [];
  for (;;) {
    const reply = await request(name, Object.assign({ from: entries.length, count: MOST_ENTRIES }, fields));
    entries.push(...reply.entries);
    if (reply.entries.length === 0 || entries.length >= reply.count) return entries;
  }
}

function folderName(path) {
  return path[0] === "/" ? nameOf(folderOf(path)) : "";
}
