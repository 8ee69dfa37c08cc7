// OpenTelemetry's SDK, as its documentation sets it up: node --require ./tracing.cjs serve.cjs
const { NodeSDK } = require("@opentelemetry/sdk-node");
const { HttpInstrumentation } = require("@opentelemetry/instrumentation-http");
const { PgInstrumentation } = require("@opentelemetry/instrumentation-pg");

new NodeSDK({ instrumentations: [new HttpInstrumentation(), new PgInstrumentation()] }).start();
