import { randomUUID } from 'node:crypto'
import { hostname, userInfo } from 'node:os'
import type { Command } from 'commander'
import type { Store } from '../processors/engine/store.ts'
import { removing, replacing } from '../processors/engine/store.ts'
import { everyItem } from '../projections/table.ts'
import { isFault } from '../schemas/fault.ts'
import { callHolder } from './folder.ts'
import { askOver, type Perform } from './socket.ts'

/** One command of an operator, as a server logs it. */
interface CommandRecord {
  readonly id: string
  /** The user of the operating system, as the command's process reports it. */
  readonly by: string
  readonly uid: number | null
  readonly host: string
  /** The command and its arguments, without secrets and free text. */
  readonly command: string
  /** When it began, RFC 3339. */
  readonly at: string
}

export interface EndedCommand extends CommandRecord {
  /** `exit N`, the code of the fault that ended it, `done` if only that is known, or `unknown` if its process ended without a report. */
  readonly outcome: string
}

/** Reports a command to the server that logs it: directly to the server that holds the folder, or through the control table. */
export interface Recorder {
  /** Announces the command to the server that holds the folder, once. Servers of earlier releases ignore it. */
  announce(folder: string): Promise<void>
  /** Leaves a record in the control table, for a server to log: the first call only. `onlyChanges` leaves none for a command that only reads. */
  leave(records: CommandRecords, outcome: string, onlyChanges: boolean): Promise<void>
  end(outcome: string): Promise<void>
}

export const createRecorder = (command: Command): Recorder => {
  const record: CommandRecord = { id: randomUUID(), by: osUser() ?? 'unknown', uid: process.getuid?.() ?? null, host: hostname(), command: commandText(command), at: new Date().toISOString() }
  let announced: Promise<Announced | undefined> | undefined
  let isLeft = false
  return {
    announce: async (folder) => {
      announced ??= announceTo(folder, record).catch(() => undefined)
      await announced
    },
    leave: async (records, outcome, onlyChanges) => {
      if (isLeft || (onlyChanges && !isChange(command))) return
      isLeft = true
      await records.put({ ...record, outcome })
    },
    end: async (outcome) => {
      const held = await announced
      if (held === undefined) return
      const socket = await callHolder(held.folder).catch(() => undefined)
      if (socket !== undefined) await askOver(socket)('command-ended', { id: record.id, outcome }, SILENT).catch(() => undefined)
      held.hangUp()
    },
  }
}

const SILENT = { row: () => undefined, progress: () => undefined, signal: new AbortController().signal }

interface Announced {
  readonly folder: string
  hangUp(): void
}

/** The connection stays open while the command runs: if it closes early, the command's process has died. */
const announceTo = async (folder: string, record: CommandRecord): Promise<Announced | undefined> => {
  const socket = await callHolder(folder)
  if (socket === undefined) return undefined
  return new Promise((resolve) => {
    const announced = (): void => {
      socket.unref()
      resolve({ folder, hangUp: () => void socket.destroy() })
    }
    askOver(socket)('command', record, { ...SILENT, row: announced }).catch(() => resolve(undefined))
  })
}

/** Answers the two requests of a recorder, and logs each command when it has ended. */
export const withCommandLog = (perform: Perform, log: (ended: EndedCommand) => void): Perform => {
  const running = new Map<string, CommandRecord>()
  const end = (id: string, outcome: string): void => {
    const record = running.get(id)
    if (record !== undefined && running.delete(id)) log({ ...record, outcome })
  }
  return async (name, args, says) => {
    if (name === 'command') {
      const record = args as CommandRecord
      running.set(record.id, record)
      says.signal.addEventListener('abort', () => end(record.id, 'unknown'), { once: true })
      await says.row(null)
      return new Promise((resolve) => says.signal.addEventListener('abort', () => resolve(null), { once: true }))
    }
    if (name !== 'command-ended') return perform(name, args, says)
    const { id, outcome } = args as Pick<EndedCommand, 'id' | 'outcome'>
    end(id, outcome)
    return null
  }
}

/** Records that no server has logged yet, in the control table. */
export interface CommandRecords {
  put(ended: EndedCommand): Promise<void>
  /** Removes the records and returns them. If several servers take records, one of them gets each record. */
  take(): Promise<readonly EndedCommand[]>
}

const PK = 'COMMANDS'

export const createCommandRecords = (control: Store): CommandRecords => ({
  put: async (ended) => void (await control.commit([[[replacing(undefined, { PK, SK: `${ended.at}#${ended.id}`, ...ended })]]])),
  take: async () => {
    const found = await everyItem(control.reader(() => 0), { pk: PK, limit: 100 })
    const taken: EndedCommand[] = []
    for (const was of await control.load(found.map(({ SK }) => ({ PK, SK })))) {
      if (was === undefined) continue
      const [outcome] = await control.commit([[[removing(was)]]])
      const { id, by, uid, host, command, at, outcome: ended } = was
      if (outcome?.applied === 'all') taken.push({ id, by, uid, host, command, at, outcome: ended } as EndedCommand)
    }
    return taken
  },
})

export const outcomeOf = (error: unknown): string => (isFault(error) ? error.code : 'internal')

/** The commands that change something. `generations` does so only with `--drop`. */
export const CHANGES: readonly string[] = ['token create', 'token revoke', 'demo', 'append', 'import', 'rebuild', 'flip', 'generations', 'parked discard', 'parked retry', 'forget']

const isChange = (command: Command): boolean => {
  const name = pathOf(command)
  return CHANGES.includes(name) && (name !== 'generations' || command.opts()['drop'] !== undefined)
}

/** Arguments and options that may contain personal data, or whatever a person typed. */
const HIDDEN: readonly string[] = ['json', 'reason', 'name', 'by', 'idempotencyKey']

/** The command and its options as they were typed, with `…` instead of each hidden value. */
export const commandText = (command: Command): string => {
  const values = command.registeredArguments.flatMap((argument, index) => shown(argument.name(), command.processedArgs[index] as unknown))
  const options = command.options.flatMap((option) => {
    const name = option.attributeName()
    if (command.getOptionValueSource(name) !== 'cli') return []
    const value: unknown = command.opts()[name]
    return [option.long ?? option.flags, ...(typeof value === 'boolean' ? [] : shown(name, value))]
  })
  return [pathOf(command), ...values, ...options].join(' ')
}

const shown = (name: string, value: unknown): readonly string[] => {
  if (value === undefined) return []
  if (HIDDEN.includes(name)) return ['…']
  return (Array.isArray(value) ? value : [value]).map((each) => (/^[\w.:@,/#+=-]+$/.test(String(each)) ? String(each) : JSON.stringify(each)))
}

const pathOf = (command: Command): string => (command.parent === null || command.parent.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`)

/** Undefined if the system has no name for the user. */
export const osUser = (): string | undefined => {
  try {
    return userInfo().username
  } catch {
    return undefined
  }
}
