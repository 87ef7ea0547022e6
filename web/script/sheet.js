// The sheet over the page: menus, questions and small forms. It holds the focus until it is closed. Needs
// `focusHeading` of `views.js`.

const sheet = { opener: null };

// Opens the sheet over the page. Escape or a click beside it closes it.
function openSheet(title, ...children) {
  if (byId("shade").hidden) sheet.opener = document.activeElement;
  setText(byId("sheet-title"), title);
  replaceChildren(byId("sheet-body"), ...children,
    make("button", { class: "wide", text: text("cancel"), click: closeSheet }));
  byId("shade").hidden = false;
  const input = byId("sheet-body").querySelector("input");
  (input || byId("sheet-title")).focus();
}

function closeSheet() {
  byId("shade").hidden = true;
  replaceChildren(byId("sheet-body"));
  const opener = sheet.opener;
  sheet.opener = null;
  if (opener && document.contains(opener)) opener.focus();
  else focusHeading();
}

// Keeps the focus in the open sheet.
function onSheetKey(event) {
  if (byId("shade").hidden) return;
  if (event.key === "Escape") closeSheet();
  if (event.key !== "Tab") return;
  const stops = Array.from(byId("sheet").querySelectorAll("button, input, select, a[href]"));
  const isOutside = !byId("sheet").contains(document.activeElement);
  const end = event.shiftKey ? stops[0] : stops[stops.length - 1];
  if (isOutside || document.activeElement === end || (event.shiftKey && !stops.includes(document.activeElement))) {
    event.preventDefault();
    stops[event.shiftKey ? stops.length - 1 : 0].focus();
  }
}

function startSheet() {
  document.addEventListener("keydown", onSheetKey);
  byId("shade").addEventListener("click", event => {
    if (event.target === byId("shade")) closeSheet();
  });
}

// A menu. `actions` are pairs of a text and a function; others are left out.
function openMenu(title, actions) {
  openSheet(title, ...actions.filter(action => action).map(([label, run]) =>
    make("button", { class: "wide", text: label, click: () => { closeSheet(); run(); } })));
}

function ask(question, label, run) {
  openSheet(question, make("button", { class: "wide danger", text: label, click: () => { closeSheet(); run(); } }));
}

// Asks for a name of at most 200 bytes, as playlists have it.
function askForName(title, value, run) {
  const input = make("input", { id: "sheet-input", type: "text", maxlength: "200", required: true, value });
  const form = make("form", { class: "stack" }, make("label", { for: "sheet-input", text: text("playlists.name") }),
    input, make("button", { type: "submit", class: "main", text: text("playlists.save") }));
  form.addEventListener("submit", event => {
    event.preventDefault();
    const name = input.value.trim();
    if (!name) return;
    closeSheet();
    run(name);
  });
  openSheet(title, form);
}
