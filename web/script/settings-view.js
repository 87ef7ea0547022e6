// The settings that the page has, the scan of the library, and the restarts of the machine. `service-login.js` and
// `update-view.js` are parts of this view, and `wifi-view.js` has one of its own.

// The settings that the page has. Numbers are written with their unit.
const SETTINGS = [
  { key: "audio.device", kind: "device" },
  { key: "audio.volume-route", kind: "choice", values: ["auto", "software"] },
  { key: "audio.maximum-volume", kind: "number", unit: "%", min: 1, max: 100 },
  { key: "audio.normalization", kind: "choice", values: ["off", "track", "album"] },
  { key: "audio.pre-amp", kind: "number", unit: "dB", min: -30, max: 30 },
  { key: "audio.channels", kind: "choice", values: ["stereo", "swapped", "mono", "left", "right"] },
  { key: "audio.resampling", kind: "choice", values: ["very-high", "high", "off"] },
  { key: "player.resume", kind: "choice", values: ["playing", "paused", "empty"] },
  { key: "service.quality", kind: "choice", values: ["low", "high", "lossless", "hi-res-lossless"], ofService: true },
  { key: "offline.only", kind: "choice", values: ["yes", "no"], ofService: true },
  { key: "library.folders", kind: "fixed" }
];
// The `origin` of a value that a client has set.
const SET_BY_CLIENT = "set at run time";

function settingsView() {
  const rows = make("div", { class: "settings" });
  const version = make("p", { class: "note" });
  const login = new ServiceLogin();
  const updates = new Updates();
  const machine = machineState();
  const wifi = make("div", { hidden: true }, make("h3", { text: text("wifi.title") }),
    make("a", { href: "#/wifi", text: text("wifi.choose") }));
  const element = make("div", {}, head(text("settings.title")), guestNote(), rows, wifi, login.element,
    make("h3", { text: text("library.title") }), libraryState(), make("div", { class: "actions" },
      make("button", { text: text("library.scan"), click: () => attempt(scanLibrary()) })),
    updates.element, make("h3", { text: text("system.title") }), version, machine.element,
    mayUse("system") && make("div", { class: "actions" },
      systemButton("system.network", "network-restart"), systemButton("system.restart", "restart"),
      systemButton("system.off", "power-off")));
  attempt(request("config-get").then(reply => {
    const isSet = key => reply.settings.some(each => each.key === key && each.value !== "none");
    wifi.hidden = !isSet("network.wifi-folder") || !mayUse("wifi");
    if (isSet("update.folder") && mayUse("system")) updates.begin();
    return drawSettings(rows, reply.settings);
  }));
  const showVersion = () => attempt(request("version")).then(reply => {
    if (reply) setText(version, text("system.version", { version: reply.version }));
  });
  showVersion();
  machine.update();
  return {
    tab: "settings", title: text("settings.title"), element,
    receive: (name, data) => {
      if (name === "configuration") drawSettings(rows, data.settings);
      if (name !== "status") return;
      // It is connected again, perhaps to another version.
      login.update();
      updates.update();
      showVersion();
      machine.update();
    },
    stop: () => {
      login.stop();
      updates.stop();
    }
  };
}

async function scanLibrary() {
  await request("library-scan");
  notify(text("library.scan-begun"));
}

function systemButton(key, name) {
  const run = async () => {
    await request(name);
    notify(text(key + "-done"));
  };
  return make("button", { text: text(key), class: "danger",
    click: () => ask(text(key + "-question"), text(key), () => attempt(run())) });
}

// Draws the settings that have changed, except one that a person is changing.
async function drawSettings(rows, settings) {
  const isComplete = await hasService();
  SETTINGS.filter(setting => isComplete || !setting.ofService).forEach((setting, index) => {
    const value = settings.find(each => each.key === setting.key);
    const old = rows.children[index];
    if (old && old.dataset.value === value.value && old.dataset.origin === value.origin) return;
    const focused = old && old.contains(document.activeElement) ? document.activeElement : null;
    if (focused && focused.id === settingId(setting) && written(setting, focused) !== value.value) return;
    const row = settingRow(setting, value);
    if (old) rows.replaceChild(row, old);
    else rows.append(row);
    if (focused) byId(settingId(setting)).focus();
  });
}

function settingId(setting) {
  return "setting-" + setting.key.replace(".", "-");
}

// Returns the value of a control as the configuration file has it.
function written(setting, control) {
  return control.value + (setting.unit ? " " + setting.unit : "");
}

function settingRow(setting, value) {
  const id = settingId(setting);
  const isFixed = setting.kind === "fixed";
  const isLocked = !isFixed && value.access !== "guests" && !mayUse("system");
  const control = isFixed ? make("output", { id, text: value.value }) : settingControl(id, setting, value.value);
  if (isLocked) control.disabled = true;
  const notes = [
    isFixed && text("settings.read-only"),
    isLocked && text("settings.locked"),
    value.origin === SET_BY_CLIENT && text("settings.from-page"),
    value.needsRestart && !isFixed && text("settings.restart")
  ].filter(note => note);
  const row = make("div", { class: "setting", "data-value": value.value, "data-origin": value.origin },
    make("label", { for: id, text: text("setting." + setting.key) }), control,
    notes.length > 0 ? make("p", { class: "note", id: id + "-note", text: notes.join(" ") }) : null,
    value.origin === SET_BY_CLIENT && !isFixed && !isLocked ? make("button", { text: text("settings.reset"),
      label: text("settings.reset") + ": " + text("setting." + setting.key),
      click: () => unsetSetting(setting) }) : null);
  if (notes.length > 0) control.setAttribute("aria-describedby", id + "-note");
  return row;
}

function settingControl(id, setting, value) {
  let control;
  if (setting.kind === "choice") {
    const values = setting.values.includes(value) ? setting.values : setting.values.concat([value]);
    control = make("select", { id }, ...values.map(each => make("option", { value: each,
      text: hasText("value." + each) ? text("value." + each) : each, selected: each === value })));
  } else if (setting.kind === "number") {
    control = make("input", { id, type: "number", min: setting.min, max: setting.max, step: "1",
      value: parseInt(value, 10) });
  } else {
    control = make("select", { id });
    fillDevices(control, value);
  }
  control.addEventListener("change", () => saveSetting(setting, control));
  return control;
}

// Fills in the present device, and then the others that the machine has.
async function fillDevices(select, value) {
  const add = (device, label) => {
    const option = Array.from(select.options).find(each => each.value === device)
      || select.appendChild(make("option", { value: device, selected: device === value }));
    setText(option, label);
  };
  add("auto", text("device.auto"));
  if (value !== "auto") add(value, value);
  const reply = await attempt(request("devices"));
  if (!reply) return;
  reply.cards.forEach(card => card.devices.forEach(each => add(each.device, deviceLabel(card, each))));
}

function deviceLabel(card, { device, busy, error }) {
  const label = card.name + " – " + device;
  if (busy) return text("device.busy", { device: label });
  return error ? text("device.unusable", { device: label }) : label;
}

async function saveSetting(setting, control) {
  try {
    const reply = await request("config-set", { key: setting.key, value: written(setting, control) });
    control.removeAttribute("aria-invalid");
    notify(text(reply.inForce ? "settings.saved" : "settings.saved-restart"));
  } catch (refusal) {
    control.setAttribute("aria-invalid", "true");
    notify(text("settings.rejected", { message: refusalText(refusal) }), true);
  }
}

async function unsetSetting(setting) {
  const reply = await attempt(request("config-unset", { key: setting.key }));
  if (reply) notify(text(reply.inForce ? "settings.saved" : "settings.saved-restart"));
}
