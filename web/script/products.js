// The actions of music: it is played, added to the queue or a playlist, made a favourite, and downloaded. They are
// offered in the menus of `sheet.js`; `library.js` finds the paths.

// A request has at most 65,536 bytes. In JSON a letter may take six.
const MOST_BYTES = 40000;

// The paths of an album, an artist, …: functions that a row or a page offers for its music.
const paths = {
  of: (...all) => async () => all,

  tracksOf: of => async () => (await allEntries("library-list", { list: "tracks", of })).map(track => track.path),

  album: id => paths.tracksOf(String(id)),

  // The albums of an artist or a genre, one after the other.
  albumsOf: id => async () => {
    const found = [];
    for (const album of await allEntries("library-list", { list: "albums", of: String(id) })) {
      found.push(...await paths.album(album.id)());
    }
    return found;
  },

  playlist: name => async () => [(await request("playlist", { name, count: 0 })).path]
};

// Splits paths into lists that fit into a request.
function portions(all) {
  const result = [];
  let bytes = MOST_BYTES;
  all.forEach(path => {
    const length = new Blob([JSON.stringify({ path })]).size + 1;
    if (bytes + length > MOST_BYTES || result[result.length - 1].length >= MOST_ENTRIES) {
      result.push([]);
      bytes = 0;
    }
    bytes += length;
    result[result.length - 1].push({ path });
  });
  return result;
}

// Replaces the queue and plays, from the one at `index` among the paths.
async function playNow(find, index) {
  const parts = portions(await find());
  if (parts.length === 0) throw new Refusal("no-music", "");
  const isInFirst = index === undefined || index < parts[0].length;
  const start = isInFirst && index !== undefined ? { index, play: true } : { play: isInFirst };
  await request("queue-set", Object.assign({ products: parts[0] }, start));
  for (const products of parts.slice(1)) await request("queue-add", { products });
  if (!isInFirst) await request("play", { index });
  notify(text("action.playing"));
}

async function playNext(find) {
  let index = player.index === null ? 0 : player.index + 1;
  let added = 0;
  for (const products of portions(await find())) {
    const reply = await request("queue-insert", { products, index });
    index += reply.added;
    added += reply.added;
  }
  notify(counted("added", added));
}

async function addTo(name, fields, find) {
  let added = 0;
  for (const products of portions(await find())) {
    added += (await request(name, Object.assign({ products }, fields))).added;
  }
  notify(counted("added", added));
}

// The menu of music: what every track, album, artist, folder and playlist has.
function musicActions(title, find) {
  return [
    [text("action.play"), () => attempt(playNow(find))],
    [text("action.next"), () => attempt(playNext(find))],
    [text("action.add"), () => attempt(addTo("queue-add", {}, find))],
    [text("action.playlist"), () => attempt(choosePlaylist(title, find))]
  ];
}

function trackActions(track) {
  const actions = musicActions(titleOf(track), paths.of(track.path));
  const isFavourite = track.favourite;
  actions.push([text(isFavourite ? "action.unfavour" : "action.favour"), async () => {
    const answer = await toggleFavourite(track.path);
    if (answer !== null) track.favourite = answer;
  }]);
  if (/^tonearm:/.test(track.path)) actions.push([text("action.keep"), () => attempt(keep(track.path))]);
  return actions;
}

async function keep(path) {
  await request("offline-add", { products: [{ path }] });
  notify(text("action.kept"));
}

async function choosePlaylist(title, find) {
  const names = (await allEntries("playlists", {})).map(entry => entry.name);
  const add = name => attempt(addTo("playlist-add", { name }, find));
  openMenu(text("action.playlist"), [
    [text("playlists.new"), () => askForName(text("playlists.new"), title, add)],
    ...names.map(name => [printable(name), () => add(name)])
  ]);
}

async function savePlaylist(name) {
  try {
    await request("playlist-save", { name });
  } catch (refusal) {
    if (refusal.code !== "playlist-exists") throw refusal;
    ask(text("playlists.replace", { name }), text("playlists.replace-do"), () => attempt(replacePlaylist(name)));
    return;
  }
  notify(text("playlists.saved", { name }));
}

async function replacePlaylist(name) {
  await request("playlist-save", { name, replace: true });
  notify(text("playlists.saved", { name }));
}

function titleOf(track) {
  return track.title || nameOf(track.path);
}
