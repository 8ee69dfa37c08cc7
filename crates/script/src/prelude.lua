-- Run in each state before the script. The host sets wrk.scheme, host, port, method, path, headers, body and thread.
local host = host
wrk = { headers = {} }

function wrk.format(method, path, headers, body)
  headers = headers or wrk.headers
  body = body or wrk.body
  local lines = { (method or wrk.method) .. " " .. (path or wrk.path) .. " HTTP/1.1" }
  if not headers["Host"] then
    lines[2] = "Host: " .. wrk.headers["Host"]
  end
  for name, value in pairs(headers) do
    if name ~= "Content-Length" then
      lines[#lines + 1] = name .. ": " .. value
    end
  end
  if body then
    lines[#lines + 1] = "Content-Length: " .. #body
  end
  lines[#lines + 1] = ""
  lines[#lines + 1] = body or ""
  return table.concat(lines, "\r\n")
end

function wrk.request()
  return wrk.format()
end

-- A script that used up its instructions cannot catch that error.
local function unless_spent(...)
  if host.is_spent() then
    error(host.spent_message(), 0)
  end
  return ...
end

for _, place in ipairs({ { _G, "pcall" }, { _G, "xpcall" }, { coroutine, "resume" } }) do
  local original = place[1][place[2]]
  place[1][place[2]] = function(...)
    return unless_spent(original(...))
  end
end

-- Compiled code could leave the state, so only text is loaded.
local load_text = load
function load(chunk, name, _, ...)
  return load_text(chunk, name, "t", ...)
end

-- wrk and wrk2 run Lua 5.1, which has these names, and whose %d takes a number with a fraction.
unpack = table.unpack
loadstring = load

function math.pow(base, exponent)
  return base ^ exponent
end

function table.getn(list)
  return #list
end

local format = string.format
function string.format(text, ...)
  if type(text) ~= "string" then
    return format(text, ...)
  end
  local values = { ... }
  local nth = 0
  for kind in text:gsub("%%%%", ""):gmatch("%%[-+ #0-9.]*(%a)") do
    nth = nth + 1
    local number = tonumber(values[nth])
    if kind:find("[cdiouxX]") and math.type(number) == "float" then
      values[nth] = number < 0 and math.ceil(number) or math.floor(number)
    end
  end
  return format(text, table.unpack(values, 1, select("#", ...)))
end

wrk.lookup, wrk.connect = host.lookup, host.connect

if not host.allows_io then
  dofile, loadfile = nil, nil
  io = { write = host.write }
  os = { time = host.time, clock = host.clock }
end

function print(...)
  local words = {}
  for nth = 1, select("#", ...) do
    words[nth] = tostring((select(nth, ...)))
  end
  host.write(table.concat(words, "\t"), "\n")
end
