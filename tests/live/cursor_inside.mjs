// What the package of Cursor's SDK does not export: the modules of its local runtime, by their names in it.
import { readFileSync, renameSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"

// A copy of its main module is made that exports its own `require` as well.
export async function insideOf(folder) {
  const home = join(folder, "node_modules/@cursor/sdk/dist/esm")
  const source = readFileSync(join(home, "index.js"), "utf8")
  const found = /function (\w+)\(t\)\{var r=\w+\[t\];if\(void 0!==r\)return r\.exports/.exec(source)
  if (!found) throw new Error("this build of the SDK is packed in another way")
  const partial = join(home, `opened-${process.pid}.js`)
  writeFileSync(partial, `${source};export const opened=${found[1]};`)
  renameSync(partial, join(home, "opened.js")) // another run may be reading it
  const { opened } = await import(pathToFileURL(join(home, "opened.js")).href)
  await Promise.all([opened.e(34), opened.e(360)])
  return opened
}
