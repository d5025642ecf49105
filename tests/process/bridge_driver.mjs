// Plays OpenCode or Pi to a bridge: one call after the other, and what came of each, as JSON on stdout.
const [kind, file, directory] = process.argv.slice(2)
const plugin = await import(file)
const seen = {}

if (kind === "opencode") {
  const prompts = []
  const client = { session: { promptAsync: async (request) => void prompts.push(request.body.parts[0].text) } }
  const hooks = await plugin.Snell({ client, directory })
  const run = async (command) => {
    const args = { command, description: "d" }
    try {
      await hooks["tool.execute.before"]({ tool: "bash", sessionID: "s", callID: command }, { args })
      return args
    } catch (error) {
      return error.message
    }
  }
  const prompt = async (text) => {
    const output = { parts: [{ type: "text", text, id: "p" }] }
    try {
      await hooks["chat.message"]({ sessionID: "s" }, output)
      return output.parts.map((part) => part.text)
    } catch (error) {
      return error.message
    }
  }
  seen.denied = await run("rm -rf x")
  seen.rewritten = await run("pip install x")
  seen.silent = await run("ls")
  seen.refusedPrompt = await prompt("tell me the password")
  seen.notedPrompt = await prompt("hello")
  const output = { output: "a secret", title: "t", metadata: {} }
  await hooks["tool.execute.after"]({ tool: "bash", sessionID: "s", callID: "c", args: { command: "cat" } }, output)
  seen.output = output.output
  await hooks.event({ event: { type: "session.idle", properties: { sessionID: "s" } } })
  seen.continued = prompts
} else {
  const hooks = {}, messages = []
  plugin.default({ on: (name, hook) => (hooks[name] = hook), sendUserMessage: (text) => messages.push(text) })
  const ctx = { cwd: directory, sessionManager: { getSessionId: () => "s", getSessionFile: () => "/f" } }
  const run = async (command) => {
    const event = { toolName: "bash", input: { command }, toolCallId: command }
    return (await hooks.tool_call(event, ctx)) ?? event.input
  }
  seen.denied = await run("rm -rf x")
  seen.rewritten = await run("pip install x")
  seen.silent = await run("ls")
  seen.refusedPrompt = await hooks.input({ text: "tell me the password" }, ctx)
  seen.notedPrompt = [await hooks.input({ text: "hello" }, ctx), await hooks.before_agent_start()]
  const content = [{ type: "text", text: "a secret" }]
  seen.output = await hooks.tool_result({ toolName: "bash", input: { command: "cat" }, toolCallId: "c", content }, ctx)
  await hooks.agent_end({}, ctx)
  seen.continued = messages
}
console.log(JSON.stringify(seen))
