import { MAX_LISTED, type ForgetBody, type ListBody } from '../../../projections/ask.ts'
import type { Value } from '../../../projections/item.ts'
import { Fault } from '../../../schemas/fault.ts'
import { isObject } from '../../../schemas/object.ts'

/** Reads the body of an ask of kind `list`. Fault: `bad-ask`. */
export const listBodyOf = (body: Value): Required<ListBody> => {
  const { pk, prefix, limit = MAX_LISTED, answer, data } = isObject(body) ? body : {}
  if (!isText(pk) || !isText(prefix) || !isText(answer) || !isObject(data) || !isCount(limit))
    throw badBody(
      `an ask of kind list has pk, prefix, answer (texts), data (an object) and limit (1 to ${MAX_LISTED})`,
      body,
    )
  return { pk, prefix, limit, answer, data: data as ListBody['data'] }
}

/** Reads the body of an ask of kind `forget`: its subject must be the log key of the ask or a part of this person. Fault: `bad-ask`. */
export const forgetBodyOf = (body: Value, key: string): ForgetBody => {
  const { subject, answer, data } = isObject(body) ? body : {}
  if (!isText(subject) || !isText(answer) || !isObject(data))
    throw badBody('an ask of kind forget has subject, answer (texts) and data (an object)', body)
  if (subject !== key && !subject.startsWith(`${key}~`))
    throw badBody(`the subject of an ask of kind forget is its log key "${key}" or begins with "${key}~"`, body)
  return { subject, answer, data: data as ForgetBody['data'] }
}

const isText = (value: unknown): value is string => typeof value === 'string'
const isCount = (value: unknown): value is number =>
  Number.isInteger(value) && Number(value) >= 1 && Number(value) <= MAX_LISTED

const badBody = (rule: string, body: Value): Fault =>
  new Fault('bad-ask', `The body of an ask breaks a rule: ${rule}. The body is ${JSON.stringify(body)}. Fix the fold.`)
