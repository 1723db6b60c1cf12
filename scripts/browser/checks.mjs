// Prints what a visit (see driver.mjs) has loaded, and checks what came of it.
//
//   node checks.mjs VISIT.json [--gzip]
//
// A line for each check, as browser.sh has them. Exits 1 if any is wrong.
import { readFileSync } from "node:fs";

const [file, gzip] = process.argv.slice(2);
const { text, html, arrivals, loads } = JSON.parse(readFileSync(file));

const row = (...cells) => console.log("      " + cells.map((c, i) => (i < 5 ? String(c).padStart(7) : String(c).padEnd(11))).join(" "));
row("status", "coding", "wire", "bytes", "ms", "kind", "url");
for (const l of loads) {
  const ms = l.ended ? ((l.ended - l.begun) * 1000).toFixed(0) : "-";
  row(l.status ?? "-", l.coding ?? "-", l.wire ?? "-", l.bytes, ms, l.kind, l.url);
}

function check(name, wrong) {
  if (!wrong) {
    console.log(`ok    ${name}`);
    return;
  }
  console.log(`WRONG ${name}: ${wrong}`);
  process.exitCode = 1;
}

const lines = [
  "New Brand begins", "socket: hello from New Brand", "events: New Brand event 1, New Brand event 2, New Brand event 3",
  "data: New Brand, blue, /about.html", "again: New Brand", "prices: New Brand", "form: New Brand has heard: color", "picture: 120 wide",
];
check("all has arrived", lines.filter((line) => !text.split("\n").includes(line)).join(", "));
const texts = ["© 2026", "€ 12.50", "04.05.2011 ", "info@new.example", "UA-0-0", "1.new.test", "10.new.test", "has its color."];
check("all texts are new", texts.filter((t) => !text.includes(t)).join(", "));
const old = /.{0,30}(old\s*(brand|press)|colour|origin\.|tracker|track\(|secret|iframe|generator|EUR|UA-1|session_id=0\d|utm_).{0,30}/i;
check("no old text is left", html.match(old)?.[0]);
const inTurn = arrivals.length === 3 && arrivals[0] < arrivals[1] && arrivals[1] < arrivals[2];
check("no event has waited for the next", !inTurn && `came at ${arrivals}`);
check("what has not changed was not sent again", !loads.some((l) => l.status === 304 && l.url.endsWith("/data.json")) && "no 304 for data.json");
if (gzip) {
  const coded = (l) => l.coding === "gzip" || l.status === 304 || !/\.(html|css|js|json)$|\/$|\/events$/.test(l.url) || l.kind === "WebSocket";
  check("what is text came in gzip", loads.filter((l) => !coded(l)).map((l) => l.url).join(", "));
}
