// A child process of complete-file.test.ts, because LMDB ends the process when it reads a page that a file does not contain.
// For each pair of LMDB environments (folders): reads both completely, then writes to the second, so that LMDB reads its free pages too. Prints
// `same` or the difference.
import { createHash } from 'node:crypto'
import { open } from 'lmdb'

const options = { noSubdir: false, maxDbs: 64, overlappingSync: false, eventTurnBatching: false }
const raw = { encoding: 'binary', keyEncoding: 'binary' }

const digestOf = (root) => {
  const hash = createHash('sha256')
  for (const name of [...root.getKeys()].map(String).sort()) {
    hash.update(`database ${name}\n`)
    for (const { key, value } of root.openDB({ name, ...raw }).getRange({})) hash.update(key).update(value)
  }
  return hash.digest('hex')
}

const paths = process.argv.slice(2)
for (let index = 0; index < paths.length; index += 2) {
  const [complete, cut] = [paths[index], paths[index + 1]].map((path) => open(path, options))
  const isSame = digestOf(complete) === digestOf(cut)
  const probe = cut.openDB({ name: 'probe', ...raw })
  for (let round = 0; round < 3; round += 1) {
    await cut.batch(() => {
      for (let entry = 0; entry < 50; entry += 1)
        void probe.put(Buffer.from(`${round % 2} ${entry}`), Buffer.alloc(entry * 200))
    })
  }
  await Promise.all([complete.close(), cut.close()])
  console.log(isSame ? 'same' : `${paths[index + 1]} differs`)
}
