// Offline copies and downloads: their room, their state, and actions for one or all. Needs the short lists of
// `list-row.js`.

const KEPT_MILLISECONDS = 500;

function keptView() {
  const summary = make("div", { role: "status" });
  const all = name => () => attempt(request(name, { all: true })).then(() => result.receive("offline", {}));
  const [jobs, copies] = [keptList("offline-jobs", "kept.downloads", describeJob),
    keptList("offline-items", "kept.copies", describeCopy)];
  const result = { tab: "music", title: text("kept.title"), timer: 0 };
  result.element = make("div", {}, head(text("kept.title"), summary, [
    [text("kept.pause-all"), all("offline-pause")], [text("kept.resume-all"), all("offline-resume")]
  ]), jobs.element, copies.element);
  const update = () => {
    result.timer = 0;
    attempt(Promise.all([showKeptSummary(summary), jobs.load(), copies.load()]));
  };
  // Progress comes often: the lists are loaded at most twice a second.
  result.receive = name => {
    const isNews = name === "offline" || name === "status";
    if (isNews && !result.timer) result.timer = setTimeout(update, KEPT_MILLISECONDS);
  };
  result.stop = () => clearTimeout(result.timer);
  update();
  return result;
}

async function showKeptSummary(summary) {
  const status = await request("offline-status");
  const values = { kept: status.kept, size: megabytes(status.bytes),
    budget: status.budget === null ? "" : megabytes(status.budget) };
  const lines = [text(status.budget === null ? "kept.summary" : "kept.summary-budget", values),
    status.nearlyFull ? text("kept.nearly-full") : "", status.waitsFor ? text("kept.waits." + status.waitsFor) : ""];
  replaceChildren(summary, ...lines.filter(line => line).map(line => make("p", { class: "note", text: line })));
}

// A list that comes in pages with a cursor. As many pages as a person has asked for are shown.
function keptList(name, key, describe) {
  const box = make("div", {});
  let pages = 1;
  const load = async () => {
    const entries = [];
    let after = null;
    for (let page = 0; page < pages; page++) {
      const reply = await request(name, after === null ? {} : { after });
      entries.push(...reply.entries);
      after = reply.next;
      if (after === null) break;
    }
    const more = after === null ? null : make("button", { text: text("kept.more"), click: () => {
      pages += 1;
      attempt(load());
    } });
    redraw(entries, more);
  };
  const redraw = (entries, more) => {
    const focused = Array.from(box.querySelectorAll("a, button")).indexOf(document.activeElement);
    replaceChildren(box, make("h3", { text: text(key) }),
      entries.length > 0 ? shortList(text(key), entries.map(describe)) : make("p", { text: text("kept.none") }), more);
    const buttons = box.querySelectorAll("a, button");
    if (focused >= 0 && buttons.length > 0) buttons[Math.min(focused, buttons.length - 1)].focus();
  };
  return { element: box, load };
}

function keptAction(key, name, product) {
  return [text(key), () => attempt(request(name, { products: [{ path: product }] }).then(() =>
    view.receive && view.receive("offline", {})))];
}

function keptTitle(entry) {
  return entry.title || nameOf(entry.product);
}

function keptState(entry) {
  const reason = entry.reason || "";
  return text("kept.state." + entry.state, { percent: entry.percent === undefined ? "" : entry.percent, reason });
}

function describeJob(job) {
  const isHeld = job.state === "paused" || job.state === "failed";
  return {
    title: keptTitle(job),
    detail: joined(job.artist, keptState(job)),
    click: () => attempt(playNow(paths.of(job.product))),
    actions: () => [
      isHeld ? keptAction("kept.resume", "offline-resume", job.product)
        : keptAction("kept.pause", "offline-pause", job.product),
      keptAction("kept.cancel", "offline-cancel", job.product)
    ]
  };
}

function describeCopy(copy) {
  return {
    title: keptTitle(copy),
    detail: joined(copy.artist, keptState(copy), copy.quality && text("value." + copy.quality)),
    side: megabytes(copy.bytes),
    click: () => attempt(playNow(paths.of(copy.product))),
    actions: () => musicActions(keptTitle(copy), paths.of(copy.product))
      .concat([keptAction("kept.remove", "offline-remove", copy.product)])
  };
}
