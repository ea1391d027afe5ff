import type { AlertItem } from '../../projections/scales/items.ts'
import { listing } from '../http/lists.ts'
import { command, type Route } from '../http/route.ts'
import { numberOrNull, text } from '../http/schemas.ts'
import { optional, shape } from '../http/shape.ts'
import { alertIdOf, alertOf, event, noAlert } from './params.ts'
import { atLocation, locOf } from './rights.ts'
import { activeAlerts, pastAlerts } from '../../projections/scales/keys.ts'

const alert = shape<AlertItem>()({
  id: { ...text, from: alertIdOf },
  type: text,
  entity: { ...text, description: 'TAP#nn or DEVICE#id.' },
  state: { type: 'string', enum: ['pending', 'active', 'acknowledged', 'resolved'] },
  value: numberOrNull,
  threshold: numberOrNull,
  started_at: text,
  fired_at: optional(text),
  acknowledged_at: optional(text),
  acknowledged_by: optional(text),
  resolved_at: optional(text),
})

const listAlerts = listing({
  url: '/v1/locations/:loc/alerts',
  operationId: 'listAlerts',
  summary: 'List pending, active and acknowledged alerts: at most one per type and entity.',
  of: alert,
  page: (call, paging) => activeAlerts.page(call.caller.reader, locOf(call), paging),
})

const alertHistory = listing({
  url: '/v1/locations/:loc/alerts/history',
  operationId: 'listAlertHistory',
  summary: 'List past alerts, newest first: when each fired, was acknowledged and was resolved.',
  of: alert,
  page: (call, paging) => pastAlerts.page(call.caller.reader, locOf(call), { reverse: true, ...paging }),
})

const acknowledge = command({
  method: 'POST',
  url: '/v1/locations/:loc/alerts/:alert/ack',
  operationId: 'acknowledgeAlert',
  summary: 'Acknowledge an alert.',
  status: 200,
  result: alert.schema,
  decide: async (call) => {
    const { id, type, entity } = alertOf(call)
    const loc = locOf(call)
    if ((await activeAlerts.get(call.caller.reader, loc, type, entity)) === undefined) throw noAlert(id)
    return { key: loc, id, draft: event('AlertAcknowledged', { type, entity }) }
  },
  answer: async (call) => {
    const { type, entity } = alertOf(call)
    const found = await activeAlerts.get(call.caller.reader, locOf(call), type, entity)
    return found && alert.view(found)
  },
})

export const alertRoutes: readonly Route[] = atLocation([listAlerts, alertHistory, acknowledge])
