import { isHash } from '../projections/access/keys.ts'
import { Fault } from '../schemas/fault.ts'
import { isCalendarDate } from '../schemas/rfc3339.ts'
import type { FieldsOfEvent } from '../schemas/from-json.ts'

/**
 * A limit on the values of a field: text that matches `like`, text for which `is` returns true (`what` describes that text in errors), or a
 * number from `from` to `to`, both inclusive.
 */
export type FieldRule =
  | { readonly like: RegExp }
  | { readonly is: (text: string) => boolean; readonly what: string }
  | { readonly from: number; readonly to: number }

/** The rules by which an operator appends events of a domain. */
export interface AppendRules {
  /** The event types that an operator cannot append. Each has a text that names the command to run instead. */
  readonly internal: Readonly<Record<string, string>>
  /** The pattern that every key of the log must match. */
  readonly key: RegExp
  /** True if the key of each event is the id of the person that the event is about. */
  readonly isKeyAPerson?: true
  /** The limits that the edge applies to fields, by the name of the field, at every depth of every event. Other fields have no limit. */
  readonly fields: Readonly<Record<string, FieldRule>>
  /** The names of fields with the time at which something happened. A time in the future is a mistake. */
  readonly past?: readonly string[]
  /** Checks rules that concern several fields. Returns the mistake as text, or undefined. */
  readonly check?: (data: FieldsOfEvent['data']) => string | undefined
}

/** The event types that an operator cannot append in any domain. Each has a text that names the command to run instead. */
export const COMMON_INTERNAL: AppendRules['internal'] = {
  PersonForgotten: 'Run tributary forget.',
  PatIssued: 'Run tributary token create.',
  PatRevoked: 'Run tributary token revoke.',
  PatUsed: 'The edge appends it when a token is used.',
  ApiUsageSampled: 'The edge appends it when it counts requests.',
}

/** Returns the rule for a number from the `minimum` to the `maximum` of a JSON Schema. */
export const within = ({ minimum, maximum }: { readonly minimum: number; readonly maximum: number }): FieldRule => ({
  from: minimum,
  to: maximum,
})
/** Returns the rule for text with at most the `maxLength` of a JSON Schema, and with at least one character that is not a space. */
export const words = ({ maxLength: most }: { readonly maxLength: number }): FieldRule => ({
  is: (text) => text.length <= most && /\S/.test(text),
  what: `text of 1 to ${most} characters`,
})
/** Returns the rule for text that has at most the `maxLength` of a JSON Schema and matches its `pattern`. */
export const matching = ({
  maxLength,
  pattern,
}: {
  readonly maxLength: number
  readonly pattern: string
}): FieldRule => {
  const form = new RegExp(pattern)
  return {
    is: (text) => text.length <= maxLength && form.test(text),
    what: `text of 1 to ${maxLength} characters like ${String(form)}`,
  }
}
/** The rule for text that must be a calendar date. */
export const DAY: FieldRule = { is: isCalendarDate, what: 'a day such as 2026-11-16' }
/** The rule for text that must be a SHA-256 hash, for example of a token. */
export const HASH: FieldRule = { is: isHash, what: 'a SHA-256 hash of 64 lower-case hex digits' }

/** Throws `bad-event` if only the program appends events of this type, if the key or a value breaks the rules, or if a past time is in the future. */
export const checkAppend = (
  rules: AppendRules,
  {
    type,
    key,
    fields,
    now,
  }: { readonly type: string; readonly key: string; readonly fields: FieldsOfEvent; readonly now: number },
): void => {
  const instead = Object.hasOwn(rules.internal, type) ? rules.internal[type] : undefined
  if (instead !== undefined) throw new Fault('bad-event', `Only the program appends a ${type}. ${instead}`)
  if (!rules.key.test(key))
    throw new Fault('bad-event', `"${key}" is not a key of this log. A key must match ${String(rules.key)}.`)
  const later = rules.past?.find((name) => Number(fields.data[name] ?? 0) > now)
  if (later !== undefined) throw new Fault('bad-event', `The field ${later} of this ${type} is in the future.`)
  const mistake =
    mistakeIn(rules, fields.data, '') ??
    (fields.personal === null ? undefined : mistakeIn(rules, fields.personal, 'personal.')) ??
    rules.check?.(fields.data)
  if (mistake !== undefined) throw new Fault('bad-event', `The edge does not accept this ${type}: ${mistake}.`)
}

const mistakeIn = (rules: AppendRules, value: Readonly<Record<string, unknown>>, path: string): string | undefined => {
  for (const [name, member] of Object.entries(value)) {
    for (const [index, each] of (Array.isArray(member) ? (member as readonly unknown[]) : [member]).entries()) {
      const place = Array.isArray(member) ? `${path}${name}.${index}` : `${path}${name}`
      const mistake =
        typeof each === 'object' && each !== null
          ? mistakeIn(rules, each as Readonly<Record<string, unknown>>, `${place}.`)
          : breach(rules.fields[name], each)
      if (mistake !== undefined) return typeof each === 'object' ? mistake : `${place} must be ${mistake}`
    }
  }
  return undefined
}

/** If the value breaks the rule, returns a text with the allowed values. Otherwise undefined. Null and booleans break no rule. */
const breach = (rule: FieldRule | undefined, value: unknown): string | undefined => {
  if (rule === undefined || value === null || typeof value === 'boolean') return undefined
  if ('from' in rule)
    return Number(value) >= rule.from && Number(value) <= rule.to ? undefined : `between ${rule.from} and ${rule.to}`
  if ('like' in rule) return rule.like.test(String(value)) ? undefined : `like ${String(rule.like)}`
  return rule.is(String(value)) ? undefined : rule.what
}
