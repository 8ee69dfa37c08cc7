// The site of saved runs in a browser, used as a user does.

import assert from "node:assert/strict";
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { browser, fileUrl, folder, started, texts, truetail } from "./support.mjs";

const DAY = 86_400_000;
const BEGIN = Date.UTC(2026, 0, 1);
const HOSTILE = `<script>alert(1)</script><img src=x onerror=alert(2)>"'</style></title>-->`;
const files = folder();
const runs = files.in("runs");
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
let chromium, site, address;

/** Saves the run in `from` as the run of a day. */
function save(from, name, day, change = () => {}) {
    cpSync(files.in(from), join(runs, name), { recursive: true });
    const path = join(runs, name, "run.json");
    const run = JSON.parse(readFileSync(path, "utf8"));
    // Beyond what a number of JavaScript can hold.
    run.started_at_unix_ns = "START";
    run.tags = { build: `${day}`, commit: `c0ffee${day}`, branch: "main" };
    change(run);
    writeFileSync(path, JSON.stringify(run).replace('"START"', `${BEGIN + day * DAY}000000`));
}

before(async () => {
    mkdirSync(runs);
    for (const [name, baseline] of [["fast", "10ms"], ["slow", "15ms"]]) {
        writeFileSync(files.in(`${name}.toml`), `name = "checkout"\nabout = "made for a test"
[workload]\nrate = 500\nduration = "10s"\n[service]\nbaseline = "${baseline}"\nvariation = "exponential"\n`);
        await truetail(files.path, "simulate", `${name}.toml`, "--out", name);
    }
    for (let day = 0; day < 12; day++) {
        // Runs that are equal to the nanosecond would be one run with copies.
        save(day < 7 ? "fast" : "slow", `run-${String(day).padStart(2, "0")}`, day, run => { run.elapsed_ns += day; });
    }
    save("fast", "odd", 20, run => { run.scenario.name = "search"; run.verdict.state = "INVALID"; });
    save("fast", "<b>hostile", 21, run => {
        run.scenario.name = run.scenario.url = run.scenario.profile = HOSTILE;
        run.tags = { commit: HOSTILE };
        run.gates = [{ text: HOSTILE, state: "fails", value_ns: null, limit_ns: null, message: HOSTILE }];
    });
    chromium = await browser();
    site = await started(["browse", runs], /^http:\S+$/m);
    address = site.match[0].replace(/\/$/, "");
});
after(async () => {
    await chromium?.close();
    site?.process.kill("SIGINT");
    assert.equal(await site?.ended, 0);
    files.remove();
});

