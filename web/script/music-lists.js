// The lists of the library: artists, genres, albums, folders and tracks, each with its rows. Needs the lists of
// `views.js` and the menus of `products.js`.

// Describes an artist or a genre.
function describeName(list) {
  return ({ id, name }) => ({ title: name, href: hashOf(list, id, name),
    actions: () => musicActions(name, paths.albumsOf(id)) });
}

function describeAlbum(album) {
  return { title: album.title, detail: joined(album.artist, album.date, counted("music.tracks", album.tracks)),
    href: hashOf("albums", album.id, album.title), actions: () => musicActions(album.title, paths.album(album.id)) };
}

function describeFolder(folder) {
  return { title: nameOfFolder(folder.path), href: hashOf("folders", folder.path),
    actions: () => musicActions(nameOfFolder(folder.path), paths.of(folder.path)) };
}

function nameOfFolder(path) {
  return printable(path.split("/").pop());
}

// A track on its own, as in a search.
function describeTrack(track) {
  library.add(track);
  const plays = track.plays ? counted("music.plays", track.plays) : "";
  const when = track.heard || track.lastPlayed;
  return {
    title: titleOf(track),
    detail: joined(track.favourite && "♥", track.artist, track.album || folderName(track.path), plays,
      when && dateAndTime(when)),
    side: track.duration ? clock(track.duration) : "",
    isCurrent: track.path === player.file,
    click: () => attempt(playNow(paths.of(track.path))),
    actions: () => trackActions(track)
  };
}

// A track among others: it plays with those that follow.
function describeTrackOf(find, isNumbered) {
  return (track, index) => {
    const description = describeTrack(track);
    description.click = () => attempt(playNow(find, index));
    if (isNumbered && track.track) description.title = track.track + ". " + titleOf(track);
    return description;
  };
}

function libraryList(list, of) {
  return (from, count) => request("library-list", of === undefined ? { list, from, count }
    : { list, of: String(of), from, count });
}

function musicListView(list, describe) {
  return watched(listView("music", text("music." + list), { load: libraryList(list), describe }));
}

function albumsView(title, id) {
  return watched(listView("music", title, { load: libraryList("albums", id), describe: describeAlbum }, null,
    musicButtons(title, paths.albumsOf(id))));
}

function albumView(title, id) {
  const find = paths.album(id);
  const picture = make("img", { class: "album-cover", alt: "", hidden: true });
  picture.addEventListener("load", () => {
    picture.hidden = false;
    picture.parentElement.classList.add("pictured");
  });
  const load = async (from, count) => {
    const reply = await libraryList("tracks", id)(from, count);
    if (from === 0 && reply.entries.length > 0 && !picture.src) picture.src = coverAddress(reply.entries[0].path);
    return reply;
  };
  return watched(listView("music", title, { load, describe: describeTrackOf(find, true) }, picture,
    musicButtons(title, find)));
}

// The first folders are those of the library.
function folderView(path) {
  if (!path) {
    const load = async () => {
      const entries = (await request("library-status")).folders.map(folder => ({ path: folder }));
      return { count: entries.length, entries };
    };
    const describe = folder => Object.assign(describeFolder(folder), { title: printable(folder.path) });
    return listView("music", text("music.folders"), { load, describe });
  }
  const title = nameOfFolder(path);
  const find = paths.tracksOf(path);
  const result = watched(listView("music", title, {
    load: libraryList("tracks", path), describe: describeTrackOf(find, false), label: text("music.tracks"), empty: ""
  }, null, musicButtons(title, paths.of(path))));
  const folders = new PagedList({ label: text("music.folders"), load: libraryList("folders", path),
    describe: describeFolder, empty: "" });
  result.element.insertBefore(folders.element, result.list.element);
  result.stop = () => { folders.stop(); result.list.stop(); };
  // The folders push the tracks down.
  folders.ready.then(() => result.list.drawSoon());
  return result;
}
