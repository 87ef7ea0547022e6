// The buttons and sliders of the player, and the favourites. Each sends a request; the events that follow change what
// `player-view.js` shows.

// Shows whether the current entry is a favourite.
async function drawFavourite() {
  const file = player.file;
  const isFavourite = file ? await library.isFavourite(file).catch(() => false) : false;
  if (file === player.file) showFavourite(isFavourite);
}

function showFavourite(isFavourite) {
  showIcon(byId("favourite"), isFavourite ? "heart-full" : "heart");
  setPressed(byId("favourite"), isFavourite);
}

async function toggleFavourite(path) {
  const reply = await attempt(request("favourite", path ? { path } : {}));
  if (!reply) return null;
  library.mark(reply.path, reply.favourite);
  if (reply.path === player.file) showFavourite(reply.favourite);
  if (view.receive) view.receive("favourite", reply);
  return reply.favourite;
}

// Returns a function that sends values one after the other, and of those that wait only the newest. `end` is called
// when none waits.
function newestOnly(send, end) {
  let [isBusy, waiting] = [false, null];
  return async function offer(value) {
    waiting = value;
    if (isBusy) return;
    isBusy = true;
    while (waiting !== null) {
      const next = waiting;
      waiting = null;
      await send(next);
    }
    isBusy = false;
    end();
  };
}

function startPlayer() {
  const press = (id, name, fields) => byId(id).addEventListener("click", () => {
    attempt(request(name, fields ? fields() : {}));
  });
  press("toggle", "toggle");
  press("mini-toggle", "toggle");
  press("next", "next");
  press("previous", "previous");
  press("shuffle", "shuffle");
  press("mute", "mute");
  press("repeat", "repeat", () => ({ mode: { off: "all", all: "one", one: "off" }[player.repeat || "off"] }));
  byId("favourite").addEventListener("click", () => toggleFavourite(null));
  byId("cover").addEventListener("load", () => { byId("cover").hidden = false; });
  startPositionSlider();
  startVolumeSlider();
  showFavourite(false);
  setInterval(drawPosition, 500);
}

function startPositionSlider() {
  const slider = byId("position");
  slider.addEventListener("input", () => {
    held.position = true;
    drawPosition();
  });
  slider.addEventListener("change", async () => {
    setPosition(Number(slider.value));
    held.position = false;
    drawPosition();
    await attempt(request("seek", { position: Number(slider.value) }));
  });
}

function startVolumeSlider() {
  const slider = byId("volume");
  const send = newestOnly(async percent => {
    const reply = await attempt(request("volume", { percent }));
    if (reply) Object.assign(player, { volume: reply.volume, muted: reply.muted });
  }, () => {
    held.volume = false;
    drawVolume();
  });
  slider.addEventListener("input", () => {
    held.volume = true;
    drawVolume();
    send(Number(slider.value));
  });
}
