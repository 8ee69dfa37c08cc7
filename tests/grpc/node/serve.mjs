// A gRPC server with a known truth, on grpc-js: it fails every nth call, and counts its calls and the messages of streams.
// Options are -name=value, as for the servers in Go, Python and Rust beside it; times are in milliseconds.
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import grpc from "@grpc/grpc-js";
import loader from "@grpc/proto-loader";
import { ReflectionService } from "@grpc/reflection";

const options = Object.fromEntries(process.argv.slice(2).map((word) => word.replace(/^-/, "").split("=")));
const milliseconds = (name) => Number.parseInt(options[name] ?? "0");
const definition = loader.loadSync(fileURLToPath(new URL("truth.proto", import.meta.url)), { keepCase: true });
const { truth } = grpc.loadPackageDefinition(definition);

const books = { calls: 0, counts: {}, received: 0, sent: 0, most_open: 0 };
let open = 0;

// The number of a call. That of a preflight is -1, and it counts nowhere.
function enter(call) {
  if (call.metadata.get("truetail-preflight").length > 0) return -1;
  open += 1;
  books.most_open = Math.max(books.most_open, open);
  books.calls += 1;
  return books.calls;
}

// The error of a call that fails, or null.
function leave(number) {
  const every = Number(options["fail-every"] ?? 0);
  const fails = every > 0 && number > 0 && number % every === 0;
  if (number > 0) {
    open -= 1;
    const status = fails ? "UNAVAILABLE" : "OK";
    books.counts[status] = (books.counts[status] ?? 0) + 1;
  }
  return fails ? { code: grpc.status.UNAVAILABLE, details: "no room, 100% full" } : null;
}

function count(number, what) {
  if (number > 0) books[what] += 1;
}

const reply = (name) => ({ message: `hello ${name}` });

// Ends a call that answers with a stream.
function end(call, number) {
  const failure = leave(number);
  if (failure) call.emit("error", failure);
  else call.end();
}

const greeter = {
  async SayHello(call, done) {
    const number = enter(call);
    await sleep(milliseconds("gap"));
    const failure = leave(number);
    done(failure, failure ? null : reply(call.request.name));
  },
  async SayMany(call) {
    const number = enter(call);
    for (let k = 0; k < call.request.count; k += 1) {
      count(number, "sent");
      call.write(reply(call.request.name));
      await sleep(milliseconds("gap"));
    }
    end(call, number);
  },
  Collect(call, done) {
    const number = enter(call);
    let names = 0;
    call.on("data", () => {
      names += 1;
      count(number, "received");
    });
    call.on("end", () => {
      const failure = leave(number);
      if (!failure) count(number, "sent");
      done(failure, failure ? null : reply(String(names)));
    });
  },
  Chat(call) {
    const number = enter(call);
    call.on("data", (request) => {
      count(number, "received");
      count(number, "sent");
      call.write(reply(request.name));
    });
    call.on("end", () => end(call, number));
  },
};

const settings = {};
if ("max-streams" in options) settings["grpc.max_concurrent_streams"] = Number(options["max-streams"]);
if ("max-age" in options) {
  settings["grpc.max_connection_age_ms"] = milliseconds("max-age");
  settings["grpc.max_connection_age_grace_ms"] = 5000;
}
if ("keepalive" in options) {
  settings["grpc.keepalive_time_ms"] = milliseconds("keepalive");
  settings["grpc.keepalive_timeout_ms"] = 500;
}
const server = new grpc.Server(settings);
server.addService(truth.Greeter.service, greeter);
if (options.reflection !== "false") new ReflectionService(definition).addToServer(server);
const read = (name) => (name in options ? readFileSync(options[name]) : null);
const credentials =
  "cert" in options
    ? grpc.ServerCredentials.createSsl(read("client-ca"), [{ private_key: read("key"), cert_chain: read("cert") }], "client-ca" in options)
    : grpc.ServerCredentials.createInsecure();
server.bindAsync("127.0.0.1:0", credentials, (error, port) => {
  if (error) throw error;
  console.log(`127.0.0.1:${port}`);
});
process.on("SIGTERM", () => {
  server.forceShutdown();
  console.log(JSON.stringify(books));
  process.exit(0);
});
