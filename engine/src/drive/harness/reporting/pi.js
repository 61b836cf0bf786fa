// Written by orange for one of its agents: reports what pi does. It changes nothing, and no error of it reaches pi.
import { spawn } from "node:child_process"

const LIMIT = /rate.?limit|too many requests|quota|usage limit|overloaded|\b(429|5\d\d)\b/i

// pi tries again by itself, after 8 seconds at most, and tells no extension so.
const TRIES_AGAIN = 20_000

export default function (pi) {
  const program = process.env.ORANGE_PROGRAM
  if (!program || !process.env.ORANGE_SPAWN) return

  let tokens = 0
  let cost = 0
  let failure
  let later
  let last = Promise.resolve()

  const call = (event) =>
    new Promise((done) => {
      const child = spawn(program, ["agent", "event"], { stdio: ["pipe", "ignore", "ignore"] })
      child.stdin.on("error", () => {})
      child.on("error", done)
      child.on("close", done)
      child.stdin.end(JSON.stringify(event))
    })

  // One after the other: notes stand in the order of what happened.
  const report = (ctx, hook_event_name, more = {}) => {
    const event = {
      hook_event_name,
      session_id: ctx.sessionManager?.getSessionId?.(),
      transcript_path: ctx.sessionManager?.getSessionFile?.(),
      tokens: tokens || undefined,
      cost: Math.round(cost * 1e6) || undefined,
      ...more,
    }
    last = last.then(() => call(event))
    return last
  }

  const fail = (ctx) => {
    clearTimeout(later)
    if (failure === undefined) return
    const error = LIMIT.test(failure) ? "rate_limit" : "error"
    report(ctx, "StopFailure", { error, last_assistant_message: failure })
    failure = undefined
  }

  const on = (name, act) =>
    pi.on(name, async (event, ctx) => {
      try {
        await act(event, ctx)
      } catch {}
    })

  on("session_start", (_, ctx) => void report(ctx, "SessionStart"))
  on("agent_start", (_, ctx) => {
    clearTimeout(later)
    failure = undefined
    report(ctx, "UserPromptSubmit")
  })
  on("tool_call", (event, ctx) => void report(ctx, "PreToolUse", { tool_name: event.toolName, tool_input: event.input }))
  on("tool_result", (event, ctx) => void report(ctx, "PostToolUse", { tool_name: event.toolName, tool_input: event.input }))
  on("message_end", ({ message }) => {
    if (message.role !== "assistant") return
    tokens += message.usage?.totalTokens ?? 0
    cost += message.usage?.cost?.total ?? 0
  })
  on("agent_end", ({ messages }, ctx) => {
    const message = messages.findLast((message) => message.role === "assistant")
    if (message?.stopReason === "aborted") return void report(ctx, "Interrupt")
    if (message?.stopReason !== "error") return void report(ctx, "Stop")
    failure = message.errorMessage ?? "an error"
    later = setTimeout(() => fail(ctx), TRIES_AGAIN)
  })
  on("session_shutdown", async ({ reason }, ctx) => {
    fail(ctx)
    await report(ctx, "SessionEnd", { reason })
  })
}
