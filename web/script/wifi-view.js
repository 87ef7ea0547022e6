// The Wi-Fi networks: which one the speaker uses, and the form to join another. Needs the sheet of `sheet.js` for it.

const WIFI_MILLISECONDS = 2000;
// A request that was sent to the speaker just before it left its network is never answered.
const WIFI_PATIENCE = 5000;
// The least strength of a signal in dBm for each bar after the first.
const SIGNAL_BARS = [-80, -70, -60];

function wifiView() {
  if (!mayUse("wifi")) {
    const element = make("div", {}, head(text("wifi.title")), guestNote());
    return { tab: "settings", title: text("wifi.title"), element };
  }
  const wifi = new WiFi();
  return { tab: "settings", title: text("wifi.title"), element: wifi.element, stop: () => wifi.stop() };
}

// The networks that the speaker can use, and the one that it uses. While it tries one, it may be away.
class WiFi {
  constructor() {
    this.state = make("p", { role: "status" });
    this.advice = make("p", { class: "advice" });
    this.problem = make("p", { class: "error", role: "alert" });
    this.lists = make("div", {});
    this.actions = make("div", { class: "actions" },
      make("button", { text: text("wifi.scan"), click: () => attempt(this.scan()) }),
      make("button", { text: text("wifi.hidden"), click: () => this.ask(null) }));
    this.element = make("div", {}, head(text("wifi.title")), this.state, this.advice, this.problem, this.lists,
      this.actions);
    // The network that was named here, until the outcome is known.
    this.tried = null;
    this.own = null;
    // The number of times that the state was asked for. Only the last answer counts.
    this.count = 0;
    this.update();
  }

  stop() {
    this.count += 1;
    clearTimeout(this.timer);
  }

  // Asks for the state again and again.
  async update() {
    clearTimeout(this.timer);
    this.count += 1;
    const number = this.count;
    const late = new Promise((resolve, reject) => {
      setTimeout(() => reject(new Refusal("unreachable", "")), WIFI_PATIENCE);
    });
    try {
      const status = await Promise.race([request("wifi-status"), late]);
      if (number === this.count) this.show(status);
    } catch (refusal) {
      if (refusal.code === "no-wifi") {
        setText(this.state, refusalText(refusal));
        this.actions.hidden = true;
        return;
      }
    }
    if (number === this.count) this.timer = setTimeout(() => this.update(), WIFI_MILLISECONDS);
  }

  show(status) {
    if (status.accessPoint) this.own = status.accessPoint;
    const isTrying = status.mode === "trying" || (this.tried !== null && status.waiting);
    if (isTrying) return this.showTrial(status.mode === "trying" ? status.ssid : this.tried);
    const network = printable(status.ssid || "");
    const mode = status.mode === "connecting" && status.ssid ? "trying" : status.mode;
    setText(this.state, text("wifi.mode." + mode, { network, own: status.accessPoint || "" }));
    setText(this.advice, "");
    setText(this.problem, status.failed
      ? text("wifi.problem." + status.failed.problem, { network: printable(status.failed.ssid) }) : "");
    if (this.tried !== null && status.mode === "connected" && status.ssid === this.tried) {
      notify(text("wifi.joined", { network }));
    }
    // After the trial the speaker connects once more, with all networks that it knows.
    if (status.mode !== "connecting" || status.failed) this.tried = null;
    this.own = status.accessPoint;
    this.lists.hidden = this.actions.hidden = false;
    const shown = JSON.stringify([status.networks, status.known, status.ssid]);
    if (shown !== this.shown) this.drawLists(status);
    this.shown = shown;
  }

  // The text stays while the speaker is away.
  showTrial(ssid) {
    const network = printable(ssid || "");
    setText(this.state, text("wifi.mode.trying", { network }));
    // A name with blanks is not that of a machine.
    const isHost = /^[\w-]+$/.test(player.room);
    const lines = this.own ? ["closed", "success", isHost && "follow", "again"] : ["away", "success"];
    setText(this.advice, lines.filter(line => line)
      .map(line => text("wifi." + line, { network, own: this.own, room: player.room })).join(" "));
    setText(this.problem, "");
    this.lists.hidden = this.actions.hidden = true;
  }

