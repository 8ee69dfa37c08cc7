// What a server and a user may call things must stay text on the page.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import { browser, fileUrl, folder, truetail, watched } from "./support.mjs";

const TEXT = `<script>alert(1)</script><img src=x onerror=alert(2)>"'</style></pre>-->]]>`;
const files = folder();
let chromium, server;

before(async () => {
    chromium = await browser();
    server = createServer((request, response) => {
        response.writeHead(500, { "content-type": "text/html", "x-name": TEXT });
        response.end(TEXT);
    });
    await new Promise(done => server.listen(0, "127.0.0.1", done));
});
after(async () => {
    await chromium?.close();
    server?.close();
    files.remove();
});

test("hostile names are text", async () => {
    const url = `http://127.0.0.1:${server.address().port}/${encodeURIComponent("<b>")}/</script><script>alert(3)</script>`;
    await truetail(files.path, "run", url, "-n", "40", "-r", "200", "--out", "run", "-H", `X-Mine: ${TEXT}`, "--data", TEXT,
        "--check", `body contains "never${TEXT.replaceAll('"', "")}"`, "--quiet");
    const context = await chromium.newContext();
    const { page, trouble } = await watched(context);
    await page.goto(fileUrl(files.in("run/report.html")));
    assert.deepEqual(trouble, []);
    const shown = await page.evaluate(() => document.body.innerText);
    assert.ok(shown.includes("<script>alert(3)</script>"), "the URL is shown as it was");
    const injected = await page.evaluate(() => document.querySelectorAll("img, b, body script:not([type])").length);
    assert.equal(injected, 1, "the page has its own script and no other element");
    await context.close();
});
