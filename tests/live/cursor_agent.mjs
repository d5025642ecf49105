// An agent on Cursor's own local runtime, which its SDK brings along: node cursor_agent.mjs FOLDER PROMPT.
//
// Cursor itself needs a login, because its models are behind its own service. What stands before and after the model
// does not: Cursor's code finds and reads the hook files, runs the commands, checks and merges their answers, wraps
// the shell tool with them, and goes on after a stop. Only the model (a chat endpoint at MODEL_URL) and the shell are ours.
import { spawn } from "node:child_process"
import { randomUUID } from "node:crypto"
import { insideOf } from "./cursor_inside.mjs"

const [folder, prompt] = process.argv.slice(2)
const cwd = process.cwd()

const inside = await insideOf(folder)
// The letters are those of 1.0.32.
const { vk: hooksOf, Pq: toolHooks } = inside("../cursor-sdk-local-runtime/dist/core/hooks-runtime.js")
const { v: sessionHooks } = inside("../cursor-sdk-local-runtime/dist/agent-host/local-hooks-session-adapter.js")
const { B: runSession } = inside("../cursor-sdk-local-runtime/dist/agent-host/agent-session-runner.js")
const { QF: Action, Vt: UserAction, RG: UserMessage } = inside("../proto/dist/generated/agent/v1/agent_pb.js")
const { a: ShellArgs, FI: ShellEvent, o0: Out, vb: Exit } = inside("../proto/dist/generated/agent/v1/shell_exec_pb.js")
const { wve: SHELL } = inside("../agent-exec/dist/index.js")
const { q6: newContext } = inside("../context/dist/core.js")

const shell = {
  async *execute(_, args) {
    const child = spawn("/bin/sh", ["-c", args.command], { cwd: args.workingDirectory || cwd })
    let text = ""
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (part) => (text += part))
    const code = await new Promise((done) => child.on("close", done))
    yield new ShellEvent({ event: { case: "stdout", value: new Out({ data: text }) } })
    yield new ShellEvent({ event: { case: "exit", value: new Exit({ code, cwd }) } })
  },
}
const tools = {
  get: (tool) => (tool.symbol === SHELL.symbol ? shell : undefined),
  *entries() {
    yield [SHELL, shell]
  },
}

const agent = {
  messages: [],
  async run(context, _state, action, _a, _listener, wrapped) {
    this.messages.push({ role: "user", content: action.action.value.userMessage.text })
    for (;;) {
      const said = await this.ask()
      this.messages.push(said)
      if (!said.tool_calls?.length) return
      for (const call of said.tool_calls) {
        const content = await this.use(context, wrapped, JSON.parse(call.function.arguments))
        this.messages.push({ role: "tool", tool_call_id: call.id, content })
      }
    }
  },
  async ask() {
    const body = { model: "scripted", messages: this.messages, tools: [{ type: "function", function: { name: "Shell" } }] }
    const reply = await fetch(`${process.env.MODEL_URL}/v1/chat/completions`, { method: "POST", body: JSON.stringify(body) })
    return (await reply.json()).choices[0].message
  },
  // What the model is given of one call: output or refusal, and what hooks say to it.
  async use(context, wrapped, { command }) {
    const parts = []
    for await (const { event } of wrapped.get(SHELL).execute(context, new ShellArgs({ command, workingDirectory: cwd }))) {
      if (event.case === "stdout") parts.push(event.value.data)
      if (event.case === "rejected") parts.push(event.value.reason)
      if (event.case === "hookContext") parts.push(...event.value.hookAdditionalContexts.map((each) => JSON.stringify(each)))
    }
    return parts.join("\n")
  },
}

const workspaceState = { projectRoot: cwd, workingDirectory: cwd, workspaceRoots: [cwd] }
const workspaceRuntime = await hooksOf().createHooksRuntime({ workspaceState })
for (const error of workspaceRuntime.hooksConfig.errors) console.error(`hooks: ${error.message}`)
const conversationId = randomUUID()
const session = { sessionState: { sessionId: conversationId }, metadata: { conversationId, model: "scripted" } }
const first = new Action({
  action: { case: "userMessageAction", value: new UserAction({ userMessage: new UserMessage({ text: prompt }) }) },
})
await runSession(newContext(), first, {
  conversationId,
  hooks: sessionHooks({ workspaceRuntime, ...session }),
  resources: toolHooks().wrapResources({ resources: tools, workspaceServices: { hooksRuntime: workspaceRuntime }, ...session }),
  agentClient: agent,
  interactionListener: { sendUpdate: async () => {}, query: async () => {} },
}).done
console.log(agent.messages.at(-1).content)
