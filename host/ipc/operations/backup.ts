import { copyFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { CONTROL_TABLE, LEDGER_TABLE } from '../../../processors/engine/generations/control.ts'
import type { Pipeline } from '../../../processors/engine/run/pipeline.ts'
import { Fault } from '../../../schemas/fault.ts'
import { destroyedIn, isOneFolder, notOneFolder } from '../../folder/backup.ts'
import type { Handler } from '../operations.ts'
import type { Runtime } from '../../wiring/runtime.ts'
import { MARKER } from '../../folder/folder.ts'
import { KEY_FILE, keyFileIn } from '../../wiring/sealing.ts'

/** Both paths are absolute, and both folders are empty. */
export interface BackupPaths {
  readonly folder: string
  readonly keys: string
}

/**
 * Copies an embedded folder while its server runs. The order makes the copies consistent: items and points are copied before the ledger,
 * the control table and the log, so the items are never ahead of the log. The keys are copied last, so every event of the copied log has its
 * key. Fault: `backup-disturbed` if a flip, a finished rebuild, a drop, a discard or a forgotten person changed the folder during the copies,
 * because such copies do not fit each other.
 */
export const backUp: Handler<'backup'> = async (runtime, { folder, keys }, output) => {
  const { adapters, config } = runtime
  const { logs, stores } = adapters
  if (!isOneFolder(config) || logs.copy === undefined) throw notOneFolder()
  const [decided, destroyed] = [await decisionsOf(runtime), destroyedIn(keyFileIn(config.data))]
  for (const pipeline of runtime.pipelines.values()) {
    output.progress(`copying ${pipeline.domain.name}`)
    await copyGenerations(pipeline, folder)
  }
  for (const table of [LEDGER_TABLE, CONTROL_TABLE]) {
    const store = await stores.open(table, 1)
    await store.copy?.(folderOf(folder, 'tables', table.name, 'g1'))
    await store.close()
  }
  output.progress('copying the log')
  await logs.copy(folderOf(folder, 'log'))
  copyFileSync(join(config.data, MARKER), join(folder, MARKER))
  copyFileSync(keyFileIn(config.data), join(keys, KEY_FILE))
  const isChanged = decided !== (await decisionsOf(runtime)) || destroyed !== destroyedIn(join(keys, KEY_FILE))
  if (isChanged)
    throw new Fault(
      'backup-disturbed',
      'A flip, a rebuild, a drop, a discard or a forgotten person changed the folder during the backup. Delete the unfinished backup and run the command again.',
      { retriable: true },
    )
}

const copyGenerations = async (pipeline: Pipeline, folder: string): Promise<void> => {
  const { domain, control } = pipeline
  for (const { generation, state } of await control.generations(domain.name)) {
    if (state !== 'following') continue
    const { store, series } = await pipeline.generation(generation)
    await store.copy?.(folderOf(folder, 'tables', domain.table.name, `g${generation}`))
    // A processor writes points before the checkpoint of their events. So the copy of the points has at least the points of the copied table. A
    // point that is newer than the checkpoint is written again after a restore, which changes nothing.
    if (series?.copy !== undefined && domain.series !== undefined)
      await series.copy(folderOf(folder, 'series', `${domain.series.database}.${domain.series.name}`, `g${generation}`))
  }
}

const folderOf = (...parts: readonly string[]): string => {
  const folder = join(...parts)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  return folder
}

/** Returns a text of the operators' decisions that all copies must contain. If the text is the same later, there was no decision in between. */
const decisionsOf = async ({ pipelines }: Runtime): Promise<string> =>
  JSON.stringify(
    await Promise.all(
      [...pipelines.values()].map(async ({ domain: { name }, control, verdicts }) => [
        (await control.generations(name)).map(({ generation, state }) => [generation, state]),
        (await control.serving(name)).version,
        await verdicts.list(name),
      ]),
    ),
  )
