// Has a headless Chromium load a page, over the DevTools protocol, and writes down what came
// of it.
//
//   node driver.mjs CHROMIUM URL NAME [--anyhow]
//
// Waits until the page's title is "ready", and writes NAME.png, a picture of it, and NAME.json:
// text (what one can read), html (as it has become), arrivals (of events, in ms), loads and errors:
// exceptions, console errors and warnings, loads that failed, statuses from 400. Exits 1, with the
// errors on standard error, if there are any or no such title comes in 20 s. With --anyhow it takes
// the page as it is once loaded, and minds no errors.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const [program, url, name, anyhow] = process.argv.slice(2);
const profile = mkdtempSync(join(tmpdir(), "browser-"));
const browser = spawn(program, [
  "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking", "--no-first-run", "--hide-scrollbars",
  // No link leads away from this machine: one that no rule has turned is a load that fails.
  "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
  "--window-size=800,640", "--remote-debugging-pipe", `--user-data-dir=${profile}`, "about:blank",
], { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"], env: { ...process.env, TMPDIR: profile } });
const ended = new Promise((done) => browser.once("exit", done));

// The pipe has messages with a 0 behind each.
const waiting = new Map();
const listeners = [];
let last = 0, rest = "";
browser.stdio[3].on("error", () => {}); // the browser has ended, which is told below
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
// load is what is known of a request; some of it may be told before the request itself.
function load(id, ...more) {
  if (!loads.has(id)) loads.set(id, { bytes: 0 });
  return Object.assign(loads.get(id), ...more);
}
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
      load(p.requestId, { url: p.request.url, kind: p.type, begun: p.timestamp });
      break;
    case "Network.responseReceived": {
      const fields = Object.fromEntries(Object.entries(p.response.headers).map(([k, v]) => [k.toLowerCase(), v]));
      load(p.requestId, { coding: fields["content-encoding"] });
      if (p.response.status >= 400) errors.push(`status ${p.response.status}: ${p.response.url}`);
      break;
    }
    case "Network.responseReceivedExtraInfo": // the status as it came, before the browser's cache
      load(p.requestId, { status: p.statusCode });
      break;
    case "Network.dataReceived":
      load(p.requestId).bytes += p.dataLength;
      break;
    case "Network.loadingFinished":
      load(p.requestId, { wire: p.encodedDataLength, ended: p.timestamp });
      break;
    case "Network.loadingFailed": {
      const l = load(p.requestId, { ended: p.timestamp });
      // A page that closes its event stream cancels it.
      if (!(p.canceled && l.kind === "EventSource")) errors.push(`failed: ${p.errorText} ${l.url}`);
      break;
    }
    case "Network.webSocketCreated":
      load(p.requestId, { url: p.url, kind: "WebSocket" });
      break;
    case "Network.webSocketWillSendHandshakeRequest":
      load(p.requestId, { begun: p.timestamp });
      break;
    case "Network.webSocketHandshakeResponseReceived":
      load(p.requestId, { status: p.response.status });
      break;
    case "Network.webSocketFrameReceived":
      load(p.requestId).bytes += p.response.payloadData.length;
      break;
    case "Network.webSocketFrameError":
      errors.push(`WebSocket: ${p.errorMessage}`);
      break;
    case "Network.webSocketClosed":
      load(p.requestId, { ended: p.timestamp });
      break;
  }
}

const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
async function value(expression) {
  return (await ask("Runtime.evaluate", { expression, returnByValue: true })).result.value;
}

async function visit() {
  const { targetId } = await ask("Target.createTarget", { url: "about:blank" });
  session = (await ask("Target.attachToTarget", { targetId, flatten: true })).sessionId;
  listeners.push(hear);
  for (const domain of ["Page", "Runtime", "Log", "Network"]) await ask(`${domain}.enable`);
  await ask("Page.navigate", { url });
  const enough = anyhow ? "document.URL !== 'about:blank' && document.readyState === 'complete'" : "document.title === 'ready'";
  const until = Date.now() + 20000;
  while (!await value(enough)) {
    if (Date.now() > until) {
      errors.push(`the page is not ready after 20 s, but has: ${await value("document.body?.innerText")}`);
      break;
    }
    await sleep(50);
  }
  await sleep(300); // what has gone wrong may be told late
  const seen = {
    text: await value("document.body.innerText"), html: await value("document.documentElement.outerHTML"),
    arrivals: await value("window.arrivals ?? []"), loads: [...loads.values()], errors,
  };
  const shot = await ask("Page.captureScreenshot", { format: "png" });
  writeFileSync(`${name}.png`, Buffer.from(shot.data, "base64"));
  writeFileSync(`${name}.json`, JSON.stringify(seen));
  session = undefined;
  ask("Browser.close").catch(() => {});
}

const patience = setTimeout(() => { errors.push("the browser does not answer"); browser.kill("SIGKILL"); }, 60000);
try {
  await Promise.race([visit(), ended.then(() => { throw new Error("the browser has ended"); })]);
} catch (e) {
  errors.push(e.message);
  browser.kill("SIGKILL");
}
await ended;
clearTimeout(patience);
rmSync(profile, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
if (!anyhow && errors.length > 0) {
  console.error(errors.join("\n"));
  process.exit(1);
}
