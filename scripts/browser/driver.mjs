// Has a headless Chromium load a page, over the DevTools protocol, and says what came of
// it.
//
//   node driver.mjs CHROMIUM URL PICTURE.png [--anyhow]
//
// Waits until the page's title is "ready", writes a picture of it, and prints a JSON
// object: text (of the page), arrivals (of events, in ms), loads (each with url, status and
// bytes) and errors: exceptions, console errors and warnings, loads that failed, statuses from
// 400. With --anyhow it does not wait for more than a second. Exits 1 if there are errors, or no title
// comes in 20 s.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const [program, url, picture, anyhow] = process.argv.slice(2);
const profile = mkdtempSync(join(tmpdir(), "browser-"));
const browser = spawn(program, [
  "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking", "--no-first-run", "--hide-scrollbars",
  "--window-size=800,600", "--remote-debugging-pipe", `--user-data-dir=${profile}`, "about:blank",
], { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
const ended = new Promise((done) => browser.once("exit", done));

// The pipe has messages with a 0 behind each.
const waiting = new Map();
const listeners = [];
let last = 0, rest = "";
browser.stdio[4].setEncoding("utf8");
browser.stdio[4].on("data", (piece) => {
  const list = (rest + piece).split("\0");
  rest = list.pop();
  for (const text of list) {
    const m = JSON.parse(text);
    if (waiting.has(m.id)) {
      const { done, failed } = waiting.get(m.id);
      waiting.delete(m.id);
      m.error ? failed(new Error(m.error.message)) : done(m.result);
    } else {
      listeners.forEach((hear) => hear(m));
    }
  }
});
let session;
function ask(method, params = {}) {
  const id = ++last;
  browser.stdio[3].write(JSON.stringify({ id, method, params, sessionId: session }) + "\0");
  return new Promise((done, failed) => waiting.set(id, { done, failed }));
}

const errors = [], loads = new Map();
function hear({ method, params: p }) {
  switch (method) {
    case "Runtime.exceptionThrown":
      errors.push(`exception: ${p.exceptionDetails.exception?.description ?? p.exceptionDetails.text}`);
      break;
    case "Runtime.consoleAPICalled":
      if (["error", "warning", "assert"].includes(p.type)) errors.push(`console: ${p.args.map((a) => a.value).join(" ")}`);
      break;
    case "Log.entryAdded":
      if (["error", "warning"].includes(p.entry.level)) errors.push(`log: ${p.entry.text} ${p.entry.url ?? ""}`);
      break;
    case "Network.requestWillBeSent":
      loads.set(p.requestId, { url: p.request.url, kind: p.type });
      break;
    case "Network.webSocketCreated":
      loads.set(p.requestId, { url: p.url, kind: "WebSocket" });
      break;
    case "Network.webSocketHandshakeResponseReceived":
      Object.assign(loads.get(p.requestId), { status: p.response.status, bytes: 0 });
      break;
    case "Network.responseReceived":
      Object.assign(loads.get(p.requestId) ?? {}, { status: p.response.status, coding: p.response.headers["Content-Encoding"] ?? p.response.headers["content-encoding"] ?? "" });
      if (p.response.status >= 400) errors.push(`status ${p.response.status}: ${p.response.url}`);
      break;
    case "Network.loadingFinished":
      if (loads.has(p.requestId)) loads.get(p.requestId).bytes = p.encodedDataLength;
      break;
    case "Network.loadingFailed":
      // A page that closes its event stream cancels it.
      if (!(p.canceled && loads.get(p.requestId)?.kind === "EventSource")) errors.push(`failed: ${p.errorText} ${loads.get(p.requestId)?.url}`);
      break;
  }
}

const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
async function value(expression) {
  return (await ask("Runtime.evaluate", { expression, returnByValue: true })).result.value;
}

async function run() {
  const { targetId } = await ask("Target.createTarget", { url: "about:blank" });
  session = (await ask("Target.attachToTarget", { targetId, flatten: true })).sessionId;
  listeners.push(hear);
  for (const domain of ["Page", "Runtime", "Log", "Network"]) await ask(`${domain}.enable`);
  await ask("Page.navigate", { url });
  const until = Date.now() + (anyhow ? 1000 : 20000);
  while (await value("document.title") !== "ready" && Date.now() < until) await sleep(50);
  if (!anyhow && await value("document.title") !== "ready") errors.push("the page is not ready after 20 s");
  await sleep(anyhow ? 0 : 300); // what has gone wrong may be told late
  const text = await value("document.body.innerText + '\\n' + document.head.innerHTML");
  const arrivals = await value("window.arrivals ?? []");
  const shot = await ask("Page.captureScreenshot", { format: "png" });
  writeFileSync(picture, Buffer.from(shot.data, "base64"));
  console.log(JSON.stringify({ text, arrivals, loads: [...loads.values()], errors }));
}

let code = 0;
const patience = setTimeout(() => { console.error("driver: the browser does not answer"); browser.kill("SIGKILL"); code = 1; }, 60000);
try {
  await Promise.race([run(), ended.then(() => { throw new Error("the browser has ended"); })]);
} catch (e) {
  console.error(`driver: ${e.message}`);
  code = 1;
}
clearTimeout(patience);
browser.kill("SIGKILL");
await ended;
await sleep(100); // its children follow
rmSync(profile, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
process.exit(code || (errors.length > 0 && !anyhow ? 1 : 0));
