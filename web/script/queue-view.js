// The queue: its entries, which can be moved and removed, and buttons to save and clear it. `library.js` knows their
// titles.

function queueView() {
  const count = make("p", { class: "note" });
  const result = listView("queue", text("queue.title"), {
    load: (from, number) => request("queue", { from, count: number }),
    describe: describeEntry,
    empty: text("queue.empty"),
    settled: lookUpEntries,
    move: (entry, index) => request("queue-move", { entry: entry.entry, index })
  }, count, [
    [text("queue.show-current"), () => { if (player.index !== null) result.list.scrollTo(player.index); }],
    [text("queue.save"), () => askForName(text("queue.save"), "", name => attempt(savePlaylist(name)))],
    [text("queue.clear"), () => ask(text("queue.clear-question"), text("queue.clear"),
      () => attempt(request("queue-clear")))]
  ]);
  result.receive = name => {
    setText(count, counted("queue.entries", player.count || 0));
    if (name === "queue" || name === "status") result.list.refresh();
    if (name === "track" || name === "library") result.list.drawSoon();
  };
  setText(count, counted("queue.entries", player.count || 0));
  return result;
}

function describeEntry(entry) {
  const track = library.tracks.get(entry.file) || {};
  const isCurrent = entry.entry === player.entry;
  const title = track.title || (isCurrent && player.title) || nameOf(entry.file);
  return {
    title,
    detail: joined(track.artist, track.album || folderName(entry.file)),
    side: track.duration ? clock(track.duration) : "",
    isCurrent,
    click: () => attempt(request("play", { entry: entry.entry })),
    actions: () => [
      [text("row.play"), () => attempt(request("play", { entry: entry.entry }))],
      [text("row.remove"), () => attempt(request("queue-remove", { entries: [entry.entry] }))],
      [text("action.playlist"), () => attempt(choosePlaylist(title, paths.of(entry.file)))]
    ]
  };
}

// The queue has paths alone: their folders have the titles.
function lookUpEntries(entries) {
  const unknown = entries.filter(entry => !library.tracks.has(entry.file));
  return Promise.all(unknown.map(entry => library.find(entry.file)));
}
