// Fetches all that a page may, and tells in #log what has come. What Old Brand is called
// is for others to decide.
const events = []; // when each has come
const lines = [];
/* begin debug */ throw new Error("this was to be taken out"); /* end debug */

function tell(number, text) {
  lines[number] = text; // in an order of their own, whoever is first
  document.getElementById("log").textContent = lines.filter(Boolean).join("\n");
}

function socket() {
  return new Promise((done, failed) => {
    const where = new URL("wss://live.origin.example/ws", location.href);
    where.protocol = "ws:";
    const s = new WebSocket(where);
    s.onopen = () => s.send("hello from Old Brand");
    s.onerror = failed;
    s.onmessage = (m) => { tell(1, "socket: " + m.data); s.close(); done(); };
  });
}

function stream() {
  return new Promise((done, failed) => {
    const source = new EventSource("https://www.origin.example/events");
    const heard = [];
    const next = async () => (await fetch("https://www.origin.example/heard", { method: "POST" })).text();
    source.onerror = failed;
    source.onopen = next;
    source.onmessage = (m) => {
      events.push(performance.now());
      heard.push(m.data);
      tell(2, "events: " + heard.join(", "));
      if (heard.length < 3) return next();
      source.close();
      done();
    };
  });
}

async function data() {
  const answer = await fetch("https://www.origin.example/data.json");
  const is = await answer.json();
  tell(3, "data: " + is.brand + ", " + (is.color || is.colour) + ", " + is.link);
  // The browser has it by now, and asks whether it still is as its ETag says.
  const again = await fetch("https://www.origin.example/data.json", { cache: "no-cache" });
  tell(4, "again: " + (await again.json()).brand);
}

async function part() {
  const answer = await fetch("https://www.origin.example/prices.txt", { headers: { Range: "bytes=0-8" } });
  tell(5, "prices: " + (await answer.text()).slice(0, 9));
}

async function form() {
  const answer = await fetch("https://www.origin.example/form", { method: "POST", body: new URLSearchParams({ say: "colour" }) });
  tell(6, "form: " + (await answer.text()));
}

async function image() {
  await document.getElementById("picture").decode();
  tell(7, "picture: " + document.getElementById("picture").naturalWidth + " wide");
}

async function start(brand) {
  tell(0, brand + " begins");
  await Promise.all([socket(), stream(), data(), part(), form(), image()]);
  window.arrivals = events;
  document.title = "ready";
}
