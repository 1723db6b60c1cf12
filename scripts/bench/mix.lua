-- The contest's mix of reads, for wrk, over a set of redoubt gen's default size.
--   wrk -t1 -c64 -d4s --latency -s scripts/bench/mix.lua http://127.0.0.1:8090
math.randomseed(1)
local users, locations, visits = 10000, 7600, 100000

function request()
  local kind = math.random(100)
  if kind <= 25 then return wrk.format("GET", "/users/" .. math.random(users)) end
  if kind <= 45 then return wrk.format("GET", "/locations/" .. math.random(locations)) end
  if kind <= 65 then return wrk.format("GET", "/visits/" .. math.random(visits)) end
  if kind <= 85 then
    return wrk.format("GET", "/users/" .. math.random(users) .. "/visits?fromDate=1200000000&toDistance=50")
  end
  return wrk.format("GET", "/locations/" .. math.random(locations) .. "/avg?toAge=40&gender=f")
end
