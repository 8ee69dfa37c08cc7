// Runs on real sockets.

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
    // The measured curves come with the simulated ones.
    if (measuredFits()) changed();
}

/** The result of the last run; where it belongs to other settings, a way back to them. */
function showMeasured() {
    const place = byId("real-result");
    if (measured === null) return;
    if (!measuredFits()) {
        const back = html("button", { type: "button" }, "Back to them");
        back.addEventListener("click", () => {
            apply(measured.settings);
            changed();
        });
        place.replaceChildren(html("p", {}, "The last run was made with other settings. ", back));
        return;
    }
    place.replaceChildren(...measured.loops.map(loop => html("div", {},
        html("h3", {}, loop.name),
        html("p", {}, verdictText("truetail's verdict is", loop.verdict)),
        html("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `${loop.name}, measured and simulated` },
            table(loop.table, `${loop.name}: response time, measured and simulated`)),
    )));
}