/** Opens a path of the site, lets `use` go on, and asserts that nothing went wrong and nothing else was asked. */
async function opened(path, options, use) {
    const context = await chromium.newContext({ viewport: { width: 1280, height: 900 }, ...options });
    const page = await context.newPage();
    const trouble = [];
    page.on("console", message => ["error", "warning"].includes(message.type()) && trouble.push(`console: ${message.text()}`));
    page.on("pageerror", error => trouble.push(`error: ${error.message}`));
    page.on("dialog", dialog => { trouble.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
    page.on("request", request => {
        if (!request.url().startsWith(`${address}/`) && !request.url().startsWith("blob:")) trouble.push(`request: ${request.url()}`);
        if (request.method() !== "GET") trouble.push(`${request.method()} ${request.url()}`);
    });
    await page.goto(address + path);
    await use(page);
    assert.deepEqual(trouble, []);
    await context.close();
}

const rows = page => page.locator("#runs tbody tr");
const folders = page => page.locator("#runs tbody input").evaluateAll(inputs => inputs.map(input => input.value));

test("a user filters, opens a run, goes on to its series, and compares the runs around a change", async () => {
    await opened("/", {}, async page => {
        assert.equal(await rows(page).count(), 14);
        await page.getByLabel("Name or URL").fill("CHECK");
        await page.getByLabel("Since").fill("2026-01-03");
        await page.getByRole("button", { name: "Filter" }).click();
        await page.waitForURL(/target=CHECK/);
        assert.equal(await rows(page).count(), 10);
        assert.equal(await page.getByLabel("Name or URL").inputValue(), "CHECK");
        await page.getByLabel("Label").fill("build=8");
        await page.keyboard.press("Enter");
        await page.waitForURL(/build%3D8/);
        assert.deepEqual(await folders(page), ["run-08"]);
        await rows(page).getByRole("link").click();
        await page.waitForURL(/\/run\/run-08$/);
        assert.match(await page.locator("h1").innerText(), /checkout/);
        await page.getByRole("link", { name: "Series" }).click();
        await page.waitForURL(/\/series/);
        const changes = await texts(page, ".changes li");
        assert.ok(changes.some(text => /^p50 .* between run-06 \(commit c0ffee6\) and run-07 \(commit c0ffee7\)/.test(text)), changes.join());
        assert.ok(await page.locator("figure.drawn").count() >= 1);
        const slider = page.locator("figure [role=slider]").first();
        await slider.focus();
        await page.keyboard.press("End");
        assert.match(await slider.getAttribute("aria-valuetext"), /2026-01-12/);
        await page.locator(".changes").getByRole("link", { name: "compare them" }).first().click();
        await page.waitForURL(/\/compare/);
        assert.ok((await texts(page, "#times td")).includes("B is slower"));
        await page.getByRole("link", { name: "A: run-06" }).click();
        await page.waitForURL(/\/run\/run-06$/);
        await page.getByRole("link", { name: "Compare with the run before" }).click();
        await page.waitForURL(/run=run-05&run=run-06/);
        await page.getByRole("link", { name: "All runs" }).click();
        assert.equal(await rows(page).count(), 14);
    });
});

test("the keyboard alone picks two runs and compares them", async () => {
    await opened("/?target=checkout", {}, async page => {
        const focused = () => page.evaluate(() => document.activeElement.value || document.activeElement.textContent);
        const tabTo = async wanted => {
            for (let i = 0; i < 120; i++) {
                await page.keyboard.press("Tab");
                if (await focused() === wanted) return;
            }
            assert.fail(`Tab does not reach ${wanted}`);
        };
        await tabTo("run-11");
        await page.keyboard.press("Space");
        await tabTo("run-06");
        await page.keyboard.press("Space");
        await tabTo("Compare two picked runs");
        await page.keyboard.press("Enter");
        await page.waitForURL(/\/compare/);
        assert.match(await page.locator("header").innerText(), /A: run-06\. B: run-11\./);
    });
});

test("it reads, filters and compares without the script", async () => {
    await opened("/", { javaScriptEnabled: false }, async page => {
        await page.getByLabel("Verdict").selectOption("invalid");
        await page.getByRole("button", { name: "Filter" }).click();
        await page.waitForURL(/verdict=invalid/);
        assert.deepEqual(await folders(page), ["odd"]);
        await page.getByRole("link", { name: "Show all" }).click();
        await page.waitForURL(`${address}/`);
        await page.getByLabel(/^Pick checkout of 2026-01-01/).check();
        await page.getByLabel(/^Pick checkout of 2026-01-12/).check();
        await page.getByRole("button", { name: "Compare two picked runs" }).click();
        await page.waitForURL(/\/compare/);
        assert.ok((await texts(page, "#times td")).includes("B is slower"));
        await page.goto(`${address}/series?of=checkout`);
        assert.ok(await page.locator(".picture > svg").first().isVisible());
    });
});

test("hostile names are text everywhere", async () => {
    for (const path of ["/", `/?target=${encodeURIComponent(HOSTILE)}`, "/run/%3Cb%3Ehostile", "/compare?run=%3Cb%3Ehostile&run=run-00&anyway=yes",
        `/series?of=${encodeURIComponent(HOSTILE)}`]) {
        await opened(path, {}, async page => {
            assert.equal(await page.evaluate(() => document.querySelectorAll("img, b").length), 0, path);
            assert.ok((await page.evaluate(() => document.body.innerText)).includes("<script>alert(1)"), path);
        });
    }
});

test("the list follows the folder, and keeps what was picked", async () => {
    await opened("/", {}, async page => {
        const pick = page.locator("input[value=run-11]");
        await pick.check();
        await pick.focus();
        save("slow", "new", 40, run => { run.elapsed_ns += 40; });
        await page.locator("input[value=new]").waitFor({ timeout: 60_000 });
        assert.equal(await rows(page).count(), 15);
        assert.ok(await pick.isChecked());
        assert.equal(await page.evaluate(() => document.activeElement.value), "run-11");
    });
});

test("a page of another origin can neither read nor write, nor show the site in a frame", async () => {
    const server = createServer((_, response) => response.setHeader("content-type", "text/html").end("<h1>elsewhere</h1>"));
    await new Promise(done => server.listen(0, "127.0.0.1", done));
    const context = await chromium.newContext();
    const page = await context.newPage();
    // localhost is another site than 127.0.0.1.
    await page.goto(`http://localhost:${server.address().port}/`);
    const asked = await page.evaluate(async address => {
        const ask = (path, options) => fetch(address + path, options).then(answer => answer.type, () => "refused");
        return [await ask("/"), await ask("/run/run-00"), await ask("/", { method: "POST", mode: "no-cors", body: "x" })];
    }, address);
    assert.deepEqual(asked, ["refused", "refused", "opaque"]);
    await page.evaluate(address => {
        const frame = document.createElement("iframe");
        frame.src = address;
        document.body.append(frame);
        return new Promise(done => { frame.onload = done; });
    }, address);
    assert.ok(!(await page.frames().at(-1).content()).includes("Saved runs"));
    const form = await page.evaluate(address => {
        const form = document.body.appendChild(document.createElement("form"));
        Object.assign(form, { action: `${address}/run/run-00`, method: "post" });
        form.submit();
    }, address).then(() => page.waitForLoadState());
    assert.equal(form, undefined);
    await page.waitForURL(url => url.href.startsWith(address));
    assert.match(await page.locator("body").innerText(), /answers its own pages only/);
    await opened("/run/run-00", {}, async page => assert.match(await page.locator("h1").innerText(), /checkout/));
    await context.close();
    server.close();
});

test("picked runs are removed after a question, and no page of another origin removes any", async () => {
    save("fast", "old", -1);
    save("fast", "kept", -2);
    const allowed = await started(["browse", runs, "--allow-remove", "--before", "2026-01-01"], /^http:\S+$/m);
    const own = allowed.match[0].replace(/\/$/, "");
    const context = await chromium.newContext();
    const page = await context.newPage();
    const folders = async () => (await page.goto(own), page.locator("#runs tbody input").evaluateAll(inputs => inputs.map(input => input.value)));
    assert.deepEqual(await folders(), ["old", "kept"]);
    await page.goto(`${own}/remove?run=kept`);
    const token = await page.locator("input[name=token]").getAttribute("value");
    const server = createServer((_, response) => response.setHeader("content-type", "text/html").end("<h1>elsewhere</h1>"));
    await new Promise(done => server.listen(0, "127.0.0.1", done));
    for (const host of ["localhost", "127.0.0.1"]) {
        await page.goto(`http://${host}:${server.address().port}/`);
        // Even if it knew the secret.
        await page.evaluate(([own, token]) => fetch(`${own}/remove`, { method: "POST", mode: "no-cors", body: `token=${token}&run=kept`,
            headers: { "content-type": "application/x-www-form-urlencoded" } }), [own, token]);
        await page.evaluate(([own, token]) => {
            const form = document.body.appendChild(document.createElement("form"));
            Object.assign(form, { action: `${own}/remove`, method: "post" });
            for (const [name, value] of [["token", token], ["run", "kept"]]) {
                form.append(Object.assign(document.createElement("input"), { type: "hidden", name, value }));
            }
            form.submit();
        }, [own, token]);
        await page.waitForURL(`${own}/remove`);
        assert.match(await page.locator("body").innerText(), /answers its own pages only/);
    }
    server.close();
    assert.deepEqual(await folders(), ["old", "kept"]);
    await page.locator("input[value=old]").check();
    await page.getByRole("button", { name: "Remove picked runs" }).click();
    assert.match(await page.locator("#removal li").innerText(), /checkout of 2025-12-31 .*old/);
    await page.getByRole("link", { name: "Keep them" }).click();
    await page.locator("input[value=old]").check();
    await page.getByRole("button", { name: "Remove picked runs" }).click();
    await page.getByRole("button", { name: "Remove this run" }).click();
    await page.getByText("Old is removed.").waitFor();
    await page.getByRole("link", { name: "All runs" }).click();
    assert.deepEqual(await folders(), ["kept"]);
    await context.close();
    allowed.process.kill("SIGINT");
    await allowed.ended;
    rmSync(join(runs, "kept"), { recursive: true });
});

test("the page of a run in progress follows it to its end", async () => {
    const served = await started(["serve", "--scenario", "01-healthy", "--listen", "127.0.0.1:0"], /listening on (http:\S+)/);
    const run = await started(["run", `${served.match[1]}/api`, "-r", "50", "-d", "10m", "--out", join(runs, "now")], /in flight/);
    while (!existsSync(join(runs, "now", "checkpoint.pack"))) await new Promise(done => setTimeout(done, 50));
    await opened("/?sort=started", {}, async page => {
        const row = page.locator("#runs tr", { hasText: "in progress" });
        await row.waitFor({ timeout: 60_000 });
        await row.getByRole("link").click();
        await page.getByText("This run is going on").waitFor();
        const planned = page.locator("#report > #books");
        const first = await planned.innerText();
        await page.waitForFunction(first => document.querySelector("#books").innerText !== first, first, { timeout: 60_000 });
        run.process.kill("SIGINT");
        await run.ended;
        await page.waitForFunction(() => document.querySelector("main:not([data-live]) #repeat"), null, { timeout: 60_000 });
        assert.equal(await page.getByText("This run is going on").count(), 0);
        assert.ok(await page.getByRole("link", { name: "All runs" }).isVisible());
    });
    served.process.kill("SIGINT");
    await served.ended;
});

test("narrow, dark, and a checker of accessibility finds nothing serious", async () => {
    for (const colorScheme of ["light", "dark"]) {
        for (const width of [1280, 390]) {
            for (const path of ["/", "/series?of=checkout", "/compare?run=run-00&run=run-11", "/run/run-03"]) {
                await opened(path, { colorScheme, viewport: { width, height: 900 } }, async page => {
                    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth) <= width, `${path} ${width}`);
                    await page.evaluate(axe);
                    const { violations } = await page.evaluate(() => globalThis.axe.run());
                    const serious = violations.filter(({ impact }) => ["serious", "critical"].includes(impact));
                    const found = serious.map(({ id, nodes }) => `${id}: ${nodes.map(node => node.html).slice(0, 3).join(" | ")}`);
                    assert.deepEqual(found, [], `${path} ${colorScheme}, ${width} px`);
                });
            }
        }
    }
});

test("an export works from the disk", async () => {
    await truetail(files.path, "browse", runs, "--target", "checkout", "--export", "site", "--last", "3");
    const context = await chromium.newContext();
    const page = await context.newPage();
    const trouble = [];
    page.on("console", message => ["error", "warning"].includes(message.type()) && trouble.push(message.text()));
    page.on("request", request => !/^(file|data|blob):/.test(request.url()) && trouble.push(request.url()));
    await page.goto(fileUrl(files.in("site/index.html")));
    assert.ok(await rows(page).count() >= 12);
    assert.equal(await page.locator("form").count(), 0);
    await page.locator("#series").getByRole("link", { name: "checkout" }).click();
    await page.getByRole("link", { name: "compare them" }).first().click();
    assert.match(await page.locator("h1").innerText(), /Is B slower/);
    await page.getByRole("link", { name: "All runs" }).click();
    await rows(page).first().getByRole("link").click();
    assert.match(await page.locator("h1").innerText(), /checkout/);
    assert.deepEqual(trouble, []);
    await context.close();
});
