// What all views share: the view in sight, heads, lists with a head, addresses, and when a list is drawn again. Needs
// `list.js` and the actions of `products.js`.

// The view in sight: `title`, `tab`, `element`, and if it has them `receive` (events), `stop`, `list` (for scrolling).
let view = {};

function mount(next) {
  if (view.stop) view.stop();
  view = next;
  replaceChildren(byId("view"), next.element);
}

function focusHeading() {
  const heading = byId("view").querySelector("h2");
  (heading || byId("main")).focus({ preventScroll: true });
}

// The head of a view: its title, and buttons as pairs of a text and a function.
function head(title, detail, buttons) {
  const heading = make("h2", { text: title, tabindex: "-1" });
  return make("div", { class: "head" }, heading, detail, make("div", { class: "actions" },
    ...(buttons || []).map(([label, click]) => make("button", { text: label, click }))));
}

// A view of one list, with a head.
function listView(tab, title, options, detail, buttons) {
  const list = new PagedList(Object.assign({ label: title, empty: text("music.empty") }, options));
  return { tab, title, list, element: make("div", {}, head(title, detail, buttons), list.element),
    stop: () => list.stop() };
}

// Buttons for all the music of a view; `others` are further actions.
function musicButtons(title, find, others) {
  return [
    [text("action.play"), () => attempt(playNow(find))],
    [text("more"), () => openMenu(title, musicActions(title, find).concat(others || []))]
  ];
}

function joined(...parts) {
  return parts.filter(part => part).join(" · ");
}

function hashOf(...parts) {
  return "#/" + parts.map(part => encodeURIComponent(part)).join("/");
}

// Draws a list again when something plays or becomes a favourite, and loads it again when the library changes.
function watched(result) {
  result.receive = name => {
    if (name === "library" || name === "status") result.list.refresh();
    if (name === "track" || name === "queue") result.list.drawSoon();
    if (name === "favourite") result.list.refresh();
  };
  return result;
}

// Whether a content service is configured: a promise, once it was asked for.
let serviceAnswer = null;

function hasService() {
  if (!serviceAnswer) {
    serviceAnswer = request("offline-status").then(() => true, refusal => refusal.code !== "no-service");
  }
  return serviceAnswer;
}
