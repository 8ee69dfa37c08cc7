-- Run in each state before the script. The host sets wrk.scheme, host, port, method, path, headers, body and thread.
local host = host
wrk = { headers = {} }
local wrk, next = wrk, next

-- The host replaces it by one that is faster, which calls this one for anything but strings and numbers.
function wrk.format(method, path, headers, body)
  headers = headers or wrk.headers
  body = body or wrk.body
  -- One string of its own, the text of all fields, which Lua keeps once if it is short.
  local fields = ""
  if not headers["Host"] then
    fields = "Host: " .. wrk.headers["Host"] .. "\r\n"
  end
  for name, value in next, headers do
    if name ~= "Content-Length" then
      fields = fields .. name .. ": " .. value .. "\r\n"
    end
  end
  if body then
    fields = fields .. "Content-Length: " .. #body .. "\r\n"
  end
  return (method or wrk.method) .. " " .. (path or wrk.path) .. " HTTP/1.1\r\n" .. fields .. "\r\n" .. (body or "")
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
local known_formats, left = {}, 100

-- Places of the values in a format that must be whole numbers.
local function whole_places(text)
  local places = known_formats[text]
  if places then
    return places
  end
  places = {}
  local nth = 0
  for kind in text:gsub("%%%%", ""):gmatch("%%[-+ #0-9.]*(%a)") do
    nth = nth + 1
    if kind:find("[cdiouxX]") then
      places[#places + 1] = nth
    end
  end
  if left > 0 then
    known_formats[text], left = places, left - 1
  end
  return places
end

local function is_fraction(value)
  return math.type(tonumber(value)) == "float"
end

function string.format(text, ...)
  if type(text) ~= "string" then
    return format(text, ...)
  end
  local values
  for _, nth in ipairs(whole_places(text)) do
    if is_fraction((select(nth, ...))) then
      values = values or { ... }
      local number = tonumber(values[nth])
      values[nth] = number < 0 and math.ceil(number) or math.floor(number)
    end
  end
  if values then
    return format(text, table.unpack(values, 1, select("#", ...)))
  end
  return format(text, ...)
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
