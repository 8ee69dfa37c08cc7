// Sessions in SQLite, for express-session.
import session from "express-session";

export class SqliteStore extends session.Store {
  constructor(database) {
    super();
    this.read = database.prepare("SELECT content FROM sessions WHERE id = ? AND expires_ms > ?");
    this.write = database.prepare("INSERT OR REPLACE INTO sessions (id, expires_ms, content) VALUES (?, ?, ?)");
    this.remove = database.prepare("DELETE FROM sessions WHERE id = ?");
    this.renew = database.prepare("UPDATE sessions SET expires_ms = ? WHERE id = ?");
  }

  get(id, done) {
    const row = this.read.get(id, Date.now());
    done(null, row ? JSON.parse(row.content) : null);
  }

  set(id, content, done) {
    this.write.run(id, Date.now() + content.cookie.maxAge, JSON.stringify(content));
    done?.(null);
  }

  destroy(id, done) {
    this.remove.run(id);
    done?.(null);
  }

  touch(id, content, done) {
    this.renew.run(Date.now() + content.cookie.maxAge, id);
    done?.(null);
  }
}
