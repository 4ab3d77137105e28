-- Sends requests that stand whole in a file, one after another; reports as one line of JSON.
-- wrk ... -s load.lua URL -- FILE [once]
local all = {}

function setup(thread)
  table.insert(all, thread)
end

function init(args)
  requests, at, over = {}, 0, 0
  once = args[2] == "once"
  local file = assert(io.open(args[1], "rb"))
  for request in file:read("*a"):gmatch("[^\1]+") do
    requests[#requests + 1] = request
  end
  file:close()
end

function request()
  at = at + 1
  if at > #requests then
    if once then over = over + 1 end
    at = 1
  end
  return requests[at]
end

function done(summary, latency, _)
  local again = 0
  for _, thread in ipairs(all) do again = again + thread:get("over") end
  local errors = summary.errors
  io.write(string.format(
    'BENCH {"requests":%d,"seconds":%.6f,"bytes":%d,"p50":%.3f,"p99":%.3f,"status":%d,"socket":%d,"again":%d}\n',
    summary.requests, summary.duration / 1e6, summary.bytes,
    latency:percentile(50) / 1e3, latency:percentile(99) / 1e3, errors.status,
    errors.connect + errors.read + errors.write + errors.timeout, again))
end
