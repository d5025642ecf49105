// Snell in OpenCode: sends every event to `snell-hook` and applies its answer. Written by `snell setup opencode`.
//
// Every event runs the command below once: JSON on stdin; on stdout nothing, or an object with some of these keys:
// deny (a reason), input (the changed call), output (the changed text for the model), note and tell.
// Exit code 2 refuses, with the reason on stderr. A command that cannot run, is killed or prints an incomplete answer
// changes nothing, except at the events in REFUSED.
import { spawn } from "node:child_process"

const COMMAND = ["snell-hook"]
const REFUSED = [] // events that are refused if they cannot be checked
const LONGEST = 630_000 // milliseconds; hooks have their own, shorter limits

function report(directory, hook_event_name, fields) {
  const payload = JSON.stringify({ hook_event_name, cwd: directory, ...fields })
  return new Promise((answer) => {
    const output = [], errors = []
    const [program, ...words] = COMMAND
    const child = spawn(program, [...words, "--client", "opencode"], { cwd: directory, timeout: LONGEST })
    const unchecked = (why) => answer(REFUSED.includes(hook_event_name) ? { deny: `stopped, because nothing could check it: ${why}` } : {})
    child.on("error", (error) => unchecked(`${program}: ${error.message}`))
    child.stdin.on("error", () => {})
    child.stdout.on("data", (part) => output.push(part))
    child.stderr.on("data", (part) => errors.push(part))
    child.on("close", (code, signal) => {
      const said = Buffer.concat(errors).toString().trim()
      if (code === 2) return answer({ deny: said || "refused by a hook" })
      const text = Buffer.concat(output).toString().trim()
      if (code !== 0) return unchecked(said || `${program} ended with ${code ?? signal}`)
      try { answer(text ? JSON.parse(text) : {}) } catch { unchecked(`${program} printed half an answer`) }
    })
    child.stdin.end(payload)
  })
}

export const Snell = async ({ client, directory }) => {
  const started = new Set(), parents = new Map(), continued = new Set()

  const ask = async (event, fields) => {
    const said = await report(directory, event, fields)
    if (said.tell) await client?.tui?.showToast?.({ body: { message: said.tell, variant: "info" } })?.catch?.(() => {})
    return said
  }
  const turnEnds = async (session_id) => {
    if (parents.has(session_id))
      return void (await ask("SubagentStop", { session_id: parents.get(session_id), agent_id: session_id }))
    const said = await ask("Stop", { session_id, stop_hook_active: continued.has(session_id) })
    if (!said.deny) return void continued.delete(session_id)
    continued.add(session_id)
    await client.session.promptAsync({ path: { id: session_id }, body: { parts: [{ type: "text", text: said.deny }] } })
  }

  return {
    event: async ({ event }) => {
      const about = event.properties ?? {}
      if (event.type === "session.created" && about.info?.parentID) {
        parents.set(about.info.id, about.info.parentID)
        await ask("SubagentStart", { session_id: about.info.parentID, agent_id: about.info.id, agent_type: about.info.title })
      }
      if (event.type === "session.idle") await turnEnds(about.sessionID)
      if (event.type === "session.compacted") await ask("PostCompact", { session_id: about.sessionID, trigger: "auto" })
      if (event.type === "session.deleted") await ask("SessionEnd", { session_id: about.info?.id, reason: "other" })
    },
    "chat.message": async ({ sessionID: session_id }, output) => {
      if (parents.has(session_id)) return // the prompt of a subagent is the input of a tool, which was judged
      const notes = []
      if (!started.has(session_id)) {
        started.add(session_id)
        notes.push((await ask("SessionStart", { session_id, source: "startup" })).note)
      }
      const texts = output.parts.filter((part) => part.type === "text")
      const said = await ask("UserPromptSubmit", { session_id, prompt: texts.map((part) => part.text).join("\n") })
      if (said.deny) throw new Error(said.deny)
      for (const text of [...notes, said.note].filter(Boolean)) {
        const id = "prt_" + Math.random().toString(36).slice(2).padEnd(12, "0")
        output.parts.push({ ...(texts[0] ?? output.parts[0]), id, type: "text", text, synthetic: true })
      }
    },
    "tool.execute.before": async ({ tool, sessionID, callID }, output) => {
      const call = { session_id: sessionID, tool_use_id: callID, tool_name: tool, tool_input: output.args }
      const said = await ask("PreToolUse", call)
      if (said.deny) throw new Error(said.deny)
      if (!said.input) return
      for (const key of Object.keys(output.args)) if (!(key in said.input)) delete output.args[key]
      Object.assign(output.args, said.input)
    },
    "tool.execute.after": async ({ tool, sessionID, callID, args }, output) => {
      const tool_response = { output: output.output, title: output.title, metadata: output.metadata }
      const call = { session_id: sessionID, tool_use_id: callID, tool_name: tool, tool_input: args ?? {}, tool_response }
      const said = await ask("PostToolUse", call)
      output.output = said.deny ?? said.output ?? output.output
      if (said.note) output.output += "\n\n" + said.note
    },
    "experimental.session.compacting": async ({ sessionID }, output) => {
      const said = await ask("PreCompact", { session_id: sessionID, trigger: "auto" })
      if (said.note) output.context.push(said.note)
    },
  }
}