  // Draws the lists anew. The focus stays at the same network.
  drawLists(status) {
    const focused = this.lists.contains(document.activeElement) ? document.activeElement.dataset.key : null;
    const known = name => status.known.some(each => each.ssid === name);
    const rows = status.networks.map(each => make("li", { class: "row" }, this.networkButton(each, known(each.ssid))));
    replaceChildren(this.lists, make("h3", { id: "wifi-networks", text: text("wifi.networks") }),
      rows.length > 0 ? make("ul", { class: "short", "aria-labelledby": "wifi-networks" }, ...rows)
        : make("p", { class: "note", text: text("wifi.none") }),
      ...this.knownPart(status.known));
    const again = Array.from(this.lists.querySelectorAll("button")).find(each => each.dataset.key === focused);
    if (again) again.focus();
    else if (focused !== null) focusHeading();
  }

  networkButton(network, isKnown) {
    const bars = 1 + SIGNAL_BARS.filter(least => network.signal >= least).length;
    const security = { open: "open", other: "other" }[network.security] || "secured";
    const detail = joined(text("wifi." + security), text("wifi.signal." + bars), isKnown && text("wifi.known-network"));
    const button = make("button", { class: "row-main", "data-key": "join " + network.ssid,
      click: () => this.ask(network) },
      make("span", { class: "row-text" }, make("span", { class: "row-title", text: printable(network.ssid) }),
        make("span", { class: "row-detail", text: detail })),
      security === "open" ? null : icon("lock"), signalPicture(bars));
    button.disabled = security === "other";
    return button;
  }

  knownPart(known) {
    if (known.length === 0) return [];
    return [make("h3", { text: text("wifi.known") })].concat(known.map(({ ssid, forgettable }) => {
      const network = printable(ssid);
      if (!forgettable) return make("p", { text: joined(network, text("wifi.fixed")) });
      const forget = () => attempt(this.send("wifi-forget", { ssid }));
      return make("p", {}, make("button", { text: text("wifi.forget", { network }), "data-key": "forget " + ssid,
        click: () => ask(text("wifi.forget-question", { network }), text("wifi.forget", { network }), forget) }));
    }));
  }

  async send(name, fields) {
    await request(name, fields);
    await this.update();
  }

  async scan() {
    await this.send("wifi-scan");
    notify(text("wifi.scan-begun"));
  }

  // Asks for the password of a network, and for its name when it is hidden (null).
  ask(network) {
    const name = make("input", { id: "wifi-name", type: "text", autocapitalize: "none", autocomplete: "off" });
    const password = make("input", { id: "wifi-password", type: "password", autocomplete: "off" });
    const show = make("button", { text: text("wifi.show"), "aria-pressed": "false", click: () => {
      password.type = password.type === "text" ? "password" : "text";
      setPressed(show, password.type === "text");
    } });
    const problem = make("p", { class: "error", role: "alert" });
    const isOpen = network && network.security === "open";
    const form = make("form", { class: "stack" },
      ...(network ? [] : [make("label", { for: "wifi-name", text: text("wifi.name") }), name]),
      ...(isOpen ? [] : [make("label", { for: "wifi-password", text: text("wifi.password") }), password, show]),
      network ? null : make("p", { class: "note", text: text("wifi.empty") }), problem,
      make("button", { type: "submit", class: "main", text: text("wifi.connect") }));
    form.addEventListener("submit", event => {
      event.preventDefault();
      this.connect({ ssid: network ? network.ssid : name.value, hidden: !network }, isOpen ? "" : password.value,
        Boolean(network) && !isOpen, problem);
    });
    openSheet(network ? printable(network.ssid) : text("wifi.hidden"), form);
  }

  async connect(fields, password, needsPassword, problem) {
    const bytes = new TextEncoder().encode(password).length;
    const isKey = /^[0-9a-fA-F]{64}$/.test(password);
    if ((needsPassword || password) && !isKey && (bytes < 8 || bytes > 63)) return setText(problem, text("wifi.rule"));
    try {
      await request("wifi-connect", password ? Object.assign({ password }, fields) : fields);
    } catch (refusal) {
      return setText(problem, refusalText(refusal));
    }
    this.tried = fields.ssid;
    closeSheet();
    this.showTrial(fields.ssid);
    this.update();
  }
}

// Bars for the strength of a signal. The text beside them says the same.
function signalPicture(bars) {
  return draw("svg", { class: "icon signal", viewBox: "0 0 24 24", "aria-hidden": "true" }, ...[1, 2, 3, 4].map(bar =>
    draw("rect", { x: 5 * bar - 3, y: 20 - 4 * bar, width: 4, height: 4 * bar, class: bar > bars ? "dim" : "" })));
}
