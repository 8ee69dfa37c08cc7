-- Spans of nginx, as OTLP over HTTP in JSON. Debian's nginx has no module for OpenTelemetry, and the one of nginx itself speaks only
-- gRPC. A span lasts from the first byte of the request to the last of its answer, by nginx's own clock.
local M = {}
local waiting = {}

local SPAN = '{"traceId":"%s","spanId":"%s","parentSpanId":"%s","name":"proxy","kind":2,'
    .. '"startTimeUnixNano":"%.0f000000","endTimeUnixNano":"%.0f000000"}'
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
    ngx.ctx.span = { trace = trace, parent = parent, id = id }
    ngx.req.set_header("traceparent", "00-" .. trace .. "-" .. id .. "-" .. flags)
end

function M.finish()
    local span = ngx.ctx.span
    if not span then return end
    ngx.update_time()
    waiting[#waiting + 1] = string.format(SPAN, span.trace, span.id, span.parent, ngx.req.start_time() * 1000, ngx.now() * 1000)
end

return M
