import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Event } from '../../schemas/event.ts'
import type { Commands } from '../commands.ts'
import type { Caller } from './route.ts'

/** A request that the edge has answered. */
export interface AnsweredRequest {
  /** The id of the request, also in the server log and in `meta.correlationId` of its events. */
  readonly id: string
  readonly method: string
  /** The path of the route, with the names of its parameters. */
  readonly route: string
  readonly params: Readonly<Record<string, string>>
  /** Null if the request was not authenticated, and for webhooks. */
  readonly caller: Caller | null
  /** The address of the client, or of the proxy in front of this server. */
  readonly ip: string
  /** The time at which the edge received the request, in epoch milliseconds. */
  readonly now: number
}

/** The answer of a request. */
export interface NotedAnswer {
  readonly status: number
  /** The code of the Problem. Null if the answer is no Problem. */
  readonly code: string | null
  /** The event that the request appended last. Null if it appended none. */
  readonly appended: { readonly id: string; readonly type: string } | null
}

/** The `source` of events that record requests. */
export const NOTE_SOURCE = 'note'

/** Returns an event that records a request, or undefined. Called after the answer was sent. The event needs an id that is derived from the request's id. */
export type Note = (request: AnsweredRequest, answer: NotedAnswer) => Event | undefined

/** Appends events after the answers, so that they delay and fail no request. */
export interface Notes {
  add(event: Event): void
  /** Waits until all events are appended, or their append has failed. */
  settled(): Promise<void>
}

interface NotesParts {
  readonly commands: Pick<Commands, 'append'>
  /** Called with the error and the number of events that were lost. */
  lost(error: unknown, count: number): void
  appended?(event: Event): void
}

/** If more events wait for their append, further events are lost. */
const MOST_WAITING = 1_000
const MOST_AT_ONCE = 100

export const createNotes = ({ commands, lost, appended }: NotesParts): Notes => {
  const waiting: Event[] = []
  let draining: Promise<void> | undefined

  const drain = async (): Promise<void> => {
    for (let events = waiting.splice(0, MOST_AT_ONCE); events.length > 0; events = waiting.splice(0, MOST_AT_ONCE))
      await commands.append(events).then(
        () => events.forEach((event) => appended?.(event)),
        (error: unknown) => lost(error, events.length),
      )
    draining = undefined
  }
  return {
    add(event) {
      if (waiting.length >= MOST_WAITING) return lost(new Error('too many events wait for the log'), 1)
      waiting.push(event)
      draining ??= drain()
    },
    settled: async () => draining,
  }
}

/** The note of a domain, with the queue of its events. */
export interface Noting {
  readonly domain: string
  readonly note: Note
  readonly notes: Notes
}

/** Notes the requests of a scope after their answers. A route of the program, such as the sign-in, is noted by every domain. */
export const noteAnswers = (scope: FastifyInstance, domain: string, noting: readonly Noting[]): void => {
  if (noting.length === 0) return
  scope.addHook('onResponse', (request, reply, done) => {
    const isOfProgram = request.routeOptions.config.isOfProgram === true
    for (const { domain: name, note, notes } of noting)
      if (isOfProgram || name === domain)
        try {
          const event = note(requestOf(request), answerOf(request, reply))
          if (event !== undefined) notes.add(event)
        } catch (error) {
          scope.log.warn({ err: error, reqId: request.id }, 'the request could not be noted')
        }
    done()
  })
}

const requestOf = (request: FastifyRequest): AnsweredRequest => ({
  id: request.id,
  method: request.method,
  route: request.routeOptions.url ?? '',
  params: request.params as AnsweredRequest['params'],
  caller: request.caller,
  ip: request.ip,
  now: request.receivedAt,
})

const answerOf = ({ appended, problem }: FastifyRequest, { statusCode }: FastifyReply): NotedAnswer => ({
  status: statusCode,
  code: problem,
  appended,
})
