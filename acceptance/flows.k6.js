// The flow of scenarios/07-login-that-stalls/shop.hurl as a script of k6, for acceptance/flows.py.
import http from 'k6/http';
import { check, sleep } from 'k6';
import { Trend } from 'k6/metrics';

const session = new Trend('session_time', true);

export const options = {
  scenarios: {
    shop: {
      executor: 'constant-arrival-rate',
      rate: 50,
      timeUnit: '1s',
      duration: '60s',
      preAllocatedVUs: Number(__ENV.USERS),
      maxVUs: Number(__ENV.USERS),
    },
  },
  summaryTrendStats: ['avg', 'med', 'p(90)', 'p(99)', 'max'],
};

// An iteration as k6 measures it, from when it begins, less the planned think time.
export default function () {
  const began = Date.now();
  const login = http.post(`${__ENV.HOST}/login`, { user: 'ann' });
  if (!check(login, { 'login is 200': (answer) => answer.status === 200 })) return;
  const headers = { Authorization: `Bearer ${login.body}` };
  sleep(0.5);
  check(http.get(`${__ENV.HOST}/items`, { headers }), { 'list is 200': (answer) => answer.status === 200 });
  sleep(1);
  const order = { headers: { ...headers, 'Content-Type': 'application/json' } };
  check(http.post(`${__ENV.HOST}/orders`, '{"item": 7}', order), { 'buy is 200': (answer) => answer.status === 200 });
  session.add(Date.now() - began - 1500);
}
