// The routes, the tabs, the place to which each page was scrolled, and the first request. It starts the page and needs
// all other parts, so it is the last one.

// From this width on the player stands beside the view.
const wide = window.matchMedia("(min-width: 56rem)");
// Where each page was scrolled to, for the back button.
const scrolled = new Map();
let shownHash = null;
let isNewPage = true;

// The views by the first part of the address after `#/`. The other parts are the arguments.
const ROUTES = {
  "": () => (wide.matches ? queueView() : { tab: "playing", title: text("nav.playing"), element: make("div", {}) }),
  queue: () => queueView(),
  music: () => musicView(""),
  search: words => musicView(words || ""),
  artists: (id, name) => (id ? albumsView(name, id) : musicListView("artists", describeName("artists"))),
  genres: (id, name) => (id ? albumsView(name, id) : musicListView("genres", describeName("genres"))),
  albums: (id, title) => (id ? albumView(title, id) : musicListView("albums", describeAlbum)),
  recent: () => musicListView("recent", describeAlbum),
  folders: path => folderView(path),
  favourites: () => musicListView("favourites", describeTrack),
  played: () => musicListView("played", describeTrack),
  history: () => musicListView("history", describeTrack),
  playlists: name => (name ? playlistView(name) : playlistsView()),
  kept: () => keptView(),
  settings: () => settingsView(),
  wifi: () => wifiView()
};

function routeParts() {
  try {
    return location.hash.replace(/^#\/?/, "").split("/").map(decodeURIComponent);
  } catch (error) {
    return [""];
  }
}

function showRoute() {
  if (document.body.classList.contains("locked")) return;
  const [name, ...values] = routeParts();
  const isFirst = shownHash === null;
  shownHash = location.hash;
  if (!byId("shade").hidden) closeSheet();
  const route = Object.prototype.hasOwnProperty.call(ROUTES, name) ? name : "";
  document.body.classList.toggle("playing", route === "" && !wide.matches);
  mount(ROUTES[route](...values));
  markTab(view.tab);
  drawMini();
  if (!isFirst) focusHeading();
  restoreScroll();
}

function markTab(name) {
  document.querySelectorAll("#tabs a").forEach(link => {
    if (link.dataset.tab === name) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  });
}

// The back button leads to where the page was; a link to its top.
async function restoreScroll() {
  const [hash, top] = [location.hash, isNewPage ? 0 : scrolled.get(location.hash) || 0];
  isNewPage = false;
  window.scrollTo(0, 0);
  if (top === 0 || !view.list) return;
  await view.list.ready;
  if (location.hash === hash) window.scrollTo(0, top);
}

function watchScrolling() {
  history.scrollRestoration = "manual";
  window.addEventListener("scroll", () => {
    if (location.hash === shownHash) scrolled.set(shownHash, window.pageYOffset);
  }, { passive: true });
  document.addEventListener("click", event => {
    const link = event.target.closest ? event.target.closest("a[href^='#/']") : null;
    if (link) isNewPage = true;
  });
}

function fillTexts() {
  document.documentElement.lang = LANGUAGE;
  document.querySelectorAll("[data-text]").forEach(element => { element.textContent = text(element.dataset.text); });
  document.querySelectorAll("[data-label]").forEach(element => {
    element.setAttribute("aria-label", text(element.dataset.label));
  });
}

// The link of the first stop of the Tab key. Its address is not a page of this script.
function watchSkipLink() {
  document.querySelector(".skip").addEventListener("click", event => {
    event.preventDefault();
    focusHeading();
  });
}

function start() {
  fillTexts();
  startPlayer();
  startSheet();
  watchSkipLink();
  watchScrolling();
  window.addEventListener("hashchange", showRoute);
  wide.addListener(showRoute);
  document.addEventListener("visibilitychange", visibilityChanged);
  // The worker cannot see that a tab is closed.
  window.addEventListener("pagehide", disconnect);
  window.addEventListener("pageshow", event => { if (event.persisted) visibilityChanged(); });
  connect();
}

// The views ask the daemon, so the first one is shown when it is connected. It may be another daemon than before.
function begin() {
  serviceAnswer = null;
  if (shownHash === null) showRoute();
}

start();
