// How long a slider's change takes until `truetail explore` shows it, in Chromium: from the change to the next painted frame.
//
//     cargo build --release -p truetail && make test-browser && node bench/explore.mjs [CHANGES]
//
// `make test-browser` installs what this needs from npm. Prints the median, the 90th percentile and the maximum of scenario 02, three
// loops of 60 000 requests. TRUETAIL and TRUETAIL_CHROMIUM name other programs.

import { fileURLToPath } from "node:url";

const here = path => fileURLToPath(new URL(path, import.meta.url));
process.env.TRUETAIL ??= here("../target/release/truetail");
process.env.TRUETAIL_CHROMIUM ??= "/usr/bin/chromium";
const { browser, started } = await import("../tests/browser/support.mjs");

const changes = Number(process.argv[2] ?? 40);
const served = await started(["explore"], /http:\/\/127\.0\.0\.1:\d+\//);
const chromium = await browser();
const page = await chromium.newPage({ viewport: { width: 1280, height: 900 } });
await page.goto(served.match[0]);
await page.waitForFunction(() => document.body.dataset.shown);
const times = [];
for (let change = 0; change < changes; change++) {
    // Waits for the verdict of the last change, which nobody waits for on a slider.
    await page.waitForTimeout(1000);
    times.push(await page.evaluate(baseline => new Promise(resolve => {
        const [slider, began] = [document.getElementById("baseline"), performance.now()];
        slider.value = baseline;
        slider.dispatchEvent(new Event("input", { bubbles: true }));
        const look = () => {
            const { wanted, shown } = document.body.dataset;
            if (wanted === shown) resolve(performance.now() - began);
            else requestAnimationFrame(look);
        };
        requestAnimationFrame(look);
    }), 5 + change % 10));
}
times.sort((a, b) => a - b);
const at = q => times[Math.min(times.length - 1, Math.floor(q * times.length))].toFixed(0);
console.log(`${times.length} changes: median ${at(0.5)} ms, p90 ${at(0.9)} ms, longest ${at(1)} ms`);
await chromium.close();
served.process.kill("SIGINT");
