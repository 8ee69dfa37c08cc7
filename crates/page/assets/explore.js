// The page to play with: sliders whose settings the simulator behind this page answers. It draws the curves with page.js and the
// requests over time itself. Everything is asked of the server that gave out the page, one question at a time: while one is
// answered, only the newest of those that follow is kept.
(() => {
    "use strict";

    const { token, presets } = JSON.parse(document.getElementById("explore-data").textContent);
    const byId = id => document.getElementById(id);
    const STEPS = 1000;

    function element(name, attributes = {}, ...children) {
        const made = document.createElement(name);
        Object.entries(attributes).forEach(([key, value]) => made.setAttribute(key, value));
        made.append(...children);
        return made;
    }

    // ---- Controls

    /** A number: a slider and a box with the exact value, and perhaps a box that switches it on. */
    class Control {
        constructor(box) {
            this.key = box.dataset.field;
            this.whole = "whole" in box.dataset;
            this.typical = Number(box.dataset.typical);
            this.slider = byId(`${this.key}-slider`);
            this.exact = byId(this.key);
            this.switch = box.querySelector(`.switch input`);
            this.group = box.closest("fieldset").querySelector("legend input");
            this.unit = box.querySelector(".unit").textContent;
            this.least = Number(this.exact.min);
            this.most = Number(this.exact.max);
            [this.to, this.back] = box.dataset.scale === "log" ? [Math.log, Math.exp] : [value => value, place => place];
            this.slider.addEventListener("input", () => this.slid());
            this.exact.addEventListener("input", () => this.typed());
            this.switch?.addEventListener("change", () => this.switched());
        }

        get isOn() {
            return (this.switch?.checked ?? true) && this.canBeOn;
        }

        get canBeOn() {
            const needed = controls.find(control => control.key === NEEDS[this.key]);
            return (this.group?.checked ?? true) && (needed?.isOn ?? true);
        }

        show(value) {
            this.exact.value = value;
            this.place(value);
        }

        place(value) {
            const share = (this.to(value) - this.to(this.least)) / (this.to(this.most) - this.to(this.least));
            this.slider.value = Math.round(share * STEPS);
            this.slider.setAttribute("aria-valuetext", `${this.exact.value} ${this.unit}`.trim());
        }

        /** The slider moved: to a number with few digits. */
        slid() {
            const share = Number(this.slider.value) / STEPS;
            const value = this.back(this.to(this.least) + share * (this.to(this.most) - this.to(this.least)));
            const digits = this.whole && value < 100 ? Math.round(value) : Number(value.toPrecision(2));
            this.exact.value = Math.min(this.most, Math.max(this.least, digits));
            this.slider.setAttribute("aria-valuetext", `${this.exact.value} ${this.unit}`.trim());
            changed();
        }

        typed() {
            if (this.exact.value === "" || Number.isNaN(Number(this.exact.value))) return;
            this.place(Number(this.exact.value));
            changed();
        }

        switched() {
            if (this.exact.value === "") this.show(this.typical);
            enable();
            changed();
        }

        enable() {
            this.slider.disabled = this.exact.disabled = !this.isOn;
            if (this.switch) this.switch.disabled = !this.canBeOn;
        }

        set(value) {
            if (this.switch) this.switch.checked = value !== null;
            this.show(value ?? this.typical);
        }
    }

    /** What is set only where another control is on: stalls are counted where they repeat. */
    const NEEDS = { "stall-times": "stall-every" };

    const controls = [...document.querySelectorAll(".control")].map(box => new Control(box));
    const choices = [...document.querySelectorAll("select[data-choice]")];
    const groups = [...document.querySelectorAll("fieldset[data-group]")];
    const groupSwitch = group => group.querySelector("legend input");

    groups.forEach(group => groupSwitch(group).addEventListener("change", () => {
        enable();
        changed();
    }));
    choices.forEach(choice => choice.addEventListener("change", changed));

    function enable() {
        controls.forEach(control => control.enable());
        choices.forEach(choice => {
            const group = choice.closest("fieldset[data-group]");
            choice.disabled = group !== null && !groupSwitch(group).checked;
        });
    }

    /** The settings as the text of a link. */
    function settings() {
        const parts = controls.filter(control => control.isOn).map(control => [control.key, control.exact.value]);
        const words = choices.filter(choice => !choice.disabled).map(choice => [choice.dataset.choice, choice.value]);
        return [...parts, ...words].map(([key, value]) => `${key}=${encodeURIComponent(value)}`).join("&");
    }

    /** Sets all controls as a link says; what it leaves out is off, or stays as it is where it cannot be off. */
    function apply(text) {
        const given = new URLSearchParams(text);
        groups.forEach(group => {
            const keys = [...group.querySelectorAll(".control")].map(box => box.dataset.field);
            groupSwitch(group).checked = keys.some(key => given.has(key));
        });
        controls.forEach(control => {
            const value = given.has(control.key) && given.get(control.key) !== "" ? Number(given.get(control.key)) : null;
            if (value !== null || control.switch) control.set(value);
            else if (control.exact.value === "") control.show(control.typical);
        });
        choices.forEach(choice => {
            const value = given.get(choice.dataset.choice);
            if ([...choice.options].some(option => option.value === value)) choice.value = value;
        });
        if (given.has("view")) byId("view").value = given.get("view") === "whole" ? "whole" : "stall";
        enable();
    }

    // ---- Presets and the link

    const preset = byId("preset");
    const sorted = text => text.split("&").sort().join("&");

    /** Which preset the settings are, by value. */
    function named(text) {
        return presets.find(({ settings }) => sorted(settings) === sorted(text));
    }

    function showPreset(text) {
        const found = named(text);
        preset.value = found?.name ?? "";
        byId("about").textContent = found ? `${found.about}.`.replace(/\.\.$/, ".") : "Your own settings; the link of this page holds them.";
    }

    preset.addEventListener("change", () => {
        const chosen = presets.find(({ name }) => name === preset.value);
        if (!chosen) return;
        apply(chosen.settings);
        changed();
    });

    const view = byId("view");
    view.addEventListener("change", changed);

    const link = () => `#${settings()}${view.value === "whole" ? "&view=whole" : ""}`;

    byId("copy-link").addEventListener("click", async () => {
        history.replaceState(null, "", link());
        try {
            await navigator.clipboard.writeText(location.href);
            byId("copied").textContent = "Copied.";
        } catch {
            byId("copied").textContent = "The address of this page is the link.";
        }
    });

    window.addEventListener("hashchange", () => {
        apply(location.hash.slice(1));
        changed();
    });

    // ---- Questions to the server

    async function ask(path, body = "") {
        const response = await fetch(path, { method: "POST", headers: { "x-truetail-token": token }, body });
        const isJson = (response.headers.get("content-type") ?? "").startsWith("application/json");
        const answer = isJson ? await response.json() : { error: await response.text() };
        return { ok: response.ok, answer };
    }

    const GONE = "The server behind this page does not answer. Start truetail explore again and open the page that it names.";

    // Browsers refuse to change the address many times a second.
    const ADDRESS_MS = 150;

    let asking = false;
    let waiting = false;
    let addressed = null;

    /** A setting changed: the newest settings are simulated as soon as the server is free. */
    function changed() {
        const text = settings();
        clearTimeout(addressed);
        addressed = setTimeout(() => history.replaceState(null, "", link()), ADDRESS_MS);
        document.body.dataset.wanted = wanted(text);
        byId("copied").textContent = "";
        showPreset(text);
        showMeasured();
        if (asking) waiting = true;
        else simulate(text);
    }

    /** What the page is to show, for its test. */
    const wanted = text => `${text}&view=${view.value}`;

    async function simulate(text) {
        asking = true;
        const [began, asked] = [performance.now(), wanted(text)];
        try {
            const { ok, answer } = await ask(`/simulate?view=${view.value}`, text);
            problem(ok ? null : answer);
            if (ok) show(answer);
        } catch {
            problem({ key: "", error: GONE });
        }
        // How long a change took until it was drawn, for the test of this page.
        document.body.dataset.shownAfterMs = (performance.now() - began).toFixed(1);
        document.body.dataset.shown = asked;
        asking = false;
        if (waiting) {
            waiting = false;
            simulate(settings());
        }
    }

    function problem(refused) {
        const text = byId("problem");
        text.hidden = refused === null;
        text.textContent = refused?.error ?? "";
        byId("curves").classList.toggle("outdated", refused !== null);
        controls.forEach(control => {
            const isIt = refused !== null && refused.key === control.key;
            isIt ? control.exact.setAttribute("aria-invalid", "true") : control.exact.removeAttribute("aria-invalid");
        });
    }

    // ---- The answer

    let shown = null;
    let measured = null;

    function show(answer) {
        shown = answer;
        byId("summary").textContent = answer.summary;
        byId("notes").replaceChildren(...answer.notes.map(note => element("p", { class: "faint" }, note)));
        byId("verdict").textContent = verdictText("truetail would call the open loop", answer.verdict);
        byId("numbers").replaceChildren(table(answer.table, "Response time of each way of measuring"));
        drawCurves();
        drawRequests();
    }

    const verdictText = (begin, { state, reasons }) => [`${begin} ${state}.`, ...reasons].join(" ");

    /** The simulated curves, and the measured ones that belong to the same settings. */
    function drawCurves() {
        if (!shown) return;
        const runs = [...shown.curves, ...(measuredFits() ? measured.loops.map(loop => loop.curve) : [])];
        truetail.percentiles(byId("curves"), runs, { roles: runs.map(run => run.role) });
    }

    function table({ heads, rows }, caption) {
        const head = element("tr", {}, ...heads.map(text => element("th", { scope: "col" }, text || "percentile")));
        const body = rows.map(([name, ...cells]) => element("tr", {}, element("th", { scope: "row" }, name), ...cells.map(cell => element("td", {}, cell))));
        return element("table", { class: "numbers" }, element("caption", {}, caption), element("thead", {}, head), element("tbody", {}, ...body));
    }

    // ---- Requests over time

    const canvas = byId("requests");
    const MARGIN = { left: 62, right: 12, top: 10, bottom: 30 };
    const HEIGHT = 300;

    function drawRequests() {
        const timeline = shown?.timeline;
        const width = canvas.clientWidth;
        if (!timeline || width === 0) return;
        const ratio = window.devicePixelRatio || 1;
        canvas.width = width * ratio;
        canvas.height = HEIGHT * ratio;
        const context = canvas.getContext("2d");
        context.scale(ratio, ratio);
        const marks = [...timeline.sent, ...timeline.never_sent];
        const times = marks.map(mark => Math.max(1, mark[1]));
        const [low, high] = [Math.min(...times) / 1.5, Math.max(...times) * 1.5];
        const x = at => MARGIN.left + (at - timeline.from_s) / (timeline.to_s - timeline.from_s) * (width - MARGIN.left - MARGIN.right);
        const y = ns => HEIGHT - MARGIN.bottom - Math.log(Math.max(1, ns) / low) / Math.log(high / low) * (HEIGHT - MARGIN.top - MARGIN.bottom);
        drawStalls(context, timeline, x);
        if (marks.length > 0) drawAxes(context, { width, x, y, low, high, timeline });
        drawGhosts(context, timeline.never_sent, x, y);
        drawSent(context, timeline.sent, x, y);
        canvas.setAttribute("aria-label", spoken(timeline));
        byId("requests-table").replaceChildren(table({
            heads: ["from", "planned", "sent by the closed loop", "never sent"],
            rows: timeline.rows.map(row => [`${plain(row.from_s)} s`, row.planned, row.sent, row.never_sent].map(String)),
        }, "Requests by time"));
    }

    const plain = value => String(Number(value.toFixed(6)));

    function spoken(timeline) {
        const sum = key => timeline.rows.reduce((sum, row) => sum + row[key], 0);
        return `Requests from ${plain(timeline.from_s)} s to ${plain(timeline.to_s)} s: ${sum("planned")} planned, ${sum("sent")} sent by the ` +
            `closed loop, ${sum("never_sent")} never sent. The table below holds the same counts.`;
    }

    /** The colour that the style sheet gives to a mark of the legend, in the present theme. */
    const color = selector => getComputedStyle(document.querySelector(`.timeline .legend ${selector}`)).color;

    function drawStalls(context, timeline, x) {
        context.fillStyle = color(".s-pause-server");
        context.globalAlpha = 0.13;
        for (const [from, to] of timeline.stalls) {
            const [left, right] = [x(Math.max(from, timeline.from_s)), x(Math.min(to, timeline.to_s))];
            context.fillRect(left, MARGIN.top, Math.max(1, right - left), HEIGHT - MARGIN.top - MARGIN.bottom);
        }
        context.globalAlpha = 1;
    }

    function drawAxes(context, { width, x, y, low, high, timeline }) {
        const faint = getComputedStyle(byId("about")).color;
        Object.assign(context, { font: `12px ${getComputedStyle(document.body).fontFamily}`, fillStyle: faint, strokeStyle: faint, lineWidth: 0.5 });
        context.textAlign = "right";
        context.textBaseline = "middle";
        for (const at of decades(low, high)) {
            context.globalAlpha = 0.35;
            line(context, MARGIN.left, y(at), width - MARGIN.right, y(at));
            context.globalAlpha = 1;
            context.fillText(truetail.figures.roundTime(at), MARGIN.left - 6, y(at));
        }
        context.textAlign = "center";
        context.textBaseline = "top";
        for (const at of ticks(timeline.from_s, timeline.to_s, width < 500 ? 4 : 8)) {
            line(context, x(at), HEIGHT - MARGIN.bottom, x(at), HEIGHT - MARGIN.bottom + 4);
            context.fillText(`${plain(at)} s`, x(at), HEIGHT - MARGIN.bottom + 8);
        }
    }

    function line(context, x1, y1, x2, y2) {
        context.beginPath();
        context.moveTo(x1, y1);
        context.lineTo(x2, y2);
        context.stroke();
    }

    function decades(low, high) {
        const steps = high / low < 100 ? [1, 2, 5] : [1];
        const found = [];
        for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power++) {
            found.push(...steps.map(step => step * 10 ** power).filter(at => at >= low && at <= high));
        }
        return found;
    }

    function ticks(from, to, most) {
        const rough = (to - from) / most;
        const power = 10 ** Math.floor(Math.log10(rough));
        const step = [1, 2, 5, 10].map(by => by * power).find(step => step >= rough);
        const found = [];
        for (let n = Math.ceil(from / step); n * step <= to; n++) found.push(n * step);
        return found;
    }

    function drawGhosts(context, marks, x, y) {
        Object.assign(context, { strokeStyle: color(".s-open"), lineWidth: 1.2, globalAlpha: 0.75 });
        context.beginPath();
        for (const [at, ns, answered] of marks) {
            if (!answered) { cross(context, x(at), y(ns)); continue; }
            context.moveTo(x(at) + 3, y(ns));
            context.arc(x(at), y(ns), 3, 0, 2 * Math.PI);
        }
        context.stroke();
        context.globalAlpha = 1;
    }

    function drawSent(context, marks, x, y) {
        Object.assign(context, { fillStyle: color(".s-closed"), strokeStyle: color(".s-closed"), lineWidth: 1.5 });
        context.beginPath();
        for (const [at, ns, answered] of marks) {
            if (!answered) continue;
            context.moveTo(x(at) + 2.4, y(ns));
            context.arc(x(at), y(ns), 2.4, 0, 2 * Math.PI);
        }
        context.fill();
        context.beginPath();
        marks.filter(mark => !mark[2]).forEach(([at, ns]) => cross(context, x(at), y(ns)));
        context.stroke();
    }

    function cross(context, x, y) {
        context.moveTo(x - 3, y - 3);
        context.lineTo(x + 3, y + 3);
        context.moveTo(x - 3, y + 3);
        context.lineTo(x + 3, y - 3);
    }

    new ResizeObserver(() => drawRequests()).observe(canvas.parentElement);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawRequests);
    new MutationObserver(drawRequests).observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });

    // ---- Runs on real sockets

    const POLL_MS = 300;
    const [start, cancel] = [byId("real-start"), byId("real-cancel")];

    const measuredFits = () => measured !== null && sorted(measured.settings) === sorted(settings());

    start.addEventListener("click", async () => {
        start.disabled = true;
        realProblem(null);
        await real(() => ask(`/real?closed=${byId("real-closed").checked ? "yes" : "no"}`, settings()));
    });
    cancel.addEventListener("click", () => real(() => ask("/real/cancel")));

    /** Asks, and follows the run until it has ended. */
    async function real(question) {
        try {
            const { ok, answer } = await question();
            if (ok) showReal(answer);
            else {
                realProblem(answer.error);
                start.disabled = false;
            }
        } catch {
            realProblem(GONE);
            start.disabled = false;
        }
    }

    function realProblem(text) {
        byId("real-problem").hidden = text === null;
        byId("real-problem").textContent = text ?? "";
    }

    let following = null;

    function showReal(answer) {
        const isRunning = answer.state === "running";
        start.disabled = isRunning;
        cancel.hidden = byId("real-progress").hidden = !isRunning;
        clearTimeout(following);
        if (isRunning) {
            byId("real-status").textContent = answer.progress;
            if (answer.done === null) byId("real-progress").removeAttribute("value");
            else byId("real-progress").value = answer.done;
            following = setTimeout(() => real(() => ask("/real/state")), POLL_MS);
            return;
        }
        const texts = { idle: "", cancelled: "Cancelled.", failed: "", done: "Done." };
        byId("real-status").textContent = texts[answer.state];
        realProblem(answer.state === "failed" ? answer.message : null);
        if (answer.state === "done") measured = answer;
        showMeasured();
        drawCurves();
    }

    /** The result of the last run; where it belongs to other settings, a way back to them. */
    function showMeasured() {
        const place = byId("real-result");
        if (measured === null) return;
        if (!measuredFits()) {
            const back = element("button", { type: "button" }, "Back to them");
            back.addEventListener("click", () => {
                apply(measured.settings);
                changed();
            });
            place.replaceChildren(element("p", {}, "The last run was made with other settings. ", back));
            return;
        }
        place.replaceChildren(...measured.loops.map(loop => element("div", {},
            element("h3", {}, loop.name),
            element("p", {}, verdictText("truetail's verdict is", loop.verdict)),
            element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `${loop.name}, measured and simulated` },
                table(loop.table, `${loop.name}: response time, measured and simulated`)),
        )));
    }

    // ---- Begin

    apply(presets[0].settings);
    if (location.hash.length > 1) apply(location.hash.slice(1));
    changed();
    real(() => ask("/real/state"));
})();
