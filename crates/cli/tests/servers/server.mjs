// The server of Node's standard library, which answers as asked.rs expects:
//
//     node server.mjs LOG CERTIFICATE KEY MOST
//
// says its origins in one line, writes "METHOD PATH STATUS CLIENT-PORT" to LOG for each answer, and closes a connection
// after MOST requests, where that is not 0. SIGTERM ends it.

import { openSync, readFileSync, writeSync } from 'node:fs';
import * as http from 'node:http';
import * as https from 'node:https';

const [logName, certificate, key, most] = process.argv.slice(2);
const log = openSync(logName, 'w');
const large = 'x'.repeat(200_000);

function answer(request, response) {
    const port = request.socket.remotePort;
    response.on('finish', () => writeSync(log, `${request.method} ${request.url} ${response.statusCode} ${port}\n`));
    switch (request.url) {
        case '/sized':
            return response.end('hello\n');
        case '/large':
            return response.writeHead(200, { 'Content-Length': large.length }).end(large);
        case '/chunked':
            response.write('one, ');
            return response.end('two\n');
        case '/posted':
            request.resume();
            return request.on('end', () => response.writeHead(201).end('made\n'));
        case '/empty':
            return response.writeHead(204).end();
        case '/moved':
            return response.writeHead(302, { Location: '/sized' }).end();
        case '/same':
            return response.writeHead(request.headers['if-none-match'] === '*' ? 304 : 200).end();
        case '/broken':
            return response.writeHead(500).end('broken\n');
        default:
            return response.writeHead(404).end('missing\n');
    }
}

const servers = [
    http.createServer(answer),
    https.createServer({ cert: readFileSync(certificate), key: readFileSync(key) }, answer),
];
for (const server of servers) {
    server.maxRequestsPerSocket = Number(most);
}
const listening = servers.map((server) => new Promise((listens) => server.listen(0, '127.0.0.1', listens)));
await Promise.all(listening);
console.log(servers.map((server, of) => `${['http', 'https'][of]}://127.0.0.1:${server.address().port}`).join(' '));
process.on('SIGTERM', () => {
    for (const server of servers) {
        server.close();
        server.closeIdleConnections();
    }
});
