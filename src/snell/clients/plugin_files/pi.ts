// Snell in Pi: sends every event to `snell-hook` and applies its answer. Written by `snell setup pi`.
//
// Every event runs the command below once: JSON on stdin; on stdout nothing, or an object with some of these keys:
// deny (a reason), input (the changed call), output (the changed text for the model), note and tell.
// Exit code 2 refuses, with the reason on stderr. A command that cannot run, is killed or prints an incomplete answer
// changes nothing, except at the events in REFUSED.
import { spawn } from "node:child_process"

const COMMAND = ["snell-hook"]
const REFUSED: string[] = [] // events that are refused if they cannot be checked
const LONGEST = 630_000 // milliseconds; hooks have their own, shorter limits

type Said = { deny?: string; input?: Record<string, unknown>; output?: string; note?: string; tell?: string }

function report(cwd: string, hook_event_name: string, fields: object): Promise<Said> {
  const payload = JSON.stringify({ hook_event_name, cwd, ...fields })
  return new Promise((answer) => {
    const output: Buffer[] = [], errors: Buffer[] = []
    const [program, ...words] = COMMAND
    const child = spawn(program, [...words, "--client", "pi"], { cwd, timeout: LONGEST })
    const unchecked = (why: string) => answer(REFUSED.includes(hook_event_name) ? { deny: `stopped, because nothing could check it: ${why}` } : {})
    child.on("error", (error: any) => unchecked(`${program}: ${error.message}`))
    child.stdin.on("error", () => {})
    child.stdout.on("data", (part: Buffer) => output.push(part))
    child.stderr.on("data", (part: Buffer) => errors.push(part))
    child.on("close", (code: number | null, signal: any) => {
      const said = Buffer.concat(errors).toString().trim()
      if (code === 2) return answer({ deny: said || "refused by a hook" })
      const text = Buffer.concat(output).toString().trim()
      if (code !== 0) return unchecked(said || `${program} ended with ${code ?? signal}`)
      try { answer(text ? JSON.parse(text) : {}) } catch { unchecked(`${program} printed half an answer`) }
    })
    child.stdin.end(payload)
  })
}

export default function (pi: any) {
  let notes: string[] = [], isContinued = false

  const ask = async (event: string, ctx: any, fields: object): Promise<Said> => {
    const session_id = ctx.sessionManager?.getSessionId?.() ?? ""
    const transcript_path = ctx.sessionManager?.getSessionFile?.() ?? ""
    const said = await report(ctx.cwd ?? process.cwd(), event, { session_id, transcript_path, ...fields })
    if (said.tell && ctx.hasUI) ctx.ui?.notify?.(said.tell, "info")
    return said
  }
  const keep = (said: Said) => { if (said.note) notes.push(said.note) }

  pi.on("session_start", async (event: any, ctx: any) => keep(await ask("SessionStart", ctx, { source: event.reason ?? "startup" })))
  pi.on("session_shutdown", async (event: any, ctx: any) => void (await ask("SessionEnd", ctx, { reason: event.reason ?? "other" })))
  pi.on("session_compact", async (_event: any, ctx: any) => void (await ask("PostCompact", ctx, { trigger: "auto" })))
  pi.on("session_before_compact", async (_event: any, ctx: any) =>
    (await ask("PreCompact", ctx, { trigger: "auto" })).deny ? { cancel: true } : undefined)

  pi.on("input", async (event: any, ctx: any) => {
    const said = await ask("UserPromptSubmit", ctx, { prompt: event.text })
    if (said.deny) {
      if (ctx.hasUI) ctx.ui?.notify?.(said.deny, "warning")
      return { action: "handled" }
    }
    keep(said)
    return { action: "continue" }
  })
  pi.on("before_agent_start", async () => {
    if (!notes.length) return
    const content = notes.join("\n")
    notes = []
    return { message: { customType: "snell", content, display: false } }
  })
  pi.on("tool_call", async (event: any, ctx: any) => {
    const call = { tool_name: event.toolName, tool_input: event.input, tool_use_id: event.toolCallId }
    const said = await ask("PreToolUse", ctx, call)
    if (said.deny) return { block: true, reason: said.deny }
    if (!said.input) return
    for (const key of Object.keys(event.input)) if (!(key in said.input)) delete event.input[key]
    Object.assign(event.input, said.input)
  })
  pi.on("tool_result", async (event: any, ctx: any) => {
    const text = (part: any) => (part.type === "text" ? part.text : "")
    const call = { tool_name: event.toolName, tool_input: event.input, tool_use_id: event.toolCallId }
    const outcome = event.isError ? { error: event.content.map(text).join("\n") } : { tool_response: { content: event.content } }
    const said = await ask(event.isError ? "PostToolUseFailure" : "PostToolUse", ctx, { ...call, ...outcome })
    if (said.deny) return { content: [{ type: "text", text: said.deny }], isError: true }
    const content = said.output === undefined ? event.content : [{ type: "text", text: said.output }]
    if (said.note) return { content: [...content, { type: "text", text: said.note }] }
    if (said.output !== undefined) return { content }
  })
  pi.on("agent_end", async (_event: any, ctx: any) => {
    const said = await ask("Stop", ctx, { stop_hook_active: isContinued })
    isContinued = Boolean(said.deny)
    if (said.deny) pi.sendUserMessage(said.deny, { deliverAs: "followUp" })
  })
}
