import { randomUUID } from 'node:crypto'
import { hostname, userInfo } from 'node:os'
import type { Command } from 'commander'
import type { Store } from '../../processors/engine/ports/store.ts'
import { removing, replacing } from '../../processors/engine/ports/store.ts'
import type { Item } from '../../projections/item.ts'
import { everyItem } from '../../projections/table.ts'
import { isFault } from '../../schemas/fault.ts'
import { connectToServer } from '../folder/folder.ts'
import { noOutput, type Handler } from './operations.ts'
import { callServer } from './server-calls.ts'

/** One command of an operator, as a server logs it. */
export interface CommandRecord {
  readonly id: string
  /** The user of the operating system, as the command's process reports it. */
  readonly by: string
  readonly uid: number | null
  readonly host: string
  /** The command and its arguments, without secrets and free text. */
  readonly command: string
  /** The start of the command, RFC 3339. */
  readonly at: string
}

/** The report that a command has ended. */
export interface CommandEnd {
  readonly id: string
  /**
   * `exit N`, or the code of the fault that ended the command. `done`: the command succeeded, and its exit code is unknown. `unknown`: the process
   * of the command ended without a report.
   */
  readonly outcome: string
}

export interface EndedCommand extends CommandRecord, CommandEnd {}

/** Reports a command to a server, which logs it: directly to the server that has the data folder, or through the control table. */
export interface Recorder {
  /** Announces the command to the server that has the folder. Further calls do nothing. A server of an earlier release ignores the command. */
  announce(folder: string): Promise<void>
  /**
   * Writes a record to the control table, for a server to log. Only the first call writes a record. With `onlyChanges`, a command that only reads
   * leaves no record.
   */
  leave(records: CommandRecords, outcome: string, onlyChanges: boolean): Promise<void>
  /** Reports the end of the command to the server to which it was announced. */
  end(outcome: string): Promise<void>
}

export const createRecorder = (command: Command): Recorder => {
  const record: CommandRecord = {
    id: randomUUID(),
    by: osUser() ?? 'unknown',
    uid: process.getuid?.() ?? null,
    host: hostname(),
    command: commandText(command),
    at: new Date().toISOString(),
  }
  let announced: Promise<Announcement | undefined> | undefined
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
      const announcement = await announced
      if (announcement === undefined) return
      const socket = await connectToServer(announcement.folder).catch(() => undefined)
      if (socket !== undefined)
        await callServer(socket)('command-ended', { id: record.id, outcome }, noOutput()).catch(() => undefined)
      announcement.close()
    },
  }
}

interface Announcement {
  readonly folder: string
  close(): void
}

/**
 * Announces the command. Undefined if no server has the folder, or the server does not accept the announcement. The connection stays open while
 * the command runs. If it closes before the end is reported, the server logs that the process of the command died.
 */
const announceTo = async (folder: string, record: CommandRecord): Promise<Announcement | undefined> => {
  const socket = await connectToServer(folder)
  if (socket === undefined) return undefined
  return new Promise((resolve) => {
    const row = (): void => {
      socket.unref()
      resolve({ folder, close: () => void socket.destroy() })
    }
    callServer(socket)('command', record, { ...noOutput(), row }).catch(() => resolve(undefined))
  })
}

/** The handlers of the two requests of a recorder. `log` receives each announced command when the command has ended. */
export const commandHandlers = (
  log: (ended: EndedCommand) => void,
): { readonly command: Handler<'command'>; readonly 'command-ended': Handler<'command-ended'> } => {
  const running = new Map<string, CommandRecord>()
  const end = (id: string, outcome: string): void => {
    const record = running.get(id)
    if (record !== undefined && running.delete(id)) log({ ...record, outcome })
  }
  return {
    command: async (_, record, { row, signal }) => {
      running.set(record.id, record)
      signal.addEventListener('abort', () => end(record.id, 'unknown'), { once: true })
      await row(null)
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
    },
    'command-ended': async (_, { id, outcome }) => end(id, outcome),
  }
}

/** The records in the control table that no server has logged yet. */
export interface CommandRecords {
  put(ended: EndedCommand): Promise<void>
  /** Removes the records and returns them. If several servers take records, only one server gets each record. */
  take(): Promise<readonly EndedCommand[]>
}

const PK = 'COMMANDS'

export const createCommandRecords = (control: Store): CommandRecords => ({
  put: async (ended) =>
    void (await control.commit([[[replacing(undefined, { PK, SK: `${ended.at}#${ended.id}`, ...ended })]]])),
  take: async () => {
    const found = await everyItem(
      control.reader(() => 0),
      { pk: PK, limit: 100 },
    )
    const taken: EndedCommand[] = []
    for (const row of await control.load(found.map(({ SK }) => ({ PK, SK })))) {
      if (row === undefined) continue
      const [outcome] = await control.commit([[[removing(row)]]])
      if (outcome?.applied === 'all') taken.push(endedCommandOf(row))
    }
    return taken
  },
})

const endedCommandOf = ({ id, by, uid, host, command, at, outcome }: Item): EndedCommand => ({
  id: String(id),
  by: String(by),
  uid: typeof uid === 'number' ? uid : null,
  host: String(host),
  command: String(command),
  at: String(at),
  outcome: String(outcome),
})

export const outcomeOf = (error: unknown): string => (isFault(error) ? error.code : 'internal')

/** The commands that change something. The command `generations` changes something only with `--drop`. */
export const CHANGES: readonly string[] = [
  'token create',
  'token revoke',
  'demo',
  'append',
  'import',
  'rebuild',
  'flip',
  'generations',
  'parked discard',
  'parked retry',
  'asks release',
  'forget',
]

const isChange = (command: Command): boolean => {
  const name = pathOf(command)
  return CHANGES.includes(name) && (name !== 'generations' || command.opts()['drop'] !== undefined)
}

/** Arguments and options that may contain personal data, or free text. */
const HIDDEN: readonly string[] = ['json', 'reason', 'name', 'by', 'idempotencyKey']

/** The command and its options as they were typed, with `…` instead of each hidden value. */
export const commandText = (command: Command): string => {
  const values = command.registeredArguments.flatMap((argument, index) =>
    shown(argument.name(), command.processedArgs[index]),
  )
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
  return (Array.isArray(value) ? value : [value]).map((each) =>
    /^[\w.:@,/#+=-]+$/.test(String(each)) ? String(each) : JSON.stringify(each),
  )
}

const pathOf = (command: Command): string =>
  command.parent === null || command.parent.parent === null
    ? command.name()
    : `${pathOf(command.parent)} ${command.name()}`

/** The name of the user of this process. Undefined if the operating system has no name for the user. */
export const osUser = (): string | undefined => {
  try {
    return userInfo().username
  } catch {
    return undefined
  }
}
