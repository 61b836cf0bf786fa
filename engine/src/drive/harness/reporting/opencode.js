// Written by orange for one of its agents: reports what opencode does. It changes nothing, and no error of it reaches opencode.
import { spawn } from "node:child_process"

const LIMIT = /rate.?limit|too many requests|quota|usage limit|overloaded|\b(429|5\d\d)\b/i

const INSTALLS = [
  ["npm_config_fetch_retries", "0"],
  ["npm_config_fetch_timeout", "20000"],
]

// opencode answers some requests by itself, at once: these are not reported.
const BY_ITSELF = 300

export const Orange = async ({ client }) => {
  const program = process.env.ORANGE_PROGRAM
  if (!program || !process.env.ORANGE_SPAWN) return {}

  // These kept its start short. They are not for what it starts.
  for (const [name, value] of INSTALLS) if (process.env[name] === value) delete process.env[name]

  const children = new Set() // sessions of subagents
  const spent = new Map() // what each message has taken
  const open = new Map() // requests that nobody has answered
  const questions = new Map()
  let failed = false
  let last = Promise.resolve()

  const total = (key) => [...spent.values()].reduce((sum, message) => sum + message[key], 0) || undefined

  const call = (event, args, started) =>
    new Promise((done) => {
      const child = spawn(program, ["agent", "event", ...args], { stdio: ["pipe", "pipe", "ignore"] })
      started?.(child)
      let said = ""
      child.stdout.on("data", (data) => (said += data))
      child.stdin.on("error", () => {})
      child.on("error", () => done(""))
      child.on("close", () => done(said))
      child.stdin.end(JSON.stringify({ ...event, tokens: total("tokens"), cost: total("cost") }))
    })

  // One after the other: notes stand in the order of what happened.
  const report = (hook_event_name, more = {}) => {
    last = last.then(() => call({ hook_event_name, ...more }, []))
    return last
  }

  const reply = async (id, decision) => {
    const body =
      decision.behavior === "allow" ? { reply: "once" } : { reply: "reject", message: decision.message }
    await client._client.post({ url: `/permission/${id}/reply`, body, headers: { "Content-Type": "application/json" } })
  }

  const ask = async ({ id, permission, patterns, metadata }) => {
    const request = { child: undefined }
    open.set(id, request)
    await new Promise((done) => setTimeout(done, BY_ITSELF))
    await last
    if (!open.has(id)) return
    // More than one part says that the command is not all that the tool gets, such as its folder.
    const tool_input = { command: metadata?.command ?? (patterns ?? []).join(", "), patterns: patterns ?? [] }
    const event = { hook_event_name: "PermissionRequest", tool_name: permission, tool_input }
    const said = await call(event, ["--hold"], (child) => (request.child = child))
    if (!said || !open.delete(id)) return
    await reply(id, JSON.parse(said).hookSpecificOutput.decision)
  }

  const answered = (id) => {
    const request = open.get(id)
    open.delete(id)
    request?.child?.kill("SIGKILL")
  }

  const error = ({ name, data }) => {
    const message = data?.message ?? name ?? "an error"
    if (name === "MessageAbortedError") return report("Interrupt")
    const isLimit = data?.statusCode === 429 || data?.statusCode >= 500 || LIMIT.test(message)
    return report("StopFailure", { error: isLimit ? "rate_limit" : name, last_assistant_message: message })
  }

  const happened = ({ type, properties }) => {
    const { sessionID, info, status } = properties ?? {}
    const isOwn = !children.has(sessionID)
    switch (type) {
      case "session.created":
        if (info?.parentID) children.add(info.id)
        return
      case "message.updated":
        if (info?.tokens) {
          const { input = 0, output = 0, reasoning = 0, cache = {} } = info.tokens
          const tokens = input + output + reasoning + (cache.read ?? 0) + (cache.write ?? 0)
          spent.set(info.id, { tokens, cost: Math.round((info.cost ?? 0) * 1e6) })
        }
        return
      case "session.status":
        if (isOwn && status?.type === "retry")
          return report("PreToolUse", { tool_name: "it tries again", tool_input: { command: status.message } })
        return
      case "session.error":
        if (!isOwn || failed) return
        failed = true
        return error(properties.error ?? {})
      case "session.compacted":
        // The conversation was too long. It is shorter now, and goes on.
        if (!isOwn) return
        failed = false
        return report("UserPromptSubmit", { session_id: sessionID })
      case "session.idle":
        if (isOwn && !failed) return report("Stop", { session_id: sessionID })
        return
      case "permission.asked":
        return ask(properties)
      case "permission.replied":
        return answered(properties.requestID ?? properties.permissionID)
      case "question.asked":
        questions.set(properties.id, { questions: properties.questions })
        return report("Elicitation", { tool_name: "question", tool_input: questions.get(properties.id) })
      case "question.replied":
      case "question.rejected":
        return report("PostToolUse", { tool_name: "question", tool_input: questions.get(properties.requestID) })
    }
  }

  const quietly = (act) => async (...given) => {
    try {
      Promise.resolve(act(...given)).catch(() => {})
    } catch {}
  }

  report("SessionStart")
  return {
    event: quietly(({ event }) => happened(event)),
    "chat.message": quietly(({ sessionID }) => {
      if (children.has(sessionID)) return
      failed = false
      return report("UserPromptSubmit", { session_id: sessionID })
    }),
    "tool.execute.before": quietly(({ tool }, { args }) => report("PreToolUse", { tool_name: tool, tool_input: args })),
    "tool.execute.after": quietly(({ tool, args }) => report("PostToolUse", { tool_name: tool, tool_input: args })),
    // What the agent starts is not this agent.
    "shell.env": async (_, { env }) => {
      env.OPENCODE_CONFIG_CONTENT = ""
    },
  }
}
