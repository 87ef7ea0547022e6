// The first view of the music: the search, the menu of the lists, and the state of the library. `music-lists.js`
// describes what was found.

const MUSIC_LISTS = ["artists", "albums", "genres", "recent", "folders", "favourites", "played", "history"];
const SEARCH_MILLISECONDS = 200;
const SCAN_MILLISECONDS = 2000;

// The search field, with the menu of the lists or what was found below it.
function musicView(words) {
  const results = make("div", {});
  const input = make("input", { type: "search", id: "search", autocomplete: "off", value: words,
    placeholder: text("music.search-hint") });
  const result = { tab: "music", title: text("music.title"), list: null, lists: [], asked: 0, timer: 0 };
  result.element = make("div", {}, head(text("music.title")),
    make("form", { class: "search", role: "search" }, make("label", { for: "search", text: text("music.search") }),
      input), results);
  result.stop = () => {
    clearTimeout(result.timer);
    result.asked += 1;
    result.lists.forEach(list => list.stop());
  };
  result.element.querySelector("form").addEventListener("submit", event => event.preventDefault());
  input.addEventListener("input", () => {
    clearTimeout(result.timer);
    result.timer = setTimeout(() => search(result, results, input.value, true), SEARCH_MILLISECONDS);
  });
  search(result, results, words, false);
  return result;
}

// Shows what was found for the words, unless newer ones have been typed meanwhile.
async function search(owner, results, typed, isByHand) {
  const words = typed.trim();
  const number = owner.asked += 1;
  if (isByHand) rememberSearch(words);
  let content;
  try {
    content = words ? await found(owner, words) : await musicMenu();
  } catch (refusal) {
    content = [make("p", { class: "note", text: refusal.code === "bad-request" ? text("music.nothing")
      : refusalText(refusal) })];
  }
  if (owner.asked !== number) return;
  owner.lists.filter(list => !content.includes(list.element)).forEach(list => list.stop());
  replaceChildren(results, ...content);
  owner.lists.forEach(list => list.draw());
}

// The first word makes a new page, so that the back button leads to the menu.
function rememberSearch(words) {
  const isSearch = /^#\/search\//.test(location.hash);
  const hash = words ? "#/search/" + encodeURIComponent(words) : "#/music";
  if (words && !isSearch) history.pushState(null, "", hash);
  else history.replaceState(null, "", hash);
}

async function found(owner, words) {
  const load = (from, count) => request("library-search", { words, from, count });
  const first = await load(0, PAGE);
  const parts = [];
  const section = (key, entries, describe) => {
    if (entries.length > 0) parts.push(make("h3", { text: text(key) }), shortList(text(key), entries.map(describe)));
  };
  section("music.artists", first.artists, describeName("artists"));
  section("music.albums", first.albums, describeAlbum);
  if (first.count > 0) {
    const list = new PagedList({ label: text("music.tracks"), load, first, describe: describeTrack, empty: "" });
    owner.lists.push(list);
    parts.push(make("h3", { text: text("music.tracks") }), list.element);
  }
  return parts.length > 0 ? parts : [make("p", { class: "note", role: "status", text: text("music.nothing") })];
}

async function musicMenu() {
  const link = (name, hash) => make("li", {}, make("a", { href: hash, text: text("music." + name) }));
  const links = MUSIC_LISTS.map(name => link(name, "#/" + name));
  if (await hasService()) links.push(link("kept", "#/kept"));
  return [make("ul", { class: "menu" }, ...links), libraryState()];
}

// What the library has, and how far a scan is.
function libraryState() {
  const line = make("p", { class: "note" });
  const update = async () => {
    try {
      const status = await request("library-status");
      setText(line, status.scanning ? text("music.scanning", { done: status.done, found: status.found })
        : joined(counted("music.tracks", status.tracks), counted("music.albums", status.albums)));
      if (status.scanning) setTimeout(() => { if (document.contains(line)) update(); }, SCAN_MILLISECONDS);
    } catch (refusal) {
      setText(line, refusal.code === "no-music" ? text("music.none") : refusalText(refusal));
    }
  };
  update();
  return line;
}
