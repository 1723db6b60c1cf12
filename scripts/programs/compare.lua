-- For wrk in programs.sh: compares every answer's body with a file.
--   wrk -s compare.lua URL -- FILE
local threads = {}

function setup(thread)
  threads[#threads + 1] = thread
end

function init(args)
  local file = assert(io.open(args[1], "rb"))
  want = file:read("*a")
  file:close()
  wrong = 0
end

function response(status, headers, body)
  if status ~= 200 or body ~= want then
    wrong = wrong + 1
  end
end

function done()
  local sum = 0
  for _, thread in ipairs(threads) do
    sum = sum + thread:get("wrong")
  end
  print("Wrong: " .. sum)
end
