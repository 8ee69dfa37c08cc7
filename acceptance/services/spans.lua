-- Spans of nginx, as OTLP over HTTP in JSON. Debian's nginx has no module for OpenTelemetry, and the one of nginx itself speaks only
-- gRPC. A span lasts from the head of the request to the last byte of its answer. nginx's own clock counts milliseconds, and an answer
-- takes about one, so the span has the clock of the system.
local ffi = require "ffi"
ffi.cdef [[
    struct truetail_time { long seconds; long nanos; };
    int clock_gettime(int clock, struct truetail_time *time);
]]
local time = ffi.new("struct truetail_time")

-- The time since 1970 as OTLP writes it, in nanoseconds.
local function now()
    ffi.C.clock_gettime(0, time)
    return string.format("%d%09d", tonumber(time.seconds), tonumber(time.nanos))
end

local M = {}
local waiting = {}

local SPAN = '{"traceId":"%s","spanId":"%s","parentSpanId":"%s","name":"proxy","kind":2,'
    .. '"startTimeUnixNano":"%s","endTimeUnixNano":"%s"}'
local HEAD = '{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"nginx"}}]},'
    .. '"scopeSpans":[{"scope":{"name":"spans.lua"},"spans":['

local function send(host, port)
    if #waiting == 0 then return end
    local socket = ngx.socket.tcp()
    if not socket:connect(host, port) then return end
    local body = HEAD .. table.concat(waiting, ",") .. "]}]}]}"
    waiting = {}
    socket:send("POST /v1/traces HTTP/1.1\r\nHost: " .. host .. "\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: "
        .. #body .. "\r\n\r\n" .. body)
    socket:receive("*a")
    socket:close()
end

function M.start(host, port)
    math.randomseed(ngx.now() * 1000 + ngx.worker.pid())
    ngx.timer.every(0.5, function() send(host, port) end)
end

-- Gives the service this span as the parent.
function M.begin()
    local trace, parent, flags = string.match(ngx.var.http_traceparent or "", "^00%-(%x+)%-(%x+)%-(%x%x)$")
    if not trace or flags ~= "01" then return end
    local id = string.format("%08x%08x", math.random(1, 0x7fffffff), math.random(1, 0x7fffffff))
    ngx.ctx.span = { trace = trace, parent = parent, id = id, start = now() }
    ngx.req.set_header("traceparent", "00-" .. trace .. "-" .. id .. "-" .. flags)
end

function M.finish()
    local span = ngx.ctx.span
    if not span then return end
    waiting[#waiting + 1] = string.format(SPAN, span.trace, span.id, span.parent, span.start, now())
end

return M
