-- Run in each state of a script with session(s), before the script. The host gives functions and the words of its moves.
local host = host
local running, yield = coroutine.running, coroutine.yield
local Session, Answer, Headers, OWNER, METHOD, REPLY = {}, {}, {}, {}, {}, {}
local numbers, known = {}, ""
Session.__index = Session

json = { encode = host.encode, decode = host.decode, null = host.null }

local function own(s)
  if type(s) ~= "table" or running() ~= s.thread then
    error("write it with a colon, as in s:get(\"/\"), in the session itself and in no other coroutine", 3)
  end
end

local function step_named(name)
  local number = numbers[name]
  if not number then
    error("there is no step '" .. tostring(name) .. "'; steps has " .. known, 3)
  end
  return number
end

local function check_headers(headers)
  if headers == nil then
    return
  end
  if type(headers) ~= "table" then
    error("the headers are a " .. type(headers) .. ", and must be a table, such as { Accept = \"*/*\" }", 3)
  end
  for name, value in pairs(headers) do
    if type(name) ~= "string" or type(value) ~= "string" and type(value) ~= "number" then
      error("the header " .. tostring(name) .. " is a " .. type(value) .. "; names and values are strings", 3)
    end
  end
end

local function send(s, step, method, path, body, headers)
  local think = s.think
  s.named, s.think = nil, 0
  local status, fields, content, elapsed = yield(host.ASK, step, think, method, path, body, headers)
  local answer = { status = status, headers = setmetatable(fields, Headers), body = content, elapsed = elapsed }
  answer[OWNER] = s.thread
  return setmetatable(answer, Answer)
end

-- Refuses a function of another protocol.
local function refuse_unless(is_there, wanted)
  if is_there then
    return
  end
  local help = "the URL is one of HTTP, so a session makes requests; write s:get(\"/\")"
  if host.call_body then
    help = "the URL begins with grpc, so a session makes calls; write s:call(\"package.Service/Method\", { … })"
  elseif host.redis_command then
    help = "the URL begins with redis, so a session sends commands; write s:command(\"GET\", \"key\")"
  elseif host.refused_message then
    help = "the URL is that of a channel, so a session sends messages; write s:send(\"…\")"
  end
  error(wanted .. help, 3)
end

local function ask(s, method, path, body, headers)
  own(s)
  refuse_unless(not host.call_body and not host.redis_command and not host.refused_message, "")
  if type(method) ~= "string" or type(path) ~= "string" then
    error("the path is a " .. type(path) .. ", and must be a string, such as \"/items\"", 2)
  end
  if body ~= nil and type(body) ~= "string" and type(body) ~= "number" then
    error("the body is a " .. type(body) .. ", and must be a string; json.encode(value) makes one", 2)
  end
  check_headers(headers)
  return send(s, s.named or step_named(method .. " " .. path:match("^[^?#]*")), method, path, body, headers)
end

function Session:request(method, path, body, headers)
  return ask(self, method, path, body, headers)
end

function Session:get(path, headers)
  return ask(self, "GET", path, nil, headers)
end

function Session:head(path, headers)
  return ask(self, "HEAD", path, nil, headers)
end

function Session:post(path, body, headers)
  return ask(self, "POST", path, body, headers)
end

function Session:put(path, body, headers)
  return ask(self, "PUT", path, body, headers)
end

function Session:patch(path, body, headers)
  return ask(self, "PATCH", path, body, headers)
end

function Session:delete(path, body, headers)
  return ask(self, "DELETE", path, body, headers)
end

function Session:call(method, message, metadata)
  own(self)
  refuse_unless(host.call_body, "calls need a URL with grpc:// or grpcs://; ")
  if type(method) ~= "string" then
    error("the method is a " .. type(method) .. ", and must be a string, such as \"shop.Cart/Add\"", 2)
  end
  if message ~= nil and type(message) ~= "table" then
    error("the message is a " .. type(message) .. ", and must be a table, such as { name = \"a\" }", 2)
  end
  check_headers(metadata)
  local body, problem = host.call_body(method, host.encode(message or {}))
  if problem then
    error(problem, 2)
  end
  local answer = send(self, self.named or step_named(method), "POST", "/" .. method, body, metadata)
  answer[METHOD] = method
  return answer
