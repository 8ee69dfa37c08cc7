// A shop: `node serve.mjs FOLDER` prepares a database in an empty folder and serves it on a free port of loopback.
//
// Express, with sessions of express-session in SQLite, and tokens against forged requests by csrf-sync. The first line on standard output
// is `http=http://127.0.0.1:PORT`. The folder gets `users.csv`, with name and password of each user, and `access.log`, a line a request
// that was answered: method, path, status, port of the client. SIGTERM ends it after it has answered.
import { createWriteStream } from "node:fs";
import { join } from "node:path";
import { csrfSync } from "csrf-sync";
import express from "express";
import session from "express-session";
import { isPassword, prepare } from "./database.mjs";
import * as pages from "./pages.mjs";
import { SqliteStore } from "./store.mjs";

const COOKIE = "connect.sid";
const folder = process.argv[2];
const database = prepare(folder);
const userByName = database.prepare("SELECT * FROM users WHERE name = ?");
const items = database.prepare("SELECT * FROM items ORDER BY id");
const itemById = database.prepare("SELECT * FROM items WHERE id = ?");
const order = database.prepare("INSERT INTO orders (user, session, item, quantity) VALUES (?, ?, ?, ?)");
const log = createWriteStream(join(folder, "access.log"));

const app = express();
app.disable("x-powered-by");
app.use((request, response, next) => {
  const { method, path, socket } = request;
  const port = socket.remotePort;
  response.on("finish", () => log.write(`${method} ${path} ${response.statusCode} ${port}\n`));
  next();
});
app.use(
  session({
    name: COOKIE,
    secret: "of a sample on loopback",
    store: new SqliteStore(database),
    resave: false,
    saveUninitialized: false,
    cookie: { httpOnly: true, sameSite: "lax", maxAge: 3_600_000 },
  }),
);
app.use(express.urlencoded({ extended: false }));
const { csrfSynchronisedProtection } = csrfSync({ getTokenFromRequest: (request) => request.body?._csrf });
app.use(csrfSynchronisedProtection);

const users = (request, response, next) => (request.session.user ? next() : response.redirect("/login"));

app.get("/login", (request, response) => response.send(pages.login(request.csrfToken())));

app.post("/login", async (request, response) => {
  const { name = "", password = "" } = request.body;
  const user = userByName.get(name);
  if (!user || !(await isPassword(user, password))) {
    response.status(401).send(pages.refused("Name or password is wrong."));
    return;
  }
  // A new session, so that nobody who knew the old one has this.
  request.session.regenerate(() => {
    request.session.user = { id: user.id, name: user.name };
    request.session.save(() => response.redirect("/items"));
  });
});

app.get("/items", users, (request, response) => {
  response.send(pages.items(request.session.user.name, items.all(), request.csrfToken()));
});

app.post("/orders", users, (request, response) => {
  const item = itemById.get(Number(request.body.item));
  const quantity = Number(request.body.quantity);
  if (!item || !Number.isInteger(quantity) || quantity < 1 || quantity > 9) {
    response.status(400).send(pages.refused("1 to 9 of an item can be ordered."));
    return;
  }
  const { lastInsertRowid } = order.run(request.session.user.id, request.sessionID, item.id, quantity);
  response.status(201).send(pages.ordered(lastInsertRowid, request.session.user.name, item, quantity));
});

app.post("/logout", users, (request, response) => {
  request.session.destroy(() => response.clearCookie(COOKIE).redirect("/login"));
});

// csrf-sync has 403 for a wrong token.
app.use((error, _request, response, _next) => {
  response.status(error.statusCode ?? 500).send(pages.refused("This cannot be done."));
});

const server = app.listen(0, "127.0.0.1", () => console.log(`http=http://127.0.0.1:${server.address().port}`));
// A connection that is idle for less is not closed under a request that is on its way.
server.keepAliveTimeout = 600_000;
process.on("SIGTERM", () => {
  server.close(() => log.end(() => process.exit(0)));
  server.closeIdleConnections();
});
