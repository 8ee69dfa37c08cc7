// Scales and their ticks.

const linear = { of: value => value, back: value => value };
const log = { of: value => Math.log10(Math.max(value, 1e-300)), back: place => 10 ** place };

/** A function from values to pixels. */
function mapping(scale, from, to, start, end) {
    const first = scale.of(from);
    const factor = (end - start) / (scale.of(to) - first || 1);
    return value => start + (scale.of(value) - first) * factor;
}

/** Multiples of 1, 2 or 5 times a power of ten. */
function linearTicks(from, to, most) {
    const rough = (to - from) / Math.max(1, most);
    if (!(rough > 0)) return [];
    const base = 10 ** Math.floor(Math.log10(rough) + 1e-9);
    return multiples(from, to, [1, 2, 5, 10].map(by => by * base).find(step => step >= rough * 0.999));
}

function multiples(from, to, step) {
    const ticks = [];
    for (let n = Math.ceil(from / step - 1e-9); n * step <= to * (1 + 1e-9); n++) ticks.push(n * step);
    return ticks;
}

/** Powers of ten; over less than two of them also 2 and 5 times these. */
function logTicks(from, to) {
    const named = to / from < 100 ? [1, 2, 5] : [1];
    const ticks = [];
    for (let power = 10 ** Math.floor(Math.log10(from) + 1e-9); power <= to; power *= 10) {
        ticks.push(...named.map(by => by * power).filter(at => at >= from * 0.999 && at <= to * 1.001));
    }
    return ticks.length > 1 ? ticks : linearTicks(from, to, 3).filter(at => at > 0);
}
