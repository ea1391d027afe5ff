import { expect } from 'vitest'
import { activities } from '../../../processors/activities/domain.ts'
import type { Ask, ForgetBody } from '../../../projections/ask.ts'
import { canonical, type Item, type Stored } from '../../../projections/item.ts'
import { MAX_CHANGES, type Domain, type Result, type Timer } from '../../../projections/projection.ts'
import { FORGOTTEN, type Event } from '../../../schemas/event.ts'
import type { PersonForgotten } from '../../../schemas/generated/common.ts'
import { eventOf, metaOf } from '../../../testing/event.ts'
import type { Table } from '../../../testing/folds.ts'
import { contents, foldInto, tableOf } from './given.ts'

type Armed<T> = T & { readonly key: string; readonly at: number }

/** Answers an ask of a kind other than `forget` with events. */
export type Answer = (ask: Armed<Ask>) => readonly Event[]

/**
 * Runs the folds with the parts of an engine that their results need: derived events, timers, asks, and the forgetting of a person. Every event is
 * in `log`. After a person was forgotten, their events in the log cannot be read any more.
 */
export const createWorld = (answer: Answer = () => []) => {
  const table: Table = new Map()
  const timers = new Map<string, Armed<Timer>>()
  const asks = new Map<string, Armed<Ask>>()
  const log: Event[] = []
  const calls: string[] = []
  let now = 0

  const apply = (event: Event, result: Result): void => {
    const { items = [], derived = [], timers: armed = [], asks: asked = [] } = result
    expect(items.length + derived.length + 3 * armed.length + 3 * asked.length, event.type).toBeLessThanOrEqual(
      MAX_CHANGES,
    )
    const { key, occurredAt } = event.meta
    for (const timer of armed) set(timers, key, timer)
    for (const ask of asked) set(asks, key, ask)
    for (const {
      event: { key: to, type, data, personal = null, subjectId = null },
    } of derived)
      append(eventOf(type, { key: to, data, personal, meta: { occurredAt, subjectId, source: 'derived' } }))
  }

  const append = (...events: readonly Event[]): Result => {
    let last: Result = {}
    for (const event of events) {
      now = Math.max(now, event.meta.occurredAt)
      const readable =
        destroyed.has(event.meta.subjectId ?? '') && event.personal !== null ? { ...event, personal: FORGOTTEN } : event
      log.push(readable)
      last = foldInto(table, readable, log.length - 1)[0] ?? {}
      apply(readable, last)
    }
    return last
  }

  const destroyed = new Set<string>()
  const sweep = (subject: string, key: string): void => {
    for (;;) {
      const found = [...table.values()].filter(
        (item) =>
          activities.personal?.partitions(key, subject).includes(item.PK) &&
          activities.personal.hasPersonalData(item, subject),
      )
      for (let from = 0; from === 0 || from < found.length; from += 40)
        append(forgottenEvent(subject, key, found.slice(from, from + 40), now))
      if (found.length === 0) return
    }
  }
  const forget = (subject: string): void => {
    const keys = [
      ...new Set([
        ...log
          .filter(({ meta, personal }) => meta.subjectId === subject && personal !== null)
          .map(({ meta }) => meta.key),
        subject,
      ]),
    ]
    for (const key of keys) sweep(subject, key)
    destroyed.add(subject)
    for (const [index, event] of log.entries())
      if (event.meta.subjectId === subject && event.personal !== null) log[index] = { ...event, personal: FORGOTTEN }
    for (const key of keys) sweep(subject, key)
  }

  const call = (ask: Armed<Ask>): void => {
    calls.push(ask.name)
    if (ask.kind !== 'forget') return void append(...answer(ask))
    const { subject, answer: type, data } = ask.body as ForgetBody
    forget(subject)
    append(eventOf(type, { key: ask.key, data, meta: { occurredAt: now, subjectId: null, source: 'fetcher' } }))
  }

  /** Appends the events of the timers and makes the calls that are due until `to`, in the order of their times. */
  const runUntil = (to: number): void => {
    for (;;) {
      const due = [
        ...[...timers.values()].map((timer) => ({ at: timer.at, run: () => fire(timer) })),
        ...[...asks.values()]
          .filter(({ name, key }) => !settled.has(asks.get(`${key} ${name}`)))
          .map((ask) => ({ at: ask.at, run: () => settle(ask) })),
      ]
        .filter(({ at }) => at <= to)
        .sort((a, b) => a.at - b.at)[0]
      if (due === undefined) break
      now = Math.max(now, due.at)
      due.run()
    }
    now = Math.max(now, to)
  }
  const settled = new Set<Armed<Ask> | undefined>()
  const settle = (ask: Armed<Ask>): void => {
    settled.add(ask)
    call(ask)
  }
  const fire = (timer: Armed<Timer>): void => {
    const { key, name, at, event } = timer
    if (event === undefined) throw new Error(`The timer ${name} has no event.`)
    append(
      eventOf(event.type, {
        key: event.key,
        data: event.data,
        meta: { occurredAt: at, subjectId: null, source: 'timer' },
      }),
    )
    if (timers.get(`${key} ${name}`) === timer)
      throw new Error(`The fold of ${event.type} neither removed nor set the timer ${name}.`)
  }

  return {
    table,
    log,
    timers,
    asks,
    calls,
    append,
    forget,
    runUntil,
    now: () => now,
    items: () => contents(table),
    /** Expects that a rebuild from the log gives the same items. */
    expectRebuilt: (domain: Domain = activities) => expect(exact(tableOf(log, domain))).toEqual(exact(table)),
  }
}

export type World = ReturnType<typeof createWorld>

/** The items of a table in canonical form, without their positions. */
export const exact = (table: Table): readonly string[] =>
  [...table.values()].map(({ _pos, ...item }: Stored) => canonical(item as Item)).sort()

const set = <T extends { readonly name: string; readonly at: number | null }>(
  armed: Map<string, Armed<T>>,
  key: string,
  each: T,
): void => {
  const name = `${key} ${each.name}`
  if (each.at === null) armed.delete(name)
  else armed.set(name, { ...each, key, at: each.at })
}

const forgottenEvent = (subject: string, key: string, items: readonly Item[], occurredAt: number): PersonForgotten => ({
  type: 'PersonForgotten',
  meta: metaOf({ key, occurredAt, source: 'forget', actorId: null, subjectId: subject }),
  data: { items: items.map(({ PK, SK }) => ({ pk: PK, sk: SK })) },
  personal: null,
})
