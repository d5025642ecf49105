// What Cursor makes of answers: node cursor_answers.mjs FOLDER < [{step, stdout}, ...] > [what it takes, or why not, ...]
import { readFileSync } from "node:fs"
import { insideOf } from "./cursor_inside.mjs"

const inside = await insideOf(process.argv[2])
// The letters are those of 1.0.32: read leniently, check by the step's schema, merge what several hooks said.
const { x9: read, jO: checked, wb: merged } = inside("../hooks/dist/index.js")

function taken({ step, stdout }) {
  const found = checked(step, read(stdout))
  if (!found.success) return { refused: found }
  const beside = { permission: { permission: "allow" }, continue: { continue: true } } // another hook that lets it pass
  const kind = Object.keys(beside).find((each) => each in found.data)
  return merged(step, [beside[kind] ?? {}, found.data, beside[kind] ?? {}]) ?? {}
}
console.log(JSON.stringify(JSON.parse(readFileSync(0, "utf8")).map(taken)))
