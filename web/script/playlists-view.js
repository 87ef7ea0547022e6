// All playlists, and the tracks of one. Needs the lists of `views.js` and the rows of `music-lists.js`.

function playlistsView() {
  const result = listView("playlists", text("playlists.title"), {
    load: (from, count) => request("playlists", { from, count }),
    describe: describePlaylist,
    empty: text("playlists.empty")
  }, null, [[text("queue.save"), () => askForName(text("queue.save"), "", name => attempt(savePlaylist(name)))]]);
  result.receive = name => { if (name === "playlists" || name === "status") result.list.refresh(); };
  return result;
}

function describePlaylist(playlist) {
  const name = playlist.name;
  return { title: printable(name), detail: dateAndTime(playlist.modified), href: hashOf("playlists", name),
    actions: () => musicActions(name, paths.playlist(name)).concat(playlistActions(name)) };
}

function playlistActions(name) {
  return [
    [text("playlists.rename"), () => askForName(text("playlists.rename"), name, to =>
      attempt(renamePlaylist(name, to)))],
    [text("playlists.delete"), () => ask(text("playlists.delete-question", { name: printable(name) }),
      text("playlists.delete"), () => attempt(deletePlaylist(name)))]
  ];
}

async function renamePlaylist(name, to) {
  await request("playlist-rename", { name, to });
  if (location.hash === hashOf("playlists", name)) location.replace(hashOf("playlists", to));
}

async function deletePlaylist(name) {
  await request("playlist-delete", { name });
  if (location.hash === hashOf("playlists", name)) location.hash = "#/playlists";
}

function playlistView(name) {
  const find = async () => (await allEntries("playlist", { name })).map(track => track.path);
  const describe = (track, index) => {
    const description = describeTrackOf(find, false)(track, index);
    const remove = () => attempt(request("playlist-remove", { name, from: index }));
    description.actions = () => trackActions(track).concat([[text("row.remove"), result.list.guarded(index, remove)]]);
    return description;
  };
  const result = watched(listView("playlists", printable(name), {
    load: (from, count) => request("playlist", { name, from, count }),
    describe,
    empty: text("playlists.no-entries"),
    move: (entry, index, from) => request("playlist-move", { name, from, index })
  }, null, musicButtons(name, paths.playlist(name), playlistActions(name))));
  const receiveOthers = result.receive;
  result.receive = event => {
    if (event === "playlists") result.list.refresh();
    else receiveOthers(event);
  };
  return result;
}
