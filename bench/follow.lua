-- Follows and unfollows: each line of a file is a token, its user and whom the user follows; the
-- users act by turns, and each ends and begins the follow by turns.
-- wrk ... -s follow.lua URL -- LINES RUN HOST
function setup(_) end

function init(args)
  edges, at, host = {}, 0, args[3]
  for line in io.lines(args[1]) do
    local token, source, target = line:match("(%S+) (%S+) (%S+)")
    local own = "/2/users/" .. source .. "/following"
    local head = " HTTP/1.1\r\nHost: " .. host .. "\r\nAuthorization: Bearer " .. token .. "\r\n"
    local body = '{"target_user_id":"' .. target .. '"}'
    edges[#edges + 1] = {
      [0] = "DELETE " .. own .. "/" .. target .. head .. "\r\n",
      [1] = "POST " .. own .. head .. "Content-Type: application/json\r\nContent-Length: "
        .. #body .. "\r\n\r\n" .. body,
    }
  end
end

function request()
  local edge = edges[at % #edges + 1]
  local turn = math.floor(at / #edges) % 2
  at = at + 1
  return edge[turn]
end

function done(summary, latency, _)
  local errors = summary.errors
  io.write(string.format(
    'BENCH {"requests":%d,"seconds":%.6f,"bytes":%d,"p50":%.3f,"p99":%.3f,"status":%d,"socket":%d,"again":0}\n',
    summary.requests, summary.duration / 1e6, summary.bytes,
    latency:percentile(50) / 1e3, latency:percentile(99) / 1e3, errors.status,
    errors.connect + errors.read + errors.write + errors.timeout))
end
