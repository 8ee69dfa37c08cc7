// The tables of the shop, with its items and users.
import { randomBytes, scrypt, scryptSync, timingSafeEqual } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { promisify } from "node:util";

const USERS = 100;
const ITEMS = [
  ["teapot", 1850],
  ["cup", 420],
  ["saucer", 300],
  ["spoon", 175],
];
const KEY_BYTES = 32;
// Node's default is 512 times as expensive: two processors could then not check 200 passwords a second.
const COST = { N: 32 };
const scryptAsync = promisify(scrypt);

export function prepare(folder) {
  const database = new DatabaseSync(join(folder, "shop.sqlite3"));
  database.exec(`
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = NORMAL;
    CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT UNIQUE NOT NULL, salt BLOB NOT NULL, hash BLOB NOT NULL);
    CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT NOT NULL, cents INTEGER NOT NULL);
    CREATE TABLE sessions (id TEXT PRIMARY KEY, expires_ms INTEGER NOT NULL, content TEXT NOT NULL);
    CREATE TABLE orders (
      id INTEGER PRIMARY KEY,
      user INTEGER NOT NULL REFERENCES users (id),
      session TEXT NOT NULL,
      item INTEGER NOT NULL REFERENCES items (id),
      quantity INTEGER NOT NULL
    );
    BEGIN`);
  const item = database.prepare("INSERT INTO items (name, cents) VALUES (?, ?)");
  ITEMS.forEach(([name, cents]) => item.run(name, cents));
  const user = database.prepare("INSERT INTO users (name, salt, hash) VALUES (?, ?, ?)");
  const users = Array.from({ length: USERS }, (_, number) => {
    const digits = String(number).padStart(3, "0");
    return [`user${digits}`, `pass word&${digits}`];
  });
  for (const [name, password] of users) {
    const salt = randomBytes(16);
    user.run(name, salt, scryptSync(password, salt, KEY_BYTES, COST));
  }
  database.exec("COMMIT");
  writeFileSync(join(folder, "users.csv"), `user,password\n${users.map((row) => `${row.join(",")}\n`).join("")}`);
  return database;
}

export async function isPassword(user, password) {
  return timingSafeEqual(await scryptAsync(password, user.salt, KEY_BYTES, COST), user.hash);
}
