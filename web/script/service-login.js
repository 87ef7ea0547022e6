// The login to the music service, a part of the settings. Needs no other view.

const LOGIN_MILLISECONDS = 2000;
// In modules, around a QR code (ISO/IEC 18004).
const QUIET_ZONE = 4;

// The part of the settings that logs in to the music service. It stays hidden without one.
class ServiceLogin {
  constructor() {
    this.state = make("p", { role: "status" });
    this.problem = make("p", { class: "error", role: "alert" });
    this.prompt = make("div", { class: "prompt" });
    this.actions = make("div", { class: "actions" });
    this.element = make("div", { hidden: true }, make("h3", { text: text("service.title") }), this.state, this.problem,
      this.prompt, this.actions);
    this.isStopped = false;
    this.update();
  }

  stop() {
    this.isStopped = true;
    clearTimeout(this.timer);
  }

  // Asks for the state, and again while a code is shown.
  update() {
    return request("service-status").then(status => this.show(status), () => this.updateLater());
  }

  updateLater() {
    clearTimeout(this.timer);
    if (this.isStopped || !this.prompt.firstElementChild) return;
    this.timer = setTimeout(() => this.update(), LOGIN_MILLISECONDS);
  }

  async send(name) {
    const status = await attempt(request(name));
    if (status) this.show(status);
    return status;
  }

  async logOut() {
    const status = await this.send("service-logout");
    if (status && status.loggedIn && !status.problem) notify(text("service.token"), true);
  }

  show(status) {
    this.element.hidden = status.service === null;
    setText(this.state, text(status.loggedIn ? "service.logged-in" : "service.logged-out", status));
    setText(this.problem, status.problem ? text("service.problem", { message: status.problem }) : "");
    const shown = JSON.stringify([status.loggedIn, status.prompt && status.prompt.completeAddress]);
    if (shown !== this.shown) this.redraw(status);
    this.shown = shown;
    this.updateLater();
  }

  // Draws the code and the button. The focus stays here.
  redraw(status) {
    const hasFocus = this.element.contains(document.activeElement);
    replaceChildren(this.prompt, ...(status.prompt ? loginPrompt(status.prompt) : []));
    replaceChildren(this.actions, this.button(status));
    if (hasFocus && this.actions.firstElementChild) this.actions.firstElementChild.focus();
  }

  button(status) {
    if (!mayUse("system")) return null;
    const makeButton = (key, click) => make("button", { text: text(key), click });
    if (status.prompt) return makeButton("service.cancel", () => this.send("service-cancel"));
    if (!status.loggedIn) return makeButton("service.log-in", () => this.send("service-login"));
    return makeButton("service.log-out", () =>
      ask(text("service.log-out-question"), text("service.log-out"), () => this.logOut()));
  }
}

function loginPrompt(prompt) {
  const href = prompt.completeAddress || prompt.address;
  const link = { text: prompt.address, href, target: "_blank", rel: "noopener noreferrer" };
  return [
    make("p", { text: text("service.prompt") }),
    // The service chooses the address, which must not be a script.
    make("p", {}, make(/^https?:/.test(href) ? "a" : "span", link)),
    make("p", { class: "code", text: text("service.code", { code: prompt.code }) }),
    prompt.qr && codePicture(prompt.qr)
  ];
}

// Draws a QR code. Each row is a text with a 1 for a dark module.
function codePicture(rows) {
  const size = rows.length + 2 * QUIET_ZONE;
  let path = "";
  rows.forEach((row, y) => {
    row.replace(/1+/g, (dark, x) => {
      path += "M" + (x + QUIET_ZONE) + " " + (y + QUIET_ZONE) + "h" + dark.length + "v1h-" + dark.length + "z";
    });
  });
  return draw("svg", { class: "qr", viewBox: "0 0 " + size + " " + size, role: "img", "aria-label": text("service.qr"),
    "shape-rendering": "crispEdges" }, draw("rect", { width: size, height: size, fill: "#fff" }),
  draw("path", { d: path, fill: "#000" }));
}
