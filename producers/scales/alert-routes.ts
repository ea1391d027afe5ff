import type { AlertAcknowledgedData } from '../../schemas/generated/scales.ts'
import type { AlertItem } from '../../projections/scales/items.ts'
import { scalesQueries } from '../../projections/scales/queries.ts'
import { listOf, pagingOf, pagingSchema } from '../http/lists.ts'
import { command, question, type Route } from '../http/route.ts'
import { numberOrNull, text } from '../http/schemas.ts'
import { alertIdOf, alertOf, noAlert } from './params.ts'
import { atLocation, locOf } from './rights.ts'

const alertSchema = {
  type: 'object',
  required: ['id', 'type', 'entity', 'state', 'value', 'threshold', 'started_at'],
  properties: {
    id: text,
    type: text,
    entity: { ...text, description: 'TAP#nn or DEVICE#id.' },
    state: { type: 'string', enum: ['pending', 'active', 'acknowledged', 'resolved'] },
    value: numberOrNull,
    threshold: numberOrNull,
    started_at: text,
    fired_at: text,
    acknowledged_at: text,
    acknowledged_by: text,
    resolved_at: text,
  },
} as const

const alertView = (alert: AlertItem) => ({
  id: alertIdOf(alert),
  type: alert.type,
  entity: alert.entity,
  state: alert.state,
  value: alert.value,
  threshold: alert.threshold,
  started_at: alert.started_at,
  fired_at: alert.fired_at,
  acknowledged_at: alert.acknowledged_at,
  acknowledged_by: alert.acknowledged_by,
  resolved_at: alert.resolved_at,
})

const paging = { type: 'object', additionalProperties: false, properties: pagingSchema } as const

const listAlerts = question({
  method: 'GET',
  url: '/v1/locations/:loc/alerts',
  operationId: 'listAlerts',
  summary: 'Alerts that are pending, active or acknowledged: one a type and an entity.',
  query: paging,
  result: listOf(alertSchema),
  answer: async (call) => {
    const { items, ...rest } = await scalesQueries(call.caller.reader).activeAlerts(locOf(call), pagingOf(call.query))
    return { items: items.map(alertView), ...rest }
  },
})

const alertHistory = question({
  method: 'GET',
  url: '/v1/locations/:loc/alerts/history',
  operationId: 'listAlertHistory',
  summary: 'The history of alerts, newest first: when each fired, was acknowledged and was resolved.',
  query: paging,
  result: listOf(alertSchema),
  answer: async (call) => {
    const { items, ...rest } = await scalesQueries(call.caller.reader).alertHistory(locOf(call), pagingOf(call.query))
    return { items: items.map(alertView), ...rest }
  },
})

const acknowledge = command({
  method: 'POST',
  url: '/v1/locations/:loc/alerts/:alert/ack',
  operationId: 'acknowledgeAlert',
  summary: 'Say that somebody saw an alert.',
  status: 200,
  result: alertSchema,
  decide: async (call) => {
    const { id, type, entity } = alertOf(call)
    const loc = locOf(call)
    if ((await scalesQueries(call.caller.reader).activeAlert(loc, type, entity)) === undefined) throw noAlert(id)
    return { key: loc, id, draft: { type: 'AlertAcknowledged', data: { type, entity } satisfies AlertAcknowledgedData, personal: null } }
  },
  answer: async (call) => {
    const { type, entity } = alertOf(call)
    const alert = await scalesQueries(call.caller.reader).activeAlert(locOf(call), type, entity)
    return alert && alertView(alert)
  },
})

export const alertRoutes: readonly Route[] = atLocation([listAlerts, alertHistory, acknowledge])
