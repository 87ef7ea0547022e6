// Updates of the speaker, a part of the settings. Needs no other view.

const UPDATE_MILLISECONDS = 1000;

// The part of the settings that updates the speaker. It stays hidden where the speaker does not take such requests.
class Updates {
  constructor() {
    this.title = make("h3", { text: text("update.title"), tabindex: "-1" });
    this.version = make("p", {});
    this.state = make("p", { role: "status" });
    this.bar = make("progress", { label: text("update.progress"), max: "1", hidden: true });
    this.problem = make("p", { class: "error", role: "alert" });
    this.address = make("input", { id: "update-address", type: "url", pattern: "https?://.+", autocomplete: "off",
      required: true, maxlength: "1000", "aria-describedby": "update-note" });
    this.form = make("form", { class: "stack" },
      make("label", { for: "update-address", text: text("update.address") }), this.address,
      make("p", { class: "note", id: "update-note", text: text("update.note") }),
      make("button", { type: "submit", text: text("update.install") }));
    this.form.addEventListener("submit", event => {
      event.preventDefault();
      this.install();
    });
    this.actions = make("div", { class: "actions" });
    this.end = make("button", { text: text("update.cancel"), hidden: true, click: () => this.cancel() });
    this.element = make("div", { class: "updates", hidden: true }, this.title, this.version, this.state, this.bar,
      this.end, this.problem, this.actions, this.form);
    // The version that a restart from this page was to begin.
    this.expected = null;
    this.shownNext = null;
    // Only the last answer counts.
    this.count = 0;
  }

  begin() {
    this.hasBegun = true;
    this.update();
  }

  stop() {
    this.hasBegun = false;
    this.count += 1;
    clearTimeout(this.timer);
  }

  // Asks for the state, and again while something goes on.
  async update() {
    clearTimeout(this.timer);
    if (!this.hasBegun) return;
    this.count += 1;
    const number = this.count;
    let isBusy = !this.bar.hidden;
    try {
      const status = await request("update-status");
      if (number === this.count) isBusy = this.show(status);
    } catch (refusal) {
      if (refusal.code === "no-updates") this.element.hidden = true;
    }
    if (number === this.count && isBusy) this.timer = setTimeout(() => this.update(), UPDATE_MILLISECONDS);
  }

  // Returns whether something goes on.
  show(status) {
    if (this.element.hidden) {
      this.address.value = status.address || "";
      this.element.hidden = false;
    }
    const hasFocus = this.element.contains(document.activeElement);
    const isBusy = status.waiting || status.mode === "downloading" || status.mode === "installing";
    setText(this.version, status.version ? text("update.running", status) : "");
    setText(this.state, this.line(status));
    setText(this.problem, status.problem && !isBusy ? this.reason(status) : "");
    this.form.hidden = isBusy;
    this.bar.hidden = this.end.hidden = !isBusy;
    if (isBusy && status.total !== null) this.bar.value = status.done / status.total;
    else this.bar.removeAttribute("value");
    this.showRestart(isBusy ? null : status.next);
    // What had the focus may be gone.
    if (hasFocus && document.activeElement.offsetParent === null) this.title.focus();
    return isBusy;
  }

  line(status) {
    if (status.waiting) return text("update.mode.waiting");
    if (status.mode === "idle" && this.expected !== null && status.version === this.expected)
      return text("update.success", status);
    const key = "update.mode." + status.mode;
    return hasText(key) ? text(key, status) : "";
  }

  reason(status) {
    const key = "update.problem." + status.problem.code;
    return text(hasText(key) ? key : "update.problem.other",
      { version: status.version, message: status.problem.message });
  }

  showRestart(next) {
    if (next === this.shownNext) return;
    this.shownNext = next;
    replaceChildren(this.actions, next === null ? null : make("button", { class: "main",
      text: text("update.restart", { next }), click: () => ask(text("update.restart-question", { next }),
        text("update.restart", { next }), () => attempt(this.restart(next))) }));
  }

  async install() {
    this.expected = null;
    await attempt(request("update", { address: this.address.value }));
    // Also after a refusal: somebody else may install one.
    await this.update();
  }

  async cancel() {
    if (await attempt(request("update-cancel"))) notify(text("update.cancelled"));
    await this.update();
  }

  async restart(next) {
    await request("restart");
    this.expected = next;
    setText(this.state, text("update.mode.restarting"));
    this.showRestart(null);
    this.title.focus();
  }
}
