// The server of Node's standard library, which answers as asked.rs expects:
//
//     node server.mjs LOG CERTIFICATE KEY MOST
//
// says its origins in one line, writes "METHOD PATH STATUS CLIENT-PORT" to LOG for each answer, and closes a connection
// after MOST requests, where that is not 0. SIGTERM ends it.

import { openSync, readFileSync, writeSync } from 'node:fs';
import * as http from 'node:http';
import * as http2 from 'node:http2';
import * as https from 'node:https';
import * as tls from 'node:tls';

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

const identity = { cert: readFileSync(certificate), key: readFileSync(key) };
const servers = {
    http: http.createServer(answer),
    https: https.createServer(identity, answer),
    h2c: http2.createServer(answer),
    h2: http2.createSecureServer(identity, answer),
};
const origins = [];
for (const [name, server] of Object.entries(servers)) {
    server.maxRequestsPerSocket = Number(most);
    await new Promise((listens) => server.listen(0, '127.0.0.1', listens));
    const scheme = server instanceof tls.Server ? 'https' : 'http';
    origins.push(`${name}=${scheme}://127.0.0.1:${server.address().port}`);
}
console.log(origins.join(' '));
process.on('SIGTERM', () => {
    for (const server of Object.values(servers)) {
        server.close();
        server.closeIdleConnections?.();
    }
});
