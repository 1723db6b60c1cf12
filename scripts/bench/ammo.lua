-- Requests of a file for wrk, one after another as they stand, and again from
-- the first: phantom ammo, "SIZE [TAG]" and a request of SIZE bytes.
--   wrk -t1 -c64 -d4s -s scripts/bench/ammo.lua http://127.0.0.1:8090 -- set/ammo/phase_1_get.ammo
local requests, last = {}, 0

function init(args)
  local file = assert(io.open(assert(args[1], "name a file of ammo after --"), "rb"))
  local text = file:read("*a")
  file:close()
  local at = 1
  while true do
    at = text:find("[^\r\n]", at) -- blank lines between records
    if not at then break end
    local _, eol, size = text:find("^(%d+)[^\n]*\n", at)
    size = tonumber(size) or error("byte " .. at - 1 .. ": a line SIZE [TAG] should be here")
    if size == 0 then break end -- ends the file early
    at = eol + 1 + size
    assert(at <= #text + 1, "the last request is not whole")
    requests[#requests + 1] = text:sub(eol + 1, at - 1)
  end
  assert(#requests > 0, "there is no request in it")
end

function request()
  last = last % #requests + 1
  return requests[last]
end
