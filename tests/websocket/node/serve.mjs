// A WebSocket echo over HTTP/2 (RFC 8441), as the server of the Go folder is over HTTP/1.1: it answers nothing during one
// stall, and counts its messages. Node's standard library speaks HTTP/2; the frames of WebSocket are read here.

import * as http2 from 'node:http2';

const options = Object.fromEntries(process.argv.slice(2).map((option) => option.replace(/^-+/, '').split('=')));
const milliseconds = (text) => (text ? Number.parseFloat(text) * (text.endsWith('ms') ? 1 : 1000) : 0);
const stallAt = milliseconds(options['stall-at']);
const stallEnd = stallAt + milliseconds(options['stall-for']);
const counts = { messages: 0, channels: 0, connections: 0, closes: 0 };
let begun;

// Returns how long an answer must wait. The clock starts at the first message.
function count() {
    const now = performance.now();
    begun ??= now;
    counts.messages += 1;
    const since = now - begun;
    return since < stallAt || since >= stallEnd ? 0 : begun + stallEnd - now;
}

// Returns the first frame of a client in `bytes`, and the bytes after it; undefined if it is not complete.
function frame(bytes) {
    if (bytes.length < 2) return undefined;
    const short = bytes[1] & 0x7f;
    const at = short === 127 ? 10 : short === 126 ? 4 : 2;
    if (bytes.length < at + 4) return undefined;
    const length = short === 127 ? Number(bytes.readBigUInt64BE(2)) : short === 126 ? bytes.readUInt16BE(2) : short;
    const end = at + 4 + length;
    if (bytes.length < end) return undefined;
    const payload = Buffer.from(bytes.subarray(at + 4, end));
    for (let i = 0; i < length; i += 1) payload[i] ^= bytes[at + (i & 3)];
    return { opcode: bytes[0] & 0x0f, payload, rest: bytes.subarray(end) };
}

// Returns a whole message as a frame of a server.
function framed(opcode, payload) {
    const head = Buffer.alloc(payload.length < 126 ? 2 : payload.length < 65_536 ? 4 : 10);
    head[0] = 0x80 | opcode;
    head[1] = payload.length < 126 ? payload.length : payload.length < 65_536 ? 126 : 127;
    if (head.length === 4) head.writeUInt16BE(payload.length, 2);
    if (head.length === 10) head.writeBigUInt64BE(BigInt(payload.length), 2);
    return Buffer.concat([head, payload]);
}

const server = http2.createServer({ settings: { enableConnectProtocol: true } });
server.on('session', () => (counts.connections += 1));
server.on('stream', (stream, headers) => {
    const isWebSocket = headers[':method'] === 'CONNECT' && headers[':protocol'] === 'websocket';
    if (!isWebSocket || headers['sec-websocket-version'] !== '13') return stream.respond({ ':status': 400 }, { endStream: true });
    counts.channels += 1;
    const chosen = headers['sec-websocket-protocol']?.split(',')[0].trim();
    stream.respond({ ':status': 200, ...(chosen && { 'sec-websocket-protocol': chosen }) });
    let bytes = Buffer.alloc(0);
    stream.on('error', () => {});
    stream.on('data', (chunk) => {
        bytes = Buffer.concat([bytes, chunk]);
        for (let next = frame(bytes); next; next = frame(bytes)) {
            const { opcode, payload, rest } = next;
            bytes = rest;
            if (opcode === 8) {
                counts.closes += 1;
                return stream.end(framed(8, payload));
            }
            const wait = count();
            const answer = () => stream.writable && stream.write(framed(opcode, payload));
            if (wait > 0) setTimeout(answer, wait);
            else answer();
        }
    });
});
const [host, port] = (options.listen ?? '127.0.0.1:0').split(':');
server.listen(Number(port), host, () => console.log(`${host}:${server.address().port}`));
process.on('SIGTERM', () => {
    console.log(JSON.stringify(counts));
    process.exit(0);
});
