// The controls: sliders with boxes for exact numbers, choices, and groups that are switched on together.

/** Steps of a slider. */
const STEPS = 1000;

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
