// What the shop shows.
const escaped = (text) => String(text).replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);

const page = (title, body) => `<!doctype html>\n<title>Shop: ${title}</title>\n${body}\n`;

const hidden = (token) => `<input type="hidden" name="_csrf" value="${escaped(token)}">`;

export const login = (token) =>
  page(
    "log in",
    `<form method="post">${hidden(token)}<input name="name"><input name="password" type="password"><button>Log in</button></form>`,
  );

export const items = (user, all, token) =>
  page(
    "items",
    `<p id="user">${escaped(user)}</p>
<form method="post" action="/orders">${hidden(token)}
${all.map(({ id, name }) => `<label><input type="radio" name="item" value="${id}">${escaped(name)}</label>`).join("\n")}
<input name="quantity" type="number" min="1" max="9"><button>Order</button></form>
<form method="post" action="/logout">${hidden(token)}<button>Log out</button></form>`,
  );

export const ordered = (number, user, { name, cents }, quantity) =>
  page(
    "order",
    `<p id="order">${number}</p>
<p>${quantity} × ${escaped(name)} for ${escaped(user)}: ${((cents * quantity) / 100).toFixed(2)} €</p>`,
  );

export const refused = (why) => page("refused", `<p>${escaped(why)}</p>`);
