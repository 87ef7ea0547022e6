// Draws the player: the track and its cover, why it waits, its format and path, the problems, and the small player of
// phones. Needs the state of `player.js`, and changes nothing in it.

function drawPlayer() {
  const hasEntry = player.entry !== null;
  byId("player").hidden = document.body.classList.contains("locked");
  setText(byId("title"), currentTitle());
  setText(byId("mini-title"), currentTitle() + (player.artist ? " – " + player.artist : ""));
  setText(byId("artist"), player.artist || "");
  setText(byId("album"), player.album || "");
  drawCover();
  drawWaiting();
  drawButtons(hasEntry);
  drawVolume();
  drawPosition();
  setText(byId("format"), formatLine());
  setText(byId("path"), pathLine());
  drawProblems();
  drawMini();
  document.title = (hasEntry ? currentTitle() + " · " : "") + player.room;
}

function isActive() {
  return player.state === "playing" || player.state === "stalled";
}

function drawButtons(hasEntry) {
  ["toggle", "mini-toggle"].forEach(id => {
    showIcon(byId(id), isActive() ? "pause" : "play");
    setAttribute(byId(id), "aria-label", text(isActive() ? "player.pause" : "player.play"));
  });
  showIcon(byId("previous"), "previous");
  showIcon(byId("next"), "next");
  showIcon(byId("shuffle"), "shuffle");
  setPressed(byId("shuffle"), Boolean(player.shuffle));
  const repeat = player.repeat || "off";
  showIcon(byId("repeat"), repeat === "one" ? "repeat-one" : "repeat");
  byId("repeat").classList.toggle("on", repeat !== "off");
  setAttribute(byId("repeat"), "aria-label", text("player.repeat." + repeat));
  byId("favourite").disabled = !hasEntry;
}

function drawVolume() {
  showIcon(byId("mute"), player.muted ? "muted" : "volume");
  setPressed(byId("mute"), Boolean(player.muted));
  byId("volume").max = player.maximumVolume || 100;
  if (!held.volume) byId("volume").value = player.volume || 0;
  setText(byId("volume-text"), byId("volume").value + " %");
  setAttribute(byId("volume"), "aria-valuetext", byId("volume").value + " %");
}

function drawPosition() {
  const slider = byId("position");
  const hasEnd = player.entry !== null && player.duration > 0;
  slider.disabled = !hasEnd;
  slider.max = hasEnd ? Math.floor(player.duration) : 0;
  if (!held.position) slider.value = player.entry === null ? 0 : Math.floor(position());
  const shown = player.entry === null ? "" : clock(held.position ? slider.value : position());
  const end = hasEnd ? clock(player.duration) : "";
  setText(byId("elapsed"), shown);
  setText(byId("duration"), end);
  // The value of a focused slider is read aloud at each change: only those by hand count.
  if (held.position || document.activeElement !== slider) {
    setAttribute(slider, "aria-valuetext", text("player.position-text", { position: shown, duration: end }));
  }
}

function drawCover() {
  const image = byId("cover");
  const file = player.entry !== null && /^(\/|tonearm:track\/)/.test(player.file || "") ? player.file : "";
  if (image.dataset.file === file) return;
  image.dataset.file = file;
  image.hidden = true;
  if (file) image.src = coverAddress(file);
  else image.removeAttribute("src");
}

// `path` is that of a file or a folder, or the address of a product of the service.
function coverAddress(path) {
  return "api/cover?" + (path[0] === "/" ? "path=" : "uri=") + encodeURIComponent(path);
}

function drawWaiting() {
  const line = player.state === "stalled" ? waitingLine() : "";
  setText(byId("waiting"), line);
  byId("waiting").hidden = !line;
}

function waitingLine() {
  const wait = player.wait;
  if (wait) {
    const seconds = wait.seconds === null ? "" : " " + text("wait.seconds", { seconds: Math.ceil(wait.seconds) });
    return text(hasText("wait." + wait.for) ? "wait." + wait.for : "wait.data") + seconds;
  }
  if (player.power !== "active") return text("wait.power");
  if (player.focus === "none" || player.focus === "background") return text("wait.focus");
  return text(player.problems.some(problem => problem.subject === "device") ? "wait.device" : "wait.data");
}

function kilohertz(rate) {
  return (rate / 1000).toLocaleString(LANGUAGE);
}

// Such as "FLAC · 44.1 kHz · 16 bit".
function formatLine() {
  const format = player.entry === null ? null : player.format;
  if (!format) return "";
  const parts = [format.codec.toUpperCase(), text("format.rate", { rate: kilohertz(format.sampleRate) })];
  if (format.bitDepth) parts.push(text("format.bits", { bits: format.bitDepth }));
  else if (format.bitRate) parts.push(Math.round(format.bitRate / 1000) + " kbit/s");
  if (format.convertedSampleRate) {
    parts.push(text("format.converted", { rate: kilohertz(format.convertedSampleRate) }));
  }
  return parts.join(" · ");
}

function pathLine() {
  const path = player.path;
  if (!path) return "";
  const changes = path.changes.map(change => hasText("path." + change) ? text("path." + change) : change);
  const line = path.bitPerfect ? text("path.bit-perfect") : text("path.changed", { changes: changes.join(", ") });
  return [path.dsdOverPCM ? text("path.dop") + "." : "", line, path.note || ""].filter(part => part).join(" ");
}

function problemTitle(subject) {
  const key = "problem." + subject;
  return hasText(key) ? text(key) : text("problem.board", { part: subject });
}

function drawProblems() {
  const box = byId("problems");
  const state = JSON.stringify(player.problems);
  if (box.dataset.state === state) return;
  box.dataset.state = state;
  box.hidden = player.problems.length === 0;
  replaceChildren(box, make("h2", { text: text("problems.label") }), make("ul", {}, ...player.problems.map(problem =>
    make("li", {}, make("strong", { text: problemTitle(problem.subject) }), make("p", { text: problem.message })))));
}

// The small player is for phones, on the pages without the large one.
function drawMini() {
  byId("mini").hidden = player.entry === null || document.body.classList.contains("playing")
    || document.body.classList.contains("locked");
}
