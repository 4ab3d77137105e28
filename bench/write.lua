-- Writes posts, each text new, as the users of the tokens in a file by turns.
-- wrk ... -s write.lua URL -- TOKENS RUN HOST
local words = {}

function setup(_) end

function init(args)
  tokens, at, run, host = {}, 0, args[2], args[3]
  for token in io.lines(args[1]) do tokens[#tokens + 1] = token end
  math.randomseed(7)
  for i = 1, 2000 do
    local letters = {}
    for j = 1, math.random(2, 9) do letters[j] = string.char(96 + math.random(26)) end
    words[i] = table.concat(letters)
  end
end

function request()
  at = at + 1
  local parts = {}
  for i = 1, math.random(6, 16) do parts[i] = words[math.random(#words)] end
  if at % 7 == 0 then parts[#parts + 1] = "#" .. words[math.random(100)] end
  parts[#parts + 1] = run .. "x" .. at
  local body = '{"text":"' .. table.concat(parts, " ") .. '"}'
  return "POST /2/tweets HTTP/1.1\r\nHost: " .. host .. "\r\nAuthorization: Bearer "
    .. tokens[at % #tokens + 1] .. "\r\nContent-Type: application/json\r\nContent-Length: "
    .. #body .. "\r\n\r\n" .. body
end

function done(summary, latency, _)
  local errors = summary.errors
  io.write(string.format(
    'BENCH {"requests":%d,"seconds":%.6f,"bytes":%d,"p50":%.3f,"p99":%.3f,"status":%d,"socket":%d,"again":0}\n',
    summary.requests, summary.duration / 1e6, summary.bytes,
    latency:percentile(50) / 1e3, latency:percentile(99) / 1e3, errors.status,
    errors.connect + errors.read + errors.write + errors.timeout))
end
