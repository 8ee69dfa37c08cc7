// Figures, written as crates/analysis/src/figures.rs and crates/report/src/number.rs write them.

/** Rounds to `decimals`, exact ties to the even digit, as Rust does. `value` is not negative. */
function fixed(value, decimals) {
    const [whole, rest] = value.toFixed(60).split(".");
    const kept = whole + rest.slice(0, decimals);
    const isTie = /^50*$/.test(rest.slice(decimals));
    if (!isTie || Number(kept.at(-1)) % 2 === 1) return value.toFixed(decimals);
    return decimals === 0 ? whole : `${whole}.${rest.slice(0, decimals)}`;
}

function fourDigits(value) {
    return fixed(value, value < 9.9995 ? 3 : value < 99.995 ? 2 : value < 999.95 ? 1 : 0);
}

const withoutZeros = number => number.includes(".") ? number.replace(/\.?0+$/, "") : number;

function timeParts(ns) {
    const units = [["ns", 1, 999.5], ["µs", 1e3, 999.95], ["ms", 1e6, 999.95]];
    const [unit, length] = units.find(([, length, end]) => ns / length < end) ?? ["s", 1e9];
    return [length === 1 ? fixed(ns, 0) : fourDigits(ns / length), unit];
}

const time = ns => timeParts(ns).join("");

/** Without trailing zeros, for ticks. */
const roundTime = ns => timeParts(ns).map(withoutZeros).join("");

function timeRange(low, high) {
    const [[from, unit], [to, other]] = [timeParts(low), timeParts(high)];
    return unit === other ? `${from}…${to}${unit}` : `${from}${unit}…${to}${other}`;
}

const rate = perSecond => `${withoutZeros(fourDigits(Math.max(0, perSecond)))}/s`;

const quantileName = q => q >= 1 ? "max" : `p${Math.round(q * 1e6) / 1e4}`;

const count = n => String(Math.round(n));

function share(part) {
    const percent = part * 100;
    if (percent > 0 && percent < 0.1) return "<0.1%";
    if (percent > 99.9 && percent < 100) return ">99.9%";
    const decimal = (percent > 0 && percent < 9.95) || (percent > 99 && percent < 100);
    return `${fixed(percent, decimal ? 1 : 0)}%`;
}

const plain = value => withoutZeros(value.toFixed(6));
