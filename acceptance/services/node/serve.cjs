// A service in Node.js: /items asks PostgreSQL, /plain waits for 20 ms, /metrics is prom-client's.
// With the header `x-stall: handler`, every 20th answer of /items waits for 150 ms in the handler.
const http = require("node:http");
const { setTimeout: wait } = require("node:timers/promises");
const { Pool } = require("pg");
const prom = require("prom-client");

const pool = process.env.DATABASE && new Pool({ connectionString: process.env.DATABASE, max: 100, min: 100, idleTimeoutMillis: 0 });
const seconds = new prom.Histogram({
  name: "http_request_duration_seconds", help: "Time of a request", labelNames: ["path"],
  buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
});
let asked = 0;

async function items(request, response) {
  asked += 1;
  if (request.headers["x-stall"] === "handler" && asked % 20 === 0) await wait(150);
  const { rows } = await pool.query("SELECT name FROM items WHERE id = $1", [1 + (asked % 10)]);
  response.end(rows[0].name);
}

async function plain(_, response) {
  await wait(20);
  response.end("plain");
}

async function metrics(_, response) {
  response.setHeader("content-type", prom.register.contentType);
  response.end(await prom.register.metrics());
}

const routes = { "/items": items, "/plain": plain, "/metrics": metrics };
const server = http.createServer(async (request, response) => {
  const path = request.url;
  const ended = path === "/metrics" ? () => {} : seconds.startTimer({ path });
  try {
    await routes[path](request, response);
  } catch (error) {
    response.writeHead(500).end(String(error));
  }
  ended();
});

async function main() {
  if (pool) await Promise.all(Array.from({ length: 100 }, () => pool.query("SELECT pg_sleep(0.5)")));
  server.listen(Number(process.env.PORT ?? 0), "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}`));
}
main();
