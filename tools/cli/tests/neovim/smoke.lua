-- Somebody opens a workflow in Neovim, mends it and leaves: `nvim --clean --headless -l smoke.lua CONFIGURATION WORKFLOW`.

local configuration, workflow = arg[1], arg[2]

local function check(what, condition)
  if not condition then
    io.stderr:write("not as expected: " .. what .. "\n")
    vim.cmd("cquit 1")
  end
  print("ok: " .. what)
end

local function wait(what, condition)
  check(what, vim.wait(30000, condition, 10))
end

local function messages()
  return vim.tbl_map(function(it) return it.message end, vim.diagnostic.get(0))
end

vim.cmd("filetype on")
dofile(configuration)
vim.cmd.edit(workflow)

wait("the server is attached", function() return #vim.lsp.get_clients({ bufnr = 0 }) == 1 end)
local client = vim.lsp.get_clients({ bufnr = 0 })[1]
wait("the unknown state is shown", function()
  return vim.iter(messages()):any(function(it) return it:find("`workng`", 1, true) ~= nil end)
end)

vim.fn.search("workng")
vim.cmd.normal({ "ciwworking", bang = true })
wait("the finding is gone after the edit", function() return #vim.diagnostic.get(0) == 0 end)
check("the edit is in the text", vim.api.nvim_get_current_line():find("working", 1, true))

local position = vim.lsp.util.make_position_params(0, client.offset_encoding)
local capabilities = client.server_capabilities
if capabilities.completionProvider then
  local answer = client:request_sync("textDocument/completion", position, 30000, 0)
  local result = answer and answer.result or {}
  local labels = vim.tbl_map(function(it) return it.label end, result.items or result)
  check("the state is proposed", vim.tbl_contains(labels, "working"))
end
if capabilities.renameProvider then
  local before = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), "\n")
  vim.lsp.buf.rename("coding", { bufnr = 0 })
  local function text() return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), "\n") end
  wait("the state has another name everywhere", function() return text() ~= before end)
  check("the old name is gone", text():find("to: working", 1, true) == nil)
end

client:stop()
wait("the server has ended", function() return #vim.lsp.get_clients() == 0 end)
vim.cmd("qall!")