end

function Session:send(message)
  own(self)
  refuse_unless(host.refused_message, "messages need a URL with ws://, wss://, tcp:// or tls://; ")
  if type(message) ~= "string" and type(message) ~= "number" then
    error("the message is a " .. type(message) .. ", and must be a string; json.encode(value) makes one", 2)
  end
  local problem = host.refused_message(message)
  if problem then
    error(problem, 2)
  end
  return send(self, self.named or step_named("send"), "", "", message)
end

function Session:command(...)
  own(self)
  refuse_unless(host.redis_command, "commands need a URL with redis:// or rediss://; ")
  local words = { ... }
  for nth = 1, math.max(select("#", ...), 1) do
    local word = words[nth]
    if type(word) ~= "string" and type(word) ~= "number" then
      error("word " .. nth .. " of the command is a " .. type(word) .. ", and must be a string or a number", 2)
    end
  end
  local answer = send(self, self.named or step_named(tostring(words[1])), "", "", host.redis_command(...))
  answer[REPLY] = true
  return answer
end

function Session:step(name)
  own(self)
  self.named = step_named(name)
  return self
end

function Session:sleep(seconds)
  own(self)
  if type(seconds) ~= "number" or not (seconds >= 0 and seconds < math.huge) then
    error("s:sleep takes a number of seconds, such as s:sleep(0.1)", 2)
  end
  self.think = self.think + seconds
end

function Session:check(holds, name)
  own(self)
  if not holds then
    yield(host.FAIL, "assert", host.place() .. tostring(name or "a check") .. " does not hold")
  end
  return holds
end

function Session:random(from, to)
  own(self)
  local drawn = host.uniform(self.number, self.drawn)
  self.drawn = self.drawn + 1
  if from == nil then
    return drawn
  end
  if to == nil then
    from, to = 1, from
  end
  from, to = math.tointeger(from), math.tointeger(to)
  if not from or not to or from > to then
    error("s:random takes whole numbers, the smaller one first, such as s:random(1, 6)", 2)
  end
  return math.min(from + math.floor(drawn * (to - from + 1.0)), to)
end

function Headers.__index(headers, name)
  return type(name) == "string" and rawget(headers, name:lower()) or nil
end

function Answer.__index(answer, key)
  if key == "json" then
    local value, problem = host.parsed(answer.body)
    if problem then
      error("the body is no JSON: " .. problem, 2)
    end
    rawset(answer, "json", value)
    return value
  end
  if key == "message" and rawget(answer, METHOD) then
    local is_gzip = (answer.headers["grpc-encoding"] or ""):lower() == "gzip"
    local text = answer.status == "OK" and host.call_message(rawget(answer, METHOD), answer.body, is_gzip)
    if not text then
      return nil
    end
    local value = host.decode(text)
    rawset(answer, "message", value)
    return value
  end
  if (key == "value" or key == "error") and rawget(answer, REPLY) then
    answer[REPLY] = nil
    local value, problem = host.redis_value(answer.body)
    rawset(answer, "value", value)
    rawset(answer, "error", problem)
    return rawget(answer, key)
  end
  if key == "body" then
    if running() == rawget(answer, OWNER) then
      yield(host.FAIL, "body_too_long", host.place() .. host.TOO_LONG)
    end
    error(host.TOO_LONG, 2)
  end
end

-- Learns the names of the steps.
function host.learn(names)
  for nth, name in ipairs(names) do
    numbers[name] = nth - 1
  end
  known = "'" .. table.concat(names, "', '") .. "'"
end

-- Returns the coroutine of a session, and its argument.
function host.start(number, row)
  local s = setmetatable({ number = number, row = row, think = 0, drawn = 0 }, Session)
  s.thread = coroutine.create(session)
  return s.thread, s
end
