-- Likes posts and takes the likes back, as the users of the tokens in a file by turns: what one
-- connection likes in one request it mostly dislikes in the next, so the rows do not grow.
-- wrk ... -s like.lua URL -- FILE RUN HOST; lines of FILE are `TOKEN USER`, then `POST` alone.
function setup(_) end

function init(args)
  people, posts, at, host = {}, {}, 0, args[3]
  for line in io.lines(args[1]) do
    local token, user = line:match("^(%S+) (%S+)$")
    if token then people[#people + 1] = { token, user } else posts[#posts + 1] = line end
  end
end

function request()
  local pair = math.floor(at / 2)
  local person, post = people[pair % #people + 1], posts[(pair * 7919) % #posts + 1]
  local path, undo = "/2/users/" .. person[2] .. "/likes", at % 2 == 1
  at = at + 1
  local head = " HTTP/1.1\r\nHost: " .. host .. "\r\nAuthorization: Bearer " .. person[1] .. "\r\n"
  if undo then return "DELETE " .. path .. "/" .. post .. head .. "\r\n" end
  local body = '{"tweet_id":"' .. post .. '"}'
  return "POST " .. path .. head .. "Content-Type: application/json\r\nContent-Length: "
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
